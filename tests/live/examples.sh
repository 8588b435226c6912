#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples as their readers would build them, against the installed library through pkg-config, and what they print.
# (ten_lines.c is package.sh's.)
. "$(dirname "$0")/tap.bash"
. "$here/installed.bash"
export LD_LIBRARY_PATH=$lib
cpus=$(nproc)

for name in monitor_pid counters poll; do
	# shellcheck disable=SC2046
	$CC -Wall -Wextra -Werror "$root/tools/examples/$name.c" -o $name $(pkg-config --cflags --libs schedwatt) 2>err
	is $? 0 "$name.c builds" err
done

run() { # what, arguments…
	local what=$1
	shift
	timeout -s KILL 60 "$@" >out 2>err
	is $? 0 "$what: it runs" err
	[ ! -s err ]
	ok $? "$what: it has nothing to complain of" err
}

# --- two back ends, one after the other: the second bills at most an Nth of a CPU, and a tick or two more
run monitor_pid ./monitor_pid 1
# ebpf (exact): 0.987 of 1.000 s on CPU, 4.180 of 4.358 J by model (modelled)
awk -v cpus="$cpus" '
	{ split($3, at, " ") }
	NR <= 2 && !/^[a-z0-9_]+ \((exact|coarse)\): [0-9.]+ of [0-9.]+ s on CPU, / { bad = 1 }
	NR <= 2 && !/ s on CPU, [0-9.]+ of [0-9.]+ J by [a-z]+ \((measured|modelled)\)$/ { bad = 1 }
	NR <= 2 { s[NR] = $3; of[NR] = $5; joules[NR] = $9; total[NR] = $11; mode[NR] = $1 }
	NR == 3 && /^cpu_percent differs in time by [-+][0-9.]+ %$/ { time = $6 }
	NR == 4 && /^cpu_percent differs in joules by [-+][0-9.]+ %$/ { energy = $6 }
	function off(told, a, b, d) { d = told - 100 * (b - a) / a; return d < 0 ? -d : d }
	END {
		if (mode[1] == "cpu_percent" || mode[2] != "cpu_percent") bad = 2
		if (s[1] <= 0 || s[1] > of[1] * cpus || joules[1] <= 0 || joules[1] > total[1]) bad = 3
		if (s[2] > of[2] / cpus + 0.02 || joules[2] > total[2]) bad = 4
		if (off(time, s[1], s[2]) > 1 || off(energy, joules[1], joules[2]) > 1) bad = 5
		if (bad) print "wrong: " bad
		exit bad || NR != 4
	}' out >why
ok $? 'monitor_pid: two bills, of which the second is an Nth at most, and how far they are apart' out
run 'monitor_pid without energy' ./monitor_pid 0.3 none
[ "$(grep -c 'no joules by none$' out)" -eq 2 ] && [ "$(wc -l <out)" -eq 3 ]
ok $? 'monitor_pid without energy: no joules, and no difference in them' out
! ./monitor_pid 0.3 steam >out 2>err && grep -q 'unknown energy source "steam"' err && [ ! -s out ]
ok $? 'monitor_pid: it says why it fails' err

# --- columns in the background
run counters ./counters 0 none
cat >wanted.awk <<'END'
function value(name, i) {
	for (i = 2; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return "missing"
}
function number(name) { return value(name) + 0 }
function want(true, why) { if (!true) { print why ": " $0; bad = 1 } }
/^paused$/ { pause = NR; next }
/^resumed$/ { want(NR == pause + 1, "rows came in the pause"); resumed = 1; next }
/^process / {
	processes++
	# the worker may not have got that far in the first
	want(number("num_threads") == 2 || processes == 1, "not two threads")
	want(value("comm") == "counters" && value("state") ~ /^[RSD]$/, "another process")
	want(number("time") > time && number("utime") >= utime, "what grows fell")
	want(number("minflt") > 0 && number("rss") > 0, "no memory")
	time = number("time"); utime = number("utime")
	want((value("cpuUsage") == "-") == (processes == 1), "cpuUsage is absent in the first row only")
	want(number("memUsage") > 0 && value("joules") == "-", "no share of memory, or joules")
	after += resumed
	next
}
/^thread / { threads[value("tid")]++; want(number("pid") > 0 && number("processor") >= 0, "no thread"); next }
/ s on CPU in / { want($1 > 0.02 && $1 <= $6 * 2 + 0.1, "no time"); summary++; next }
/ rows of processes went through the callback$/ {
	want($1 == processes, "called back with " $1 " of " processes)
	said++
	next
}
{ want(0, "an unknown line") }
END {
	for (tid in threads) { n++; want(threads[tid] >= 4, "few rows of thread " tid) }
	want(n == 2 && pause && resumed && processes >= 4 && after && summary == 1 && said == 1, "something is missing")
	exit bad
}
END
awk -f wanted.awk out >why
ok $? 'counters: rows of the process and both threads, a pause without any, a callback for each' why
sh -c 'while :; do :; done' &
burner=$!
run 'counters of a pid' ./counters $burner none
[ "$(grep -c "^process .* comm=sh .* pid=$burner " out)" -ge 4 ] && grep -q "^thread .* pid=$burner tid=$burner" out
ok $? 'counters of a pid: rows of it' out
kill $burner
wait $burner 2>/dev/null
! ./counters $burner none >out 2>err && grep -q "process $burner" err && [ ! -s out ]
ok $? 'counters of a pid that has gone: it says so' err
sleep 100 &
sleeper=$!
timeout -s KILL 60 ./counters $sleeper none >out 2>err &
recorder=$!
for _ in $(seq 400); do # until the monitor's thread is there
	grep -qsx schedwatt /proc/"$(pgrep -P $recorder)"/task/*/comm && break || sleep 0.05
done
kill $sleeper
wait $recorder
is $? 0 'counters of what ends meanwhile: it runs' err
[ ! -s err ] && grep -q ' s on CPU in ' out
ok $? 'counters of what ends meanwhile: it sums up all the same' out

# --- an event loop
run poll ./poll 3
awk -v cpus="$cpus" '
	!/^[0-9]+: [0-9.]+ s, on CPU [0-9.]+ s, idle [0-9.]+ s, [0-9.]+ J, most by .+ \([0-9]+\)$/ { bad = 1 }
	$1 != NR - 1 ":" || $2 < 0.4 || $6 <= 0 || $6 + $9 > $2 * cpus + 0.003 || $11 <= 0 { bad = 1 }
	END { exit bad || NR != 3 }' out
ok $? 'poll: three windows, in which not more happened than there was time for' out
timeout -s KILL 60 ./poll 0 none >out 2>err &
loop=$!
for _ in $(seq 400); do [ -s out ] && break || sleep 0.05; done
kill -TERM "$(pgrep -P $loop)"
wait $loop
is $? 0 'poll: a signal ends it' err
[ "$(wc -l <out)" -ge 2 ] && ! grep -qv ', no joules, most by ' out
ok $? 'poll: with the window that had begun' out

place uninstall
done_testing
