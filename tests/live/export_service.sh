#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The exporter as a service, with few privileges. export_service.py looks.
. "$(dirname "$0")/tap.bash"
. "$here/fixture.bash"
fixture laptop intel-laptop
cp "$B/schedwatt" . && chmod 755 schedwatt && B=$dir # where another user may run it
python_test 120 export_service.py $(cgroup2)
