# SPDX-License-Identifier: BSD-2-Clause
"""
A real Prometheus scrapes the exporter over a made-up package of 20 W, while 10,000 processes come and go and a process
in a cgroup of its own is busy; its numbers are held against a monitor's at the same time. promtool judges pages and
rules; dashboard, rules and deployment name only what there is. TAP; as root.
"""
import bisect
import datetime
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import yaml

from exporter import Exporter, S, done, equal, ok, value

HERE = os.path.dirname(os.path.abspath(__file__))
DEPLOY = HERE + "/../../tools/deploy"
COUNTER = "laptop/devices/virtual/powercap/intel-rapl/intel-rapl:0/energy_uj"
PEERS, V2 = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
MINE = f"schedwatt-prometheus-{os.getpid()}"
SCRAPES = 100


def promtool(*args, stdin=None):
    said = subprocess.run([f"{PEERS}/usr/bin/promtool", *args], input=stdin, capture_output=True, timeout=60)
    return said.returncode, (said.stdout + said.stderr).decode()


def free_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus:
    def __init__(self, target):
        self.port = free_port()
        config = {"global": {"scrape_interval": "250ms", "scrape_timeout": "250ms"},
                  "rule_files": sorted(os.path.abspath(p) for p in glob.glob(DEPLOY + "/*-rules.yml")),
                  "scrape_configs": [{"job_name": "schedwatt", "static_configs": [{"targets": [target]}]}]}
        with open("prometheus.yml", "w") as f:
            yaml.safe_dump(config, f)
        self.log = open("prometheus.log", "w")
        self.process = subprocess.Popen(
            [f"{PEERS}/usr/bin/prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
             f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def query(self, text):
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": text})
        with urllib.request.urlopen(url, timeout=10) as r:
            return json.load(r)["data"]["result"]

    def wait_for(self, condition, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if condition():
                    return True
            except OSError:
                pass
            time.sleep(0.3)
        return False

    def scrapes(self):
        found = self.query("count_over_time(up[5m])")
        return int(found[0]["value"][1]) if found else 0

    def end(self):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


def busy_cgroup():
    path = f"{V2}/{MINE}"
    os.mkdir(path)
    return path, subprocess.Popen(["sh", "-c", 'echo $$ >"$1/cgroup.procs"; while :; do :; done', "sh", path])


def storms():
    loop = "i=0; while [ $i -lt 2500 ]; do /bin/true; i=$((i + 1)); done"
    return [subprocess.Popen(["sh", "-c", loop]) for _ in range(4)]


def recorded(path):
    """Of the monitor: moments in seconds since the epoch, and the joules of the cgroup up to each."""
    times, joules, so_far = [], [], 0.0
    with open(path) as lines:
        for r in map(json.loads, lines):
            if r["type"] != "sample":
                continue
            t = datetime.datetime.fromisoformat(r["time_utc"][:26] + "+00:00").timestamp()
            so_far += sum(c["joules"] for c in r["cgroups"] if c["path"] == f"/{MINE}")
            times.append(t)
            joules.append(so_far)
    return times, joules


def at(times, joules, t):
    """Between two windows' ends, as if it had been even."""
    i = bisect.bisect_right(times, t)
    part = (t - times[i - 1]) / (times[i] - times[i - 1])
    return joules[i - 1] + part * (joules[i] - joules[i - 1])


def compare(p):
    """Joules of the group between scrapes, each of which tells the end of its last window."""
    def samples(name):
        found = p.query(name + "[5m]")
        return {t: float(v) for t, v in found[0]["values"]} if len(found) == 1 else {}

    times, joules = recorded("monitor.jsonl")
    ends = samples("schedwatt_last_window_timestamp_seconds")
    totals = samples(f'schedwatt_group_joules_total{{group="/{MINE}"}}')
    both = sorted(t for t in totals if t in ends and times[0] < ends[t] < times[-1])
    if not ok(len(both) > 20, "the group was scraped while the monitor ran", (len(both), len(times))):
        return
    # A reading of the counter that came late moves joules from one window to the next, in either account: of scrapes
    # that are half the recording apart, the middle pair tells.
    half = len(both) // 2
    exported = [totals[both[i + half]] - totals[both[i]] for i in range(half)]
    monitored = [at(times, joules, ends[both[i + half]]) - at(times, joules, ends[both[i]]) for i in range(half)]
    ratio = statistics.median(e / m for e, m in zip(exported, monitored)) if min(monitored) > 5 else 0
    ok(abs(ratio - 1) < 0.01, "its joules are those of monitor --policy capacity, within 1 %",
       (ratio, exported, monitored))


def scraped(p, monitor):
    ok(p.wait_for(lambda: p.scrapes() >= SCRAPES, 120), f"{SCRAPES} scrapes", p.scrapes())
    monitor.wait()
    up = p.query("min_over_time(up[5m])")
    ok(up and up[0]["value"][1] == "1", "up is 1 through all of them", up)
    names = [r["metric"]["__name__"] for r in p.query('group by (__name__) ({__name__=~"schedwatt_.*_total"})')]
    resets = [(n, r) for n in names for r in p.query(f"resets({n}[5m])") if r["value"][1] != "0"]
    equal((len(names) > 5, resets), (True, []), "no counter was reset")
    rest = p.query("(sum(schedwatt_group_joules_total) + sum(schedwatt_idle_joules_total) + "
                   "sum(schedwatt_unattributed_joules_total)) / sum(schedwatt_zone_joules_total)")
    ok(rest and abs(float(rest[0]["value"][1]) - 1) < 1e-9, "the sums are true there, too", rest)
    series = int(p.query('count({__name__=~"schedwatt_group_joules_total"})')[0]["value"][1])
    ok(series <= 50 + 2, "series are bounded", series)
    if V2:
        compare(p)


def pages(e):
    """promtool knows the text format only; OpenMetrics is what Prometheus itself asks for, and takes."""
    status, said = promtool("check", "metrics", stdin=e.ask()[2])
    ok(status == 0 and not said.strip(), "promtool finds nothing to say of the page", said)
    names = {m[1] for m in re.finditer(r"# TYPE (\S+)", e.ask()[2].decode())}
    return names


def rules(names):
    made = set()
    for path in sorted(glob.glob(DEPLOY + "/*-rules.yml")):
        status, said = promtool("check", "rules", path)
        equal(status, 0, f"promtool takes {os.path.basename(path)}")
        with open(path) as f:
            for group in yaml.safe_load(f)["groups"]:
                made |= {r["record"] for r in group["rules"] if "record" in r}
    status, said = promtool("test", "rules", HERE + "/export_rules.yml")
    ok(status == 0, "they record and fire as they should", said)
    asked = {}
    for path in sorted(glob.glob(DEPLOY + "/*-rules.yml")):
        with open(path) as f:
            asked[path] = [r["expr"] for g in yaml.safe_load(f)["groups"] for r in g["rules"]]
    with open(DEPLOY + "/grafana-dashboard.json") as f:
        dashboard = json.load(f)
    asked["dashboard"] = [t["expr"] for p in dashboard["panels"] for t in p.get("targets", [])]
    for where, expressions in asked.items():
        ok(expressions, f"{os.path.basename(where)} asks for something")
        unknown = {n for x in expressions for n in re.findall(r"[a-z_]*:?(?:schedwatt|process)_[a-z_]+(?::[a-z0-9_]+)?", x)
                   if n not in names and n not in made}
        equal(unknown, set(), f"{os.path.basename(where)} asks only for what there is")
    ids = [p["id"] for p in dashboard["panels"]]
    equal(len(set(ids)), len(ids), "panels of the dashboard have ids of their own")
    ok(all(p["gridPos"]["x"] + p["gridPos"]["w"] <= 24 for p in dashboard["panels"]), "and fit its width")
    ok(all(p["datasource"]["uid"] == "${datasource}" for p in dashboard["panels"] if p["type"] != "row"),
       "and its source is chosen where it is shown")


def cluster():
    with open(DEPLOY + "/daemonset.yaml") as f:
        parts = {d["kind"]: d for d in yaml.safe_load_all(f)}
    spec = parts["DaemonSet"]["spec"]["template"]["spec"]
    container = spec["containers"][0]
    security = container["securityContext"]
    equal((security["privileged"], security["allowPrivilegeEscalation"], security["readOnlyRootFilesystem"]),
          (False, False, True), "the DaemonSet is not privileged")
    equal(security["capabilities"], {"drop": ["ALL"], "add": ["BPF", "PERFMON", "DAC_READ_SEARCH"]},
          "it has the capabilities that starting takes")
    ok(all(m["readOnly"] for m in container["volumeMounts"]), "and only reads what is the host's")
    equal(spec["hostPID"], True, "processes have the host's numbers")
    equal(parts["DaemonSet"]["spec"]["selector"]["matchLabels"],
          parts["DaemonSet"]["spec"]["template"]["metadata"]["labels"], "its pods are those that it looks for")
    with open(DEPLOY + "/Containerfile") as f:
        text = f.read()
    entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", text, re.M)[1])
    mounts = {m["mountPath"] for m in container["volumeMounts"]}
    equal({entry[i + 1] for i in range(len(entry) - 1) if entry[i] in ("--sysfs", "--procfs")}, mounts,
          "what the image reads is what is mounted")
    said = subprocess.run([S, *entry[1:], *container["args"], "--never"], capture_output=True, text=True).stderr
    ok("unrecognized option '--never'" in said, "the command takes these options", said)


def main():
    path = busy = monitor = None
    with open(COUNTER, "w") as f:
        f.write("5000000000\n")
    ticker = subprocess.Popen([HERE + "/ticker.py", f"{COUNTER}=20"])
    try:
        if V2:
            path, busy = busy_cgroup()
        with Exporter("--sysfs", "laptop", "-i", "200", "--max-series", "50") as e:
            e.wait_for(lambda s: value(s, "schedwatt_windows_total") > 3)
            p = Prometheus(e.address)
            try:
                monitor = subprocess.Popen([S, "monitor", "--sysfs", "laptop", "-i", "100", "-d", "25", "--policy",
                                            "capacity", "--by", "cgroup", "-f", "jsonl", "-o", "monitor.jsonl"])
                storm = storms()
                scraped(p, monitor)
                for s in storm:
                    s.wait()
            finally:
                p.end()
            rules(pages(e))
            equal(e.end(), 0, "SIGTERM ends it")
        cluster()
    finally:
        for process in ticker, busy, monitor:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        if path:
            os.rmdir(path)
        shutil.rmtree("tsdb", ignore_errors=True)
    done()


main()
