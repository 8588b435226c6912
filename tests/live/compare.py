#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
#
# Usage: compare.py FILE [CHECK…]
# The records of a comparison: whole, and with sums that are exact. CHECKs: reference=NAME, backends=A,B…, refused=A,B…,
# end=WORD; nth (cpu_percent shows an Nth of the one process's time on N CPUs), nth-of-cgroup (likewise of its cgroup's),
# cgroup (its own cpu.stat agrees).
import decimal
import json
import sys


def fail(words):
    sys.exit(f"{sys.argv[1]}: {words}")


def check(true, words):
    if not true:
        fail(words)


with open(sys.argv[1]) as file:
    records = [json.loads(line, parse_float=decimal.Decimal) for line in file]
check(len(records) > 2, f"{len(records)} records")
header, windows, summary = records[0], records[1:-1], records[-1]
check(header["type"] == "header", "no header")
check(summary["type"] == "comparison_summary", "no summary")
check(all(w["type"] == "comparison" for w in windows), "other records between")
check([w["seq"] for w in windows] == list(range(len(windows))), "a window is missing")
check(summary["samples"] == len(windows), "the summary counts other windows")

told = {b["backend"]: b for b in summary["backends"]}
reference = summary["backends"][0]
check(summary["reference"] == reference["backend"] == header["attribution_backend"], "the reference is not the first")
check(reference["agrees"] is None and reference["difference_ns"] is None, "the reference differs from itself")
check(len(told) > 1, "nothing was compared")
refused = {r["backend"]: r["reason"] for r in header["backend_refusals"]}
check(not set(told) & set(refused), "one that was refused has told")
check(len(told) + len(refused) == 5, "a back end is neither there nor refused")
check(all(refused.values()), "a refusal has no reason")

for w in windows:
    check(sorted(b["backend"] for b in w["backends"]) == sorted(told), f"window {w['seq']} has not all back ends")
    for b in w["backends"]:
        time = sum(b[k] for k in ("proc_oncpu_ns", "other_oncpu_ns", "idle_ns", "lost_ns", "offline_ns"))
        check(time == header["cpus"] * w["window_ns"], f"{b['backend']}: the parts of window {w['seq']} are not its whole")

for name, b in told.items():
    mine = [o for w in windows for o in w["backends"] if o["backend"] == name]
    check(b["windows"] == len(windows) and b["failure"] is None, f"{name} failed")
    check(b["oncpu_ns"] == sum(o["proc_oncpu_ns"] for o in mine), f"{name}: time of windows and summary")
    check(b["joules"] == sum(o["proc_attributed_joules"] for o in mine), f"{name}: joules of windows and summary")
    check(b["joules"] <= summary["total_joules"], f"{name}: more than all energy")
    check(b["exits"] == sum(o["exits"] for o in mine), f"{name}: ends of windows and summary")
    check(b["explanation"], f"{name}: no explanation")
    if b is reference:
        continue
    check(b["difference_ns"] == b["oncpu_ns"] - reference["oncpu_ns"], f"{name}: difference")
    if reference["oncpu_ns"]:
        exact = decimal.Decimal(b["difference_ns"]) * 100 / reference["oncpu_ns"]
        check(abs(b["difference_percent"] - exact) <= decimal.Decimal("0.0005"), f"{name}: per cent")
    cpus = -(-sum(header["cpus"] * w["window_ns"] - w["backends"][0]["offline_ns"] for w in windows) //
             sum(w["window_ns"] for w in windows))
    tolerance = summary["tick_ns"] * cpus + (b["irq_ns"] or 0) + (b["steal_ns"] or 0)
    check(b["tolerance_ns"] == tolerance, f"{name}: tolerance {b['tolerance_ns']} is not {tolerance}")
    if b["explained_ns"] is None:
        check(b["agrees"] is None, f"{name}: agrees with what is not known")
    else:
        rest = abs(b["difference_ns"] - b["explained_ns"])
        check(b["agrees"] == (rest <= tolerance), f"{name}: agrees is {b['agrees']} with {rest} ns left")

for word in sys.argv[2:]:
    key, _, value = word.partition("=")
    if key == "reference":
        check(summary["reference"] == value, f"the reference is {summary['reference']}")
    elif key == "backends":
        check(set(value.split(",")) <= set(told), f"told: {' '.join(told)}")
    elif key == "refused":
        check(set(value.split(",")) <= set(refused), f"refused: {' '.join(refused)}")
    elif key == "end":
        check(summary["end"] == value, f"the end is {summary['end']}")
    elif key == "nth":
        percent, own = told["cpu_percent"]["oncpu_ns"], summary["own_oncpu_ns"]
        off = abs(percent * header["cpus"] - own)
        # its two clocks are cut to ticks; and what the reference lost may have been the burner's
        check(own > 0 and off <= own // 50 + 2 * summary["tick_ns"] + summary["lost_ns"],
              f"{percent} ns is no Nth of {own} ns; lost {summary['lost_ns']} ns")
        check(f"1/{header['cpus']} of the " in told["cpu_percent"]["explanation"], told["cpu_percent"]["explanation"])
        check(reference["oncpu_ns"] == own, "the burner has children")
    elif key == "nth-of-cgroup":
        percent, whole = told["cpu_percent"]["oncpu_ns"], told["cgroup_v2"]["oncpu_ns"]
        off = abs(percent * header["cpus"] - whole)
        check(off <= whole // 50 + 2 * summary["tick_ns"], f"{percent} ns is no Nth of the cgroup's {whole} ns")
    elif key == "cgroup":
        b = told["cgroup_v2"]
        check(b["shared_with"] is None or b["shared_with"] == 0, "others are in it")
        rest = abs(b["difference_ns"])
        # what was lost could have been the cgroup's
        check(rest <= b["tolerance_ns"] + summary["lost_ns"], f"cpu.stat is {rest} ns off: {b['explanation']}")
    else:
        fail(f"unknown check {word}")
