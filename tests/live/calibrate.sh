#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Idle power: what calibrate measures on made-up counters of a known power, when it refuses, what becomes of its output;
# and the way of its file back through --baseline. Whoever else uses this machine keeps it busy: --max-busy 100.
. "$(dirname "$0")/tap.bash"

check() { # what, arguments of records.py…
	local what=$1
	shift
	python3 "$here/records.py" "$@" >why 2>&1
	ok $? "$what" why
}

one_message() { # what: err holds one line, ours
	[ "$(wc -l <err)" -eq 1 ] && grep -q '^schedwatt: ' err
	ok $? "$1: one message" err
}

cpus=$(($(getconf _NPROCESSORS_CONF) - 1))

zone() { # sysfs, directory, name
	mkdir -p "$1/class/powercap/$2"
	echo "$3" >"$1/class/powercap/$2/name"
	echo 5000000000 >"$1/class/powercap/$2/energy_uj"
	echo 262143328850 >"$1/class/powercap/$2/max_energy_range_uj"
}

topology() { # sysfs, packages: CPUs are dealt out in turn
	for cpu in $(seq 0 "$cpus"); do
		mkdir -p "$1/devices/system/cpu/cpu$cpu/topology"
		echo $((cpu % $2)) >"$1/devices/system/cpu/cpu$cpu/topology/physical_package_id"
		echo 0 >"$1/devices/system/cpu/cpu$cpu/topology/die_id"
	done
	cp /sys/devices/system/cpu/present "$1/devices/system/cpu/present"
}

# 13 W: 11.52 of the package, 1.48 of its memory, and what must not be added
zone one intel-rapl:0 package-0
zone one intel-rapl:0:0 core
zone one intel-rapl:0:1 dram
zone one intel-rapl:1 psys
topology one 1
at=one/class/powercap
"$here/ticker.py" $at/intel-rapl:0/energy_uj=11.52 $at/intel-rapl:0:0/energy_uj=3 \
	$at/intel-rapl:0:1/energy_uj=1.48 $at/intel-rapl:1/energy_uj=40 &
one_pid=$!

# A counter that goes: python takes its time to start where CPUs are scarce.
ticking() { # path of the counter
	for _ in $(seq 600); do
		[ "$(cat "$1")" = 5000000000 ] || return 0
		sleep 0.05
	done
	return 1
}
ticking $at/intel-rapl:0/energy_uj
ok $? 'the counters go'

quick() { timeout -s KILL 60 "$S" "$@"; }
calibrate() { quick calibrate --sysfs "$dir/one" --energy powercap --max-busy 100 "$@"; }

# --- one package
calibrate -d 3 -i 250 -o idle.json >out 2>err
is $? 0 'calibrate' err
check 'the watts are those of package and memory, to 2 %' baseline idle.json 0.02 12 13
grep -q -- '--baseline idle.json or --baseline 1[23][.0-9]*$' out && grep -q 'package 0; windows from' out && [ ! -s err ]
ok $? 'the words say how to use it' out
sw run --sysfs "$dir/one" --energy powercap --policy marginal --baseline idle.json -i 100 -f jsonl -o run.jsonl -- \
	sleep 0.5 >out 2>err
is $? 0 'run with the file as baseline' err
check 'its header has the very watts of the file' has_baseline run.jsonl idle.json
check 'and the parts add up' sums run.jsonl 2
sw monitor --sysfs "$dir/one" --policy marginal --baseline idle.json -d 0.4 >out 2>err
is $? 0 'monitor with the file as baseline' err
[ ! -s err ]
ok $? 'without a word' err

# --- a baseline that is above what is measured
sw monitor --sysfs "$dir/one" --energy powercap --policy marginal --baseline 1000 -i 100 -d 0.6 -f jsonl -o above.jsonl 2>err
is $? 0 'monitor with a baseline above what is used' err
check 'every window says so, and nothing is above idle' above above.jsonl
check 'no part is negative' sums above.jsonl 6

# --- a file of another machine, of another source
sed 's/"cpu_model":\("[^"]*"\|null\)/"cpu_model":"abacus"/' idle.json >other.json
sw monitor --sysfs "$dir/one" --baseline other.json -d 0.2 >out 2>err
is $? 1 'a file of another processor' err
one_message 'a file of another processor'
grep -q "another processor ('abacus')" err
ok $? 'which names it' err
sw run --sysfs "$dir/one" --baseline other.json -- touch ran >out 2>err
is $? 125 'the same, of run' err
[ ! -e ran ]
ok $? 'whose command did not run'
sed 's/"package":0/"package":1/' idle.json >other.json
sw monitor --sysfs "$dir/one" --baseline other.json -d 0.2 >out 2>err
is $? 1 'a file of another package' err
grep -q 'is of packages 1, and this machine has 0;' err
ok $? 'which names both' err
sed 's/"host":"[^"]*"/"host":"elsewhere"/; s/"energy_source":"powercap"/"energy_source":"msr"/' idle.json >other.json
sw monitor --sysfs "$dir/one" --baseline other.json -d 0.2 >out 2>err
is $? 0 'a file of another host and source' err
one_message 'a file of another host and source'
grep -q 'measured by msr, and energy comes from powercap' err
ok $? 'which names both sources' err
sw monitor --baseline no-such-file -d 0.2 >out 2>err
is $? 2 'a file that is not there' err
one_message 'a file that is not there'

# --- where it goes
calibrate -d 0.2 -i 100 -o - >out 2>err
is $? 0 'the file to stdout' err
[ "$(wc -l <out)" -eq 1 ] && python3 -m json.tool out >why 2>&1
ok $? 'stdout has the record alone' out
grep -q 'idle power' err && ! grep -q -- '--baseline -' err
ok $? 'the words go to stderr' err
calibrate -d 0.2 -i 100 >out 2>err
is $? 0 'without a file' err
grep -qE -- '^ for run and monitor: --baseline 1[23][.0-9]*$' out
ok $? 'the words are on stdout' out
calibrate -d 0.2 -i 100 -o /dev/full >out 2>err
is $? 1 'a full disk' err
one_message 'a full disk'
grep -qE -- '^ for run and monitor: --baseline 1[23][.0-9]*$' out
ok $? 'what was measured is not lost' out
calibrate -d 0.2 -i 100 >/dev/full 2>err
is $? 1 'a full stdout' err
calibrate -d 0.2 -i 100 -o /dev/null >out 2>err
is $? 0 '/dev/null is a file like others' err
mkfifo fifo
cat fifo >copy &
calibrate -d 0.2 -i 100 -o fifo >out 2>err
is $? 0 'a FIFO' err
wait $!
grep -q '"schema":"schedwatt-baseline/1"' copy
ok $? 'a FIFO gets it' copy
ln idle.json same.json
calibrate -d 0.2 -i 100 -o idle.json >out 2>err
cmp -s idle.json same.json
ok $? 'a file is written in place'
SECONDS=0
calibrate -d 50 -o none/idle.json >out 2>err
is $? 1 'a directory that is not there' err
calibrate -d 50 -o one >out 2>err
is $? 1 'a directory in place of a file' err
[ $SECONDS -lt 20 ]
ok $? 'which is said before it is measured'

# --- refusals: nothing is written, and what was there stays
refused() { # what, words of err
	[ "$(cat kept.json)" = kept ]
	ok $? "$1: nothing is written" kept.json
	one_message "$1"
	grep -q "$2" err
	ok $? "$1: in words" err
}
echo kept >kept.json
printf '#!/bin/sh\nwhile :; do :; done\n' >hog
chmod +x hog
nice -n 19 timeout -s KILL 60 ./hog &
hog=$!
for try in 1 2 3; do # where others keep the CPUs, a nice hog gets little, and is not among the busiest
	sw calibrate --sysfs "$dir/one" --energy powercap --max-busy 1 -d 1 -i 250 -o kept.json >out 2>err
	status=$?
	grep -q 'hog' err && break
	echo "# try $try"
done
kill $hog # and timeout ends what it runs
wait $hog 2>/dev/null
is $status 1 'a busy machine' err
refused 'a busy machine' 'not idle: .* over the limit of 1 %; busiest: .*hog ([0-9.]* % of a CPU).*--max-busy'
[ ! -s out ]
ok $? 'and no watts are told' out

env --default-signal=INT "$S" calibrate --sysfs "$dir/one" --energy powercap --max-busy 100 -d 50 -o kept.json >out 2>err &
pid=$!
sleep 1
kill -INT $pid
wait $pid
is $? 1 'SIGINT' err
refused SIGINT 'interrupted after .* of 50; a calibration that is cut short is none'
sw calibrate --energy model -o kept.json >out 2>err
is $? 2 'a model' err
refused 'a model' "a model's idle power is what it was told"
topology bare 1
sw calibrate --sysfs "$dir/bare" --max-busy 100 -o kept.json >out 2>err
is $? 1 'a machine without counters' err
refused 'a machine without counters' 'nothing measures energy here, .*; powercap: '
kill $one_pid
wait $one_pid 2>/dev/null
calibrate -d 0.4 -i 100 -o kept.json >out 2>err
is $? 1 'a counter that stands still' err
refused 'a counter that stands still' 'counter of package 0 stood still'

# --- two packages
if [ "$cpus" -lt 1 ]; then
	skip 'idle power of two packages' 'it takes two CPUs'
	done_testing
fi
zone two intel-rapl:0 package-0
zone two intel-rapl:1 package-1
zone two intel-rapl:1:0 dram
topology two 2
at=two/class/powercap
"$here/ticker.py" $at/intel-rapl:0/energy_uj=20 $at/intel-rapl:1/energy_uj=8 \
	$at/intel-rapl:1:0/energy_uj=1.25 &
two_pid=$!
ticking $at/intel-rapl:0/energy_uj && ticking $at/intel-rapl:1/energy_uj && ticking $at/intel-rapl:1:0/energy_uj
ok $? 'the counters of two packages go'
quick calibrate --sysfs "$dir/two" --energy powercap --max-busy 100 -d 3 -i 250 -o two.json >out 2>err
is $? 0 'calibrate on a made-up machine of two packages' err
check 'each package has its own watts, to 2 %' baseline two.json 0.02 12 20 9.25
sw run --sysfs "$dir/two" --energy powercap --policy marginal --baseline two.json -i 100 -f jsonl -o run.jsonl -- \
	sleep 0.5 >out 2>err
is $? 0 'run with the baseline of two packages' err
check 'its header has the watts of both' has_baseline run.jsonl two.json
check 'and the parts add up' sums run.jsonl 2
sw monitor --sysfs "$dir/two" --baseline idle.json -d 0.2 >out 2>err
is $? 1 'the baseline of one package on a machine of two' err
one_message 'the baseline of one package on a machine of two'
kill $two_pid
wait $two_pid 2>/dev/null
done_testing
