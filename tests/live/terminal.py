#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A command on a pseudo-terminal of its own: what it wrote there, and how it ended.

terminal.py [--interrupt TEXT] [--stderr] OUTPUT COMMAND [ARGUMENT...]

--interrupt TEXT  once TEXT has been written, type Ctrl-C, as a person would
--stderr          only stderr is the terminal; stdout is /dev/null

OUTPUT gets the bytes as they came. The exit status is the command's, 128 + n when signal n ended it, and 99 when it took
more than a minute or never wrote TEXT.
"""
import os
import pty
import select
import signal
import sys
import time

LIMIT_S = 60
TIMED_OUT = 99


def start(command, stderr_only):
    pid, fd = pty.fork()
    if pid == 0:
        if stderr_only:
            os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever started the tests may ignore it
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    return pid, fd


def talk(fd, wanted):
    """All that comes until the terminal is closed; None when that takes too long."""
    end = time.monotonic() + LIMIT_S
    seen = b""
    while time.monotonic() < end:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            more = os.read(fd, 65536)
        except OSError:  # EIO: nobody has it open any more
            more = b""
        if not more:
            return seen if wanted is None else None
        seen += more
        if wanted is not None and wanted in seen:
            os.write(fd, b"\x03")
            wanted = None
    return None


def main(argv):
    wanted, stderr_only = None, False
    while argv[0].startswith("--"):
        option = argv.pop(0)
        if option == "--interrupt":
            wanted = argv.pop(0).encode()
        elif option == "--stderr":
            stderr_only = True
        else:
            sys.exit(f"terminal.py: no such option: {option}")
    output, command = argv[0], argv[1:]
    pid, fd = start(command, stderr_only)
    seen = talk(fd, wanted)
    if seen is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return TIMED_OUT
    with open(output, "wb") as file:
        file.write(seen)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
