#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Attaching with the command: pids, scopes, cgroups, groupings, namespaces, and how a recording ends. records.py does
# the sums.
. "$(dirname "$0")/tap.bash"

spin='i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
spins="while :; do $spin; sleep 0.01; done"

check() { # what, arguments of records.py…
	local what=$1
	shift
	python3 "$here/records.py" "$@" >why 2>&1
	ok $? "$what" why
}

says() { # pattern, what: a line of err
	grep -qE "$1" err
	ok $? "$2" err
}

fails() { # what, pattern, arguments…: exit 1, one line of ours that matches
	local what=$1 pattern=$2
	shift 2
	sw monitor -d 0.2 "$@" >out 2>err
	is $? 1 "$what" err
	[ "$(wc -l <err)" -eq 1 ] && grep -qE "^schedwatt: .*$pattern" err
	ok $? "$what: one line that says so" err
}

# --- targets that are none
fails 'a process that is not there' 'no process 4194000' -p 4194000
gone=$(sh -c 'echo $$')
fails 'a process that has gone' "process $gone" -p $gone
python3 -c 'import subprocess, time
p = subprocess.Popen(["true"])
time.sleep(0.3)
print(p.pid, flush=True)
time.sleep(20)' >zombie &
holder=$!
for _ in $(seq 100); do [ -s zombie ] && break || sleep 0.05; done
fails 'a zombie' "process $(cat zombie) has ended already" -p "$(cat zombie)"
kill $holder
wait $holder 2>/dev/null
python3 -c 'import threading, time
t = threading.Thread(target=time.sleep, args=(20,), daemon=True)
t.start()
print(t.native_id, flush=True)
time.sleep(20)' >thread &
holder=$!
for _ in $(seq 100); do [ -s thread ] && break || sleep 0.05; done
fails 'a thread' "thread of process $holder" -p "$(cat thread)"
kill $holder
wait $holder 2>/dev/null
fails 'a cgroup that is not there' 'no cgroup' --cgroup /schedwatt-no-such

# --- a tree, its end, and the end of its root
sh -c "sh -c '$spins' & echo \$! >child; $spins" &
root=$!
for _ in $(seq 100); do [ -s child ] && break || sleep 0.05; done
sleep 0.1
sw monitor -p $root,"$(cat child)" -i 50 -d 0.6 -f jsonl --threads -o tree.jsonl 2>err
is $? 0 'monitor of a tree, nested pids' err
check 'its windows add up' sums tree.jsonl 8
check 'the header says what it is' target tree.jsonl kind:=pids scope:=tree end:=duration
check 'the root has time' row tree.jsonl processes pid $root 'oncpu_ns>10000000' exited=False
check 'the child has time, once' row tree.jsonl processes pid "$(cat child)" 'oncpu_ns>10000000' ppid=$root
check 'a command line is told' row tree.jsonl processes pid "$(cat child)" \
	"cmdline=sh -c $(printf %s "$spins" | sed 's/ /\\ /g')"
check 'a thread has its own row' row tree.jsonl threads tid $root 'oncpu_ns>10000000' comm=sh
sw monitor -p $root --scope process -i 50 -d 0.4 -f jsonl --no-cmdline -o process.jsonl 2>err
is $? 0 'monitor of one process' err
check 'its windows add up' sums process.jsonl 6
check 'scope process: the child is not in it' nobody process.jsonl processes pid "$(cat child)"
check 'without command lines' row process.jsonl processes pid $root -cmdline
sw monitor -p $root -i 60000 -f jsonl -o end.jsonl 2>err &
pid=$!
for _ in $(seq 200); do [ -s end.jsonl ] && break || sleep 0.05; done
kill $root
wait $root 2>/dev/null
sleep 0.7 # its descendant lives on for a while
kill "$(cat child)"
wait $pid
is $? 0 'monitor ends with its target, long before its window' err
says 'has ended; its descendants are recorded on|have ended' 'and says so'
check 'the summary says why' target end.jsonl end:=target
check 'the root exited by its signal' row end.jsonl processes pid $root exited=True exit_signal=15
check 'the child as well' row end.jsonl processes pid "$(cat child)" exited=True exit_signal=15

# --- how processes end
cat >ends.sh <<'END'
sh -c 'exit 7' & echo $! >seven
sh -c 'kill -9 $$' & echo $! >nine
wait
END
sw run -f jsonl -o ends.jsonl -- sh ends.sh >out 2>err
check 'an exit status' row ends.jsonl processes pid "$(cat seven)" exit_status=7
check 'a signal' row ends.jsonl processes pid "$(cat nine)" exit_signal=9

# --- groupings
for by in process thread cgroup comm; do
	sw monitor --by $by -i 50 -d 0.4 -f jsonl -o by.jsonl 2>err
	is $? 0 "monitor --by $by" err
	check "every window adds up by $by" sums by.jsonl 6
	sw monitor --by $by -i 100 -d 0.3 -o by.txt 2>err
	[ "$(awk 'length > 130' by.txt | wc -l)" -eq 0 ] && grep -qE 'CPU (time )?s' by.txt
	ok $? "text by $by has a table" by.txt
done

# --- cgroups
v2=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
cg="$v2/schedwatt-test-$$"
if [ -n "$v2" ] && mkdir "$cg" 2>/dev/null; then
	trap 'for p in $(jobs -p); do kill -9 "$p" 2>/dev/null; done; wait 2>/dev/null; sleep 0.2
		rmdir "$cg/a b" "$cg/b" "$cg" 2>/dev/null; rm -rf "$dir"' EXIT
	mkdir "$cg/a b" "$cg/b"
	sh -c "echo 0 >'$cg/a b/cgroup.procs'; $spins" &
	mover=$!
	sh -c "echo 0 >'$cg/b/cgroup.procs'; $spins" &
	stays=$!
	sh -c "$spins" &
	outside=$!
	sleep 0.2
	: >cg.jsonl
	: >gone.jsonl
	sw monitor --cgroup "$cg" --by cgroup --threads -i 50 -d 0.8 -f jsonl -o cg.jsonl 2>err &
	pid=$!
	for _ in $(seq 200); do [ "$(wc -l <cg.jsonl)" -gt 4 ] && break || sleep 0.02; done
	echo $mover >"$v2/cgroup.procs"
	wait $pid
	is $? 0 'monitor of a cgroup' err
	check 'its windows add up, subtrees too' sums cg.jsonl 14
	check 'the header says which' target cg.jsonl kind:=cgroup "path:=/${cg##*/}"
	check 'who stayed is in it' row cg.jsonl threads tid $stays 'oncpu_ns>20000000'
	check 'who left is in it for its part' row cg.jsonl threads tid $mover 'oncpu_ns>1000000' 'oncpu_ns<600000000'
	check 'nobody from outside is' nobody cg.jsonl threads tid $outside
	check 'a cgroup has its row' row cg.jsonl cgroups path "/${cg##*/}/b" 'oncpu_ns>20000000'
	"$S" monitor --cgroup "0::/${cg##*/}" -d 30 -i 50 -f jsonl -o gone.jsonl 2>err &
	pid=$!
	for _ in $(seq 200); do [ "$(wc -l <gone.jsonl)" -gt 3 ] && break || sleep 0.02; done
	kill $stays
	wait $stays 2>/dev/null
	sleep 0.2
	rmdir "$cg/a b" "$cg/b" "$cg"
	ok $? 'the cgroup is removed under it'
	sleep 0.2
	kill -TERM $pid
	wait $pid
	is $? 0 'monitor of a cgroup that was removed' err
	check 'it keeps what it had' row gone.jsonl processes pid $stays 'oncpu_ns>1000000' exited=True \
		"cgroup=/${cg##*/}/b"
	check 'and the recording ended by the signal' target gone.jsonl end:=signal
	kill $mover $outside
	wait $mover $outside 2>/dev/null
else
	skip 'a cgroup as target' 'cgroup v2 is not mounted, or none can be made in it'
fi

# --- namespaces
inside() { # program and arguments, in namespaces of the options before --
	timeout -s KILL 60 unshare "$@"
}
cat >ns.sh <<'END'
sh -c 'i=0; while [ $i -lt 5000000 ]; do i=$((i + 1)); done' &
echo $! >ns.pid
"$1" monitor -p 1 -i 50 -d 0.4 -f jsonl -o ns.jsonl
"$1" monitor -i 50 -d 0.2 -f jsonl -o host.jsonl
"$1" monitor -p 4194000 -d 0.2
echo $? >ns.status
kill $!
END
if unshare -pf --mount-proc true 2>/dev/null; then
	inside -pf --mount-proc sh ns.sh "$S" >out 2>err
	check 'in a pid namespace, -p 1 is its init' sums ns.jsonl 6
	check 'ids are as seen there' ids ns.jsonl "$(cat ns.pid)" yes
	check 'in the whole host, strangers have none' ids host.jsonl "$(cat ns.pid)" yes
	is "$(cat ns.status)" 1 'a process of another namespace' err
else
	skip 'pid namespaces' 'unshare -p is not allowed here'
fi
cat >time.sh <<'END'
sh -c 'i=0; while [ $i -lt 5000000 ]; do i=$((i + 1)); done' &
echo $! >time.pid
cut -d' ' -f22 /proc/$!/stat >time.ticks
sleep 0.1
"$1" monitor -p $! -i 50 -d 0.4 -f jsonl -o time.jsonl
kill $!
END
if unshare -T --boottime 100000 --monotonic 100000 true 2>/dev/null; then
	inside -T --boottime 100000 --monotonic 100000 sh time.sh "$S" >out 2>err
	check 'in a time namespace windows add up' sums time.jsonl 6
	check 'and are as long as asked for' windows time.jsonl 50
	check 'and start times are as /proc has them there' started time.jsonl "$(cat time.pid)" "$(cat time.ticks)"
else
	skip 'time namespaces' 'unshare -T is not allowed here'
fi
done_testing
