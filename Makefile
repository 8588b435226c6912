# SPDX-License-Identifier: BSD-2-Clause
#
# make            build/schedwatt, build/libschedwatt.a and build/libschedwatt.so.VERSION; needs no root
# make deps       install what building and testing need, with apt, where something is missing
# make run        deps, build, account a sample workload (root); CMD='…' for one's own
# make check      the tests that need neither root nor network
# make check-tsan  those of them that have threads, under ThreadSanitizer
# make test       deps, then all tests (root)
# make vmtest     deps, then those on other kernels, in virtual machines (root); KERNELS='6.1 …' for some of them
# make vmtest-arm64  the same on arm64, emulated, without simulated energy counters
# make fuzz       looks for inputs that break the parsers: FUZZ_SECONDS=20 for each target of FUZZ='mountinfo numbers …'
# make accuracy   joules against simulated counters, on the terminal and in build/accuracy.json (root); ROUNDS='1'
# make soak       the exporter under churn for MINUTES (10), and whether it grows (root)
# make bench      the table of figures, on the terminal and in build/bench.json (root)
# make abi-record records the library's interface anew, for the test that it stays as it is
# make install    command, libraries, header, schedwatt.pc, manuals and bash's completion, where PREFIX, LIBDIR, INCLUDEDIR,
#                 MANDIR, BASHCOMPDIR and DESTDIR say
# make uninstall  removes them, with the same variables
#
# WERROR=1 makes warnings errors; SANITIZE=1 builds with ASan and UBSan, SANITIZE=thread with TSan, each in a directory of
# its own; CC=clang works.
# ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- builds for that architecture, in build/arm64; as root it also installs the
# compiler, which deps does not.

VERSION := 0.1.0
# The versions that are compatible, which the soname and the node in src/libschedwatt.map are named for. Before 1.0 that
# is a minor version: rows are arrays of structures, and a column more makes them longer. From 1.0 on it is a major one.
SOVERSION := 0.1
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
CC ?= cc
AR ?= ar
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= $(firstword $(shell command -v bpftool 2>/dev/null) /usr/sbin/bpftool)

# what is generated serves every architecture
GEN := build$(if $(SANITIZE),/$(if $(filter thread,$(SANITIZE)),tsan,sanitize))
B := $(GEN)
PKG_CONFIG := pkg-config
ifeq ($(ARCH),arm64)
CROSS_COMPILE ?= aarch64-linux-gnu-
CC := $(CROSS_COMPILE)gcc
AR := $(CROSS_COMPILE)ar
B := build/arm64
SYSROOT := $(B)/sysroot
CROSS := --sysroot=$(CURDIR)/$(SYSROOT)
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(CURDIR)/$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(CURDIR)/$(SYSROOT)/usr/lib/aarch64-linux-gnu/pkgconfig pkg-config
endif
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow $(if $(WERROR),-Werror)
comma := ,
# -Wno-tsan: fences that it does not follow are against the program in the kernel, not against threads
SANITIZED := $(if $(filter thread,$(SANITIZE)),thread -Wno-tsan,address$(comma)undefined -fno-sanitize-recover=all)
SANITIZERS := $(if $(SANITIZE),-fsanitize=$(SANITIZED) -fno-omit-frame-pointer)
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DSW_VERSION='"$(VERSION)"' -fvisibility=hidden -ffile-prefix-map=$(CURDIR)=. \
	$(WARNINGS) $(SANITIZERS) $(CROSS) -Iinclude -Isrc -Ibpf -I$(GEN) $(CFLAGS)
LIBS := -lbpf -lelf -lz -lm -lpthread
CLI_LIBS = $(shell $(PKG_CONFIG) --libs json-c libcap libseccomp libmicrohttpd yaml-0.1 libcrypt)
CLI_CFLAGS = $(shell $(PKG_CONFIG) --cflags json-c libcap libseccomp libmicrohttpd yaml-0.1 libcrypt)

LIB_SRC := $(wildcard src/base/*.c src/cpu/*.c src/energy/*.c src/counters/*.c src/core/*.c)
CLI_SRC := $(wildcard src/cli/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
# ASan has to be in the program: no shared library is made with it.
SHARED := $(if $(SANITIZE),,$(B)/libschedwatt.so.$(VERSION))
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
CLI_PARTS := $(filter-out $(B)/src/cli/main.o,$(CLI_OBJ))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
REPLAY := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
LIVE := $(patsubst tests/live/%.c,$(B)/tests/live/%,$(wildcard tests/live/live_*.c))
VM := $(B)/tests/vm/vmcheck $(B)/tests/vm/vmtool
TRUTH := $(B)/tests/truth/raplsim
TRUTH_OBJ := $(patsubst tests/truth/%.c,$(B)/tests/truth/%.o,$(wildcard tests/truth/*.c))
LIVE_PARTS := $(patsubst %,$(B)/tests/live/%.o,support record puppet groups ways)

.PHONY: all deps run check test vmtest vmtest-arm64 fuzz accuracy bench abi-record install uninstall clean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/schedwatt $(SHARED) $(GEN)/schedwatt.bash

# --- the program in the kernel: one object for every architecture, and its skeleton

$(GEN)/schedwatt.bpf.o: bpf/schedwatt.bpf.c $(wildcard bpf/*.h) vmlinux/vmlinux.h
	@mkdir -p $(@D)
	$(CLANG) -g -O2 -target bpf -mcpu=v3 -Wall -Wextra -Wno-unused-parameter $(if $(WERROR),-Werror) \
		-ffile-prefix-map=$(CURDIR)=. -Ivmlinux -Ibpf -c $< -o $@
	$(LLVM_STRIP) -g $@

$(GEN)/schedwatt.skel.h: $(GEN)/schedwatt.bpf.o
	$(BPFTOOL) gen skeleton $< name schedwatt_bpf > $@

# --- what is linked with on another architecture

# tools/deps changes when what is linked with does
build/arm64/sysroot: tools/foreign tools/deps
	tools/deps arm64
	tools/foreign arm64 - $(@D) $(@F) all libc6-dev libbpf-dev libelf-dev zlib1g-dev libjson-c-dev libcmocka-dev uthash-dev \
		libcap-dev libseccomp-dev libmicrohttpd-dev libyaml-dev libcrypt-dev
	@touch $@

# --- library and command

$(B)/src/cpu/ebpf.o $(B)/src/cpu/ebpf_load.o: $(GEN)/schedwatt.skel.h

# One set of objects for both libraries: where all but the interface is hidden, and code is position-independent in
# programs too, -fPIC costs next to nothing. Of gcc 12's 70 objects on x86-64, 66 are the same to the instruction, and
# the others differ by a jump or a load in what opens and closes, and in the step that begins a recording.
$(LIB_OBJ): PIC := -fPIC

# which holds flags and the version
$(LIB_OBJ) $(CLI_OBJ): Makefile

$(B)/src/cli/%.o: src/cli/%.c | $(SYSROOT)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CLI_CFLAGS) -MMD -MP -c $< -o $@

$(B)/%.o: %.c | $(SYSROOT)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(PIC) -MMD -MP -c $< -o $@

$(B)/libschedwatt.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(B)/libschedwatt.so.$(VERSION): $(LIB_OBJ) src/libschedwatt.map
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libschedwatt.so.$(SOVERSION) \
		-Wl,--version-script=src/libschedwatt.map -Wl,-z,defs -Wl,--as-needed $(LIB_OBJ) $(LIBS) -o $@

$(B)/schedwatt: $(CLI_OBJ) $(B)/libschedwatt.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(LIBS) $(CLI_LIBS) -o $@

# --- completion: made where schedwatt is built, whatever it is built for

HOSTCC ?= cc

$(GEN)/completion: tools/completion/generate.c src/cli/option_tables.c $(wildcard src/cli/*.h) include/schedwatt.h
	@mkdir -p $(@D)
	$(HOSTCC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -Iinclude -Isrc tools/completion/generate.c src/cli/option_tables.c -o $@

$(GEN)/schedwatt.bash: $(GEN)/completion tools/completion/schedwatt.bash
	{ sed '/^$$/q' tools/completion/schedwatt.bash && $< && echo && sed '1,/^$$/d' tools/completion/schedwatt.bash; } > $@

# --- tests

$(B)/tests/unit/%: tests/unit/%.c $(CLI_PARTS) $(B)/libschedwatt.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CLI_CFLAGS) -MMD -MP -MF $@.d -MT $@ $< $(CLI_PARTS) $(B)/libschedwatt.a $(LIBS) $(CLI_LIBS) -lcmocka -o $@

$(GEN)/tests/probe.bpf.o: tests/live/probe.bpf.c tests/live/probe.h vmlinux/vmlinux.h
	@mkdir -p $(@D)
	$(CLANG) -g -O2 -target bpf -mcpu=v3 -Wall -Wextra -Wno-unused-parameter -ffile-prefix-map=$(CURDIR)=. -Ivmlinux \
		-c $< -o $@
	$(LLVM_STRIP) -g $@

$(GEN)/probe.skel.h: $(GEN)/tests/probe.bpf.o
	$(BPFTOOL) gen skeleton $< name probe_bpf > $@

$(B)/tests/live/%: tests/live/%.c $(LIVE_PARTS) $(B)/libschedwatt.a $(GEN)/probe.skel.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -MT $@ $< $(LIVE_PARTS) $(B)/libschedwatt.a $(LIBS) -lcmocka -o $@

# A fuzz target without the fuzzer, on the files of its corpus.
$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/replay.o $(B)/libschedwatt.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

check: all $(UNIT) $(REPLAY)
	tools/run-tests $(B) unit

.PHONY: check-tsan run-tsan
check-tsan:
	$(MAKE) --no-print-directory SANITIZE=thread run-tsan
run-tsan: $(B)/tests/unit/test_runner
	TSAN_OPTIONS=halt_on_error=1 $<

test: deps
	$(MAKE) --no-print-directory -j$(shell nproc) build-tests
	$(if $(SANITIZE),,$(MAKE) --no-print-directory SANITIZE=thread build/tsan/tests/unit/test_runner)
	tools/run-tests $(B) unit$(if $(SANITIZE),, threads) live$(if $(SANITIZE),, vm)

# The machines run what everybody runs: no sanitizers.
KERNELS ?=
vmtest: deps
	$(MAKE) --no-print-directory SANITIZE= build-vm
	SCHEDWATT_KERNELS='$(KERNELS)' tools/run-tests build vm

vmtest-arm64:
	@tools/deps arm64
	$(MAKE) --no-print-directory SANITIZE= ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- build-vm
	SCHEDWATT_MACHINE=arm64 SCHEDWATT_KERNELS='$(KERNELS)' tools/run-tests build/arm64 vm

.PHONY: build-tests build-vm
build-tests: all $(UNIT) $(REPLAY) $(LIVE) $(TRUTH) $(if $(SANITIZE),,$(VM))
build-vm: all $(VM)

$(B)/tests/vm/%: tests/vm/%.c | $(SYSROOT)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CLI_CFLAGS) -MMD -MP -MF $@.d -MT $@ $< $(LDFLAGS) $(CLI_LIBS) -lm -o $@

# --- fuzzing: what parses, compiled for libFuzzer in a directory of its own

FUZZ_SECONDS ?= 20
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZED_SRC := $(wildcard src/base/*.c src/energy/*.c)
FUZZED_OBJ := $(FUZZED_SRC:%.c=build/fuzz/%.o)
FUZZER := $(FUZZ:%=build/fuzz/tests/fuzz/fuzz_%)
FUZZ_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARNINGS) -fsanitize=address$(comma)undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer -Iinclude -Isrc

build/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@

build/fuzz/tests/fuzz/%: build/fuzz/tests/fuzz/%.o $(FUZZED_OBJ)
	$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer $^ -lm -lpthread -o $@

fuzz: deps
	$(MAKE) --no-print-directory SANITIZE= build-fuzz
	tools/fuzz build/fuzz $(FUZZ_SECONDS) $(FUZZ)

.PHONY: build-fuzz
build-fuzz: $(FUZZER)

-include $(FUZZED_OBJ:.o=.d) $(FUZZER:=.d)
# --- accuracy

$(TRUTH): $(TRUTH_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -lpthread -o $@

ROUNDS ?= 3
accuracy: deps
	$(MAKE) --no-print-directory SANITIZE= build/schedwatt build/tests/truth/raplsim
	SCHEDWATT_BUILD=build tests/truth/accuracy.py table build/accuracy.json $(ROUNDS)

# --- soak

MINUTES ?= 10
.PHONY: soak
soak: deps
	$(MAKE) --no-print-directory SANITIZE= build/schedwatt
	SCHEDWATT_BUILD=build SCHEDWATT_SOAK_MINUTES='$(MINUTES)' tests/live/soak.sh

# --- bench

BENCH_OBJ := $(patsubst tools/bench/%.c,$(B)/tools/bench/%.o,$(filter-out %.bpf.c,$(wildcard tools/bench/*.c)))

$(GEN)/tools/bench/floor.bpf.o: tools/bench/floor.bpf.c vmlinux/vmlinux.h
	@mkdir -p $(@D)
	$(CLANG) -g -O2 -target bpf -mcpu=v3 -Wall -Wextra -Wno-unused-parameter $(if $(WERROR),-Werror) \
		-ffile-prefix-map=$(CURDIR)=. -Ivmlinux -c $< -o $@
	$(LLVM_STRIP) -g $@

$(GEN)/floor.skel.h: $(GEN)/tools/bench/floor.bpf.o
	$(BPFTOOL) gen skeleton $< name floor_bpf > $@

$(B)/tools/bench/variant.o: $(GEN)/floor.skel.h $(GEN)/schedwatt.skel.h

$(B)/tools/bench/%.o: tools/bench/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CLI_CFLAGS) -MMD -MP -c $< -o $@

$(B)/bench: $(BENCH_OBJ) $(B)/libschedwatt.a $(B)/schedwatt
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(BENCH_OBJ) $(B)/libschedwatt.a $(LIBS) $(CLI_LIBS) -o $@

-include $(BENCH_OBJ:.o=.d)

# --- what users do

deps:
	@tools/deps $(filter arm64,$(ARCH))

CMD ?= tools/sample-workload
run: deps
	$(MAKE) --no-print-directory all
	build/schedwatt run -- $(CMD)

bench: deps
	$(MAKE) --no-print-directory SANITIZE= build/bench
	build/bench build/bench.json

# what a program that is linked with the installed library is told
PC_FIELDS = -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
	-e 's|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|' \
	-e 's|@INCLUDEDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(INCLUDEDIR))|'

install: all
	$(if $(SANITIZE),$(error what is built with sanitizers is not for installing))
	install -D -m 755 $(B)/schedwatt $(DESTDIR)$(PREFIX)/bin/schedwatt
	install -D -m 644 $(B)/libschedwatt.a $(DESTDIR)$(LIBDIR)/libschedwatt.a
	install -D -m 644 $(SHARED) $(DESTDIR)$(LIBDIR)/libschedwatt.so.$(VERSION)
	ln -sf libschedwatt.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libschedwatt.so.$(SOVERSION)
	ln -sf libschedwatt.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libschedwatt.so
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed $(PC_FIELDS) src/schedwatt.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/schedwatt.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/schedwatt.pc
	install -D -m 644 include/schedwatt.h $(DESTDIR)$(INCLUDEDIR)/schedwatt.h
	install -D -m 644 src/cli/schedwatt.1 $(DESTDIR)$(MANDIR)/man1/schedwatt.1
	install -D -m 644 src/schedwatt.3 $(DESTDIR)$(MANDIR)/man3/schedwatt.3
	install -D -m 644 $(GEN)/schedwatt.bash $(DESTDIR)$(BASHCOMPDIR)/schedwatt

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/schedwatt $(DESTDIR)$(LIBDIR)/libschedwatt.a $(DESTDIR)$(LIBDIR)/libschedwatt.so \
		$(DESTDIR)$(LIBDIR)/libschedwatt.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libschedwatt.so.$(VERSION) \
		$(DESTDIR)$(LIBDIR)/pkgconfig/schedwatt.pc $(DESTDIR)$(INCLUDEDIR)/schedwatt.h \
		$(DESTDIR)$(MANDIR)/man1/schedwatt.1 $(DESTDIR)$(MANDIR)/man3/schedwatt.3 \
		$(DESTDIR)$(BASHCOMPDIR)/schedwatt

abi-record: deps
	$(MAKE) --no-print-directory SANITIZE= build/libschedwatt.so.$(VERSION)
	SCHEDWATT_BUILD=build tests/unit/abi.sh record

clean:
	rm -rf build

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(UNIT:=.d) $(REPLAY:=.d) $(B)/tests/fuzz/replay.d $(LIVE_PARTS:.o=.d) $(LIVE:=.d) $(VM:=.d) $(TRUTH_OBJ:.o=.d)
