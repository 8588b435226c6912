#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Joules against a processor whose energy is known: tests/truth/raplsim keeps its counters going while known workloads
# run, and tests/truth/accuracy.py compares. A recording that a busy machine has spoilt is made anew, twice at most.
. "$(dirname "$0")/tap.bash"
export SCHEDWATT_BUILD=$B TMPDIR=$dir

truth() { # what, arguments of accuracy.py…
	local what=$1
	shift
	timeout -s KILL 60 python3 "$here/../truth/accuracy.py" "$@" >why 2>&1
	ok $? "$what" why
}

# --- each process has its class's watts times its CPU time, within 2 %
truth 'marginal: idle' check idle marginal 200 2.5
truth 'marginal: one hog' check hog marginal 200 2.5
truth 'marginal: two hogs, 70 % and 30 %' check duty marginal 200 2.5
truth 'marginal: 200 short children, none missing' check children marginal 200 4
truth 'marginal: a pair, pinned' check pinned marginal 200 2.5
truth 'marginal: a process that ends within a window' check ends marginal 1000 4
truth 'marginal: a thread that ends before its process' check threads marginal 200 2.5 nested

# --- the other rules, to the nanojoule
truth 'busy, windows of 10 ms' check duty busy 10 2.5
truth 'capacity, windows of 50 ms' check hog capacity 50 2.5 nested
truth 'busy, windows of 1 s' check ends busy 1000 4
truth 'capacity, windows of 1 s' check duty capacity 1000 4

# --- the stated uncertainty holds in 95 % of the windows of all these
for ms in 10 50 200 1000; do
	truth "windows of $ms ms keep their uncertainty" doubt $ms
done
done_testing
