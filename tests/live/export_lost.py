# SPDX-License-Identifier: BSD-2-Clause
"""
Accounting that fails while the exporter runs, and can be begun anew: on a made-up /proc, whose file of the host's time
breaks and is mended. It goes on by itself, says what it is at, and invents nothing. TAP.
"""
import os

from exporter import Exporter, done, equal, ok, total, unexplained, value

FILES = ("stat cpuinfo meminfo loadavg self/mountinfo 1/stat 1/schedstat 1/status 1/cgroup "
         "1/task/1/stat 1/task/1/schedstat 1/task/1/status").split()


def copy(name):
    path = f"proc/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"/proc/{name}", "rb") as real, open(path, "wb") as made:
        made.write(real.read())


def main():
    for name in FILES:
        copy(name)
    with Exporter("--procfs", "proc", "--attribution-mode", "proc", "--energy", "model", "-i", "200") as e:
        before = e.wait_for(lambda s: value(s, "schedwatt_windows_total") >= 3)
        ok(any(n == "schedwatt_source_info" and ("backend", "proc") in have for n, have in before),
           "what accounts is told", e.said())
        ok(total(before, "schedwatt_zone_joules_total") > 0, "and joules are there")
        os.truncate("proc/stat", 0)
        lost = e.wait_for(lambda s: value(s, "schedwatt_monitor_retries_total") >= 2)
        equal((value(lost, "schedwatt_accounting_available"), value(lost, "schedwatt_energy_available")), (0, 0),
              "accounting that fails is told of")
        equal([n for n, _ in lost if n.endswith("joules_total") or n == "schedwatt_group_cpu_seconds_total" or
               n == "schedwatt_source_info"], [], "nothing stands still as if nothing were used")
        equal(e.ask("/healthz")[0], 503, "/healthz says that it is not well")
        ok("accounting has failed and is begun anew" in e.said(), "and the messages why", e.said())
        copy("stat")
        back = e.wait_for(lambda s: value(s, "schedwatt_accounting_available") == 1 and
                          (value(s, "schedwatt_windows_total") or 0) > value(before, "schedwatt_windows_total") + 2, 40)
        equal(value(back, "schedwatt_accounting_available"), 1, "it is begun anew when that can be")
        ok(total(back, "schedwatt_zone_joules_total") > total(before, "schedwatt_zone_joules_total"),
           "and counts on from where it stood")
        equal(unexplained(back), 0, "with sums that hold")
        equal([k for k in before if k[0].endswith("_total") and k in back and back[k] < before[k]], [], "and no total fell")
        equal(e.ask("/healthz")[0], 200, "it is well again")
        equal(e.end(), 0, "SIGTERM ends it")
    done()


main()
