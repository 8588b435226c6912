#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sums over schedwatt's records, exact: integers and Decimal only. Prints why and exits 1 when something is wrong."""
import json
import re
import sys
from decimal import Decimal


def read(path):
    with open(path, "rb") as f:
        return [json.loads(line.decode("utf-8"), parse_float=Decimal) for line in f]


def want(condition, *why):
    if not condition:
        print(*why)
        sys.exit(1)


def of_type(records, kind):
    return [r for r in records if r["type"] == kind]


GROUPINGS = ("processes", "threads", "cgroups", "comms")


def check_times(r, where):
    """Every grouping that a sample has holds all of the target's time; so does the subtree of the root cgroup."""
    want(any(kind in r for kind in GROUPINGS), where, "no rows of any kind")
    for kind in GROUPINGS:
        if kind in r:
            had = sum(row["oncpu_ns"] for row in r[kind])
            want(had == r["proc_oncpu_ns"], where, kind, "have", had, "of", r["proc_oncpu_ns"])
    for row in r.get("cgroups", ()):
        below = [c for c in r["cgroups"] if c is row or (c["path"] or "").startswith(row["path"].rstrip("/") + "/")]
        want(row["subtree_oncpu_ns"] == sum(c["oncpu_ns"] for c in below), where, "subtree of", row)


def check_joules(r, where):
    parts = [r[k] for k in ("proc_attributed_joules", "other_joules", "idle_joules", "unattributed_joules")]
    if r["total_joules"] is None:
        want(parts == [None] * 4, where, "parts of nothing", parts)
        return
    want(sum(map(Decimal, parts)) == r["total_joules"], where, "joules do not add up:", parts, r["total_joules"])
    want(all(p >= 0 for p in parts), where, "a part is negative", parts)
    if r["type"] == "sample":
        for kind in GROUPINGS:
            rows = r.get(kind, ())
            named = sum(Decimal(row["joules"]) for row in rows if row["joules"] is not None)
            want(kind not in r or named == r["proc_attributed_joules"], where, kind, "have", named, "of",
                 r["proc_attributed_joules"])
        pools = Decimal(r["package_joules"] or 0) + Decimal(r["dram_joules"] or 0)
        if r["energy_source"] == "powercap":
            want(pools == r["total_joules"], where, "package and dram", pools, "of", r["total_joules"])


def sums(path, least):
    """header, samples, summary; cpus × window in every sample; joules; the summary is the samples' sum."""
    records = read(path)
    header, samples, summary = records[0], of_type(records, "sample"), records[-1]
    want(header["type"] == "header" and header["schema"] == "schedwatt/1", "no header")
    want(summary["type"] == "summary", "no summary")
    want(len(samples) >= int(least), "only", len(samples), "samples")
    want([s["seq"] for s in samples] == list(range(len(samples))), "a sample is missing")
    want(summary["samples"] == len(samples), "the summary counts", summary["samples"])
    end = header["started_ns"]
    for s in samples:
        where = "sample %d:" % s["seq"]
        end += s["window_ns"]
        want(s["t_ns"] == end, where, "windows do not join", s["t_ns"], end)
        times = [s[k] for k in ("proc_oncpu_ns", "other_oncpu_ns", "idle_ns", "lost_ns", "offline_ns")]
        want(sum(times) == header["cpus"] * s["window_ns"], where, times, "are not", header["cpus"], s["window_ns"])
        want(sum(s["lost_by_kind_ns"].values()) == s["lost_ns"], where, "kinds of losses", s["lost_by_kind_ns"])
        check_times(s, where)
        want(header["target"]["kind"] != "host" or s["other_oncpu_ns"] == 0, where, "the host has no others")
        check_joules(s, where)
        for d in s.get("domains", []):
            want(d["busy_ns"] >= 0 and d["idle_ns"] >= 0, where, d)
    for key in ("proc_oncpu_ns", "other_oncpu_ns", "idle_ns", "lost_ns", "offline_ns"):
        want(sum(s[key] for s in samples) == summary[key], "summary:", key)
    check_joules(summary, "summary:")
    if summary["total_joules"] is not None:
        want(sum(s["total_joules"] or 0 for s in samples) == summary["total_joules"], "summary: total")
        want(sum(p["joules"] or 0 for p in summary["processes"]) == summary["proc_attributed_joules"],
             "summary: processes' joules")
        want(sum(c["joules"] or 0 for c in summary["comms"]) == summary["proc_attributed_joules"],
             "summary: comms' joules")
    want(sum(p["oncpu_ns"] for p in summary["processes"]) == summary["proc_oncpu_ns"] or summary["processes_folded"],
         "summary: processes' times")


def find(record, pid):
    found = [p for p in record["processes"] if p["pid"] == int(pid)]
    want(len(found) == 1, len(found), "rows of", pid)
    return found[0]


def has(path, pid, state):
    """A process in the summary: exited (then with the time that its own schedstat told), or alive."""
    summary = read(path)[-1]
    p = find(summary, pid)
    want(p["exited"] == (state == "exited"), p)
    want(p["oncpu_ns"] > 0, p)
    if state == "exited":
        with open("orphan.ns") as f:
            own = int(f.read())
        slack = 20_000_000 + own // 50  # what it did after it had read that, and how the two clocks differ
        want(own > 50_000_000, "it was to be busy", own)
        want(own - slack - summary["lost_ns"] <= p["oncpu_ns"] <= own + slack, "its own clock says", own, p)


def target(file, **wanted):
    """What the header says of the target, and the summary of why the recording ended: key:=value."""
    records = read(file)
    header, summary = records[0], records[-1]
    for key, value in wanted.items():
        got = summary["end"] if key == "end" else header["target"].get(key)
        want(str(got) == value, key, "is", got, "and not", value)


def row(path, kind, key, value, *checks):
    """The one row of the summary's `kind` where key is value: FIELD=TEXT, FIELD>NUMBER, FIELD<NUMBER, or -FIELD (absent)."""
    summary = read(path)[-1]
    found = [r for r in summary[kind] if str(r.get(key)) == value]
    want(len(found) == 1, len(found), "rows of", kind, "where", key, "is", value)
    for check in checks:
        field, op, text = re.fullmatch(r"(-?\w+)([=<>]?)(.*)", check, re.S).groups()
        got = found[0].get(field.lstrip("-"))
        if field[0] == "-":
            want(field[1:] not in found[0], "there is", field[1:], got)
        elif op == "=":
            want(str(got) == text, field, "is", got, "and not", text)
        else:
            want(got is not None and (got > float(text) if op == ">" else got < float(text)), field, "is", got, check)


def nobody(path, kind, key, value):
    """No sample and no summary names it."""
    for r in read(path)[1:]:
        want(value not in [str(p.get(key)) for p in r.get(kind, ())], value, "is in", r["type"])


def ids(path, pid, host_differs):
    """Ids in a namespace: `pid` is there; everybody has a pid or (outside) a host_pid."""
    samples = of_type(read(path), "sample")
    rows = [p for s in samples for p in s["processes"]]
    mine = [p for p in rows if p["pid"] == int(pid)]
    want(mine, "nobody is", pid)
    want(all(("host_pid" in p) == (host_differs == "yes") for p in mine), mine[0])
    want(all(p["pid"] is not None or p["host_pid"] > 0 for p in rows), "a row without any id")


def windows(path, ms):
    """All windows but the last are of that length, and they join."""
    lengths = [s["window_ns"] for s in of_type(read(path), "sample")][:-1]
    want(lengths and all(abs(n - int(ms) * 10**6) < 10**6 * max(2, int(ms) // 10) for n in lengths), lengths)


def started(path, pid, ticks):
    """start_boottime_ns is what /proc/PID/stat says, to a clock tick."""
    start = find(read(path)[-1], pid)["start_boottime_ns"]
    want(abs(start - int(ticks) * 10**7) <= 10**7, start, ticks)


def named(path):
    """The process whose name holds a quote, a backslash and a byte that is no UTF-8."""
    names = [p["comm"] for p in read(path)[-1]["processes"]]
    want('a"b\\c\ufffd' in names, names)


def torn(path, least):
    """All lines but the last are whole."""
    with open(path, "rb") as f:
        lines = f.read().split(b"\n")
    records = [json.loads(line) for line in lines[:-1]]
    want(len(records) > int(least), len(records))
    want(records[0]["type"] == "header" and records[1]["type"] == "sample", records[0]["type"])
    want(records[-1]["type"] == "sample", "it was killed, and ends with", records[-1]["type"])


def slots(path):
    sums(path, 1)
    records = read(path)
    want(records[0]["slots"] == 64, records[0]["slots"])
    want(records[-1]["lost_by_kind_ns"]["slots"] > 0, records[-1]["lost_by_kind_ns"])


def packages(path, *pids):
    """12.5 J of package 0; 4 + 1.5 J of package 1. Every process has its share of each by its time there."""
    records = read(path)
    header, (sample,) = records[0], of_type(records, "sample")
    want(header["domains"] == 2 and header["packages"] == 2, header["domains"])
    want({z["name"] for z in header["zones"]} ==
         {"package-0", "package-0/core", "package-1", "package-1/dram", "psys"}, header["zones"])
    want(header["energy_quality"] == "measured", header["energy_quality"])
    joules = [Decimal("12.5"), Decimal("5.5")]
    want(sample["package_joules"] == Decimal("16.5") and sample["dram_joules"] == Decimal("1.5"), sample)
    want(sample["platform_joules"] == 99, sample["platform_joules"])
    want(sample["total_joules"] == sum(joules), sample["total_joules"])
    want([d["joules"] for d in sample["domains"]] == joules, sample["domains"])
    weight = [d["busy_ns"] + d["lost_ns"] for d in sample["domains"]]
    for p in sample["processes"]:
        share = sum(j * t / w for j, t, w in zip(joules, p["oncpu_ns_by_domain"], weight))
        want(abs(share - p["joules"]) <= Decimal("4e-9"), p, share)
        want(sum(p["oncpu_ns_by_domain"]) == p["oncpu_ns"], p)
    for domain, pid in enumerate(pids):
        p = find(sample, pid)
        there = p["oncpu_ns_by_domain"][domain]
        want(there > p["oncpu_ns"] * 9 // 10, "pinned elsewhere?", p)


def baseline(path, slack, most_windows, *watts):
    """A file of calibrate: the watts of packages 0, 1, … up to a part of them. Windows that come late are longer."""
    (b,) = read(path)
    want(b["type"] == "baseline" and b["schema"] == "schedwatt-baseline/1", b)
    want(b["energy_source"] == "powercap" and b["version"] and b["kernel"] and b["started_at"].endswith("Z"), b)
    want(2 <= b["windows"] <= int(most_windows) and b["windows_without_energy"] == b["windows_suspended"] == 0, b)
    want([p["package"] for p in b["packages"]] == list(range(len(watts))), b["packages"])
    want(0 < b["busy_percent"] <= 100 and all(0 <= p["busy_percent"] <= 100 for p in b["packages"]), b)
    for p, known in zip(b["packages"], map(Decimal, watts)):
        want(abs(p["watts"] - known) <= known * Decimal(slack), p, "of", known)
        want(p["watts_min"] <= p["watts"] <= p["watts_max"] and p["watts_sd"] >= 0, p)


def has_baseline(path, idle):
    """The header's baseline is that of calibrate's file, to the last digit."""
    header, (b,) = read(path)[0], read(idle)
    want(header["attribution_policy"] == "marginal", header)
    want(header["baseline_watts"] == [p["watts"] for p in b["packages"]], header["baseline_watts"], b["packages"])


def above(path):
    """A baseline that is above what is measured: flagged, and no process is charged for anything."""
    records = read(path)
    for s in of_type(records, "sample"):
        want("baseline" in s["window_flags"], s["window_flags"])
        want(s["total_joules"] > 0 and s["idle_joules"] == s["total_joules"], s["idle_joules"], s["total_joules"])
        want(s["proc_attributed_joules"] == 0 and all(p["joules"] == 0 for p in s["processes"]), s["processes"])
    want(records[-1]["windows_flagged"]["baseline"] == len(of_type(records, "sample")), records[-1]["windows_flagged"])


if __name__ == "__main__":
    words = [a for a in sys.argv[2:] if not re.match("[a-z]+:=", a)]
    globals()[sys.argv[1]](*words, **dict(a.split(":=", 1) for a in sys.argv[2:] if a not in words))
