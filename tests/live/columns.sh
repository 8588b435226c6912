#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Rows with columns, of a target with threads, in each format: awkward names, compressed files that a kill cuts short,
# readers that go, children that live for a moment. columns.py reads what was written with Python's own readers.
. "$(dirname "$0")/tap.bash"

COLUMNS=time,comm,utime,cpuUsage,memUsage,joules
THREAD_COLUMNS=time,cpuUsage

check() { # what, arguments of columns.py…
	local what=$1
	shift
	python3 "$here/columns.py" "$@" >why 2>&1
	ok $? "$what" why
}

status() { # wanted, what, arguments…
	local wanted=$1 what=$2
	shift 2
	sw "$@" >out 2>err
	is $? "$wanted" "$what" err
}

# --- usage
for line in '--columns utme' '--columns time,time' '--thread-columns size' '--columns time --by comm' '-f csv --threads' \
	'--thread-output x' '-f csv --by cgroup' '--flat' '--csv-units'; do
	# shellcheck disable=SC2086
	status 2 "monitor $line" monitor -d 0.2 $line
	[ "$(wc -l <err)" -eq 1 ] && [ ! -s out ]
	ok $? "monitor $line: one message" err
done
status 2 'columns without records' run --columns time -- touch ran
[ ! -e ran ]
ok $? 'the command did not run'

# --- one process of two threads
cat >two.py <<'END'
import threading
def spin():
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
open('ready', 'w').close()
spin()
END
python3 two.py &
burner=$!
for _ in $(seq 100); do
	[ -e ready ] && break
	sleep 0.1
done
status 0 'csv' monitor -p $burner -i 100 -d 1 -f csv --columns $COLUMNS --thread-columns $THREAD_COLUMNS \
	-o rows.csv --thread-output threads.csv
check 'the rows of the process' csv rows.csv $COLUMNS rows=8 comm=python3 utime cpuUsage=1 memUsage joules
check 'the rows of its threads' csv threads.csv $THREAD_COLUMNS rows=16 time cpuUsage=2
status 0 'csv to two outputs, with units and labels' monitor -p $burner -i 100 -d 0.5 -f csv --columns pid,oncpu_ns \
	--thread-columns tid,pid --thread-output threads.csv --csv-units --label 'job=a,b'
check 'the rows with units' csv out pid,oncpu_ns,job units=number,ns,none rows=4 pid=$burner oncpu_ns "job=a,b"
check 'the threads with units' csv threads.csv tid,pid,job units=number,number,none rows=8 pid=$burner "job=a,b"
status 0 'csv of the standard set' monitor -p $burner -i 100 -d 0.5 -f csv
check 'its rows' csv out time,pid,ppid,comm,state,oncpu_ns,joules,watts rows=4 pid=$burner state ppid=$$
status 0 'csv of the standard sets' monitor -p $burner -i 100 -d 0.5 -f csv --thread-output threads.csv
check 'its threads' csv threads.csv time,pid,tid,comm,state,oncpu_ns,joules rows=8 pid=$burner state comm=python3
status 0 'jsonl' monitor -p $burner -i 100 -d 1 -f jsonl --columns $COLUMNS --thread-columns $THREAD_COLUMNS
check 'lists of rows' jsonl out processes $COLUMNS pid,starttime rows=8
check 'lists of rows of threads' jsonl out threads $THREAD_COLUMNS pid,tid,starttime rows=16
status 0 'jsonl, flat' monitor -p $burner -i 100 -d 1 -f jsonl --flat --columns $COLUMNS \
	--thread-columns $THREAD_COLUMNS --label job=x
check 'records of rows' flat out process $COLUMNS pid,starttime rows=8 job=x
check 'records of rows of threads' flat out thread $THREAD_COLUMNS pid,tid,starttime rows=16 job=x
status 0 'jsonl, flat, with the usual fields' monitor -p $burner -i 100 -d 0.5 -f jsonl --flat --threads
check 'records of processes' flat out process comm,oncpu_ns,joules pid,start_boottime_ns rows=4
check 'records of threads' flat out thread comm,oncpu_ns,joules pid,tid,start_boottime_ns rows=8
status 0 'jsonl without columns' monitor -p $burner -i 100 -d 0.3 -f jsonl
! grep -q '"utime"\|"starttime"' out && grep -q '"start_boottime_ns"' out
ok $? 'nobody asked for counters: there are none' out
status 0 'text' monitor -p $burner -i 100 -d 0.5 --columns $COLUMNS --thread-columns $THREAD_COLUMNS
grep -Eq '^process +time +comm +utime +cpuUsage +memUsage +joules$' out && grep -Eq '^thread +time +cpuUsage$' out
ok $? 'the names of the columns' out
[ "$(grep -Ec '^process +[0-9]{16} python3 +[0-9]+ +([0-9.]+|-) +0\.[0-9]{6} +~?[0-9]+\.[0-9]{6}$' out)" -ge 4 ]
ok $? 'a line for each row' out
[ "$(grep -Ec '^thread +[0-9]{16} +([0-9.]+|-)$' out)" -ge 8 ]
ok $? 'a line for each row of a thread' out
kill $burner
wait $burner 2>/dev/null

# --- names that a table must quote, and bytes that are no UTF-8
burners=
for name in 'com,ma' 'q"u' '=1+1' "$(printf 'a\nb')" "$(printf 'z\377')"; do
	cp "$(readlink -f /bin/sh)" "$name"
	"./$name" -c 'while :; do :; done' &
	burners="${burners:+$burners,}$!"
done
sleep 0.5
status 0 'names' monitor -p "$burners" -i 200 -d 1 -f csv --columns comm,pid,oncpu_ns -o names.csv
check 'their rows' csv names.csv comm,pid,oncpu_ns rows=20 named
grep -q '^"com,ma",[0-9]' names.csv && grep -q '^"q""u",[0-9]' names.csv && grep -q '^=1+1,[0-9]' names.csv
ok $? 'quoted where a comma or a quote is, and nothing else' names.csv
status 0 'names as text' monitor -p "$burners" -i 200 -d 0.5 --columns comm
grep -q '^ a?b' out
ok $? 'a name breaks no line' out

# --- compressed, and killed
for format in csv jsonl text; do
	status 0 "$format, compressed" monitor -p "$burners" -i 100 -d 0.5 -f $format --columns pid -o whole.gz
	gzip -dc whole.gz >whole 2>err && [ ! -s err ] && [ -s whole ]
	ok $? "$format: it is whole" err
done
"$S" monitor -p "$burners" -i 20 -f csv --columns time,pid -o killed.csv.gz --thread-output killed.threads.gz 2>err &
pid=$!
for _ in $(seq 200); do
	[ "$(gzip -dc killed.csv.gz 2>/dev/null | wc -l)" -gt 50 ] && break
	sleep 0.05
done
kill -9 $pid
wait $pid 2>/dev/null
gzip -dc killed.csv.gz >killed.csv 2>err
grep -q 'unexpected end of file' err
ok $? 'a recording that was killed has no end' err
check 'what was written until then' csv killed.csv time,pid rows=50 whole
gzip -dc killed.threads.gz >killed.csv 2>err
check 'and of threads' csv killed.csv time,pid,tid,comm,state,oncpu_ns,joules rows=50 whole
kill ${burners//,/ }
wait 2>/dev/null

# --- readers that go, and disks that are full
sw monitor -f csv -i 20 --columns time,comm,pid 2>err | head -1 >out
is "${PIPESTATUS[0]}" 0 'a reader that takes the header row' err
[ "$(tr -d '\r' <out)" = time,comm,pid ] && [ ! -s err ]
ok $? 'quietly' err
status 1 'a full disk for threads' monitor -i 20 -f csv --thread-output /dev/full -o /dev/null
[ "$(wc -l <err)" -eq 1 ] && grep -q 'cannot write to /dev/full' err
ok $? 'one message' err
ln -s /dev/full full.gz
status 1 'a full disk, compressed' monitor -d 0.3 -f csv -o full.gz
[ "$(wc -l <err)" -eq 1 ] && grep -q 'cannot write to full.gz' err
ok $? 'one message for it' err

# --- children that are gone before anybody can read their counters: what the account tells
status 0 'short children' run -i 500 -f csv --columns comm,pid,ppid,oncpu_ns,utime,vsize,joules,state -o short.csv -- \
	sh -c 'i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i + 1)); done'
check 'their rows' csv short.csv comm,pid,ppid,oncpu_ns,utime,vsize,joules,state short=50

# --- a decimal comma
mkdir locales
if localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 2>why; then
	export LOCPATH=$dir/locales
	is "$(env LC_ALL=de_DE.UTF-8 locale decimal_point)" , 'the locale has a decimal comma'
	timeout -s KILL 60 env LC_ALL=de_DE.UTF-8 "$S" run -f csv --columns joules,memUsage -o comma.csv -- sleep 0.3 \
		>out 2>err
	check 'numbers where the decimal point is a comma' csv comma.csv joules,memUsage rows=1
else
	skip 'numbers where the decimal point is a comma' "localedef cannot make de_DE: $(head -1 why)"
fi
done_testing
