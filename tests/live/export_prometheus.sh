#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The exporter with a real Prometheus, and what there is to deploy both. The packages of Prometheus are unpacked and not
# installed, which would start a service. export_prometheus.py looks.
. "$(dirname "$0")/tap.bash"
. "$here/fixture.bash"
peers=$here/../../build/peers
if ! "$here/../../tools/foreign" "$(dpkg --print-architecture)" - "$peers" prometheus only prometheus >why 2>&1; then
	skip 'a real Prometheus' "$(head -1 why)"
	done_testing
fi
fixture laptop intel-laptop
python_test 300 export_prometheus.py "$(cd "$peers" && pwd)/prometheus" $(cgroup2)
