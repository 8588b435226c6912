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


def check_joules(r, where):
    parts = [r[k] for k in ("proc_attributed_joules", "other_joules", "idle_joules", "unattributed_joules")]
    if r["total_joules"] is None:
        want(parts == [None] * 4, where, "parts of nothing", parts)
        return
    want(sum(map(Decimal, parts)) == r["total_joules"], where, "joules do not add up:", parts, r["total_joules"])
    want(all(p >= 0 for p in parts), where, "a part is negative", parts)
    if r["type"] == "sample":
        named = sum(Decimal(p["joules"]) for p in r["processes"] if p["joules"] is not None)
        want(named == r["proc_attributed_joules"], where, "processes have", named, "of", r["proc_attributed_joules"])
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
        want(sum(p["oncpu_ns"] for p in s["processes"]) == s["proc_oncpu_ns"], where, "processes' times")
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


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
