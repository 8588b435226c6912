#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The installed library from another language: Python's ctypes, with numpy over the columns. binding.py declares, ffi.py
# uses. Both need Debian's own Python, for which its numpy is.
. "$(dirname "$0")/tap.bash"
. "$here/installed.bash"
export PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3

# --- the declarations are those of the header
holds() { # C program: built and run
	# shellcheck disable=SC2046
	$CC -Wall -Wextra -Werror -x c "$1" -o layout $(pkg-config --cflags schedwatt) >why 2>&1 && ./layout >why
}
$python "$here/binding.py" layout >layout.c
holds layout.c
is $? 0 'binding.py declares what schedwatt.h does' why
sed '/"struct sw_options.n_pids"/ s/, [0-9]*, \([0-9]*\));/, 20, \1);/' layout.c >wrong.c
! holds wrong.c &&
	grep -qx 'struct sw_options.n_pids: 8 bytes at 24 in schedwatt.h, 8 bytes at 20 in binding.py' why
is $? 0 'a member in a wrong place is told' why
sed '/"struct sw_data_column"/ s/[0-9]*);/48);/' layout.c >wrong.c
! holds wrong.c && grep -q '^struct sw_data_column: ' why
is $? 0 'a wrong size is told' why

# --- numpy on the columns
start_target
timeout -s KILL 100 $python "$here/ffi.py" "$lib/libschedwatt.so" "$target" >out 2>said
relay out $? said
end_target
place uninstall
done_testing
