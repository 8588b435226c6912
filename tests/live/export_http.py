# SPDX-License-Identifier: BSD-2-Clause
"""What clients of the exporter get, good ones and bad ones. TAP; the directory is the test's own."""
import gzip
import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

from exporter import Exporter, S, done, equal, ok, parse, total, value

OPEN = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


def pages(e):
    status, headers, body = e.ask()
    equal((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"), "GET /metrics")
    equal(int(headers["Content-Length"]), len(body), "its length")
    ok(value(parse(body.decode()), "schedwatt_build_info") == 1, "it is a page of metrics")
    status, headers, body = e.ask(Accept=OPEN)
    equal((status, headers["Content-Type"]), (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"),
          "OpenMetrics for who likes it better")
    ok(body.endswith(b"# EOF\n"), "which has an end", body[-100:])
    status, headers, packed = e.ask(Accept_Encoding="gzip, deflate")
    equal((status, headers.get("Content-Encoding")), (200, "gzip"), "compressed for who takes it")
    ok(value(parse(gzip.decompress(packed).decode()), "schedwatt_build_info") == 1, "and the same inside")
    ok("Content-Encoding" not in e.ask(Accept_Encoding="gzip;q=0")[1], "but not for who refuses it")
    for path in "/metrics", "/healthz", "/":
        got, head = e.ask(path), e.ask(path, "HEAD")
        equal((got[0], head[0], head[2]), (200, 200, b""), f"HEAD of {path} has no body")
        for method in "POST", "PUT", "DELETE", "OPTIONS":
            status, headers, _ = e.ask(path, method)
            equal((status, headers.get("Allow")), (405, "GET, HEAD"), f"{method} of {path}")
    equal(e.ask("/healthz")[2], b"ok\n", "/healthz")
    ok(b'href="/metrics"' in e.ask("/")[2], "/ names the page", e.ask("/")[2])
    for path in "/metric", "/metrics/", "/favicon.ico", "/../etc/passwd", "/%2e%2e/etc/passwd":
        equal(e.ask(path)[0], 404, f"there is no {path}")
    equal(e.ask("/metrics?a=b")[0], 200, "a query changes nothing")


def slow_clients(e):
    host, port = e.address.rsplit(":", 1)
    before, fds = e.samples(), e.fds()
    slow = [socket.create_connection((host, int(port)), 10) for _ in range(200)]
    for i, s in enumerate(slow):
        if i % 2:
            s.send(b"GET /met")
    began = time.monotonic()
    while time.monotonic() - began < 3:
        ok_now = e.ask(timeout=2)[0] == 200
        if not ok_now:
            break
        time.sleep(0.2)
    ok(ok_now, "200 slow and idle clients do not stop a scrape")
    after = e.samples()
    seconds = value(after, "schedwatt_last_window_timestamp_seconds") - \
        value(before, "schedwatt_last_window_timestamp_seconds")
    windows = value(after, "schedwatt_windows_total") - value(before, "schedwatt_windows_total")
    ok(abs(seconds / windows - 1 * e.interval) < e.interval / 10, "nor do they move the windows",
       f"{windows} windows in {seconds} s")
    ok(e.fds() > fds + 150, "while they are there", e.fds())
    until = time.monotonic() + 30
    while e.fds() > fds + 5 and time.monotonic() < until:
        time.sleep(0.5)
    ok(e.fds() <= fds + 5, "they are given up after a while, and their descriptors come back", (fds, e.fds()))
    for s in slow:
        s.close()
    rude = socket.create_connection((host, int(port)), 10)
    rude.send(b"\x00\xff" * 40000)
    rude.close()
    equal(e.ask()[0], 200, "nor does who talks nonsense")


def taken(e):
    before = subprocess.run(["bpftool", "prog", "list"], capture_output=True, text=True).stdout
    other = subprocess.run([S, "export", "--listen", e.address], capture_output=True, text=True, timeout=30)
    equal(other.returncode, 1, "a port in use is a failure")
    ok(e.address in other.stderr and "Address already in use" in other.stderr, "which says what and why", other.stderr)
    after = subprocess.run(["bpftool", "prog", "list"], capture_output=True, text=True).stdout
    equal(after.count("\n"), before.count("\n"), "and nothing was attached for it")


def tls():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    users = "basic_auth_users:\n  %s: $2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW\n"  # of U*U
    with open("web.yml", "w") as f:
        f.write("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n" + users % "ann")
    trust = ssl.create_default_context(cafile="cert.pem")

    def status(user, password="U*U"):
        request = urllib.request.Request(f"https://{e.address}/metrics")
        if user:
            import base64
            request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
        try:
            with urllib.request.urlopen(request, context=trust, timeout=10) as r:
                return r.status
        except urllib.error.HTTPError as error:
            return error.code

    with Exporter("--web.config.file", os.path.abspath("web.yml"), "--energy", "none") as e:
        equal([status(None), status("ann"), status("ann", "wrong"), status("bob")], [401, 200, 401, 401],
              "TLS, and only who has a password")
        equal(status("ann"), 200, "who was let in before")
        try:
            plain = e.ask()[0]
        except OSError:
            plain = None
        ok(plain is None, "nothing without TLS", plain)
        with open("web.yml", "w") as f:
            f.write("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n" + users % "bob")
        e.process.send_signal(1)
        until = time.monotonic() + 10
        while status("bob") != 200 and time.monotonic() < until:
            time.sleep(0.1)
        equal([status("ann"), status("bob")], [401, 200], "SIGHUP reads the users again")
        with open("web.yml", "w") as f:
            f.write("basic_auth_users: [\n")
        e.process.send_signal(1)
        time.sleep(0.5)
        equal(status("bob"), 200, "a file that is broken changes nothing")
        ok("the users of before stay" in e.said(), "and is told of", e.said())
        equal(e.end(), 0, "it ends when asked")


def main():
    with Exporter("-i", "250", "--energy", "none") as e:
        e.interval = type(total({}, ""))("0.25")
        e.wait_for(lambda s: value(s, "schedwatt_windows_total") > 0)
        pages(e)
        slow_clients(e)
        taken(e)
        equal(e.end(), 0, "SIGTERM ends it")
    with Exporter("--energy", "none", "--web.telemetry-path", "/energy", listen="[::1]:0") as e:
        equal((e.ask("/energy")[0], e.ask("/metrics")[0]), (200, 404), "IPv6, and another path")
        equal(e.end(2), 0, "SIGINT ends it, too")
    tls()
    done()


main()
