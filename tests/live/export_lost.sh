#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The exporter when accounting fails under it. export_lost.py looks.
. "$(dirname "$0")/tap.bash"
python_test 120 export_lost.py
