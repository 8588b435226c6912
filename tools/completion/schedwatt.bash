# SPDX-License-Identifier: BSD-2-Clause
#
# bash's completion for schedwatt(1). The lists that come first were made from the command's own tables of options; what
# follows knows how a line is to be read: `--energy=m` comes as three words, a list has commas in one word, and what
# stands behind run's and compare's own options is another command's.

# The words that begin as the current one does.
_schedwatt_reply() { # word…
	local cur=$1
	shift
	# shellcheck disable=SC2207
	COMPREPLY=($(compgen -W "$*" -- "$cur"))
}

# Of a list with commas, the last part; the others stay as they are.
_schedwatt_reply_list() { # current, word…
	local cur=$1 head=
	shift
	[[ $cur == *,* ]] && head=${cur%,*},
	_schedwatt_reply "${cur##*,}" "$@"
	COMPREPLY=("${COMPREPLY[@]/#/$head}")
	compopt -o nospace 2>/dev/null
}

# Those that a kind of row has, which the table calls as its head does.
_schedwatt_columns() { # PROCESS or THREAD
	"${COMP_WORDS[0]}" columns 2>/dev/null |
		awk -v kind="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == kind) at = i } NR > 1 && $at == "yes" { print $1 }'
}

_schedwatt_value() { # current, kind with its words
	local cur=$1 kind=${2%% *}
	case $kind in
	words) _schedwatt_reply "$cur" "${2#words}" ;;
	files)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt -o filenames 2>/dev/null
		;;
	directories)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		compopt -o filenames 2>/dev/null
		;;
	pids) _schedwatt_reply_list "$cur" "$(cd /proc && echo [0-9]*)" ;;
	columns) _schedwatt_reply_list "$cur" "$(_schedwatt_columns "${2#columns }")" ;;
	esac
}

# Where the command of run or compare begins: the number of its word, or nothing.
_schedwatt_other() { # command
	local i word kind
	[[ $1 == run || $1 == compare ]] || return
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == -- ]]; then
			echo $((i + 1))
			return
		elif [[ $word == = ]]; then
			((i++)) # its value
		elif [[ $word == -* ]]; then
			kind=$(_schedwatt_kind "$1" "$word")
			[[ -n $kind && ${COMP_WORDS[i + 1]} != = ]] && ((i++))
		else
			echo $i
			return
		fi
	done
}

_schedwatt() {
	local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} other kind value=
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_schedwatt_reply "$cur" "${_schedwatt_commands[@]}" --help --version
		return
	fi
	if [[ $command == help ]]; then
		_schedwatt_reply "$cur" "${_schedwatt_commands[@]}"
		return
	fi
	other=$(_schedwatt_other "$command")
	if [[ -n $other ]]; then
		if declare -F _command_offset >/dev/null; then
			_command_offset "$other"
		elif ((COMP_CWORD == other)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		else
			_schedwatt_value "$cur" files
		fi
		return
	fi
	if [[ $cur == = ]]; then
		cur='' value=1
	elif [[ $option == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]} value=1
	fi
	kind=$(_schedwatt_kind "$command" "$option")
	if [[ -n $kind || -n $value ]]; then # without a kind: an optional number, or a label's text
		_schedwatt_value "$cur" "$kind"
	elif [[ ($command == run || $command == compare) && -n $cur && $cur != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		_schedwatt_reply "$cur" "$(_schedwatt_options "$command")"
	fi
}

complete -F _schedwatt schedwatt
