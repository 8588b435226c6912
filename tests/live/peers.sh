#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every counter of a process and its threads against what ps, /proc and psutil say of them at the same time; cpuUsage of
# a burner against psutil's. peers.py compares; it needs Debian's own Python, for which its psutil is.
. "$(dirname "$0")/tap.bash"
. "$here/installed.bash"
export PYTHONDONTWRITEBYTECODE=1

start_target
LC_ALL=C timeout -s KILL 100 /usr/bin/python3 "$here/peers.py" "$lib/libschedwatt.so" counters "$target" >out 2>said
relay out $? said
end_target
sh -c 'while :; do :; done' &
burner=$!
LC_ALL=C timeout -s KILL 100 /usr/bin/python3 "$here/peers.py" "$lib/libschedwatt.so" usage $burner >out 2>said
relay out $? said
kill $burner
wait $burner 2>/dev/null
place uninstall
done_testing
