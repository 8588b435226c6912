#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A locale with a decimal comma changes nothing: numbers are read and written as in the C locale. Two recordings never
# have the same numbers, so that what is compared is their form, in which every number is 9 or 9.9.
. "$(dirname "$0")/tap.bash"

mkdir locales
if ! localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 2>why; then
	skip 'a decimal comma' "localedef cannot make de_DE: $(head -1 why)"
	done_testing
fi
export LOCPATH=$dir/locales

in_german() { LC_ALL=de_DE.UTF-8 sw "$@"; }
in_c() { LC_ALL=C sw "$@"; }

is "$(LC_ALL=de_DE.UTF-8 locale decimal_point 2>why)" , 'the locale has a decimal comma' why

# What differs between two recordings: numbers, time, and how many of what there are. A comma between digits stays.
form() {
	sed -E -e 's/[0-9]+/9/g' -e 's/ +/ /g' "$1"
}

same_form() { # what, file in C, file in German
	form "$2" >a
	form "$3" >b
	cmp -s a b
	ok $? "$1" <(diff a b)
}

records() { # in_c|in_german, format, file
	"$1" monitor -i 100 -d 0.3 -p $$ --model 0.74:3.5 --energy model -f "$2" -o "$3" 2>>err
}

for lc in in_c in_german; do
	records $lc jsonl $lc.jsonl
	is $? 0 "$lc: decimals are read with a point, jsonl is written" err
	records $lc text $lc.text
	is $? 0 "$lc: text is written" err
	$lc run --energy model -- true 2>$lc.summary
	is $? 0 "$lc: run" $lc.summary
	$lc run --model 0,74:3,5 -- true >out 2>$lc.refused
	is $? 2 "$lc: a comma is no decimal point" $lc.refused
done

# Headers have the same form; samples have other rows in each window, and their numbers are checked one by one.
for lc in in_c in_german; do
	head -1 $lc.jsonl | sed -E 's/"(started_at|load)":[^,]*,/"\1":0,/g' >$lc.header
	python3 - $lc.jsonl >$lc.keys 2>why <<'PYTHON'
import json
import sys

UNSTEADY = ("environment", "processes", "comms", "window_flags", "windows_flagged")  # what the host does decides on these


def shape(value):
    """What a value is: keys and kinds, without the values."""
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items() if k not in UNSTEADY}
    return "number" if isinstance(value, (int, float)) else type(value).__name__


shapes = set()
for line in open(sys.argv[1], encoding="utf-8"):
    record = json.loads(line)
    shapes.add(record["type"] + " " + json.dumps(shape(record)))
print("\n".join(sorted(shapes)))
PYTHON
	ok $? "$lc: every line is JSON" why
done
same_form 'the header has the same form' in_c.header in_german.header
cmp -s in_c.keys in_german.keys
ok $? 'all records have the same keys, and numbers where these are numbers' <(diff in_c.keys in_german.keys)
grep -q '"type":"summary"' in_german.jsonl
ok $? 'up to the summary' in_german.jsonl
! grep -qE '[0-9],[0-9]+("|$)|"~?[0-9]+,[0-9]' in_german.jsonl
ok $? 'no number of it has a comma'
# What runs on the host decides on flags and losses: those paragraphs may be in one of the two only.
for lc in in_c in_german; do
	grep -vE '^ (lost:|[a-z_]+, [0-9]+ of|[0-9]+ window)|^   ' $lc.summary | grep -v '^$' >$lc.lines
done
same_form 'the summary has the same form' in_c.lines in_german.lines
grep -qE '[0-9]\.[0-9]{6} s +CPU time' in_german.summary && ! grep -qE '[0-9],[0-9]' in_german.summary
ok $? 'with decimal points' in_german.summary
grep -qE '^[0-9:]{8}\.[0-9]{3} ' in_german.text && ! grep -E '^[0-9:]{8}' in_german.text | grep -qE '[0-9],[0-9]'
ok $? 'and so have the lines of windows' in_german.text
cmp -s in_c.refused in_german.refused
ok $? 'the same words for what is refused' in_german.refused
done_testing
