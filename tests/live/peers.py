#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Usage: peers.py LIBRARY counters|usage PID
Each counter of a process and its threads against what /proc, ps and psutil say right before and right after it was
read; cpuUsage of a process of one thread against psutil's. TAP.
"""
import os
import subprocess
import sys
import time

import psutil

from binding import BY_PROCESS, BY_THREAD, OF_PROCESS, OF_THREAD, Monitor, all_columns, load

WINDOWS = 8
USAGE_WINDOWS = 12
HZ = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGESIZE")
OURS = {"time", "cpuUsage", "memUsage", "oncpu_ns", "joules", "watts"}
# proc_pid_stat(5), from field 4 on
STAT = """ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime priority nice
num_threads itrealvalue starttime vsize rss rsslim startcode endcode startstack kstkesp kstkeip signal blocked sigignore
sigcatch wchan nswap cnswap exit_signal processor rt_priority policy delayacct_blkio_ticks guest_time cguest_time
start_data end_data start_brk arg_start arg_end env_start env_end exit_code""".split()
STATM = "size resident share trs lrs drs dt".split()
GROWS = {"minflt", "cminflt", "majflt", "cmajflt", "utime", "stime", "cutime", "cstime", "delayacct_blkio_ticks",
         "guest_time", "cguest_time"}
# The kernel counts these in batches on each CPU, and may take pages back at any time.
IN_MEMORY = {"rss", "resident", "share"}
SLACK_PAGES = 64 * os.cpu_count()
# Another moment, another answer, unless the task sleeps.
OF_THE_MOMENT = {"state", "processor", "wchan", "flags", "kstkesp", "kstkeip"}
done = 0
failed = 0


def ok(true, what, why=""):
    global done, failed
    done += 1
    failed += not true
    print(f"{'ok' if true else 'not ok'} {done} - {what}" + (f"\n# {why}" if not true and str(why) else ""))


# --- the peers: {(task, column): value}, in the columns' own units unless VIEWS says otherwise


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def of_stat(task, path):
    text = read(path + "/stat")
    fields = text[text.rindex(")") + 2:].split()
    told = dict(zip(STAT, map(int, fields[1:])))
    told.update(pid=int(text.split()[0]), comm=text[text.index("(") + 1:text.rindex(")")], state=fields[0])
    return {(task, name): value for name, value in told.items()}


def of_proc(pid):
    told = of_stat(pid, f"/proc/{pid}")
    told.update(((pid, name), int(v)) for name, v in zip(STATM, read(f"/proc/{pid}/statm").split()))
    for tid in map(int, os.listdir(f"/proc/{pid}/task")):
        told.update(of_stat((pid, tid), f"/proc/{pid}/task/{tid}"))
        told[(pid, tid), "tid"] = told.pop(((pid, tid), "pid"))
        told[(pid, tid), "pid"] = pid
    return told


PS = {"s": "state", "ppid": "ppid", "pgrp": "pgrp", "sess": "session", "tpgid": "tpgid", "min_flt": "minflt",
      "maj_flt": "majflt", "priority": "priority", "ni": "nice", "nlwp": "num_threads", "vsz": "vsize", "rss": "rss",
      "blocked": "blocked", "ignored": "sigignore", "caught": "sigcatch", "psr": "processor", "rtprio": "rt_priority",
      "cls": "policy", "cputimes": "cpu", "stackp": "startstack", "comm": "comm"}
HEX = {"blocked", "ignored", "caught", "stackp"}
TEXT = {"s", "cls", "comm"}


SUMS = {"cputimes", "min_flt", "maj_flt"}  # in the line of a leader, ps shows its process's


def of_ps(pid):
    """A line for each thread, and one for the process."""
    form = ",".join(f"{word}=" for word in PS)
    told = {}
    for arguments, key in ((["-L"], "tid"), ([], "pid")):
        command = ["ps", *arguments, "-p", str(pid), "-o", "lwp=," + form]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        for line in lines:
            tid, *values = line.split(None, len(PS))
            task = (pid, int(tid)) if key == "tid" else pid
            for word, value in zip(PS, values):
                if word in SUMS and task == (pid, pid):
                    continue
                if value == "-" and word == "rtprio":
                    value = "0"
                told[task, PS[word]] = value if word in TEXT else int(value, 16 if word in HEX else 10)
    return told


def of_psutil(pid):
    p = psutil.Process(pid)
    times, memory = p.cpu_times(), p.memory_info()
    told = {
        "pid": p.pid, "comm": p.name(), "ppid": p.ppid(), "nice": p.nice(), "num_threads": p.num_threads(),
        "processor": p.cpu_num(), "utime": round(times.user * HZ), "stime": round(times.system * HZ),
        "cutime": round(times.children_user * HZ), "cstime": round(times.children_system * HZ),
        "delayacct_blkio_ticks": round(times.iowait * HZ), "vsize": memory.vms, "rss": memory.rss // PAGE,
        "resident": memory.rss // PAGE, "share": memory.shared // PAGE, "trs": memory.text // PAGE,
        "drs": memory.data // PAGE, "size": memory.vms // PAGE, "rsslim": p.rlimit(psutil.RLIMIT_RSS)[0],
        "starttime": round((p.create_time() - psutil.boot_time()) * HZ),
        "memUsage": memory.vms / psutil.virtual_memory().total,
        "state": p.status(),
    }
    told = {(pid, name): value for name, value in told.items()}
    for thread in p.threads():
        told[(pid, thread.id), "tid"] = thread.id
        if ")" in read(f"/proc/{pid}/task/{thread.id}/comm"):  # psutil takes it for the end of the name
            continue
        told[(pid, thread.id), "utime"] = round(thread.user_time * HZ)
        told[(pid, thread.id), "stime"] = round(thread.system_time * HZ)
    return told


PEERS = {"/proc": of_proc, "ps": of_ps, "psutil": of_psutil}
CLASSES = {0: "TS", 1: "FF", 2: "RR", 3: "B", 5: "IDL"}
LOW_SIGNALS = 2**31 - 1  # stat shows no others


def as_peer(peer, name, row):
    """Our value as that peer writes it, and how far both may be apart for that."""
    value = row.get(name)
    if peer == "ps":
        if name == "policy":
            return CLASSES[value]
        if name == "cpu":
            return (row["utime"] + row["stime"]) // HZ
        return value // 1024 if name == "vsize" else value * PAGE // 1024 if name == "rss" else value
    if peer == "psutil" and name == "state":
        return {"R": "running", "S": "sleeping", "D": "disk-sleep"}[value]
    return value


def from_peer(peer, name, value):
    return value & LOW_SIGNALS if peer == "ps" and name in {"blocked", "sigignore", "sigcatch"} else value


# --- comparing


class Findings:
    """By peer and column: how many comparisons, and those that were wrong."""

    def __init__(self):
        self.compared, self.wrong = {}, {}

    def add(self, peer, kind, name, true, why):
        key = (peer, kind, name)
        self.compared[key] = self.compared.get(key, 0) + 1
        if not true:
            self.wrong.setdefault(key, []).append(why)


def slept(before, after, task):
    """Nothing of the kind that has another answer at each moment has moved."""
    same = all(before.get((task, n)) == after.get((task, n)) for n in ("utime", "stime", "state", "processor"))
    return same and before.get((task, "state")) == "S" and before.get((task, "comm")) in {"sleeps", "leads) S 1 (x"}


def fits(name, value, low, high, sleeps, unit):
    if isinstance(value, str) or name in OF_THE_MOMENT:
        return value in (low, high) if sleeps or name not in OF_THE_MOMENT else True
    if name in IN_MEMORY:
        slack = SLACK_PAGES * unit
        return min(low, high) - slack <= value <= max(low, high) + slack
    if name in GROWS or name == "cpu":
        return low <= value <= high
    if name == "starttime":
        return abs(value - low) <= unit
    return value == low == high or (low != high and min(low, high) <= value <= max(low, high))


def compare(found, peer, before, after, rows):
    """Whatever the peer says of a task of which we have a row."""
    units = {("ps", "rss"): PAGE // 1024, ("psutil", "starttime"): HZ}  # psutil knows the boot to the second
    for (task, name), low in before["told"][peer].items():
        row = rows.get(task)
        if row is None or (task, name) not in after["told"][peer]:
            continue
        high = from_peer(peer, name, after["told"][peer][task, name])
        low = from_peer(peer, name, low)
        value = as_peer(peer, name, row)
        sleeps = slept(before["told"]["/proc"], after["told"]["/proc"], task)
        unit = units.get((peer, name), 0 if name == "starttime" else 1)
        kind = "thread" if isinstance(task, tuple) else "process"
        found.add(peer, kind, name, value is not None and fits(name, value, low, high, sleeps, unit),
                  f"{task}: {value} is not from {low} to {high}")


def look(pid):
    return {"time_us": time.time_ns() // 1000, "told": {peer: ask(pid) for peer, ask in PEERS.items()}}


def as_rows(data, pid):
    """{task: {column: value}} of one window."""
    rows = {}
    for table in (data.processes, data.threads):
        for i in range(table.n):
            row = {name: table.value(i, name) for name in table.names}
            rows[(pid, row["tid"]) if table is data.threads else pid] = row
    return rows


def names_of(library, kind):
    return [c.name.decode() for c in all_columns(library) if c.kinds & kind]


def open_monitor(library, pid, **options):
    m = Monitor(library, [pid], names_of(library, OF_PROCESS), names_of(library, OF_THREAD), scope=1,
                by=BY_PROCESS | BY_THREAD, **options)
    m.call("collect_start")
    m.call("begin")
    return m


def check_time(found, last_us, after, rows):
    """Windows end one after the other, and before their counters are read."""
    for task, row in rows.items():
        kind = "thread" if isinstance(task, tuple) else "process"
        found.add("the clock", kind, "time", last_us < row["time"] <= after["time_us"],
                  f"{row['time']} is not from {last_us} to {after['time_us']}")


def counters(library, pid):
    last_us = time.time_ns() // 1000
    m = open_monitor(library, pid, interval_ms=400)
    found = Findings()
    rows = {}
    for _ in range(WINDOWS):
        while True:
            m.wait()
            before = look(pid)
            if m.step():
                after = look(pid)
                break
        data = m.get_data()
        rows = as_rows(data, pid)
        check_time(found, last_us, after, rows)
        last_us = rows[pid]["time"]
        for peer in PEERS:
            compare(found, peer, before, after, rows)
        data.free()
    m.close()
    for (peer, kind, name), n in sorted(found.compared.items()):
        wrong = found.wrong.get((peer, kind, name), [])
        ok(not wrong, f"{name} of the {kind}, by {peer}", wrong[:1])
    tell(library, found, rows, pid)


def tell(library, found, rows, pid):
    """Nothing was left out, and there was something to tell."""
    for kind, mask in (("process", OF_PROCESS), ("thread", OF_THREAD)):
        wanted = set(names_of(library, mask)) - OURS - ({"tid"} if kind == "process" else set())
        held = {name for peer, k, name in found.compared if k == kind and peer == "/proc"}
        ok(wanted <= held, f"every column of a {kind} was held against /proc", wanted - held)
    ok(set(rows) == {pid} | {(pid, int(t)) for t in os.listdir(f"/proc/{pid}/task")}, "a row for each thread",
       set(rows))
    ok(all(n >= WINDOWS for n in found.compared.values()), "in each window", found.compared)
    row = rows[pid]
    empty = [name for name in ("cutime", "cstime", "cminflt", "minflt", "utime", "stime", "nice", "signal", "blocked",
                               "sigignore", "sigcatch") if not row[name]]
    ok(not empty, "the target gives numbers other than 0", empty)
    names = {r["comm"] for task, r in rows.items() if isinstance(task, tuple)}
    ok(names == {"leads) S 1 (x", "burns", "calls", "faults) 1 (", "sleeps"}, "names with what could end one", names)
    batch = [r["policy"] for r in rows.values() if r["comm"] == "sleeps"]
    ok(batch == [3], "a thread has its own policy", batch)
    ok(all(isinstance(row[n], (int, float)) for n in ("cpuUsage", "memUsage", "oncpu_ns")), "what is ours is there",
       {n: row[n] for n in OURS})


def usage(library, pid):
    """Means over the same seconds: a tick and a late read weigh little in them."""
    m = open_monitor(library, pid, interval_ms=500)
    peer = psutil.Process(pid)
    weighted = total_us = 0
    last_us = None
    theirs = 0.0
    for i in range(USAGE_WINDOWS + 1):
        m.wait()
        while not m.step():
            m.wait()
        if i in (0, USAGE_WINDOWS):
            theirs = peer.cpu_percent(None)
        data = m.get_data()
        row = as_rows(data, pid)[pid]
        data.free()
        if last_us is None:
            ok(row["cpuUsage"] is None, "the first row has no cpuUsage", row["cpuUsage"])
        else:
            weighted += row["cpuUsage"] * (row["time"] - last_us)
            total_us += row["time"] - last_us
        last_us = row["time"]
    m.close()
    ours = weighted / total_us
    print(f"# cpuUsage {ours:.2f}, psutil's {theirs:.2f}")
    ok(abs(ours - theirs) <= 2, "cpuUsage is within 2 points of psutil's", f"{ours:.2f} against {theirs:.2f}")
    ok(theirs > 5, "of a process that had something to do", theirs)


def main():
    library, what, pid = load(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    {"counters": counters, "usage": usage}[what](library, pid)
    print(f"1..{done}")
    sys.exit(failed > 0)


main()
