#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The exporter under all that could make it grow, for SCHEDWATT_SOAK_MINUTES (1); `make soak` sets it. soak.py looks.
. "$(dirname "$0")/tap.bash"
. "$here/fixture.bash"
minutes=${SCHEDWATT_SOAK_MINUTES:-1}
if ! [[ $minutes =~ ^[1-9][0-9]{0,4}$ ]]; then
	echo "not ok 1 - SCHEDWATT_SOAK_MINUTES is '$minutes'; it has to be a whole number from 1 to 99999"
	exit 1
fi
v2=$(cgroup2)
if [ -z "$v2" ]; then
	skip 'an exporter that lasts' 'there is no cgroup v2 in which cgroups can be made'
	done_testing
fi
fixture laptop intel-laptop
python_test $((minutes * 60 + 180)) soak.py "$v2" "$minutes"
