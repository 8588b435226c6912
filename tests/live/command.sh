#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The command's manners: exit statuses, the files of the command it runs, outputs that fail, life without BPF.
. "$(dirname "$0")/tap.bash"

status() { # wanted, what, arguments…
	local wanted=$1 what=$2
	shift 2
	sw "$@" >out 2>err
	is $? "$wanted" "$what" err
}

one_message() { # what: err holds one line, ours
	[ "$(wc -l <err)" -eq 1 ] && grep -q '^schedwatt: ' err
	ok $? "$1: one message" err
}

# --- exit statuses of run
status 0 'run of true' run -- true
status 7 "the command's own status" run -- sh -c 'exit 7'
status 255 "the command's own status, the greatest" run -- sh -c 'exit 255'
status 127 'a command that is not there' run -- ./no-such-command
one_message 'a command that is not there'
touch not-executable
status 126 'a command that cannot be executed' run -- ./not-executable
status 126 'a directory as command' run -- /tmp
status 143 'a command that SIGTERM ended' run -- sh -c 'kill -TERM $$'
status 137 'a command that SIGKILL ended' run -- sh -c 'kill -KILL $$'
status 2 'an unknown option' run --no-such-option -- true
one_message 'an unknown option'
status 2 'no command' run
status 2 'an interval that is no number' run -i 12x -- true
status 2 'an interval of 0' run -i 0 -- true
status 2 'an argument to monitor' monitor foo
status 2 'no subcommand' --
status 125 'a sysfs that is not there' run --sysfs "$dir/none" -- touch ran
one_message 'a sysfs that is not there'
status 125 'an output that cannot be opened' run -o "$dir/none/x" -- touch ran
one_message 'an output that cannot be opened'
status 125 'an energy source that is not there' run --energy powercap --sysfs "$dir" -- touch ran
status 125 'energy that is not measured, with --strict' run --strict --energy model -- touch ran
[ ! -e ran ]
ok $? 'a command that could not be accounted did not run'
status 1 'monitor with a sysfs that is not there' monitor -d 0.2 --sysfs "$dir/none"
status 0 'monitor for a while' monitor -d 0.3

# --- signals; a shell ignores SIGINT for what it starts in the background
env --default-signal=INT "$S" run -- sleep 30 >out 2>err &
pid=$!
child=
for _ in $(seq 100); do
	child=$(pgrep -P $pid -x sleep) && break
	sleep 0.1
done
kill -INT $pid
wait $pid
is $? 130 'SIGINT is handed on and ends it' err
[ -n "$child" ] && ! kill -0 "$child" 2>/dev/null
ok $? 'the command has ended with it'

# --- the command's own files and names
printf 'a\0b\nc' >in
sw run -- cat <in >out 2>err
is $? 0 'run of cat' err
cmp -s in out
ok $? 'stdin and stdout are the command'"'"'s, byte by byte'
grep -q 'CPU time of the command' err
ok $? 'the summary goes to stderr' err
sw run -- sh -c 'echo words >&2' >out 2>err
[ ! -s out ] && head -1 err | grep -qx words
ok $? "the command's stderr stays its own" err
sw run -o records -- sh -c 'ls -l /proc/self/fd | wc -l' >with 2>err
timeout 20 sh -c 'ls -l /proc/self/fd | wc -l' >without 2>>err
cmp -s with without
ok $? 'no file descriptor of ours reaches the command' with
(ulimit -Sn 900; sw run -- sh -c 'ulimit -Sn' >out 2>err)
is "$(cat out)" 900 'the command keeps its limit of descriptors' err
head -1 records | grep -q '"type":"header"'
ok $? '-o writes records to the file' records
sw run -f jsonl -- true >out 2>err
head -1 out | grep -q '"type":"header"'
ok $? '-f alone writes records to stdout' out
sw run -- grep -E '^(SigBlk|SigIgn)' /proc/self/status >with 2>err
timeout -s KILL 60 grep -E '^(SigBlk|SigIgn)' /proc/self/status >without # it has handlers of its own, as in sw()
cmp -s with without
ok $? 'the command has the signal mask and dispositions that it would have without us' with

# --- outputs that fail
status 1 'run into a full disk' run -o /dev/full -- true
status 3 "a full disk hides no status of the command's" run -o /dev/full -- sh -c 'exit 3'
status 1 'monitor into a full disk' monitor -i 50 -d 0.3 -f jsonl -o /dev/full
one_message 'monitor into a full disk'
(sw monitor -i 50 -f jsonl 2>err; echo $? >status) | head -1 >out
is "$(cat status)" 0 'a pipe that its reader closes ends monitor' err
[ ! -s err ] && [ "$(wc -l <out)" -eq 1 ]
ok $? 'and without a word' err
sw run -f jsonl -o /dev/null -- true >out 2>err
is $? 0 '/dev/null is a file like others' err
mkfifo fifo
cat fifo >copy &
status 0 'a FIFO' monitor -i 50 -d 0.3 -f jsonl -o fifo
wait $!
tail -1 copy | grep -q '"type":"summary"'
ok $? 'a FIFO gets it all' copy
sw run -- true >&- 2>err
is $? 0 'with stdout closed' err
"$S" --version >/dev/full 2>err
is $? 1 '--version into a full disk' err
"$S" run --help >/dev/full 2>err
is $? 1 '--help into a full disk' err

# --- without the right to load programs; what is chosen then is fallback.sh's matter
nobody() {
	timeout -s KILL 60 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$S" "$@"
}
if nobody --version >out 2>err; then
	nobody run -- sh -c 'exit 5' >out 2>err
	is $? 5 'run without capabilities' err
	grep -q '^schedwatt: .*CAP_BPF' err
	ok $? 'which names the remedy' err
	nobody run --attribution-mode ebpf -- touch ran >out 2>err
	is $? 125 'run without capabilities, by BPF only' err
	one_message 'run without capabilities, by BPF only'
	grep -q 'CAP_BPF' err
	ok $? 'which names the remedy' err
	[ ! -e ran ]
	ok $? 'the command did not run'
	nobody monitor -d 0.2 --attribution-mode ebpf >out 2>err
	is $? 1 'monitor without capabilities, by BPF only' err
	one_message 'monitor without capabilities, by BPF only'
	[ ! -s out ]
	ok $? 'no empty success on stdout' out
else
	skip 'life without capabilities' "nobody may not execute $S"
fi
done_testing
