#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How near schedwatt's joules are to the truth, which raplsim knows.

accuracy.py table FILE [ROUNDS]            every workload, policy and back end: a table, and FILE in JSON
accuracy.py check WORKLOAD POLICY MS S [nested]  a recording of S seconds, windows of MS: the rules; 2 % by process
accuracy.py doubt MS                       do the windows of these checks keep what energy_uncertainty_joules says?

Prints why and exits 1 when something is wrong. $SCHEDWATT_BUILD says where schedwatt and raplsim are; checks leave what
they saw of windows in the current directory, for doubt.

Why a process may be off a little where nothing is wrong:
- Time that was lost (unseen switches of virtual machines) takes its share of the energy along.
- The kernel charges a task that wakes from its wakeup on, a program on sched_switch from the switch on: microseconds,
  which are much of what a process had that wakes often and briefly, as raplsim and schedwatt do themselves.
- What the counter has not shown yet at both ends of a recording, a millisecond's energy at most.
- The CPU time of strangers is known to the kernel's tick, and only as far as cgroups tell it.
"""
import json
import statistics
import sys
from decimal import Decimal

sys.dont_write_bytecode = True  # the tree stays as it is
from recording import ZONES, Recording  # noqa: E402

WORKLOADS = ("idle", "hog", "duty", "children", "pinned", "ends", "threads", "mixed")
POLICIES = ("marginal", "busy", "capacity")
BACKENDS = ("ebpf", "cgroup_v2", "cgroup_v1", "proc", "cpu_percent")
TARGETS = ((), ("-p", "%p"), ("-p", "%p", "--scope", "process"))  # the whole host, raplsim's tree, raplsim

WITHIN_PERCENT = 2
LATE_NS = 2_000_000  # raplsim's own lateness around a boundary, for which schedwatt cannot answer
LATE_END_MS = 10  # and at an end of the recording, where it would be a part of every error
EXCUSED_MOST = 0.2
COVERED_LEAST = 0.95
NOT_JUDGED = ("raplsim", "nursery", "schedwatt")  # their time is made of wakeups; see above
SEEN_NS = 200_000  # of a process's time: whoever had so much must have a row
NJ = Decimal("1e-9")


# --- what was attributed, and what is true


def row(r, process, attributed, true):
    error = float((attributed - true) / true * 100) if true else (0.0 if not attributed else None)
    return {"workload": r.workload, "policy": r.policy, "backend": r.backend, "process": process,
            "attributed_joules": float(attributed), "true_joules": float(true), "error_percent": error}


def rows_of(r):
    """A row for each kind of process, for all together, for each zone, and for package and dram together."""
    rows = []
    if r.rows:
        for name in dict.fromkeys(t["name"] for t in r.tasks(own=True)):
            tasks = [t for t in r.tasks(own=True) if t["name"] == name]
            if name == "nursery" and r.workload != "children":
                continue  # it had nothing to do
            shown = {"command": "schedwatt"}.get(name, name) + (" (all)" if len(tasks) > 1 else "")
            rows.append(row(r, shown, sum(map(r.attributed, tasks)), sum(map(r.true_joules, tasks))))
    everybody = sum(r.true_joules(t) for t in r.tasks(own=True) + ([None] if r.host else []))
    rows.append(row(r, "all processes", Decimal(r.summary["proc_attributed_joules"]), everybody))
    for zone in ZONES:
        true = r.trace.zone_joules(zone, r.end_ns) - r.trace.zone_joules(zone, r.start_ns)
        rows.append(row(r, zone, sum(Decimal(s["zone_joules"][zone] or 0) for s in r.samples), true))
    rows.append(row(r, "total", Decimal(r.summary["total_joules"]), r.total_joules()))
    return rows


# --- the rules, to the nanojoule


def rules(r):
    """What is wrong with how the energy of each window was shared out."""
    wrong = []
    for s, _ in r.windows():
        if s["total_joules"] is None:
            continue
        energy, idle, lost = Decimal(s["total_joules"]), s["idle_ns"], s["lost_ns"]
        busy = s["proc_oncpu_ns"] + s["other_oncpu_ns"] + lost
        set_aside = min(energy, r.trace.idle_watts * s["window_ns"] * NJ) if r.policy == "marginal" else Decimal(0)
        weight = busy + (idle if r.policy == "capacity" else 0)
        shared = energy - set_aside

        def is_right(what, got, want, parts=1):
            if abs(Decimal(got) - want) > parts * NJ:
                wrong.append("window %d: %s is %s and not %s" % (s["seq"], what, got, want))

        is_right("idle", s["idle_joules"], shared * idle / weight if r.policy == "capacity" else set_aside)
        is_right("unattributed", s["unattributed_joules"], shared * lost / weight if weight else shared)
        is_right("the sum", sum(Decimal(s[k]) for k in ("proc_attributed_joules", "other_joules", "idle_joules",
                                                        "unattributed_joules")), energy, 0)
        is_right("package and dram", Decimal(s["package_joules"]) + Decimal(s["dram_joules"]), energy, 0)
        pids = {t["pid"] for t in r.tasks(own=True)}
        for p in s["processes"]:
            if p["pid"] in pids:  # of two threads at most
                is_right("pid %d" % p["pid"], p["joules"], shared * p["oncpu_ns"] / weight, 2)
    return wrong


def missing(r):
    """Processes that had time and have no row."""
    return ["%s (pid %d) had %d ns and has no row" % (t["name"], t["pid"], r.cpu_ns(t)) for t in r.tasks()
            if r.cpu_ns(t) > SEEN_NS and t["pid"] not in r.rows]


def spoilt(r):
    """What a busy machine may do to a recording, and another one need not have."""
    wrong = ["window %d has no energy: %s" % (s["seq"], s["window_flags"]) for s in r.samples
             if s["total_joules"] is None]
    late_ms = max(map(r.trace.gap_ns, (r.start_ns, r.end_ns))) // 10**6
    if late_ms >= LATE_END_MS:
        wrong.append("raplsim itself was %d ms late at an end" % late_ms)
    if r.workload == "children" and len(r.tasks()) != 200:
        wrong.append("only %d of 200 children were started in time" % len(r.tasks()))
    return wrong


def windows_of(r):
    """(windows, excused, covered)"""
    excused = covered = 0
    for s, start in r.windows():
        if max(r.trace.gap_ns(start), r.trace.gap_ns(s["t_ns"])) > LATE_NS:
            excused += 1
        elif s["total_joules"] is not None:
            true = r.trace.total_joules(s["t_ns"]) - r.trace.total_joules(start)
            covered += abs(s["total_joules"] - true) <= s["energy_uncertainty_joules"]
    return len(r.samples), excused, covered


# --- the checks of tests/live/truth.sh


def off(r):
    """By how much those rows are off that have to be right: energy always; under marginal each of the workload's.

    Under busy and capacity a process has a part of the window's energy, and with it of the window's doubt, which is
    large where windows are short: there it is the rule that is checked, and the energy.
    """
    wanted = (*ZONES, "total")
    rows = [x for x in rows_of(r) if x["process"] in wanted or r.policy == "marginal"]
    return {x["process"]: x["error_percent"] for x in rows if x["process"] not in (*NOT_JUDGED, "all processes")}


def percent(x):
    return "-" if x["error_percent"] is None else "%+.2f" % x["error_percent"]


def show(r):
    for x in rows_of(r):
        print("%-14s %10.3f J, true %10.3f, %s %%" % (x["process"], x["attributed_joules"], x["true_joules"],
                                                      percent(x)))
    print("lost %d ns, strangers had %d ns" % (r.summary["lost_ns"], r.cpu_ns(None)))


def check(workload, policy, interval_ms, seconds, *shape):
    """The rules always; 2 % at once, or in the median of three: one recording may be spoilt by what else runs here."""
    errors, spoils = {}, []
    for n in range(3):
        r = Recording(workload, policy, int(interval_ms), seconds, nested="nested" in shape)
        with open("windows-" + interval_ms, "a", encoding="ascii") as f:
            print(*windows_of(r), file=f)
        show(r)
        wrong = rules(r) + missing(r)
        if wrong:
            print(*wrong[:10], sep="\n")
            sys.exit(1)
        spoils.append(spoilt(r))
        print(*spoils[-1], sep="\n")
        for name, error in off(r).items():
            errors.setdefault(name, []).append(error)
        good = all(None not in e and abs(statistics.median(e)) <= WITHIN_PERCENT for e in errors.values())
        if good and n != 1 and sum(map(bool, spoils)) <= n // 2:
            return
    sys.exit(1)


def covered(counts):
    n, excused, good = map(sum, zip(*counts))
    print("%d windows, %d excused, %d of %d covered" % (n, excused, good, n - excused))
    return n > excused and excused <= EXCUSED_MOST * n and good >= COVERED_LEAST * (n - excused)


def doubt(interval_ms):
    with open("windows-" + interval_ms, encoding="ascii") as f:
        if covered([tuple(map(int, line.split())) for line in f]):
            return
    # once more, on new windows alone
    seconds = max(2, min(8, 25 * int(interval_ms) // 1000))
    if not covered([windows_of(Recording("duty", "busy", int(interval_ms), seconds))]):
        sys.exit(1)


# --- the table


def find_backends():
    """(name, what it is pointed at) of those that open; why the others do not goes to stderr."""
    found = []
    for backend in BACKENDS:
        why = None
        for target in TARGETS:
            try:
                Recording("idle", "busy", 100, 0.2, backend, target)
            except RuntimeError as e:
                why = why or e
                continue
            found.append((backend, target))
            break
        else:
            print("left out:", backend, "-", str(why).strip().rsplit("\n", 1)[-1], file=sys.stderr)
    return found


def median_rows(recordings):
    """By process, the one recording that lies in the middle."""
    by_name = {}
    for r in recordings:
        for x in rows_of(r):
            by_name.setdefault(x["process"], []).append(x)
    return [sorted(xs, key=lambda x: x["error_percent"] or 0)[len(xs) // 2] for xs in by_name.values()]


def record(rounds, *what):
    """So many recordings that the machine has not spoilt, as far as three more attempts go."""
    good, bad = [], []
    while len(good) < rounds and len(bad) <= 3:
        r = Recording(*what)
        (bad if spoilt(r) else good).append(r)
    if bad:
        print("made anew: %d of %s under %s: %s" % (len(bad), *what[:2], spoilt(bad[0])[0]), file=sys.stderr)
    return good or bad


def table(path, rounds="3"):
    rows, backends = [], find_backends()
    if not backends:
        sys.exit(1)
    print("%-9s %-9s %-12s %-14s %12s %12s %8s" %
          ("workload", "policy", "back end", "process", "attributed J", "true J", "error %"))
    for backend, target in backends:
        for workload in WORKLOADS:
            for policy in POLICIES:
                recordings = record(int(rounds), workload, policy, 200, 4 if workload == "children" else 2.5, backend,
                                    target)
                for x in median_rows(recordings):
                    rows.append(x)
                    if x["process"] in ZONES:
                        continue
                    print("%-9s %-9s %-12s %-14s %12.3f %12.3f %8s" %
                          (x["workload"], x["policy"], x["backend"], x["process"], x["attributed_joules"],
                           x["true_joules"], percent(x)), flush=True)
    print("Medians of %s recordings. raplsim and schedwatt wake often and briefly: the kernel charges a task from its\n"
          "wakeup on, sched_switch from the switch on. mixed: two processes of different watts for a CPU second, which\n"
          "no rule on time can tell apart; under busy and capacity the truth is the rule's own, with the true energy."
          % rounds)
    with open(path, "w", encoding="ascii") as f:
        json.dump(rows, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    {"check": check, "doubt": doubt, "table": table}[sys.argv[1]](*sys.argv[2:])
