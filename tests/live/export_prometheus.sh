#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The exporter with a real Prometheus, and what there is to deploy both. The packages of Prometheus are unpacked and not
# installed, which would start a service. export_prometheus.py looks.
. "$(dirname "$0")/tap.bash"
. "$here/fixture.bash"
export SCHEDWATT_BUILD=$B PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here
peers=$here/../../build/peers
if ! "$here/../../tools/foreign" "$(dpkg --print-architecture)" - "$peers" prometheus only prometheus >why 2>&1; then
	skip 'a real Prometheus' "$(head -1 why)"
	done_testing
fi
fixture laptop intel-laptop
v2=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
[ -n "$v2" ] && mkdir "$v2/schedwatt-can-$$" 2>/dev/null && rmdir "$v2/schedwatt-can-$$" || v2=
timeout -s KILL 300 /usr/bin/python3 "$here/export_prometheus.py" "$(cd "$peers" && pwd)/prometheus" $v2
status=$?
[ $status -lt 2 ] || echo "not ok 999 - export_prometheus.py (exit status $status)"
exit $status
