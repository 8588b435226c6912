# SPDX-License-Identifier: BSD-2-Clause
"""The exporter's books through churn: sums, totals that only rise, bounds, a lost source. TAP; as root."""
import os
import shutil
import subprocess
import sys
import threading
import time

from exporter import Exporter, done, equal, ok, parse, total, unexplained, value

SYSFS = "laptop"  # of the fixture, whose package is counted up by ticker.py
STORM = "i=0; while [ $i -lt 2500 ]; do /bin/true; i=$((i + 1)); done"
V2 = sys.argv[1] if len(sys.argv) > 1 else ""
MINE = f"schedwatt-export-{os.getpid()}"


def fork_storm():
    """10,000 processes, as fast as they come."""
    return [subprocess.Popen(["sh", "-c", STORM]) for _ in range(4)]


def cgroup_churn(stop):
    """Cgroups that come, have a process, and go."""
    n = 0
    while not stop.is_set():
        path = f"{V2}/{MINE}-{n % 40}"
        n += 1
        try:
            os.mkdir(path)
            p = subprocess.Popen(["sh", "-c", 'echo $$ >"$1/cgroup.procs"; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done',
                                  "sh", path])
            p.wait()
        except OSError:
            pass
        for _ in range(50):
            try:
                os.rmdir(path)
                break
            except OSError:
                time.sleep(0.02)


def falls(before, after):
    """Totals that fell, of series that are in both."""
    return [(k, before[k], after[k]) for k in after
            if k[0].endswith("_total") and k in before and after[k] < before[k]]


def churn(e):
    stop, storm = threading.Event(), fork_storm()
    thread = threading.Thread(target=cgroup_churn, args=(stop,)) if V2 else None
    if thread:
        thread.start()
    before, wrong, fell, most = e.samples(), [], [], 0
    for _ in range(100):
        after = e.samples()
        if unexplained(after):
            wrong.append(unexplained(after))
        fell += falls(before, after)
        groups = {labels for name, labels in after if name == "schedwatt_group_cpu_seconds_total"}
        most = max(most, len(groups))
        before = after
        time.sleep(0.1)
    stop.set()
    if thread:
        thread.join()
    for p in storm:
        p.wait()
    equal(wrong, [], "in each of 100 scrapes groups, idle and unattributed energy are the zones, to the nanojoule")
    equal(fell, [], "no total ever falls")
    ok(3 <= most <= 6 + 2, "series are bounded by --max-series, and other and departed", most)
    ok(value(before, "schedwatt_group_joules_total", group="other") > 0, "what has no series is in other")
    if V2:
        gone = e.wait_for(lambda s: not [1 for n, have in s if any(MINE in v for _, v in have)], 20)
        left = [have for n, have in gone if any(MINE in v for _, v in have)]
        equal(left, [], "groups that ended leave")
        ok(value(gone, "schedwatt_group_joules_total", group="departed") > 0, "and what they had has departed")
        equal(unexplained(gone), 0, "which changes no sum")


def power(e):
    """The made-up package has 20 W."""
    a = e.samples()
    time.sleep(4)
    b = e.samples()
    clock = "schedwatt_last_window_timestamp_seconds"
    joules = total(b, "schedwatt_zone_joules_total") - total(a, "schedwatt_zone_joules_total")
    watts = joules / (value(b, clock) - value(a, clock))
    ok(abs(watts - 20) < 1, "the zones' power is the counter's", watts)
    ok(all(("energy_quality", "measured") in have for name, have in b if name.endswith("joules_total")),
       "and every joule is marked as measured")


def lost_source(e):
    counter = f"{SYSFS}/devices/virtual/powercap/intel-rapl/intel-rapl:0/energy_uj"
    os.truncate(counter, 0)  # what the driver of a package that went away gives: nothing
    gone = e.wait_for(lambda s: value(s, "schedwatt_energy_available") == 0)
    equal(value(gone, "schedwatt_energy_available"), 0, "a source that is lost is told of")
    equal([n for n, _ in gone if n.endswith("joules_total")], [], "and no joules stand still as if nothing were used")
    ok(any(n == "schedwatt_group_cpu_seconds_total" for n, _ in gone), "CPU time is still accounted")
    equal(e.ask("/healthz")[0], 200, "it lives on")
    ok(b"without energy" in e.ask("/healthz")[2], "and says so", e.ask("/healthz")[2])


def main():
    ticker = None
    counter = f"{SYSFS}/devices/virtual/powercap/intel-rapl/intel-rapl:0/energy_uj"

    def tick():
        with open(counter, "w") as f:
            f.write("5000000000\n")  # as many digits as it writes
        return subprocess.Popen([os.path.dirname(os.path.abspath(__file__)) + "/ticker.py", f"{counter}=20"])

    try:
        ticker = tick()
        time.sleep(0.3)
        with Exporter("--sysfs", SYSFS, "-i", "100", "--max-series", "6", "--keep", "2") as e:
            e.wait_for(lambda s: value(s, "schedwatt_windows_total") > 3)
            before = e.samples()
            power(e)
            churn(e)
            ticker.kill()
            ticker.wait()
            last = e.samples()
            lost_source(e)
            ticker = tick()
            back = e.wait_for(lambda s: value(s, "schedwatt_energy_available") == 1)
            equal(value(back, "schedwatt_energy_available"), 1, "it is found when it comes back")
            equal(falls(last, back), [], "and no total begins anew")
            equal(falls(before, back), [], "nor is any below what it ever was")
            equal(unexplained(back), 0, "the sums hold")
            equal(e.end(), 0, "SIGTERM ends it")
    finally:
        if ticker:
            ticker.kill()
            ticker.wait()
    done()


main()
