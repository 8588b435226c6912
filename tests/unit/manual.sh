#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# schedwatt(1) against the tables of options: each command's list, the commands that each option is said to be of, the
# values that it is said to take, and what the examples use. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${SCHEDWATT_BUILD:-build}
page=src/cli/schedwatt.1
n=0 bad=0
dir=$(mktemp -d /tmp/schedwatt-manual-XXXXXX)
trap 'rm -rf "$dir"' EXIT

is() { # got, wanted, what
	n=$((n + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $n - $3"
	else
		echo "not ok $n - $3"
		diff <(tr ' ' '\n' <<<"$1") <(tr ' ' '\n' <<<"$2") | sed -n 's/^</# not so:/p; s/^>/# missing:/p'
		bad=1
	fi
}

sorted() { tr -s ' ' '\n' | grep . | LC_ALL=C sort -u | tr '\n' ' '; }
section() { sed 's/\\-/-/g' $page | awk -v name="$1" '/^\.SH / { on = $0 == ".SH " name } on'; }
options_in() { grep -oE -- '(^|[][ ",(])-(-[a-z][a-z.-]*|[A-Za-z?])' | tr -d '][ ",(' | grep -vxE -- '-\?|--help|--usage' | sorted; }

# What completion was made of is what the command's parser goes by.
# shellcheck source=/dev/null
. "$B/schedwatt.bash"
# shellcheck disable=SC2154
commands=$(sorted <<<"${_schedwatt_commands[*]/%help/}")

# The option as it is, a blank, its command: all there are.
for c in $commands; do
	for o in $(_schedwatt_options "$c" | options_in); do
		echo "$o $c"
	done
done | LC_ALL=C sort >"$dir/known"

is "$(section COMMANDS | sed -n 's/^\.SS //p' | sorted)" "$commands" 'each command has its part'
for c in $commands; do
	listed=$(section COMMANDS | awk -v c="$c" '/^\.SS / { on = $2 == c; list = 0 } /^\.PP/ { list = 0 } on && list
		on && /^Options:/ { list = 1 }' | options_in)
	is "$listed" "$(awk -v c="$c" '$2 == c { print $1 }' "$dir/known" | sorted)" "the options of $c"
done

# A tag, and on the line behind it the commands: an option and one of its commands a line.
section OPTIONS | awk '/^\.TP$/ { getline tag; getline commands; print tag "\t" commands }' >"$dir/tags"
while IFS=$'\t' read -r tag of; do
	for o in $(options_in <<<"$tag"); do
		for c in $(sed -n 's/^\.RB (\(.*\))$/\1/p' <<<"$of" | tr -d '",'); do
			echo "$o $c"
		done
	done
done <"$dir/tags" | LC_ALL=C sort >"$dir/described"
is "$(tr ' \n' ': ' <"$dir/described")" "$(tr ' \n' ': ' <"$dir/known")" 'which commands have each option'
is "$(grep -oE -- '-(\?|-help|-usage)' "$dir/tags" | sorted)" '--help --usage -? ' 'and those that all have'

while IFS=$'\t' read -r tag _; do
	values=$(sed -nE 's/^[^=]*= ([a-z_0-9]+( \| [a-z_0-9]+)+)$/\1/p' <<<"$tag" | tr -d '|' | sorted)
	o=$(options_in <<<"$tag" | cut -d' ' -f1)
	[ -n "$o" ] || continue
	taken=$(for c in $commands; do _schedwatt_kind "$c" "$o" | sed -n 's/^words//p'; done | sorted)
	[ -z "$values$taken" ] || is "$values" "$taken" "the values of $o"
done <"$dir/tags"

section EXAMPLES | grep '^schedwatt ' >"$dir/examples"
is "$(awk '{ print $2 }' "$dir/examples" | sorted)" "$commands" 'examples of each command'
while read -r line; do
	line=${line%% -- *} c=$(cut -d' ' -f2 <<<"$line")
	for o in $(options_in <<<"$line"); do
		grep -qxF -- "$o $c" "$dir/known" || echo "$c $o"
	done
done <"$dir/examples" >"$dir/unknown"
is "$(cat "$dir/unknown")" '' 'which use options that there are'
echo "1..$n"
exit $bad
