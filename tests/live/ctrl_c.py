#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Usage: ctrl_c.py FILE COMMAND…

Runs the command on a terminal of its own, and types Ctrl-C there once FILE exists. Exits as the command does, 1 when it
does not end in a minute.
"""
import os
import pty
import select
import sys
import time


def main():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    typed, deadline = False, time.monotonic() + 60
    while time.monotonic() < deadline:
        if not typed and os.path.exists(sys.argv[1]):
            os.write(terminal, b"\x03")
            typed = True
        if select.select([terminal], [], [], 0.02)[0]:
            try:
                sys.stderr.buffer.write(os.read(terminal, 4096))
            except OSError:  # its last user has gone
                break
    else:
        os.kill(pid, 9)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(status if status >= 0 else 1)


main()
