#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `schedwatt compare`: all back ends over the same windows, of a process, a command and a cgroup; what it says without
# BPF; its manners.
. "$(dirname "$0")/tap.bash"

status() { # wanted, what, arguments…
	local wanted=$1 what=$2
	shift 2
	sw compare "$@" >out 2>err
	is $? "$wanted" "$what" err
}

records() { # what, arguments of compare.py…
	local what=$1
	shift
	python3 "$here/compare.py" "$@" >said 2>&1
	ok $? "$what" said
}

# --- bad usage: one line, and nothing runs
for line in '' '-p 1 -- touch ran' '--cgroup / -- touch ran' '-d 1 -- touch ran' '-p 0' '-p 1 --by thread' \
	'-p 1 --attribution-mode proc' '-p 1 --cgroup /'; do
	# shellcheck disable=SC2086
	status 2 "compare $line" $line
	[ "$(wc -l <err)" -eq 1 ] && [ ! -s out ]
	ok $? "compare $line: one message" err
done
[ ! -e ran ]
ok $? 'no command ran'
status 1 'a process that is not there' -p 2147483647 -d 0.2

# --- the case that people ask about: one busy thread on N CPUs
nice -n 19 sh -c 'while :; do :; done' &
burner=$!
status 0 'a burner' -p $burner -d 2 -f jsonl -o burner
records 'its records' burner reference=ebpf backends=ebpf,proc,cpu_percent end=duration nth
status 0 'the same as text' -p $burner -d 0.5
for words in 'back end  *quality  *CPU s  *joules  *difference in ns' '^ ebpf  *exact .* reference$' \
	'^ cpu_percent  *coarse ' "compare: process $burner and its descendants" "^ cpu_percent: divides by the CPUs"; do
	grep -q -- "$words" out
	ok $? "the text has '$words'" out
done
[ ! -s err ]
ok $? 'nothing on stderr' err
status 1 'a full disk' -p $burner -d 0.3 -o /dev/full

"$S" compare -p $burner >out 2>err &
pid=$!
sleep 1
kill -INT $pid 2>/dev/null || kill -TERM $pid
sleep 0.5
kill -TERM $pid 2>/dev/null # a shell ignores SIGINT for what it starts in the background
wait $pid
is $? 0 'a signal ends it' err
grep -q '^ ebpf  *exact .* reference$' out
ok $? 'with its table' out

# --- without the right to load programs, what is there is compared
nobody() {
	timeout -s KILL 60 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$S" "$@"
}
if nobody --version >out 2>err; then
	nobody compare -p $burner -d 1 -f jsonl >without 2>err
	is $? 0 'without capabilities' err
	records 'its records' without reference=proc backends=cpu_percent refused=ebpf nth
	nobody compare -p $burner -d 0.3 >out 2>err
	grep -q '^ ebpf did not open: .' out && grep -q '^ proc: the reference, since there is no ebpf' out
	ok $? 'which says so' out
else
	skip 'life without capabilities' "nobody may not execute $S"
fi
kill $burner

# --- a command
sw compare -- sh -c 'echo words; for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; exit 3' >out 2>err
is $? 3 'the status is the command'"'"'s' err
[ "$(cat out)" = words ]
ok $? 'stdout is the command'"'"'s' out
grep -q '^ schedwatt compare: sh -c' err && grep -q '^ ebpf  *exact .* reference$' err
ok $? 'the table goes to stderr' err
sw compare -f jsonl -o command -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' >out 2>err
is $? 0 'a command with records' err
records 'its records' command reference=ebpf backends=ebpf,proc,cpu_percent end=command nth
status 127 'a command that is not there' -- ./no-such-command

# --- a cgroup against its own cpu.stat
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$mount/schedwatt-compare-$$
if [ -n "$mount" ] && mkdir "$group" 2>/dev/null; then
	nice -n 19 sh -c 'echo $$ >"$0/cgroup.procs"; while :; do :; done' "$group" &
	burner=$!
	sleep 0.3
	status 0 'a burner that is alone in its cgroup' -p $burner -d 2 -f jsonl -o alone
	records 'its records' alone reference=ebpf backends=cgroup_v2,proc,cpu_percent nth cgroup nth-of-cgroup
	status 0 'a cgroup' --cgroup "$group" -d 1.5 -f jsonl -o cgroup
	records 'its records' cgroup reference=ebpf backends=cgroup_v2 refused=proc,cpu_percent cgroup
	status 0 'the same as text' --cgroup "$group" -d 0.4
	grep -q '^ proc did not open: .' out && grep -q '^ cpu_percent did not open: .' out
	ok $? 'those that refused are listed' out
	kill $burner
	wait $burner 2>/dev/null
	for _ in $(seq 50); do
		rmdir "$group" 2>/dev/null && break
		sleep 0.1
	done
else
	skip 'a cgroup against its own cpu.stat' 'no cgroup v2 can be made here'
fi
done_testing
