#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Usage: ffi.py LIBRARY PID
The library as numpy sees it: columns of a process and its threads in arrays that lie over its own memory. TAP.
"""
import errno
import os
import sys
import threading

import numpy

from binding import BY_PROCESS, BY_THREAD, CALLBACK, F64, I64, TEXT, U64, Failed, Monitor, load

PROCESS_COLUMNS = ["time", "pid", "comm", "state", "num_threads", "utime", "stime", "minflt", "vsize", "rsslim",
                   "cpuUsage", "memUsage", "oncpu_ns", "joules"]
THREAD_COLUMNS = ["time", "tid", "comm", "utime", "cpuUsage", "oncpu_ns"]
TYPES = {I64: numpy.int64, U64: numpy.uint64, F64: numpy.float64}
INTERVAL_MS = 100
done = 0
failed = 0


def ok(true, what, why=""):
    global done, failed
    done += 1
    failed += not true
    print(f"{'ok' if true else 'not ok'} {done} - {what}" + (f"\n# {why}" if not true and str(why) else ""))


def refused(code, words, what, call):
    try:
        call()
    except Failed as e:
        ok(e.code == -code and words in str(e), what, e)
    else:
        ok(False, what, "it was taken")


def views(table, kind):
    """Every column is a view of its type over the library's memory, and says which values are there."""
    for name, column in table.columns.items():
        values, present = table.views[name]
        wanted = numpy.dtype(f"S{column.value_bytes}") if column.type == TEXT else numpy.dtype(TYPES[column.type])
        same = (values.dtype == wanted and len(values) == len(present) == table.n and
                values.ctypes.data == column.values and present.ctypes.data == column.present and
                not values.flags.owndata and not present.flags.owndata)
        absent = ~present
        empty = (values[absent] == (b"" if column.type == TEXT else 0)).all()
        ok(same and empty and set(present.view(numpy.uint8)) <= {0, 1}, f"{kind}: a view of {name}",
           f"{values.dtype}, wanted {wanted}")


def follows(table, rows, what):
    """One task's rows: in order of time, and what only grows does not fall."""
    times = table["t_ns"][rows].astype(numpy.int64)
    ok(len(times) > 1 and (numpy.diff(times) > 0).all(), f"{what}: rows are in order of time", times)
    utime = table["utime"][rows][table.present("utime")[rows]].astype(numpy.int64)
    ok(len(utime) > 1 and (numpy.diff(utime) >= 0).all(), f"{what}: its time grows", utime)


def usage(table, rows, what):
    """cpuUsage by its formula, from the other columns."""
    ticks = (table["utime"][rows] + table["stime"][rows]).astype(numpy.float64)
    seconds = numpy.diff(table["t_ns"][rows].astype(numpy.int64)) / 1e9
    by_formula = 100 * numpy.diff(ticks) / os.sysconf("SC_CLK_TCK") / seconds
    told, there = table["cpuUsage"][rows], table.present("cpuUsage")[rows]
    ok(not there[0] and there[1:].all(), f"{what}: cpuUsage is absent in the first row only", there)
    ok(numpy.allclose(told[1:], by_formula, rtol=1e-9) and by_formula.any(), f"{what}: cpuUsage is what its formula says",
       (told, by_formula))


def threads(table, pid):
    tids = {int(t) for t in os.listdir(f"/proc/{pid}/task")}
    ok(set(table["tid"].tolist()) == tids, "a row for each thread", (set(table["tid"].tolist()), tids))
    ok((table["pid"] == pid).all(), "all of this process")
    names = {}
    for tid in sorted(tids):
        rows = numpy.flatnonzero(table["tid"] == tid)
        names[tid] = table["comm"][rows[-1]].decode()
        follows(table, rows, f"thread {names[tid]}")
    by_proc = {}
    for tid in tids:
        with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as f:
            by_proc[tid] = f.read().rstrip("\n")
    ok(names == by_proc, "names by tid", (names, by_proc))


def main():
    library, pid = load(sys.argv[1]), int(sys.argv[2])
    called = []
    enough = threading.Event()

    def on_window(handle, data, ctx):
        rows = data.contents.processes
        called.append((handle, rows.n_rows, ctx))
        if len(called) >= 5:
            enough.set()

    kept = CALLBACK(on_window)  # as long as it may be called
    options = {"scope": 1, "by": BY_PROCESS | BY_THREAD, "interval_ms": INTERVAL_MS}
    refused(errno.EINVAL, "'utme'", "a column that there is not", lambda: Monitor(library, [pid], ["utme"]))
    refused(errno.EINVAL, "'resident'", "a column that threads lack",
            lambda: Monitor(library, [pid], [], ["resident"], **options))
    m = Monitor(library, [pid], PROCESS_COLUMNS, THREAD_COLUMNS, **options)
    refused(errno.ENODATA, "collect_start", "data that nobody collected", m.get_data)
    m.call("set_callback", kept, 7)
    m.call("collect_start")
    m.call("start")
    refused(errno.EALREADY, "already", "a second start", lambda: m.call("start"))
    ok(enough.wait(60), "it calls back")
    first = m.get_data()
    ok(m.get_data().processes.n <= 2, "what was taken does not come again")
    m.call("clear_callback")
    ok(all(c[0] == m.handle.value and c[1] == 1 and c[2] == 7 for c in called), "with the monitor, a row, and its own",
       called)
    summary = m.stop()
    ok(summary.samples >= 5 and summary.proc_oncpu_ns > 0 and summary.duration_ns >= summary.samples * 10**6,
       "a summary", (summary.samples, summary.proc_oncpu_ns))
    parts = summary.proc_oncpu_ns + summary.other_oncpu_ns + summary.idle_ns + summary.offline_ns + summary.lost_ns
    ok(parts % summary.duration_ns == 0 and 0 < parts // summary.duration_ns <= os.cpu_count(),
       "its times are those of all CPUs", (parts, summary.duration_ns))
    refused(errno.ESHUTDOWN, "over", "a start after the end", lambda: m.call("start"))
    m.close()

    p = first.processes
    ok(p.names[:len(PROCESS_COLUMNS)] == PROCESS_COLUMNS, "the columns asked for, in their order", p.names)
    ok(p.names[len(PROCESS_COLUMNS):] == ["t_ns", "starttime"], "then what tells rows apart", p.names)
    ok(p.n >= 5 and p.dropped == 0 and p.denied == 0, "rows since the start, none dropped", (p.n, p.dropped, p.denied))
    views(p, "processes")
    views(first.threads, "threads")
    ok((p["pid"] == pid).all() and p.present("pid").all(), "the rows are of this process")
    everything = numpy.arange(p.n)
    follows(p, everything, "the process")
    usage(p, everything, "the process")
    ok((p["rsslim"] == 2**40).all(), "a number beyond 32 bits")
    ok((p["vsize"] > 0).all() and (p["memUsage"] == p["vsize"] / memory_total()).all(), "memUsage is vsize / MemTotal")
    threads(first.threads, pid)
    first.free()
    print(f"1..{done}")
    sys.exit(failed > 0)


def memory_total():
    with open("/proc/meminfo", encoding="ascii") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemTotal:"))


main()
