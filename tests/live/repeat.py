#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Usage: repeat.py WHAT FILE [ARGUMENT…]

Judges what `schedwatt run` wrote of a series of runs: the object of --json, and records. Status 1 and a sentence where
something is wrong.
"""
import json
import statistics
import sys

KEYS = ("joules", "watts", "cpu_s", "wall_s")


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def check(truth, *words):
    if not truth:
        sys.exit(" ".join(str(word) for word in words))


def close(a, b, what):
    check(abs(a - b) <= 2e-9 + 1e-9 * abs(b), what, a, "is not", b)


def agrees(summary, runs):
    """The statistics are those of the runs that count."""
    counted = [run for run in runs if run["counted"]]
    check(summary["series"]["counted"] == len(counted), "counted:", summary["series"], "of", len(counted))
    check(summary["series"]["runs"] == len(runs), "runs:", summary["series"], "of", len(runs))
    for key in KEYS:
        of, values = summary["statistics"][key], [run[key] for run in counted if run[key] is not None]
        check(of["n"] == len(values) and of["absent"] == len(counted) - len(values), key, "n:", of)
        if not values:
            check(of["mean"] is None and of["max"] is None, key, "has a mean of nothing:", of)
            continue
        close(of["mean"], statistics.fmean(values), key + " mean")
        close(of["median"], statistics.median(values), key + " median")
        check(of["min"] == min(values) and of["max"] == max(values), key, "range:", of)
        if len(values) < 2:
            check(of["standard_deviation"] is None and of["interval95_low"] is None, key, "spread of one:", of)
            continue
        close(of["standard_deviation"], statistics.stdev(values), key + " standard deviation")
        close((of["interval95_low"] + of["interval95_high"]) / 2, of["mean"], key + " middle of the interval")


def adds_up(record, cpus):
    """Parts of the summary are its whole: joules exactly, times but for the rounding of means."""
    names = ("proc_oncpu_ns", "other_oncpu_ns", "idle_ns", "lost_ns", "offline_ns")
    off = sum(record[name] for name in names) - cpus * round(record["duration_s"] * 1e9)
    check(abs(off) <= 8, "times are off by", off, "ns")
    if record["total_joules"] is None:
        return
    names = ("proc_attributed_joules", "other_joules", "idle_joules", "unattributed_joules")
    off = round(sum(record[name] for name in names) * 1e9) - round(record["total_joules"] * 1e9)
    check(off == 0, "joules are off by", off, "nJ")


def series(path, status, warmups, counted, total):
    """A series of so many runs, and its exit status."""
    d = load(path)
    check(d["type"] == "result" and d["schema"] == "schedwatt/1", "no result")
    check(d["exit_status"] == int(status), "exit status", d["exit_status"])
    check(len(d["runs"]) == int(total), "runs:", len(d["runs"]))
    check(sum(run["warmup"] for run in d["runs"]) == int(warmups), "warm-ups")
    check(sum(run["counted"] for run in d["runs"]) == int(counted), "counted")
    check(not any(run["warmup"] and run["counted"] for run in d["runs"]), "a warm-up counts")
    check(d["notes"] == d["summary"]["notes"], "notes")
    agrees(d["summary"], d["runs"])
    if int(counted):
        adds_up(d["summary"], d["header"]["cpus"])
    for run in d["runs"]:
        adds_up(run, d["header"]["cpus"])
        check(run["processes"] and run["comms"], "a run without rows")


def single(path, status):
    """One run: its rows are in the summary."""
    d = load(path)
    check(d["exit_status"] == int(status), "exit status", d["exit_status"])
    check(len(d["runs"]) == 1 and d["runs"][0]["counted"] and "processes" not in d["runs"][0], "runs:", d["runs"])
    check(d["runs"][0]["exit_status"] == int(status) or int(status) == 124, "status of the run")
    check(d["summary"]["processes"] and d["summary"]["comms"], "no rows")
    check(d["runs"][0]["cpu_s"] == d["summary"]["proc_oncpu_ns"] / 1e9, "CPU time")


def empty(path, status):
    """Nothing ran, and the object says so."""
    d = load(path)
    check(d["exit_status"] == int(status) and d["runs"] == [], "status", d["exit_status"], "runs", d["runs"])
    check(d["budget"] is None, "a budget was judged")


def interrupted(path, status, counted):
    """The last run was ended by a signal, and does not count."""
    d = load(path)
    check(d["exit_status"] == int(status) and d["summary"]["end"] == "signal", d["exit_status"], d["summary"]["end"])
    check(d["summary"]["series"]["counted"] == int(counted), d["summary"]["series"])
    agrees(d["summary"], d["runs"])
    check(all(not run["interrupted"] for run in d["runs"][:-1]), "more than the last was interrupted")


def budget(path, verdict, quantity):
    b = load(path)["budget"]
    check(b["verdict"] == verdict and b["quantity"] == quantity, b)
    check((b["excess"] is not None) == (verdict == "over"), b)
    if verdict == "over":
        close(b["excess"], b["mean"] - b["limit"], "excess")


def records(path, runs):
    """Records of a series: a header, samples and a run each, a summary of them."""
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    kinds = [line["type"] for line in lines]
    check(kinds[0] == "header" and kinds[-1] == "summary", kinds)
    check(kinds.count("header") == 1 and kinds.count("summary") == 1 and kinds.count("run") == int(runs), kinds)
    taken = 0
    for line in lines:
        if line["type"] == "sample":
            check(line["seq"] == taken, "sample", line["seq"], "after", taken)
            taken += 1
        if line["type"] == "run":
            check(line["samples"] == taken and taken, "samples of a run:", line["samples"], "not", taken)
            taken = 0
    agrees(lines[-1], [line for line in lines if line["type"] == "run"])


def failed(path, n):
    """So many of the runs that count failed, which is noted."""
    d = load(path)
    check(d["summary"]["series"]["failed"] == int(n), d["summary"]["series"])
    check(any("failed in" in note for note in d["notes"]) == (int(n) > 0), d["notes"])


def no_joules(path):
    d = load(path)
    check(d["summary"]["statistics"]["joules"]["absent"] == len(d["runs"]), d["summary"]["statistics"]["joules"])
    check(d["summary"]["proc_attributed_joules"] is None, "joules of nothing")


if __name__ == "__main__":
    {f.__name__: f for f in (series, single, empty, interrupted, budget, records, failed, no_joules)}[sys.argv[1]](*sys.argv[2:])
