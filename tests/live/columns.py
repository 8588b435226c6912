#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads rows with columns as users would, with csv and json. Prints why and exits 1 when something is wrong."""
import csv
import io
import json
import re
import sys

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
NAMES = {"com,ma", 'q"u', "=1+1", "a\nb", "z\ufffd"}


def want(condition, *why):
    if not condition:
        print(*why)
        sys.exit(1)


def read_table(path, names):
    raw = open(path, "rb").read()
    want(raw.endswith(b"\r\n"), path, "does not end with a line end:", raw[-60:])
    text = raw.decode("utf-8")  # strict
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    want(rows and rows[0] == names, "the header row is", rows[:1])
    want(all(len(row) == len(names) for row in rows), "fields by row:", {len(row) for row in rows})
    want(not re.search(r"\b-?(nan|inf)", text, re.I), "nan or inf:", text[:500])
    return rows[1:]


def column(rows, names, name):
    return [row[names.index(name)] for row in rows]


def check_short(rows, names, n):
    # a leader that ended in the window: what the account tells is there, what only /proc told is empty
    ended = [dict(zip(names, row)) for row in rows if row[names.index("comm")] == "true"]
    want(len(ended) >= n, len(ended), "rows of", n, "children")
    want(len({row["pid"] for row in ended}) == n, "children:", len({row["pid"] for row in ended}))
    for row in ended:
        want(int(row["oncpu_ns"]) > 0 and int(row["ppid"]) > 0 and row["joules"] != "", "known:", row)
    gone = [row for row in ended if row["utime"] == "" and row["vsize"] == "" and row["state"] == ""]
    want(len(gone) >= n - 2, "rows without counters:", len(gone))


def check_column(rows, names, name, value):
    values = column(rows, names, name)
    if name == "cpuUsage":
        # absent in a task's first row, and only there
        want(values.count("") <= int(value), "cpuUsage is empty", values.count(""), "times")
        known = [float(v) for v in values if v]
        want(known and all(0 <= v <= 200 for v in known) and max(known) > 1, "cpuUsage:", known)
    elif value is not None:
        want(set(values) == {value}, name, "is", set(values))
    elif name == "state":
        want(set(values) <= set("RSD"), "state:", set(values))
    else:
        want(all(NUMBER.fullmatch(v) for v in values), name, "is", values[:5])


def check_csv(path, names, *checks):
    names = names.split(",")
    rows = read_table(path, names)
    for check in checks:
        name, _, value = check.partition("=")
        if name == "units":
            want(rows.pop(0) == value.split(","), "units:", rows[:1])
        elif name == "rows":
            want(len(rows) >= int(value), len(rows), "rows, wanted", value)
        elif name == "named":
            want(set(column(rows, names, "comm")) == NAMES, "names:", set(column(rows, names, "comm")))
        elif name == "whole":
            pids = column(rows, names, "pid")
            want(all(NUMBER.fullmatch(pid) for pid in pids), "pids:", pids[-3:])
        elif name == "short":
            check_short(rows, names, int(value))
        else:
            check_column(rows, names, name, value or None)


def check_row(row, names, ids):
    want(list(row)[:len(ids)] == ids, "ids first:", row)
    for name in names:
        want(name in row, name, "is not in", row)


def check_order(row, names, skipped):
    rest = [key for key in row if key not in skipped]
    want(rest == names, "columns:", rest)


def read_records(path):
    def refuse(text):
        want(False, "a number that is none:", text)
    with open(path, "rb") as f:
        return [json.loads(line.decode("utf-8"), parse_constant=refuse) for line in f]


def check_jsonl(path, key, names, ids, rows):
    names, ids = names.split(","), ids.split(",")
    samples = [r for r in read_records(path) if r["type"] == "sample"]
    found = [row for sample in samples for row in sample[key]]
    want(len(found) >= int(rows.partition("=")[2]), len(found), "rows")
    for row in found:
        check_row(row, names, ids)
        check_order(row, names, ids)


def check_flat(path, kind, names, ids, rows, *labels):
    names, ids = names.split(","), ids.split(",")
    records = read_records(path)
    samples = {r["seq"]: r for r in records if r["type"] == "sample"}
    found = [r for r in records if r["type"] == kind]
    want(len(found) >= int(rows.partition("=")[2]), len(found), "rows")
    for row in found:
        want(row["t_ns"] == samples[row["seq"]]["t_ns"], "no sample of", row)
        want(row.get("labels", {}) == dict(label.split("=") for label in labels), "labels:", row)
        for name in names + ids:
            want(name in row, name, "is not in", row)
    for sample in samples.values():
        want("processes" not in sample and "threads" not in sample, "lists in a sample:", list(sample))
    want(any(r["type"] == "summary" for r in records), "no summary")


{"csv": check_csv, "jsonl": check_jsonl, "flat": check_flat}[sys.argv[1]](*sys.argv[2:])
