#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What records say: parts that add up exactly, trees that are whole, recordings that are killed, energy from a made-up
# powercap joined to real CPU time. records.py does the sums.
. "$(dirname "$0")/tap.bash"

check() { # what, arguments of records.py…
	local what=$1
	shift
	python3 "$here/records.py" "$@" >why 2>&1
	ok $? "$what" why
}

busy='i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'

# --- parts add up
sw monitor -i 20 -d 1 -f jsonl -o host.jsonl 2>err
is $? 0 'monitor of the host' err
check 'every window of the host adds up' sums host.jsonl 50
for policy in busy capacity; do
	sw run -i 50 --policy $policy -f jsonl -o run.jsonl -- sh -c "$busy & $busy; wait" >out 2>err
	is $? 0 "run, policy $policy" err
	check "every window of a tree adds up, policy $policy" sums run.jsonl 3
done
sw run -i 50 --policy marginal --baseline 0.9 -f jsonl -o run.jsonl -- sh -c "$busy" >out 2>err
is $? 0 'run, policy marginal' err
check 'every window of a tree adds up, policy marginal' sums run.jsonl 1
sw run -i 5 --energy none -f jsonl -o run.jsonl -- sh -c "$busy" >out 2>err
check 'windows of 5 ms without energy add up' sums run.jsonl 5

# --- trees: a descendant that its parent leaves behind, one that outlives the command
cat >orphan.sh <<'END'
(setsid sh -c "$1; cut -d' ' -f1 /proc/\$\$/schedstat >orphan.ns.tmp; echo \$\$ >orphan.pid
	mv orphan.ns.tmp orphan.ns" &)
setsid timeout 20 sh -c 'while :; do :; done' &
echo $! >survivor.pid
while [ ! -s orphan.ns ]; do sleep 0.02; done
END
sw run -i 100 -f jsonl -o tree.jsonl -- sh orphan.sh "$busy" >out 2>err
is $? 0 'run of a command that leaves children behind' err
kill -9 -- -"$(cat survivor.pid)" 2>/dev/null
check 'every window of it adds up' sums tree.jsonl 2
check 'the orphan is in it with its time' has tree.jsonl "$(cat orphan.pid)" exited
check 'the survivor is in it, alive' has tree.jsonl "$(cat survivor.pid)" alive

# --- names are bytes
cp /bin/sleep "$(printf 'a"b\\c\377')"
sw run -f jsonl -o names.jsonl -- "./$(printf 'a"b\\c\377')" 0.05 >out 2>err
check 'a name of awkward bytes' named names.jsonl

# --- a recording that is killed loses at most its last line
"$S" monitor -i 20 -f jsonl -o killed.jsonl 2>err &
pid=$!
for _ in $(seq 200); do
	[ "$(wc -l <killed.jsonl 2>/dev/null || echo 0)" -gt 10 ] && break
	sleep 0.05
done
kill -9 $pid
wait $pid 2>/dev/null
check 'what a killed recording leaves can be read' torn killed.jsonl 10

# --- a table that is too small
cat >sleepers.sh <<'END'
i=0
while [ $i -lt 200 ]; do
	sh -c 'n=0; while [ $n -lt 6 ]; do n=$((n + 1)); sleep 0.1; done' &
	i=$((i + 1))
done
wait
END
"$S" monitor --slots 64 -i 100 -d 60 -f jsonl -o slots.jsonl 2>err &
pid=$!
while [ ! -s slots.jsonl ]; do sleep 0.05; done
timeout 50 sh sleepers.sh
kill -TERM $pid
wait $pid
is $? 0 'monitor with 64 slots' err
check 'what has no slot is lost, and said to be; all adds up' slots slots.jsonl
sw monitor --slots 64 -i 100 -d 0.5 >out 2>err &
pid=$!
timeout 20 sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done'
wait $pid
tr -s ' \n' ' ' <out | grep -qE 'lost: [0-9.]+ s of CPU time .*: [0-9.]+ s for want of room'
ok $? 'the summary for people names the loss' out

# --- measured energy: two packages, of which each CPU is one
if [ "$(getconf _NPROCESSORS_ONLN)" -lt 2 ]; then
	skip 'joules of two packages' 'it takes two CPUs'
	done_testing
fi
zone() { # directory, name, value
	mkdir -p "sys/class/powercap/$1"
	echo "$2" >"sys/class/powercap/$1/name"
	echo "$3" >"sys/class/powercap/$1/energy_uj"
	echo 262143328850 >"sys/class/powercap/$1/max_energy_range_uj"
}
zone intel-rapl:0 package-0 262143000000
zone intel-rapl:1 package-1 1000
zone intel-rapl:0:0 core 7
zone intel-rapl:1:0 dram 500
zone intel-rapl:2 psys 0
for cpu in $(seq 0 $(($(getconf _NPROCESSORS_CONF) - 1))); do
	mkdir -p sys/devices/system/cpu/cpu$cpu/topology
	echo $((cpu % 2)) >sys/devices/system/cpu/cpu$cpu/topology/physical_package_id
	echo 0 >sys/devices/system/cpu/cpu$cpu/topology/die_id
done
cp /sys/devices/system/cpu/present sys/devices/system/cpu/present
cat >two.sh <<'END'
taskset -c 0 sh -c "echo \$\$ >pid0; $1" &
taskset -c 1 sh -c "echo \$\$ >pid1; $1" &
wait
# package-0 wraps: 12.5 J in all; package-1 4 J, its dram 1.5 J
echo 12171150 >sys/class/powercap/intel-rapl:0/energy_uj
echo 4001000 >sys/class/powercap/intel-rapl:1/energy_uj
echo 1500500 >sys/class/powercap/intel-rapl:1:0/energy_uj
echo 99000000 >sys/class/powercap/intel-rapl:2/energy_uj
END
# one window holds it all: the counters stand still while they are read
sw run -i 60000 --sysfs "$dir/sys" --energy powercap -f jsonl -o two.jsonl -- sh two.sh "$busy" >out 2>err
is $? 0 'run on a made-up machine of two packages' err
check 'every part of it adds up' sums two.jsonl 1
check 'the joules of a package go to what ran there' packages two.jsonl "$(cat pid0)" "$(cat pid1)"
done_testing
