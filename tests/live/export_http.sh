#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The exporter's pages over HTTP: forms, errors, slow clients, TLS, users. export_http.py asks.
. "$(dirname "$0")/tap.bash"
python_test 240 export_http.py
