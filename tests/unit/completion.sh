#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Completion knows every option that --help knows, and every value that it offers is one that the command takes. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${SCHEDWATT_BUILD:-build}
S=$B/schedwatt
n=0 bad=0
dir=$(mktemp -d /tmp/schedwatt-completion-XXXXXX)
trap 'rm -rf "$dir"' EXIT

is() { # got, wanted, what
	n=$((n + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $n - $3"
	else
		printf 'not ok %d - %s\n# got: %s\n# not: %s\n' $n "$3" "$1" "$2"
		bad=1
	fi
}

# Words as bash would have them, which takes '=' for one of its own; the last is the one to complete.
replies() { # word…
	COMP_WORDS=("$@")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_schedwatt
	echo "${COMPREPLY[*]}"
}

sorted() { tr ' ' '\n' | sort -u | grep . | tr '\n' ' '; }

# shellcheck source=/dev/null
. "$B/schedwatt.bash"
commands=$("$S" --help | sed -n '/^Commands:/,/^$/s/^ \+\([a-z]\+\) .*/\1/p')
is "$(replies "$S" '' | sorted)" "$(echo $commands --help --version | sorted)" 'the commands'
is "$(replies "$S" exp)" export 'a command by its beginning'

is "$(replies "$S" help mon)" monitor 'what help is about'
commands=${commands/help/}

for c in $commands; do
	help=$("$S" "$c" --help)
	options=$(grep -oE '^ +(-[A-Za-z?](=[^ ,]+)?, )*(--[a-z.-]+)?' <<<"$help" | grep -oE -- '-(-[a-z.-]+|[A-Za-z?])' | sorted)
	is "$(replies "$S" "$c" - | sorted)" "$options" "$c: all options that --help has"
done

# Values are those of the parser: an option that is wrong is refused before the one that does not exist.
for c in $commands; do
	for o in $(replies "$S" "$c" --); do
		kind=$(_schedwatt_kind "$c" "$o")
		[ "${kind%% *}" = words ] || continue
		is "$(replies "$S" "$c" "$o" '')" "$(echo ${kind#words})" "$c $o offers its values"
		[ "$(wc -w <<<"$kind")" -gt 2 ] || is "$kind" 'two values or more' "$c $o"
		for v in ${kind#words}; do
			case $("$S" "$c" "$o" "$v" --never 2>&1) in
			*"unrecognized option '--never'"*) ;;
			*) is "$("$S" "$c" "$o" "$v" --never 2>&1)" 'taken' "$c $o $v" ;;
			esac
		done
	done
done

is "$(replies "$S" monitor --energy = mo)" model 'a value behind an equals sign'
is "$(replies "$S" monitor --energy =)" 'auto powercap perf msr model none' 'and all of them'
is "$(replies "$S" monitor -f j)" jsonl 'of a short option'
is "$(replies "$S" monitor --columns time,cpuU)" time,cpuUsage 'the last of a list of columns'
is "$(replies "$S" monitor --columns resid)" resident 'a column that only processes have'
is "$(replies "$S" monitor --thread-columns resid)" '' 'which is none of threads'
is "$(replies "$S" monitor --thread-columns pid, | wc -w)" "$("$S" columns | awk 'NR > 1 && $5 == "yes"' | wc -l)" 'all that threads have'
is "$(replies "$S" monitor -p "1,$$")" "1,$$" 'a process, in a list'
touch "$dir/idle.json"
mkdir "$dir/sys"
is "$(replies "$S" run --baseline "$dir/i")" "$dir/idle.json" 'a file'
is "$(replies "$S" run --sysfs "$dir/")" "$dir/sys" 'a directory'
unset -f _command_offset 2>/dev/null
is "$(replies "$S" run -r 3 -- mkdi)" "$(compgen -c mkdi | tr '\n' ' ' | sed 's/ $//')" "the command that is run"
is "$(replies "$S" run --policy = busy mkdir "$dir/s")" "$dir/sys" 'and what it works on'
is "$(replies "$S" run --tree --policy = busy mkdi)" "$(compgen -c mkdi | tr '\n' ' ' | sed 's/ $//')" 'behind an option whose value is optional'
is "$(replies "$S" monitor --duration '')" '' 'a number is not guessed'
is "$(replies "$S" monitor --tree =)" '' 'nor one behind an equals sign'
is "$(replies "$S" run --label key = --)" '' 'nor a label'
is "$(replies "$S" run --label key = value --json)" '--json' 'behind which options go on'
echo "1..$n"
exit $bad
