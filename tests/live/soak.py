# SPDX-License-Identifier: BSD-2-Clause
"""Usage: soak.py CGROUP2 MINUTES

The exporter at windows of a second: first on a host that is left alone, then with 1,000 groups that stay, while
processes and groups come and go, clients are slow and users are read again. At the end nothing may have grown. TAP;
times are told and not judged. As root; the directory is the test's own.
"""
import base64
import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

from exporter import Exporter, done, equal, ok, total, unexplained, value

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTER = "laptop/devices/virtual/powercap/intel-rapl/intel-rapl:0/energy_uj"
V2, SECONDS = sys.argv[1], 60 * int(sys.argv[2])
MINE = f"{V2}/schedwatt-soak-{os.getpid()}"
STANDING = 1000
SETTLE_S = 20 if SECONDS <= 60 else 60  # caches fill, threads get their stacks and arenas
SLACK_KIB = 512 if SECONDS <= 60 else 128  # what settles later than that
QUIET_S = 10 if SECONDS <= 60 else 30
KEEP_S = 3  # shorter than what settles: groups leave all the time
SLOW_CLIENTS = 60
USER = "  %s: $2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW\n"  # U*U
AUTHORIZATION = "Basic " + base64.b64encode(b"ann:U*U").decode()


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def remove_cgroup(path):
    """As soon as the last that was in it is gone for the kernel, too."""
    for _ in range(500):
        try:
            os.rmdir(path)
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)


class Service(Exporter):
    """Of which ann asks."""
    def ask(self, path="/metrics", method="GET", timeout=10, **headers):
        return super().ask(path, method, timeout, Authorization=AUTHORIZATION, **headers)

    def memory_kib(self):
        return int(self.status()["VmRSS"].split()[0])


# --- what goes on

def visit(cgroup):
    """A process that has a little time in there. Its exit status."""
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1]
    try:
        write(cgroup + "/cgroup.procs", "0")
        time.sleep(0.001)  # the move takes effect at a switch
        until = time.process_time() + 0.0002
        while time.process_time() < until:
            pass
        os._exit(0)
    finally:
        os._exit(1)


def processes(stop):
    while not stop.wait(0.02):
        subprocess.run(["sh", "-c", "/bin/true & /bin/true; wait"], check=True)


def groups(stop):
    """Groups with names that never were before."""
    n = 0
    while not stop.wait(0.05):
        path = f"{MINE}/passing-{n}"
        n += 1
        os.mkdir(path)
        status = visit(path)
        remove_cgroup(path)
        if status:
            raise RuntimeError("a process could not enter its cgroup")


def clients(stop, address):
    """Some say nothing, some half of it, some leave without an answer; the server gives up the others."""
    host, port = address.rsplit(":", 1)
    held, n = [], 0
    while not stop.wait(0.1):
        s = socket.create_connection((host, int(port)), 10)
        held.append(s)
        n += 1
        try:
            if n % 3:
                s.send(b"GET /metrics HTTP/1.1\r\n" + (b"Host: a\r\n\r\n" if n % 3 == 2 else b""))
        except OSError:
            pass  # it was given up
        if len(held) > SLOW_CLIENTS:
            held.pop(0).close()
    for s in held:
        s.close()


def users(stop, process):
    n = 0
    while not stop.wait(1):
        n += 1
        write("web.new", "basic_auth_users:\n" + USER % "ann" + (USER % f"guest{n}"))
        os.rename("web.new", "web.yml")
        process.send_signal(signal.SIGHUP)


class Trouble:
    """All of it in threads of its own. What fails there fails here."""
    def __init__(self, *work):
        self.stop, self.wrong = threading.Event(), []
        self.threads = [threading.Thread(target=self.run, args=w) for w in work]
        for t in self.threads:
            t.start()

    def run(self, work, *args):
        try:
            work(self.stop, *args)
        except Exception as e:
            self.wrong.append(f"{work.__name__}: {e!r}")

    def end(self):
        self.stop.set()
        for t in self.threads:
            t.join()


# --- what is seen of it

def used(samples):
    return value(samples, "schedwatt_slots", state="used")


def own_cpu_percent(e, seconds):
    before, began = e.samples(), time.monotonic()
    time.sleep(seconds)
    after = e.samples()
    spent = value(after, "process_cpu_seconds_total") - value(before, "process_cpu_seconds_total")
    return float(spent) * 100 / (time.monotonic() - began)


def threads_of_host():
    n = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            n += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            pass
    return n


def scrape_times_ms(e, n):
    times = []
    for _ in range(n):
        began = time.monotonic()
        body = e.ask()[2]
        times.append((time.monotonic() - began) * 1e3)
    return times, len(body)


class Record:
    """A look a second."""
    def __init__(self):
        self.memory_kib, self.fds, self.slots, self.wrong, self.fell = [], [], [], [], []
        self.last = {}

    def look(self, e):
        samples = e.samples()
        self.memory_kib.append(e.memory_kib())
        self.fds.append(e.fds())
        self.slots.append(int(used(samples)))
        if unexplained(samples):
            self.wrong.append(unexplained(samples))
        self.fell += [(k, self.last[k], v) for k, v in samples.items()
                      if k[0].endswith("_total") and "passing-" not in str(k[1]) and v < self.last.get(k, v)]
        self.last = samples


def watch(e, trouble, seconds):
    record, began = Record(), time.monotonic()
    settled = None
    while time.monotonic() - began < seconds and not trouble.wrong:
        record.look(e)
        if settled is None and time.monotonic() - began >= SETTLE_S:
            settled = len(record.memory_kib)
        time.sleep(1)
    return record, settled


def judge_memory(record, settled):
    """The middle of the last third against that of the first: a leak is in all looks, what is held for a while in few."""
    kib = record.memory_kib[settled:]
    third = len(kib) // 3
    first, last = statistics.median(kib[:third]), statistics.median(kib[-third:])
    ok(last <= first * 1.02 + SLACK_KIB, "resident memory is flat", record.memory_kib)
    print(f"# resident memory: {first / 1024:.2f} MiB once settled, {last / 1024:.2f} MiB at the end, "
          f"at most {max(record.memory_kib) / 1024:.2f} MiB")


def report_scrapes(e):
    standing = value(e.samples(), "schedwatt_group_series")
    times, size = scrape_times_ms(e, 50)
    before = value(e.samples(), "process_cpu_seconds_total")
    scrape_times_ms(e, 50)
    spent = value(e.samples(), "process_cpu_seconds_total") - before
    print(f"# a scrape of {standing} series, {size // 1024} KiB: {statistics.median(times):.2f} ms in the middle, "
          f"{min(times):.2f} to {max(times):.2f} ms; {float(spent) * 1e3 / 51:.2f} ms of CPU time")


def soak(e):
    print(f"# own CPU at windows of 1 s, host left alone: {own_cpu_percent(e, QUIET_S):.3f} % of a core "
          f"(load average {os.getloadavg()[0]:.1f} of others)")
    fds = e.fds()
    status = 0
    for i in range(STANDING):
        path = f"{MINE}/standing-{i}"
        os.mkdir(path)
        status |= visit(path)
    equal(status, 0, f"processes were in {STANDING} cgroups")
    full = e.wait_for(lambda s: value(s, "schedwatt_group_series") >= STANDING)
    equal(value(full, "schedwatt_group_series"), STANDING, "each of them, or one that was larger, has series")
    print(f"# and with {STANDING} series: {own_cpu_percent(e, QUIET_S):.3f} %")
    tasks = threads_of_host()
    slots = used(e.samples())
    trouble = Trouble((processes,), (groups,), (clients, e.address), (users, e.process))
    try:
        record, settled = watch(e, trouble, SECONDS)
    finally:
        trouble.end()
    equal(trouble.wrong, [], "churn, turnover, slow clients and SIGHUP went on all the time")
    judge_memory(record, settled)
    equal(record.wrong, [], f"the sums hold in each of {len(record.fds)} scrapes")
    equal(record.fell, [], "and no total falls")
    departed = value(record.last, "schedwatt_groups_departed_total")
    ok(departed > SECONDS, "groups have turned over", departed)
    ok(e.said().count("are in force") > SECONDS // 2, "users were read again", e.said()[-300:])
    until = time.monotonic() + 30
    while e.fds() > fds and time.monotonic() < until:
        time.sleep(0.5)
    ok(max(record.fds) <= fds + 2 * SLOW_CLIENTS, "descriptors are bounded", max(record.fds))
    ok(e.fds() <= fds, "and come back", (fds, e.fds()))
    allowed = slots + max(0, threads_of_host() - tasks) + 100  # others start things, too
    left = e.wait_for(lambda s: used(s) <= allowed)
    ok(used(left) <= allowed, "slots of the dead come back", (slots, used(left), allowed))
    print(f"# slots: {slots} before, at most {max(record.slots)}, {used(left)} after; "
          f"{departed} groups departed; {e.said().count('are in force')} times users were read")
    report_scrapes(e)
    equal(e.ask("/healthz")[2], b"ok\n", "it is well")


def main():
    write(COUNTER, "5000000000\n")
    write("web.yml", "basic_auth_users:\n" + USER % "ann")
    ticker = subprocess.Popen([HERE + "/ticker.py", f"{COUNTER}=20"])
    os.mkdir(MINE)
    try:
        with Service("--sysfs", "laptop", "-i", "1000", "--keep", str(KEEP_S), "--web.config.file",
                     os.path.abspath("web.yml")) as e:
            e.wait_for(lambda s: value(s, "schedwatt_windows_total") > 1)
            soak(e)
            equal(e.end(), 0, "SIGTERM ends it")
    finally:
        ticker.kill()
        ticker.wait()
        for name in os.listdir(MINE):
            if os.path.isdir(f"{MINE}/{name}"):
                remove_cgroup(f"{MINE}/{name}")
        remove_cgroup(MINE)
    done()


main()
