#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Life without BPF, and the cgroup back ends: what is chosen and why, a cgroup of its own for a command, agreement with
# BPF, sandboxes. A mode that is named never falls back.
. "$(dirname "$0")/tap.bash"

nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
bare="$nobody --inh-caps=-all --bounding-set=-all"
mounts=/proc/self/mountinfo
v2=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' $mounts)
v1=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup" && $(i + 3) ~ /(^|,)cpuacct(,|$)/) { print $5; exit } }' $mounts)
spins='i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
mine="schedwatt-fallback-$$"

# What is left of a test that failed goes, too.
clean() {
	for p in $(jobs -p); do kill -9 "$p" 2>/dev/null; done
	wait 2>/dev/null
	for d in $v2/$mine $v1/$mine; do
		[ -d "$d" ] || continue
		for p in $(find "$d" -name cgroup.procs -exec cat {} + 2>/dev/null); do kill -9 "$p" 2>/dev/null; done
		sleep 0.2
		find "$d" -depth -type d -exec rmdir {} + 2>/dev/null
	done
	rm -rf "$dir"
}
trap clean EXIT

# What the records in FILE say: an expression of h (header), s (samples), e (summary).
says() { # file, expression
	python3 - "$1" "$2" <<'END' 2>&1
import json, sys
r = [json.loads(line) for line in open(sys.argv[1])]
print(eval(sys.argv[2], {"h": r[0], "s": [x for x in r if x["type"] == "sample"], "e": r[-1]}))
END
}

said() { # file, expression, wanted, what
	is "$(says "$1" "$2")" "$3" "$4" "$1"
}

one_line() { # pattern, what: err has one line of ours, which matches
	[ "$(grep -c '^schedwatt: ' err)" -eq 1 ] && grep -qE "^schedwatt: .*$1" err
	ok $? "$2" err
}

gone() { # what: the cgroup that FILE's header names is not there any more
	local path
	path=$(says "$2" 'h["own_cgroup"]')
	[ -n "$path" ] && [ "${path#/}" != "$path" ] && [ ! -e "$path" ]
	ok $? "$1" "$2"
}

# --- without capabilities
cp "$S" here && chmod 755 here
if $bare ./here --version >out 2>err; then
	timeout -s KILL 60 $bare ./here run -f jsonl -- sh -c "$spins" >nobody.jsonl 2>err
	is $? 0 'run without capabilities' err
	one_line 'CPU time comes from proc \(coarse\): not permitted to load BPF' 'one line says why not BPF'
	said nobody.jsonl '[h["attribution_backend"], h["attribution_quality"], [x["backend"] for x in h["backend_refusals"]]]' \
		"['proc', 'coarse', ['ebpf', 'cgroup_v2', 'cgroup_v1']]" 'proc is next, and each refusal is told'
	said nobody.jsonl 'all(len(x["reason"]) > 20 for x in h["backend_refusals"])' True 'with its reason'
	said nobody.jsonl 'e["proc_oncpu_ns"] > 5000000 and len(e["processes"]) > 0' True 'it has rows'
	timeout -s KILL 60 $bare ./here monitor -d 0.4 -f jsonl >nobody.jsonl 2>err
	is $? 0 'monitor without capabilities' err
	one_line 'comes from proc' 'one line says so'
	said nobody.jsonl 'len(s) == 2 and len(e["processes"]) > 0' True 'it has rows, too'
	for mode in ebpf cgroup_v2 cgroup_v1; do
		timeout -s KILL 60 $bare ./here run --attribution-mode $mode -- touch ran >out 2>err
		is $? 125 "$mode, when named, does not fall back" err
		one_line '' "$mode: one line says why"
	done
	[ ! -e ran ]
	ok $? 'and the command did not run'
	caps='-all,+bpf,+perfmon'
	timeout -s KILL 60 $nobody --inh-caps=$caps --ambient-caps=$caps --bounding-set=$caps ./here run -f jsonl -- true \
		>caps.jsonl 2>err
	is $? 0 'run with CAP_BPF and CAP_PERFMON alone' err
	said caps.jsonl 'h["attribution_backend"]' ebpf 'BPF is used'
else
	skip 'life without capabilities' "nobody may not execute $dir/here"
fi

# --- without BTF
hidden() { # arguments of schedwatt
	timeout -s KILL 60 unshare -m sh -c 'mount --bind /dev/null /sys/kernel/btf/vmlinux && exec "$@"' - "$S" "$@"
}
if unshare -m true 2>/dev/null; then
	hidden monitor -d 0.4 -f jsonl >hidden.jsonl 2>err
	is $? 0 'monitor without BTF' err
	one_line 'comes from proc \(coarse\): this kernel has no BTF' 'one line says so'
	hidden run --attribution-mode ebpf -- true >out 2>err
	is $? 125 'ebpf, when named, fails' err
	one_line 'no BTF' 'one line says why'
	if [ -n "$v2" ] && mkdir "$v2/$mine" 2>/dev/null; then
		rmdir "$v2/$mine"
		hidden run -f jsonl -- sh -c "$spins" >hidden.jsonl 2>err
		is $? 0 'run without BTF' err
		one_line 'comes from cgroup_v2 \(exact\): this kernel has no BTF' 'the kernel accounts its cgroup'
		said hidden.jsonl 'e["proc_oncpu_ns"] > 5000000 and s[0]["shared_with"] == 0' True 'which is its own'
		gone 'and is gone' hidden.jsonl
		hidden run --by process -f jsonl -- true >hidden.jsonl 2>err
		said hidden.jsonl 'h["attribution_backend"]' proc 'who asks for processes gets proc'
	fi
else
	skip 'life without BTF' 'unshare -m is not allowed here'
fi

# --- a cgroup of its own
own() { # mode, pattern of its line in /proc/self/cgroup
	local mode=$1 line=$2 pid daemon path status
	sw run --attribution-mode $mode -f jsonl -o own.jsonl -- sh -c "cat /proc/self/cgroup; $spins; exit 7" >out 2>err
	is $? 7 "run on $mode" err
	grep -qE "$line.*/schedwatt-[0-9]+-[0-9a-f]{8}\$" out
	ok $? "$mode: the command is in a cgroup of its own" out
	gone "$mode: which is gone" own.jsonl
	said own.jsonl 'h["attribution_quality"], e["proc_oncpu_ns"] > 5000000, s[0]["shared_with"], e["shared_with"]' \
		"('exact', True, 0, 0)" "$mode: its time is exact, and nobody else's"
	said own.jsonl 'all(x["proc_oncpu_ns"] + x["other_oncpu_ns"] + x["idle_ns"] + x["lost_ns"] + x["offline_ns"] ==
		h["cpus"] * x["window_ns"] for x in s)' True "$mode: windows add up"
	"$S" run --attribution-mode $mode -- ./no-such-command >out 2>err &
	pid=$!
	wait $pid
	is $? 127 "$mode: a command that is not there" err
	[ -z "$(find $v2 $v1 -maxdepth 1 -name "schedwatt-$pid-*")" ]
	ok $? "$mode: nothing is left of it"
	for signal in TERM INT; do # to schedwatt alone
		: >own.jsonl
		env --default-signal=INT "$S" run --attribution-mode $mode -f jsonl -o own.jsonl -- sleep 30 >out 2>err &
		pid=$!
		for _ in $(seq 100); do [ -s own.jsonl ] && break || sleep 0.05; done
		path=$(says <(head -1 own.jsonl) 'h["own_cgroup"]')
		[ -d "$path" ]
		ok $? "$mode: $path is there"
		kill -$signal $pid
		wait $pid
		status=$?
		[ $status -gt 128 ] && [ ! -e "$path" ]
		ok $? "$mode: SIG$signal to schedwatt ends the command, and the cgroup is gone ($status)" err
	done
	: >daemon.pid
	sw run --attribution-mode $mode -f jsonl -o own.jsonl -- sh -c 'sleep 30 >/dev/null 2>&1 & echo $! >daemon.pid' >out 2>err
	is $? 0 "$mode: a command that leaves a daemon behind" err
	daemon=$(cat daemon.pid)
	path=$(says own.jsonl 'h["own_cgroup"]')
	grep -q "^schedwatt: .*$path stays, .*sleep $daemon.*rmdir $path" err
	ok $? "$mode: its cgroup stays, and that is said" err
	is "$(cat "$path/cgroup.procs")" "$daemon" "$mode: the daemon lives on in it"
	kill "$daemon"
	for _ in $(seq 100); do rmdir "$path" 2>/dev/null && break || sleep 0.05; done
	[ ! -e "$path" ]
	ok $? "$mode: it can be removed then"
}
can() { # mount: cgroups can be made in it
	[ -n "$1" ] && mkdir "$1/$mine" 2>/dev/null && rmdir "$1/$mine"
}
if can "$v2"; then
	own cgroup_v2 '^0::'
else
	skip 'a v2 cgroup of its own' 'cgroup v2 is not mounted, or none can be made in it'
fi
if can "$v1"; then
	own cgroup_v1 '^[0-9]+:[^:]*cpuacct[^:]*:'
else
	skip 'a v1 cgroup of its own' 'no cgroup v1 with cpuacct is mounted, or none can be made in it'
fi

# --- a delegated cgroup, where nobody may make more
if can "$v2" && $bare ./here --version >out 2>err; then
	mkdir "$v2/$mine"
	chown 65534:65534 "$v2/$mine" "$v2/$mine/cgroup.procs"
	sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$v2/$mine" timeout -s KILL 60 $bare ./here run -f jsonl -- \
		sh -c "$spins" >user.jsonl 2>err
	is $? 0 'run without capabilities in a delegated cgroup' err
	one_line 'comes from cgroup_v2 \(exact\): not permitted' 'is accounted by the kernel'
	said user.jsonl "h['own_cgroup'].startswith('$v2/$mine/schedwatt-')" True 'in a cgroup below it'
	said user.jsonl "e['cgroups'][-1]['path'].startswith('/$mine/schedwatt-')" True 'whose path is told without the right to ask by id'
	gone 'which is gone' user.jsonl
	rmdir "$v2/$mine"
else
	skip 'a delegated cgroup' 'cgroup v2 is not mounted, or none can be made in it'
fi

# --- who shares it
if can "$v2"; then
	mkdir "$v2/$mine"
	sleep 60 &
	a=$!
	sh -c "while :; do $spins; done" &
	b=$!
	echo $a >"$v2/$mine/cgroup.procs"
	echo $b >"$v2/$mine/cgroup.procs"
	hidden monitor -p $a -d 0.3 -f jsonl >shared.jsonl 2>err
	said shared.jsonl 'h["attribution_backend"]' proc 'a cgroup that others share is not taken by itself'
	said shared.jsonl "[x['reason'] for x in h['backend_refusals'] if x['backend'] == 'cgroup_v2'][0]" \
		"its cgroup v2 /$mine is shared with 1 other process (sh $b); proc tells them apart" 'with the reason in words'
	sw monitor -p $a --attribution-mode cgroup_v2 -i 100 -d 0.6 -f jsonl >shared.jsonl 2>err
	is $? 0 'it is when it is named' err
	said shared.jsonl '[x["shared_with"] for x in s]' '[1, 1, 1, 1, 1, 1]' 'each record says with how many'
	said shared.jsonl 'abs(sum(x["shared_ns"] for x in s) - e["proc_oncpu_ns"]) < 20000000' True 'and what they had'
	one_line '1 other process is in the cgroup, and counted in' 'so does a line on stderr'
	sw monitor -p $a --attribution-mode cgroup_v2 -d 0.4 >text 2>err
	grep -q '1  *other processes in the cgroup, counted in' text && ! grep -q 'processes seen' text
	ok $? 'and text' text
	kill $b
	wait $b 2>/dev/null
	: >alone.jsonl
	hidden monitor -p $a -i 60000 -f jsonl -o alone.jsonl 2>err &
	pid=$!
	for _ in $(seq 200); do [ -s alone.jsonl ] && break || sleep 0.05; done
	kill $a
	wait $a 2>/dev/null
	wait $pid
	is $? 0 'monitor of a process that is alone in its cgroup ends with it' err
	said alone.jsonl '[h["attribution_backend"], e["end"]]' "['cgroup_v2', 'target']" 'and is on cgroup_v2'
	sleep 60 &
	a=$!
	echo $a >"$v2/$mine/cgroup.procs"
	: >gone.jsonl
	hidden monitor --cgroup "/$mine" -i 50 -d 30 -f jsonl -o gone.jsonl 2>err &
	pid=$!
	for _ in $(seq 200); do [ "$(wc -l <gone.jsonl)" -gt 3 ] && break || sleep 0.05; done
	kill $a
	wait $a 2>/dev/null
	rmdir "$v2/$mine"
	ok $? 'a cgroup is removed while it is recorded'
	sleep 0.3
	pkill -TERM -P $pid 2>/dev/null
	wait $pid
	is $? 0 'that is no error' err
	said gone.jsonl 'h["attribution_backend"], e["end"], s[-1]["proc_oncpu_ns"]' "('cgroup_v2', 'signal', 0)" \
		'it keeps what it had'
else
	skip 'a shared cgroup' 'cgroup v2 is not mounted, or none can be made in it'
fi

# --- in which cgroup each process is, where the back end itself does not know
if can "$v2"; then
	mkdir "$v2/$mine"
	sh -c 'echo $$ >"$1/cgroup.procs"; while :; do :; done' sh "$v2/$mine" &
	busy=$!
	sleep 0.3
	sw monitor -p $busy -d 0.6 --attribution-mode proc -f jsonl -o where.jsonl 2>err
	is $? 0 'proc follows a process in a cgroup' err
	said where.jsonl "{p['cgroup'] for x in s for p in x['processes']} == {'/$mine'}" True 'and tells which it is in'
	kill -9 $busy
	wait $busy 2>/dev/null
	rmdir "$v2/$mine"
else
	skip 'the cgroup of each process' 'no cgroup can be made here'
fi

# --- the same time by each of them
if can "$v2" && can "$v1"; then
	mkdir "$v2/$mine" "$v1/$mine"
	mkfifo go # until then it must not run at all, for the three do not begin at the same time
	nice -n 19 python3 -c 'import time
open("ready", "w").close()
open("go").read()
while time.process_time() < 2:
    pass' &
	spinner=$!
	echo $spinner >"$v2/$mine/cgroup.procs"
	echo $spinner >"$v1/$mine/cgroup.procs"
	for _ in $(seq 400); do [ -e ready ] && break || sleep 0.05; done
	sleep 0.2
	for mode in ebpf cgroup_v2 cgroup_v1; do
		: >$mode.jsonl
		timeout -s KILL 60 "$S" monitor -p $spinner --attribution-mode $mode -i 100 -f jsonl -o $mode.jsonl 2>$mode.err &
	done
	for _ in $(seq 200); do
		[ -s ebpf.jsonl ] && [ -s cgroup_v2.jsonl ] && [ -s cgroup_v1.jsonl ] && break || sleep 0.05
	done
	echo >go
	wait
	for mode in cgroup_v2 cgroup_v1; do
		exact=$(says ebpf.jsonl 'e["proc_oncpu_ns"]') got=$(says $mode.jsonl 'e["proc_oncpu_ns"]')
		[ $((exact > got ? exact - got : got - exact)) -le $((exact / 100)) ] && [ "$exact" -gt 1500000000 ]
		ok $? "$mode agrees with ebpf within 1 % ($got, $exact ns)" $mode.err
	done
	rmdir "$v2/$mine" "$v1/$mine"
else
	skip 'agreement' 'cgroups of both versions are needed'
fi

# --- in a sandbox, as containers are
cat >sandbox.sh <<'END'
mount -o remount,bind,ro /sys || exit 99
"$1" run -f jsonl -o sandbox.jsonl -- true || exit 98
awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) ~ /^cgroup/) print $5 }' /proc/self/mountinfo | while read -r m; do
	mount -o remount,bind,ro "$m"
done
"$1" run -f jsonl -o ro.jsonl -- true 2>ro.err || exit 97
"$1" monitor -p 1 -d 0.3 -f jsonl -o one.jsonl
END
if unshare -UrpfmC --mount-proc true 2>/dev/null; then
	timeout -s KILL 60 unshare -UrpfmC --mount-proc sh sandbox.sh "$S" >out 2>err
	is $? 0 'in namespaces of user, pid, mount and cgroup, with /sys read-only' err
	said sandbox.jsonl 'h["attribution_backend"] in ("cgroup_v2", "cgroup_v1", "proc")' True 'run takes what there is'
	said ro.jsonl 'h["attribution_backend"]' proc 'where no cgroup can be made, that is proc'
	said ro.jsonl '"Read-only" in h["backend_refusals"][1]["reason"]' True 'and the reason is told'
	said one.jsonl 'h["attribution_backend"] in ("cgroup_v2", "proc") and len(h["backend_refusals"]) > 0' True \
		'-p 1 is its own first process'
else
	skip 'a sandbox' 'unshare -U is not allowed here'
fi
done_testing
