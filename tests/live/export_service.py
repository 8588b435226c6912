# SPDX-License-Identifier: BSD-2-Clause
"""The exporter as a service: what it keeps of its privileges, what it tells its manager, and that all it needs is still
there under the restrictions of tools/deploy/schedwatt.service. TAP; as root."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from exporter import Exporter, done, equal, ok, total, unexplained, value

HERE = os.path.dirname(os.path.abspath(__file__))
UNIT = HERE + "/../../tools/deploy/schedwatt.service"
COUNTER = "laptop/devices/virtual/powercap/intel-rapl/intel-rapl:0/energy_uj"
V2 = sys.argv[1] if len(sys.argv) > 1 else ""
ID = "4c01db0b339c" + "0123456789abcdef" * 3 + "4242"
CAP_DAC_READ_SEARCH, CAP_PERFMON, CAP_BPF = 1 << 2, 1 << 38, 1 << 39


def settings():
    """Of the unit, by name; one that is given twice has its last value."""
    with open(UNIT) as lines:
        return dict(line.rstrip("\n").split("=", 1) for line in lines if re.match(r"[A-Z]\w+=", line))


def as_service(unit):
    """What systemd would do, as far as it can be done without it."""
    capabilities = ",".join("+" + c.removeprefix("CAP_").lower() for c in unit["AmbientCapabilities"].split())
    drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps", "-all," + capabilities,
            "--ambient-caps", "-all," + capabilities, "--bounding-set", "-all," + capabilities]
    if unit["NoNewPrivileges"] == "yes":
        drop.append("--no-new-privs")
    return ["unshare", "-m", "sh", "-c", 'mount -o remount,bind,ro / && mount -o remount,bind,ro /sys && exec "$@"', "sh",
            *drop]


def listen():
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind("manager")
    os.chmod("manager", 0o666)
    manager.settimeout(5)
    return manager


def hear(manager, wanted, seconds=10):
    until, heard = time.monotonic() + seconds, []
    while time.monotonic() < until:
        try:
            heard.append(manager.recv(4096).decode())
        except TimeoutError:
            continue
        if heard[-1] == wanted:
            return True
    return False


def container():
    """A busy process in a cgroup as docker names them."""
    path = f"{V2}/docker-{ID}.scope"
    os.mkdir(path)
    return path, subprocess.Popen(["sh", "-c", 'echo $$ >"$1/cgroup.procs"; while :; do :; done', "sh", path])


def privileges(e, bound):
    status = e.status()
    equal([int(status[c], 16) for c in ("CapPrm", "CapEff", "CapInh", "CapAmb")],
          [CAP_DAC_READ_SEARCH, CAP_DAC_READ_SEARCH, 0, 0], "of all capabilities it keeps the one to read counters")
    equal(int(status["CapBnd"], 16) & ~bound, 0, "and can gain no other than it was started with")
    equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "no program can give it more, and calls are filtered")
    for thread in os.listdir(f"/proc/{e.process.pid}/task"):
        with open(f"/proc/{e.process.pid}/task/{thread}/status") as lines:
            equal(re.search(r"Seccomp:\t(\d)", lines.read())[1], "2", "in every thread")
    ok("capabilities kept: cap_dac_read_search" in e.said(), "which it says", e.said())


def main():
    unit, path, busy = settings(), None, None
    with open(COUNTER, "w") as f:
        f.write("5000000000\n")
    os.chmod(COUNTER, 0o400)
    ticker = subprocess.Popen([HERE + "/ticker.py", f"{COUNTER}=20"])
    try:
        with Exporter("--sysfs", "laptop", "-i", "200") as e:
            privileges(e, CAP_DAC_READ_SEARCH)
            equal(e.end(), 0, "it ends when asked")
        if V2:
            path, busy = container()
        manager = listen()
        with Exporter("--sysfs", "laptop", "-i", "200", wrap=as_service(unit),
                      env={"NOTIFY_SOCKET": os.path.abspath("manager"), "WATCHDOG_USEC": "1000000"}) as e:
            ok(hear(manager, "READY=1"), "the manager hears when it is ready")
            ok(hear(manager, "WATCHDOG=1") and hear(manager, "WATCHDOG=1"), "and again and again that it lives")
            samples = e.wait_for(lambda s: value(s, "schedwatt_windows_total") > 5)
            ok(any(name == "schedwatt_source_info" and ("backend", "ebpf") in have and ("source", "powercap") in have
                   for name, have in samples), "under the unit's restrictions BPF accounts, and the counter is read",
               e.said())
            ok(total(samples, "schedwatt_zone_joules_total", energy_quality="measured") > 0, "energy is there")
            if V2:
                ok(total(samples, "schedwatt_group_joules_total", container_id=f"docker://{ID}") > 0,
                   "and labels", [have for name, have in samples if name == "schedwatt_group_joules_total"])
            equal(unexplained(samples), 0, "the sums hold")
            privileges(e, CAP_DAC_READ_SEARCH | CAP_PERFMON | CAP_BPF)  # to drop bounds takes one more
            equal(e.status()["Uid"].split()[0], "65534", "as a user of its own")
            e.process.send_signal(signal.SIGTERM)
            ok(hear(manager, "STOPPING=1"), "the manager hears when it ends")
            equal(e.end(), 0, "with status 0")
    finally:
        ticker.kill()
        ticker.wait()
        if busy:
            busy.kill()
            busy.wait()
            os.rmdir(path)
    analyze = shutil.which("systemd-analyze")
    if analyze:
        said = subprocess.run([analyze, "security", "--offline=yes", "--no-pager", UNIT], capture_output=True, text=True)
        level = re.search(r"exposure level for schedwatt.service: ([0-9.]+)", said.stdout)
        ok(level and float(level[1]) <= 3.0, "systemd calls it little exposed, 3.0 or less", said.stdout[-300:] + said.stderr)
    done()


main()
