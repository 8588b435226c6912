#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Usage: ticker.py FILE=WATTS…

Counts microjoules up in made-up energy_uj files, in place and once a millisecond, at a power that is known: what a
counter of an idle package does. Runs until it is ended.
"""
import os
import sys
import time

# ten digits, so that a reading that meets a writing still has all of them
START_UJ = 5_000_000_000


def main():
    files = [(os.open(path, os.O_WRONLY), float(watts)) for path, watts in (arg.split("=") for arg in sys.argv[1:])]
    start = time.monotonic_ns()
    while True:
        ms = (time.monotonic_ns() - start) // 1_000_000
        for fd, watts in files:
            os.pwrite(fd, b"%d\n" % (START_UJ + int(ms * watts * 1000)), 0)
        time.sleep(0.001)


main()
