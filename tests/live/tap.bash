# SPDX-License-Identifier: BSD-2-Clause
#
# For the shell tests of the command: TAP, a directory of its own, an end for whatever is started. Sourced, not run.
set -u
B=$(cd "${SCHEDWATT_BUILD:-build}" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd)
S=$B/schedwatt
n=0 bad=0
dir=$(mktemp -d /tmp/schedwatt-live-XXXXXX)
chmod 755 "$dir"
trap 'for p in $(jobs -p); do kill -9 "$p" 2>/dev/null; done; rm -rf "$dir"' EXIT
if [ "$(id -u)" -ne 0 ]; then
	echo "ok 1 - ${0##*/} # SKIP loading BPF programs needs root"
	echo "# skip: loading BPF programs needs root"
	exit 0
fi
cd "$dir" || exit 1

# Every run of ours ends by itself.
sw() { timeout -s KILL 60 "$S" "$@"; }

ok() { # status, what, file to show when it failed
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		[ -n "${3:-}" ] && sed 's/^/# /' "$3" | head -20
		bad=1
	fi
}

is() { # got, wanted, what, file to show
	[ "$1" = "$2" ]
	ok $? "$3 ($1, wanted $2)" "${4:-}"
}

skip() { # what, why
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
	echo "# skip: $2"
}

# Where cgroup v2 is mounted, if cgroups can be made there.
cgroup2() {
	local v2
	v2=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
	[ -n "$v2" ] && mkdir "$v2/schedwatt-can-$$" 2>/dev/null && rmdir "$v2/schedwatt-can-$$" && echo "$v2"
}

# A test that is written in Python, with a time that it takes at most. It prints TAP and its plan itself.
python_test() { # seconds, script, argument…
	local seconds=$1 script=$2 status
	shift 2
	export SCHEDWATT_BUILD=$B PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here
	timeout -s KILL "$seconds" /usr/bin/python3 "$here/$script" "$@"
	status=$?
	[ $status -lt 2 ] || echo "not ok 999 - $script (exit status $status)"
	exit $status
}

done_testing() {
	echo "1..$n"
	exit $bad
}
