# SPDX-License-Identifier: BSD-2-Clause
#
# Builds the machines that tests/fixtures describes (see its README), for shell tests. Sourced, not run.
fixture_make() { # directory, path, how, rest
	[ -d "$1/${2%/*}" ] || mkdir -p "$1/${2%/*}"
	case $3 in
	=) if [ -n "$4" ]; then printf '%s\n' "$4"; fi >"$1/$2" ;;
	'->') ln -s "$4" "$1/$2" ;;
	mode) chmod "$4" "$1/$2" ;;
	esac
}

fixture() { # directory, name
	local path how rest i n_at
	while read -r path how rest; do
		case $path in
		'' | '#'*) ;;
		*'['*)
			i=${path#*[} i=${i%%]*}
			for ((n_at = ${i%-*}; n_at <= ${i#*-}; n_at++)); do
				fixture_make "$1" "${path%%[*}$n_at${path#*]}" "$how" "$rest"
			done
			;;
		*) fixture_make "$1" "$path" "$how" "$rest" ;;
		esac
	done <"$here/../fixtures/$2.tree"
}
