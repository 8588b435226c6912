#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `schedwatt run` again and again: what counts, every exit status, budgets, the object of --json, and an interruption in
# each phase, which must leave whole files. repeat.py judges these.
. "$(dirname "$0")/tap.bash"

check() { # what, arguments of repeat.py…
	local what=$1
	shift
	python3 "$here/repeat.py" "$@" >why 2>&1
	ok $? "$what" why
}

status() { # wanted, what, arguments of run…
	local wanted=$1 what=$2
	shift 2
	rm -f json records ran
	sw run "$@" >out 2>err
	is $? "$wanted" "$what" err
}

count() { # wanted, what: how often the command ran
	is "$(cat ran 2>/dev/null | wc -l)" "$1" "$2" err
}

fast=(--energy none --json json -o records)

# --- what counts
status 0 'a series' -r 4 --warmup 2 "${fast[@]}" -- sh -c 'echo >>ran'
count 6 'warm-ups and repeats ran'
check 'and its object has them all' series json 0 2 4 6
check 'and so have its records' records records 6
grep -q '^ of 4 runs  *mean  *±95 %' err && grep -q '^ warm-up 2/2 ' err && grep -q '^ run 4/4 .*exit 0$' err
ok $? 'the words are of the four' err
[ "$(wc -L <err)" -le 100 ]
ok $? 'and no line is wider than 100 columns' err
status 0 'energy of a model' -r 3 --energy model --json json -o records -- sh -c 'echo >>ran'
check 'is in the statistics' series json 0 0 3 3
grep -q '^ joules  *~[0-9.]*  *±' err && ! grep -q '^ CPU s  *~' err
ok $? 'and marked as a model'"'"'s' err
status 0 'one run' --energy model --json json -- true
check 'has an object too' single json 0
! grep -q '95 %' err
ok $? 'and the summary as ever' err
sw run -r 2 --energy none --json - -- true >json 2>err
check '--json - is stdout' series json 0 0 2 2
status 0 'records as text' -r 2 --energy none -f text -o records -- true
grep -q '^ run 2/2 ' records && grep -q '^ of 2 runs ' records
ok $? 'have runs and statistics' records

# --- failing commands
status 7 'a command that fails ends the series' -r 5 "${fast[@]}" -- sh -c 'echo >>ran; [ $(wc -l <ran) -lt 3 ] || exit 7'
count 3 'at once'
check 'and the failed run does not count' series json 7 0 2 3
status 7 '--keep-going' -r 5 --keep-going "${fast[@]}" -- \
	sh -c 'echo >>ran; case $(wc -l <ran) in 2) exit 7 ;; 4) exit 8 ;; esac'
count 5 'goes on'
check 'and counts it; the status is that of the first' series json 7 0 5 5
check 'which is noted' failed json 2
status 9 'a warm-up that fails' -r 2 --warmup 2 "${fast[@]}" -- sh -c 'echo >>ran; exit 9'
check 'ends the series' series json 9 1 0 1
status 137 'a command that is killed' -r 3 "${fast[@]}" -- sh -c 'kill -KILL $$'
check 'ends the series' series json 137 0 0 1
status 143 'a command that asks its own group to end' -r 3 "${fast[@]}" -- sh -c 'kill -TERM $$'
status 127 'a command that is not there' -r 3 "${fast[@]}" -- ./none
check 'leaves an object' empty json 127
touch plain
status 126 'a command that cannot be executed' -r 3 "${fast[@]}" -- ./plain
status 127 'a command that goes away' -r 3 "${fast[@]}" -- ./self
printf '#!/bin/sh\necho >>ran\nrm "$0"\n' >self
chmod 755 self
status 127 'a command that removes itself' -r 3 "${fast[@]}" -- ./self
check 'leaves the run before' series json 127 0 1 1
status 125 'a sysfs that is not there' -r 3 --json json --sysfs "$dir/none" -- sh -c 'echo >>ran'
count 0 'nothing ran'
status 2 'a bad count' -r 0 -- true
status 2 'a bad budget' --budget 5 -- true

# --- outputs that fail
status 1 'an object into a full disk' -r 2 --energy none --json /dev/full -- true
is "$(grep -c '^schedwatt: ' err)" 1 'one message' err
status 3 'hides no status of the command' -r 2 --energy none --json /dev/full -- sh -c 'exit 3'
status 124 'nor that of the budget' --energy none --json /dev/full --budget 0.001cpu-ms -- true
status 1 'one run, an object into a full disk' --energy none --json /dev/full -- true
status 125 'an object that cannot be opened' --json "$dir/none/x" -- sh -c 'echo >>ran'
count 0 'nothing ran'

# --- budgets
status 124 'over a budget of CPU time' -r 3 "${fast[@]}" --budget 0.001cpu-ms -- true
grep -q '^schedwatt: over budget: the mean of 3 runs is .* more than the 0.000001 s of CPU time allowed$' err
ok $? 'in words' err
check 'and in the object' budget json over cpu_s
check 'which has the status' series json 124 0 3 3
status 0 'within a budget of CPU time' -r 3 "${fast[@]}" --budget 50cpu-s -- true
check 'in the object' budget json within cpu_s
status 124 'over budget in one run' "${fast[@]}" --budget 0.001cpu-ms -- true
check 'in the object' single json 124
status 5 'a failing command over budget' "${fast[@]}" --budget 0.001cpu-ms -- sh -c 'exit 5'
status 2 'joules of a model' -r 2 --energy model --json json --budget 500J -- sh -c 'echo >>ran'
count 0 'are no budget'
check 'and leave an object' empty json 2
status 0 'but for --budget-modelled' --energy model --json json --budget 500J --budget-modelled -- true
check 'which is judged' budget json within joules
status 124 'and can be exceeded' --energy model --json json --budget 0.001mJ --budget-modelled -- true
grep -q 'over budget: the command used ~' err
ok $? 'with the mark of a model' err
status 2 'no energy at all' --energy none --budget 500J -- sh -c 'echo >>ran'
count 0 'is no budget either'

zone=sysfs/class/powercap/intel-rapl:0
mkdir -p "$zone"
echo package-0 >$zone/name
echo 262143328850 >$zone/max_energy_range_uj
measured() { # wanted, what, arguments of run…: with a counter that stands, unless the command moves it
	local wanted=$1 what=$2
	shift 2
	echo 5000000000 >$zone/energy_uj
	status "$wanted" "$what" --energy powercap --sysfs "$dir/sysfs" --json json "$@"
}
step="echo 5002000000 >$zone/energy_uj; sleep 0.1"
measured 124 'measured joules over budget' --budget 0.01mJ -- sh -c "$step"
check 'in the object' budget json over joules
measured 0 'measured joules within budget' --budget 3J -- sh -c "$step"
measured 1 'energy that goes missing' -r 2 --budget 3J -- sh -c "echo >$zone/energy_uj; sleep 0.1"
grep -q '^schedwatt: the budget of 3 J cannot be judged: ' err
ok $? 'is no verdict' err

# --- what the command has, it has every time
# As grep and ls find them, since a shell blocks signals of its own while it forks.
cat >has.sh <<'END'
{ grep -E '^(SigBlk|SigIgn)' /proc/self/status; ulimit -Sn; ulimit -Sl; ls /proc/self/fd | wc -l; } >>has
END
(ulimit -Sn 900; ulimit -Sl 64; sw run -r 3 --energy none -- sh has.sh >out 2>err
	timeout -s KILL 60 sh has.sh)
split -n l/4 has part. 2>/dev/null
cmp -s part.aa part.ab && cmp -s part.ab part.ac && cmp -s part.aa part.ad
ok $? 'signals, limits and files of the command are the same in each run, and without us' has

# --- interrupted
start() { # arguments of run…: in the background, with the SIGINT that a shell takes from it
	rm -f json records ran
	env --default-signal=INT,QUIT "$S" run "$@" >out 2>err &
	pid=$!
}

wait_for() { # a command that comes true
	for _ in $(seq 1000); do
		eval "$1" && return
		sleep 0.01
	done
	return 1
}

ended() { # wanted, what
	wait $pid
	is $? "$1" "$2" err
}

start -r 3 "${fast[@]}" -- sh -c 'echo >>ran'
wait_for "pgrep -P $pid >held" # it has forked, and loads
kill -INT $pid
ended 130 'SIGINT while the first command is held'
count 0 'which did not run'
check 'leaves an object' empty json 130
check 'and records' records records 0
start "${fast[@]}" -- sh -c 'echo >>ran'
wait_for "pgrep -P $pid >held"
kill -INT $pid
ended 130 'likewise of a command that runs once'
count 0 'which did not run'
check 'leaves an object' empty json 130
head -1 records | grep -q '"type":"header"' && tail -1 records | grep -q '"type":"summary".*"end":"signal"'
ok $? 'and records' records

later='echo >>ran; [ $(wc -l <ran) -lt 3 ] || exec sleep 30'
start -r 5 --warmup 1 "${fast[@]}" -- sh -c "$later"
wait_for "pgrep -P $pid -x sleep >/dev/null"
kill -INT $pid
ended 130 'SIGINT while the command runs'
check 'leaves the runs before' interrupted json 130 1
check 'and records' records records 3
grep -q '^ the series was interrupted; 1 of 5 runs count$' err && grep -q '^ of 1 run ' err
ok $? 'and the summary so far' err
start -r 5 "${fast[@]}" -- sh -c "$later"
wait_for "pgrep -P $pid -x sleep >/dev/null"
kill -TERM $pid
ended 143 'SIGTERM while the command runs'
check 'leaves the runs before' interrupted json 143 2
start -r 3 "${fast[@]}" -- sh -c 'trap "exit 0" INT; echo >>ran; while :; do sleep 0.05; done'
wait_for '[ -s ran ]'
kill -INT $pid
ended 130 'a command that takes SIGINT for itself'
count 1 'and ends the series all the same'
start "${fast[@]}" -- sh -c 'trap "exit 6" INT; echo >>ran; while :; do sleep 0.05; done'
wait_for '[ -s ran ]'
kill -INT $pid
ended 6 'a single command that does so has its own status'

# Between two runs; on a machine that is too busy for that, at the start of the second.
start -r 3 "${fast[@]}" -- sh -c 'echo >>ran; [ $(wc -l <ran) -lt 2 ] || exec sleep 30'
wait_for 'grep -q "^ run 1/3" err'
kill -INT $pid
ended 130 'SIGINT between two runs'
check 'leaves the run before' interrupted json 130 1

# The reader of the records stands still, and the pipe is full.
mkfifo fifo
python3 - fifo full <<'END' &
import fcntl, sys, termios, time
with open(sys.argv[1], "rb") as fifo:
    held, since = 0, time.monotonic()
    while held < 20000 or time.monotonic() - since < 1:  # how much fits depends on how long records are
        time.sleep(0.02)
        now = int.from_bytes(fcntl.ioctl(fifo, termios.FIONREAD, bytes(4)), sys.byteorder)
        if now != held:
            held, since = now, time.monotonic()
    open(sys.argv[2], "w").close()
    time.sleep(60)
END
reader=$!
start -r 2 -i 1 --energy none --json json -f jsonl -o fifo -- sleep 300
wait_for '[ -e full ]'
kill -INT $pid
ended 130 'SIGINT while a record cannot be written'
check 'leaves an object' interrupted json 130 0
grep -q 'its reader stands still' err
ok $? 'and says why the records are not whole' err
kill $reader

# On a terminal, which sends the signal to both.
rm -f json records ran
timeout -s KILL 90 python3 "$here/ctrl_c.py" ran "$S" run -r 3 "${fast[@]}" -- sh -c 'echo >>ran; exec sleep 31.25' >out 2>err
is $? 130 'Ctrl-C on a terminal' err
check 'leaves an object' interrupted json 130 0
check 'and records' records records 1
! pgrep -f '^sleep 31[.]25$' >err
ok $? 'no command is left behind' err
done_testing
