#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What people see on a terminal and nobody elsewhere: colours, the line of progress; and Ctrl-C, typed.
. "$(dirname "$0")/tap.bash"
export TERM=xterm
unset NO_COLOR
terminal="$here/terminal.py"
esc=$(printf '\033')
bold="$esc\[1m" clear="$esc\[K"

plain() { # file: no escape sequence is in it
	! grep -q "$esc" "$1"
}

# --- colours
"$terminal" out "$S" run -- true
is $? 0 'run on a terminal' out
grep -q "$bold schedwatt run: true" out
ok $? 'its summary has colours' out
grep -q 'CPU time of the command' out
ok $? 'and all that it has elsewhere' out
NO_COLOR=1 "$terminal" out "$S" run -- true
grep -q ' schedwatt run: true' out && plain out
ok $? 'NO_COLOR=1: none' out
NO_COLOR= "$terminal" out "$S" run -- true
grep -q "$bold" out
ok $? 'NO_COLOR that is empty is not set' out
TERM=dumb "$terminal" out "$S" run -- true
grep -q ' schedwatt run: true' out && plain out
ok $? 'TERM=dumb: none' out
sw run -- true >out 2>err
grep -q ' schedwatt run: true' err && plain err
ok $? 'not on a terminal: none' err
"$terminal" out "$S" run -f text -o records -- true
grep -q "$bold" out && grep -q ' schedwatt run: true' records && plain records
ok $? 'the same text in a file beside it: none there' records
"$terminal" out "$S" monitor -d 0.3
is $? 0 'monitor on a terminal' out
grep -q "$bold schedwatt monitor: this machine" out
ok $? 'its summary has colours' out
ln -s "$(command -v true)" "$(printf 'e\033[31mvil')"
"$terminal" out "$S" run --tree -- "./$(printf 'e\033[31mvil')"
! grep -q "$esc\[31m" out && grep -q 'e?\[31mvil' out
ok $? "a command's name colours nothing" out

# --- progress
"$terminal" --stderr out "$S" monitor -i 100 -d 1
is $? 0 'monitor -d with only stderr on a terminal' out
grep -q 'schedwatt: [0-9.]* s of 1.0 s, [0-9]* windows' out
ok $? 'it shows how far it is' out
[ "$(tr '\r' '\n' <out | grep -c 'schedwatt: .* of 1.0 s')" -ge 5 ]
ok $? 'again and again' out
tr '\r' '\n' <out | tail -1 | grep -qx "$clear"
ok $? 'and clears the line at the end' out
"$terminal" out "$S" monitor -i 100 -d 0.5
tr '\r' '\n' <out | grep -qE "^$clear[0-9:]{8}\.[0-9]{3} "
ok $? 'lines of windows on the same terminal begin a line' out
"$terminal" --stderr out "$S" monitor -i 100 -d 0.5 -p 1 --attribution-mode none-such
is $? 2 'a usage error' out
plain out
ok $? 'and no progress' out
sw monitor -i 100 -d 0.5 >out 2>err
[ ! -s err ]
ok $? 'none where stderr is no terminal' err
"$terminal" --stderr out "$S" run -- sleep 0.5
! grep -q "$clear" out
ok $? 'none of run, whose command may use the terminal' out
rm -f records
sleep 60 &
pid=$!
(
	until grep -q '"type":"sample"' records 2>/dev/null; do sleep 0.1; done
	kill $pid
) &
"$terminal" --stderr out "$S" monitor -i 100 -d 30 -p $pid -f jsonl -o records
is $? 0 'the target ends before the duration' out
tr '\r' '\n' <out | grep -q "^${clear}schedwatt: process $pid and its descendants have ended"
ok $? 'what is said of it has a line of its own' out

"$terminal" out "$S" run -i 50 -r 3 --warmup 1 -- sh -c 'sleep 0.3; echo words'
is $? 0 'run -r on a terminal' out
for i in 1 2 3 4; do
	grep -qE "$esc\[[0-9]+Gschedwatt: run $i of 4, [0-9.]+ s, [0-9]+ windows?,.* W$clear" out
	ok $? "run $i of 4 is shown, warm-ups counted" out
done
sed -E "s/${esc}7[^$esc]*$esc\[[0-9]+G[^$esc]*$clear${esc}8//g" out | tr -d '\r' >left
[ "$(grep -cx words left)" -eq 4 ]
ok $? 'the command finds the cursor where it left it' left
grep -q '^ run 3/3 ' left
ok $? 'and so does the line of a run' left
sw run -r 2 -- true >out 2>err
! grep -q 'run 1 of 2' err && plain err
ok $? 'run -r elsewhere: no progress' err

# --- Ctrl-C
"$terminal" --interrupt ready out "$S" run -- sh -c 'echo ready; exec sleep 30'
is $? 130 'Ctrl-C ends run with 130' out
grep -q 'CPU time of the command' out
ok $? 'and its summary' out
"$terminal" --interrupt ready out "$S" run -- sh -c 'trap "exit 7" INT; echo ready; sleep 30 & wait'
is $? 7 'a command that has its own way with Ctrl-C: its status' out
grep -q 'CPU time of the command' out
ok $? 'and the summary' out
"$terminal" --interrupt 'busy %' out "$S" monitor
is $? 0 'Ctrl-C ends monitor with 0' out
grep -q 'schedwatt monitor: this machine' out
ok $? 'and its summary' out
"$terminal" --stderr --interrupt 's of 30.0 s' out "$S" monitor -i 100 -d 30 -f jsonl -o records
is $? 0 'Ctrl-C while progress is shown' out
tail -1 records | grep -q '"type":"summary"'
ok $? 'the records are whole' records
tr '\r' '\n' <out | tail -1 | grep -qx "$clear"
ok $? 'and the line is cleared' out
done_testing
