#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The library as another program finds it: installed in a place of its own, found by pkg-config, linked dynamically and
# statically; what it exports, what the command needs, what README and the manuals say.
. "$(dirname "$0")/tap.bash"
. "$here/installed.bash"
version=$(sed -n 's/^VERSION := //p' "$root/Makefile")
series=$(sed -n 's/^SOVERSION := //p' "$root/Makefile")

(cd stage/opt/sw && find . ! -type d | LC_ALL=C sort) >installed
cat >wanted <<-END
	./bin/schedwatt
	./include/schedwatt.h
	./lib/here/libschedwatt.a
	./lib/here/libschedwatt.so
	./lib/here/libschedwatt.so.$series
	./lib/here/libschedwatt.so.$version
	./lib/here/pkgconfig/schedwatt.pc
	./share/bash-completion/completions/schedwatt
	./share/man/man1/schedwatt.1
	./share/man/man3/schedwatt.3
END
diff wanted installed >differences
is $? 0 'what is installed' differences

# --- what is in the files
nm -D --defined-only "$lib/libschedwatt.so" | awk '$2 != "A" { print $3 }' | sort >exported
sed -nE "s/^SW_API .*[ *](sw_[a-z_]+)\(.*/\1@@SCHEDWATT_$series/p" "$root/include/schedwatt.h" | sort >declared
[ -s declared ] && diff declared exported >differences
is $? 0 'exported is what the header declares, in the node of this series, and nothing else' differences
readelf -d "$lib/libschedwatt.so" >dynamic
grep -qF "soname: [libschedwatt.so.$series]" dynamic
is $? 0 'the soname is that of the series' dynamic
! grep -q TEXTREL dynamic
is $? 0 'its code is shared' dynamic
nm -g --defined-only "$lib/libschedwatt.a" | awk 'NF == 3 && $3 !~ /^sw_/' >foreign
[ ! -s foreign ]
is $? 0 'the static library takes no name but sw_… either' foreign
readelf -d stage/opt/sw/bin/schedwatt >dynamic
! grep -q 'NEEDED.*schedwatt' dynamic
is $? 0 'the command is one file, without the library' dynamic
case $version in "$series".*) true ;; *) false ;; esac
is $? 0 "version $version is of the series $series"
[ "$(LD_LIBRARY_PATH='' stage/opt/sw/bin/schedwatt --version)" = "schedwatt $version" ]
is $? 0 'the command says its version'

# --- the ten lines
ten=$root/tools/examples/ten_lines.c
is "$(pkg-config --modversion schedwatt)" "$version" 'the version, by pkg-config'
is "$(env -u PKG_CONFIG_SYSROOT_DIR pkg-config --variable=libdir schedwatt)" /opt/sw/lib/here 'where the library is'

accounts() { # program, how it is linked
	timeout -s KILL 60 "$1" none >out 2>err
	is $? 0 "$2: it runs" err
	awk '!/^[0-9.]+ s on CPU, nan J by none$/ || $1 < 0.02 || $1 > 30 { bad = 1 } END { exit bad || NR != 1 }' out
	is $? 0 "$2: it had CPU time, and no joules without a source" out
	timeout -s KILL 60 "$1" >out 2>err
	awk '!/^[0-9.]+ s on CPU, [0-9.]+ J by [a-z]+$/ || $5 <= 0 { bad = 1 } END { exit bad || NR != 1 }' out
	is $? 0 "$2: it had energy" out
	! timeout -s KILL 60 "$1" steam >out 2>err && grep -q 'unknown energy source "steam"' err
	is $? 0 "$2: it says why it fails" err
}

# shellcheck disable=SC2046
$CC -Wall -Wextra -Werror "$ten" -o ten-dynamic $(pkg-config --cflags --libs schedwatt) 2>err
is $? 0 'the ten lines build' err
readelf -d ten-dynamic | grep -qF "[libschedwatt.so.$series]"
is $? 0 'they need the library by its soname'
LD_LIBRARY_PATH=$lib accounts ./ten-dynamic 'linked dynamically'
# shellcheck disable=SC2046
$CC -static "$ten" -o ten-static $(pkg-config --static --cflags --libs schedwatt) 2>err
is $? 0 'the ten lines build, all static' err
accounts ./ten-static 'linked statically'
awk '/tools.examples.ten_lines/ { near = 1 } near && /^```c$/ { inside = 1; next } inside && /^```$/ { exit } inside' \
	"$root/README.md" >shown
diff "$ten" shown >differences
is $? 0 'README shows these ten lines' differences

# --- the manuals
if command -v groff >/dev/null; then
	for page in 1 3; do
		groff -man -Tutf8 -ww -z "stage/opt/sw/share/man/man$page/schedwatt.$page" >err 2>&1
		[ ! -s err ]
		is $? 0 "groff has no complaint of schedwatt($page)" err
	done
else
	skip 'the manuals' 'groff is not installed (groff-base)'
fi
sed 's/\\-/-/g' stage/opt/sw/share/man/man3/schedwatt.3 >manual
sed 's/@.*//' declared | while read -r name; do
	grep -qw "$name" manual || echo "$name"
done >missing
[ ! -s missing ]
is $? 0 'schedwatt(3) names every function' missing
grep -qF "schedwatt $version" manual
is $? 0 'schedwatt(3) is of this version'

place uninstall
find stage ! -type d >left
[ ! -s left ]
is $? 0 'make uninstall leaves nothing' left
done_testing
