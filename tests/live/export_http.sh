#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The exporter's pages over HTTP: forms, errors, slow clients, TLS, users. export_http.py asks.
. "$(dirname "$0")/tap.bash"
export SCHEDWATT_BUILD=$B PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here
timeout -s KILL 240 /usr/bin/python3 "$here/export_http.py"
status=$?
[ $status -lt 2 ] || echo "not ok 999 - export_http.py (exit status $status)"
exit $status
