# SPDX-License-Identifier: BSD-2-Clause
#
# For the shell tests of the library as other programs find it: install it below the test's directory, and let
# pkg-config find it there. Sourced after tap.bash; skips all where what is built is not for installing.
root=$(cd "$here/../.." && pwd)
stage=$dir/stage
lib=$stage/opt/sw/lib/here
: "${CC:=cc}"

if [ "${B##*/}" = sanitize ]; then
	skip 'the library as installed' 'what is built with sanitizers is not for installing'
	done_testing
fi

# The variables of a make that runs the tests are not those of this one.
place() { # target
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory -C "$root" "$1" DESTDIR="$stage" \
		PREFIX=/opt/sw LIBDIR=/opt/sw/lib/here INCLUDEDIR=/opt/sw/include MANDIR=/opt/sw/share/man >log 2>&1
}

place install
is $? 0 'make install' log
export PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage

# Results of a part that speaks TAP itself, as ours; one that did not come to its end has failed.
relay() { # its output, its exit status, its stderr
	local line
	while read -r line; do
		case $line in
		'ok '*) ok 0 "${line#*- }" ;;
		'not ok '*)
			grep -A1 -F -- "$line" "$1" | sed -n "2s/^# //p" >why
			ok 1 "${line#*- }" why
			;;
		esac
	done <"$1"
	[ "$2" -le 1 ] && [ "$(tail -1 "$1")" = "1..$(grep -cE '^(not )?ok ' "$1")" ]
	ok $? "it came to its end (exit status $2)" "$3"
}

# A process with something to tell by every counter; ends with `end_target`.
start_target() {
	$CC -D_GNU_SOURCE -O2 -pthread "$here/target.c" -o target 2>err
	is $? 0 'a target' err
	mkfifo input
	./target 100 <input >ready 2>err &
	target=$!
	exec 3>input
	for _ in $(seq 400); do [ -s ready ] && break || sleep 0.05; done
	is "$(cat ready)" ready 'it is ready' err
}

end_target() {
	exec 3>&-
	wait "$target"
	is $? 0 'the target has ended' err
}
