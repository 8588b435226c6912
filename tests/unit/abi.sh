#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Usage: abi.sh [record]
# The library's interface against the record in tests/abi: symbols and types of libschedwatt.so, as far as schedwatt.h
# declares them (libschedwatt.abi), and its constants, which no type of a field tells of (constants). Whatever differs
# fails, additions too, since a record without them would not hold them. `record` writes what is there now.
# Relies on: abidw(1), abidiff(1).
set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
build=${SCHEDWATT_BUILD:-build}
header=include/schedwatt.h
library=$build/libschedwatt.so.$(sed -n 's/^VERSION := //p' Makefile)
n=0 bad=0
: "${CC:=cc}"

constants() { # names and values of all that the header calls SW_…, but the mark of what is exported
	echo '# SPDX-License-Identifier: BSD-2-Clause'
	{
		echo '#include <stdio.h>'
		echo '#include "schedwatt.h"'
		echo 'int main(void) {'
		grep -oE '\bSW_[A-Z0-9_]+' $header | sort -u | grep -vx SW_API |
			sed 's/.*/printf("%s %lld\\n", "&", (long long)&);/'
		echo 'return 0; }'
	} | $CC -Iinclude -x c - -o "$dir/constants" && "$dir/constants"
}

# Without places in files, so that only the interface changes it. abidiff compares two of these: of a library itself it
# takes for private what the record has no place for, and sees no change in it.
types() { # file to write
	abidw --headers-dir include --drop-private-types --exported-interfaces-only --no-show-locs --no-corpus-path \
		--no-comp-dir-path --no-elf-needed --no-architecture --no-parameter-names --type-id-style hash \
		--out-file "$1" "$library"
}

result() { # what, the differences
	n=$((n + 1))
	if [ ! -s "$2" ]; then
		echo "ok $n - $1"
		return
	fi
	echo "not ok $n - $1"
	sed 's/^/# /' "$2"
	echo '# If this is meant: "make abi-record" records it anew. What breaks programs that are already built needs'
	echo '# a new SOVERSION (Makefile, src/libschedwatt.map) too, once a version with this one was released.'
	bad=1
}

skip() { # what, why
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
	echo "# skip: $2"
}

dir=$(mktemp -d /tmp/schedwatt-abi-XXXXXX)
trap 'rm -rf "$dir"' EXIT
if [ "${1:-}" = record ]; then
	types "$dir/types" && constants >"$dir/constants.now" || exit 1
	cp "$dir/types" tests/abi/libschedwatt.abi && cp "$dir/constants.now" tests/abi/constants
	exit
fi

constants >"$dir/constants.now" 2>&1
diff tests/abi/constants "$dir/constants.now" >"$dir/differences" 2>&1
result 'the constants are those of the record' "$dir/differences"
if [ "${build##*/}" = sanitize ]; then
	skip 'symbols and types' 'with sanitizers there is no shared library'
elif ! command -v abidiff >/dev/null; then
	skip 'symbols and types' 'abidiff is not installed (abigail-tools)'
else
	if types "$dir/types" >"$dir/differences" 2>&1 &&
		abidiff --harmless --leaf-changes-only tests/abi/libschedwatt.abi "$dir/types" \
			>"$dir/differences" 2>&1; then
		: >"$dir/differences"
	else
		echo "exit status $?" >>"$dir/differences"
	fi
	result 'symbols and types are those of the record' "$dir/differences"
fi
echo "1..$n"
exit $bad
