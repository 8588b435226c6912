#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The exporter as a service, with few privileges. export_service.py looks.
. "$(dirname "$0")/tap.bash"
. "$here/fixture.bash"
export SCHEDWATT_BUILD=$B PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here
fixture laptop intel-laptop
v2=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
[ -n "$v2" ] && mkdir "$v2/schedwatt-can-$$" 2>/dev/null && rmdir "$v2/schedwatt-can-$$" || v2=
cp "$B/schedwatt" . && chmod 755 schedwatt && SCHEDWATT_BUILD=$dir
timeout -s KILL 120 /usr/bin/python3 "$here/export_service.py" $v2
status=$?
[ $status -lt 2 ] || echo "not ok 999 - export_service.py (exit status $status)"
exit $status
