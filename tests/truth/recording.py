# SPDX-License-Identifier: BSD-2-Clause
"""One recording of schedwatt beside raplsim, and what raplsim knows of it: energy and CPU time at any moment.

Owns: running the two, reading records and trace. Must not know: what is right. Integers and Decimal only, but for
interpolation between two steps of the trace, which are a millisecond apart.
"""
import bisect
import json
import os
import subprocess
import tempfile
from decimal import Decimal

BUILD = os.path.abspath(os.environ.get("SCHEDWATT_BUILD", "build"))
HELPERS = ("raplsim", "nursery", "command")  # whom raplsim knows beside the workload; command is schedwatt
ZONES = ("package-0", "package-0/core", "package-0/dram", "psys")


class Trace:
    """raplsim's own account."""

    def __init__(self, path):
        self.times, self.nj, self.host_ns = [], [], []
        self.tasks = []  # [{pid, class, name, at: [index of step], ns: [...]}]
        self.watts = {}  # of a CPU second, by class
        with open(path, encoding="ascii") as f:
            for line in f:
                word, *rest = line.split()
                getattr(self, "_" + word)(rest)

    def _idle(self, rest):
        self.idle_watts = Decimal(sum(map(int, rest))) / 1000

    def _class(self, rest):
        self.watts[rest[0]] = Decimal(int(rest[1]) + int(rest[2])) / 1000

    def _task(self, rest):
        self.tasks.append({"pid": int(rest[1]), "class": rest[2], "name": rest[3],
                           "at": [len(self.times) - 1], "ns": [0]})

    def _cpu(self, rest):
        for change in rest:
            task, ns = map(int, change.split("="))
            self.tasks[task]["at"].append(len(self.times))
            self.tasks[task]["ns"].append(ns)

    def _step(self, rest):
        t, *nj, host = map(int, rest)
        self.times.append(t)
        self.nj.append(nj)
        self.host_ns.append(host)

    def place(self, t_ns):
        """The steps around a moment, and how far it is from the first to the second."""
        i = bisect.bisect_right(self.times, t_ns)
        if not 0 < i < len(self.times):
            raise ValueError("raplsim did not run at %d" % t_ns)
        return i - 1, (t_ns - self.times[i - 1]) / (self.times[i] - self.times[i - 1])

    def gap_ns(self, t_ns):
        """How far apart the steps around it are: raplsim's own lateness."""
        i, _ = self.place(t_ns)
        return self.times[i + 1] - self.times[i]

    def total_joules(self, t_ns):
        """Package and dram."""
        i, part = self.place(t_ns)
        before, after = (self.nj[k][0] + self.nj[k][2] for k in (i, i + 1))
        return Decimal(round(before + (after - before) * part)) / 10**9

    def zone_joules(self, zone, t_ns):
        i, part = self.place(t_ns)
        before, after = (self.nj[k][ZONES.index(zone)] for k in (i, i + 1))
        return Decimal(round(before + (after - before) * part)) / 10**9

    def host_cpu_ns(self, t_ns):
        i, part = self.place(t_ns)
        return self.host_ns[i] + (self.host_ns[i + 1] - self.host_ns[i]) * part

    @staticmethod
    def _at_step(task, step):
        i = bisect.bisect_right(task["at"], step) - 1
        return task["ns"][max(i, 0)]

    def cpu_ns(self, task, t_ns):
        i, part = self.place(t_ns)
        before, after = self._at_step(task, i), self._at_step(task, i + 1)
        return before + (after - before) * part


class Recording:
    """The records of one run of schedwatt, and the truth about it."""

    def __init__(self, workload, policy, interval_ms, seconds, backend="ebpf", target=(), nested=False):
        self.workload, self.policy, self.backend = workload, policy, backend
        with tempfile.TemporaryDirectory(prefix="schedwatt-truth-") as d:
            sysfs, trace, records = (os.path.join(d, name) for name in ("sys", "trace", "records"))
            os.mkdir(sysfs)
            baseline = ["--baseline", "70"] if policy == "marginal" else []
            command = [os.path.join(BUILD, "tests/truth/raplsim"), *(["-n"] if nested else []), sysfs, trace, workload,
                       records, "--", os.path.join(BUILD, "schedwatt"), "monitor", *target, "--attribution-mode",
                       backend, "--energy", "powercap", "--sysfs", sysfs, "--policy", policy, *baseline, "-i",
                       str(interval_ms), "-d", str(seconds), "--no-cmdline", "-f", "jsonl", "-o", records]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=90, check=False)
            if done.returncode:
                raise RuntimeError("raplsim %s: exit %d: %s" % (workload, done.returncode, done.stderr.decode()))
            self.trace = Trace(trace)
            with open(records, "rb") as f:
                lines = [json.loads(line.decode("utf-8"), parse_float=Decimal) for line in f]
        self.header, self.summary = lines[0], lines[-1]
        self.host = self.header["target"]["kind"] == "host"
        # of a process alone, nothing is said of its children
        self.alone = self.header["target"]["pids"] if self.header["target"].get("scope") == "process" else None
        self.samples = [r for r in lines if r["type"] == "sample"]
        self.start_ns, self.end_ns = self.header["started_ns"], self.samples[-1]["t_ns"]
        assert baseline == [] or Decimal(baseline[1]) == self.trace.idle_watts, "another model's baseline"
        self.rows = {p["pid"]: p for p in self.summary.get("processes") or ()}

    def windows(self):
        """(sample, its start)"""
        start = self.start_ns
        for s in self.samples:
            yield s, start
            start = s["t_ns"]

    def tasks(self, own=False):
        """The workload's, or all whom raplsim knows; of these, whom the recording watches."""
        return [t for t in self.trace.tasks if (own or t["name"] not in HELPERS) and
                (self.alone is None or t["pid"] in self.alone)]

    def cpu_ns(self, task, start_ns=None, end_ns=None):
        ends = (start_ns or self.start_ns, end_ns or self.end_ns)
        start, end = (self.trace.cpu_ns(task, t) if task else self.trace.host_cpu_ns(t) for t in ends)
        return end - start

    def total_joules(self):
        return self.trace.total_joules(self.end_ns) - self.trace.total_joules(self.start_ns)

    def attributed(self, task):
        row = self.rows.get(task["pid"])
        return Decimal(row["joules"] or 0) if row else Decimal(0)

    def true_joules(self, task):
        """What the policy would give it, were every time and every joule known.

        marginal: its class's watts × its CPU time. The others share energy that no process has of its own, so theirs is
        the model's energy in each window, by its CPU time as the kernel tells it and everybody's as the record does.
        No task: those whom raplsim does not know, together.
        """
        if self.policy == "marginal":
            return self.trace.watts[task["class"] if task else "light"] * Decimal(self.cpu_ns(task)) / 10**9
        joules = Decimal(0)
        for s, start in self.windows():
            weight = s["proc_oncpu_ns"] + s["other_oncpu_ns"] + s["lost_ns"]
            weight += s["idle_ns"] if self.policy == "capacity" else 0
            if not weight:
                continue  # as the record has it, nobody ran: nobody has the energy
            energy = self.trace.total_joules(s["t_ns"]) - self.trace.total_joules(start)
            joules += energy * Decimal(self.cpu_ns(task, start, s["t_ns"])) / weight
        return joules
