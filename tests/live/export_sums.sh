#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the exporter counts, over a made-up package of 20 W: while 10,000 processes and many cgroups come and go, and while
# the counter is away. export_sums.py looks.
. "$(dirname "$0")/tap.bash"
. "$here/fixture.bash"
fixture laptop intel-laptop
python_test 240 export_sums.py $(cgroup2)
