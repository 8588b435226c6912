# SPDX-License-Identifier: BSD-2-Clause
"""A running `schedwatt export` and what it serves, for the tests of it. Imported, not run."""
import decimal
import http.client
import os
import re
import signal
import subprocess
import time

S = os.environ["SCHEDWATT_BUILD"] + "/schedwatt"
# The filter of system calls lets no tracer through, and one is how a sanitizer looks for leaks.
SANITIZED = {"ASAN_OPTIONS": "detect_leaks=0"} if "sanitize" in os.environ["SCHEDWATT_BUILD"] else {}
LINE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(?:,|$)')

count = 0
failed = False


def ok(good, what, why=""):
    global count, failed
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}", flush=True)
    if not good:
        failed = True
        print("# " + str(why)[:2000].replace("\n", "\n# "), flush=True)
    return good


def equal(got, wanted, what):
    return ok(got == wanted, what, f"got {got!r}, wanted {wanted!r}")


def done():
    print(f"1..{count}")
    raise SystemExit(1 if failed else 0)


def parse(page):
    """{(name, ((label, value), …)): Decimal}; a line that is none of the format is an error."""
    samples = {}
    for line in page.splitlines():
        if line.startswith("#") or not line:
            continue
        match = LINE.match(line)
        if not match:
            raise ValueError(f"no sample: {line!r}")
        labels = tuple(LABEL.findall(match[2] or ""))
        if LABEL.sub("", match[2] or ""):
            raise ValueError(f"no labels: {line!r}")
        key = match[1], labels
        if key in samples:
            raise ValueError(f"twice: {line!r}")
        samples[key] = decimal.Decimal(match[3])
    return samples


def total(samples, name, **labels):
    return sum((v for (n, have), v in samples.items()
                if n == name and all((k, w) in have for k, w in labels.items())), decimal.Decimal(0))


def value(samples, name, **labels):
    found = [v for (n, have), v in samples.items() if n == name and all((k, w) in have for k, w in labels.items())]
    return found[0] if len(found) == 1 else None


def unexplained(samples):
    """What groups, idle and unattributed energy do not have of the zones: 0, exactly."""
    return (total(samples, "schedwatt_zone_joules_total") - total(samples, "schedwatt_group_joules_total") -
            total(samples, "schedwatt_idle_joules_total") - total(samples, "schedwatt_unattributed_joules_total"))


class Exporter:
    def __init__(self, *args, listen="127.0.0.1:0", wrap=(), env=None, **popen):
        self.log = open("exporter.err", "w+")
        self.process = subprocess.Popen([*wrap, S, "export", "--listen", listen, *args], stderr=self.log,
                                        stdout=subprocess.DEVNULL, env={**os.environ, **SANITIZED, **(env or {})}, **popen)
        self.address = None
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None and not self.address:
            found = re.search(r"serving at (\S+?)(/\S*)?;", self.said())
            if found:
                self.address = found[1].split(",")[0]
                self.path = found[2]
            else:
                time.sleep(0.05)
        if not self.address:
            raise RuntimeError(f"it does not serve: {self.said()}")

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.end()

    def said(self):
        self.log.flush()
        with open(self.log.name) as log:
            return log.read()

    def connect(self, timeout=10):
        host, port = self.address.rsplit(":", 1)
        return http.client.HTTPConnection(host.strip("[]"), int(port), timeout=timeout)

    def ask(self, path="/metrics", method="GET", timeout=10, **headers):
        c = self.connect(timeout)
        try:
            c.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            r = c.getresponse()
            return r.status, dict(r.getheaders()), r.read()
        finally:
            c.close()

    def samples(self):
        status, _, body = self.ask()
        if status != 200:
            raise RuntimeError(f"{status}: {body!r}")
        return parse(body.decode())

    def wait_for(self, condition, seconds=20):
        """The samples once they are as wanted, or as they were at last."""
        until = time.monotonic() + seconds
        while True:
            samples = self.samples()
            if condition(samples) or time.monotonic() > until:
                return samples
            time.sleep(0.1)

    def fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def status(self):
        with open(f"/proc/{self.process.pid}/status") as lines:
            return dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)

    def end(self, how=signal.SIGTERM):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
