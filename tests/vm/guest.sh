#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The first process of a virtual machine: it sets the machine up, runs the checks of its configuration, and ends it.
# A check is a function check_NAME, and listed below; it succeeds, or says why not and fails; 77 skips it. TAP goes to the
# second serial port, or the one that the kernel's command line names. Must not know: which kernel this is.
# Relies on: busybox, and vmcheck.c, vmtool.c and energy.sh, the checks of energy, beside it.
set -u

# --- which checks run, by configuration (see tests/vm/run)
checks_sockets='sums_tp_btf sums_raw_tp sums_tracepoint children tree cgroup idle one_busy two_busy run wrap packages
	offline perf zones_fail reload package_off marginal unreadable no_btf no_rights
	backends capabilities memlock'
checks_siblings='siblings possible stock no_btf'
checks_arm='sums_tp_btf sums_raw_tp sums_tracepoint children tree cgroup run_model offline no_btf
	no_rights backends capabilities memlock'

export PATH=/bin HOME=/tmp
C=/sys/devices/system/cpu
as= # a command before schedwatt's, for other rights than root's

# --- for checks

# A recording into the file r, that has to succeed. It ends by itself: a machine that hangs says nothing.
sw() { # subcommand, options…
	what=$1
	shift
	rm -f r
	# shellcheck disable=SC2086 # it is several words, or none
	timeout -s KILL 30 $as schedwatt "$what" -f jsonl -o r "$@" 2>err || {
		echo "$as schedwatt $what $*: status $?"
		cat err
		return 1
	}
}

# The same in the background, up to its first window.
begin() {
	rm -f r
	sw "$@" &
	recorder=$!
	for _ in $(seq 300); do
		grep -qs '"sample"' r && return 0
		kill -0 $recorder 2>/dev/null || break
		sleep 0.1
	done
	echo 'no window came'
	return 1
}

refused() { # status, words, command…: it fails with that status, one line, and those words in it
	wanted=$1 words=$2
	shift 2
	timeout -s KILL 30 "$@" >out 2>err
	status=$?
	if [ $status -ne "$wanted" ] || ! grep -q "$words" err || [ "$(wc -l <err)" -ne 1 ]; then
		echo "status $status, wanted $wanted and one line about $words:"
		cat err
		return 1
	fi
}

refusal() { # source, words: the header of r says that it was refused with them
	head -1 r | grep -q "{\"source\":\"$1\",\"reason\":\"[^}]*$2" || fail "no refusal of $1 with $2: $(head -1 r)"
}

fail() {
	echo "$1"
	return 1
}

# From here on schedwatt is an ordinary user's. 38 and 39 are CAP_PERFMON and CAP_BPF; 2, CAP_DAC_READ_SEARCH, opens
# energy counters and files, but loads nothing.
be_user() { # capabilities
	ulimit -l 8192 # the default of current kernels; older ones have 64 KiB, and charge maps to it
	as="vmtool as-user $1"
}

load() { # some of everything: a pinned spinner, short children, sleepers
	vmtool spin 60 0 &
	vmtool children 10000 5 &
	for _ in 1 2 3; do (while :; do sleep 0.1; done) & done
}

# --- the accounting

sums() { # hook
	begin monitor --hook "$1" -i 50 -d 0.8 --energy model || return 1
	load
	wait $recorder && vmcheck sums r 4 && vmcheck field r header hook "$1"
}
check_sums_tp_btf() { sums tp_btf; }
check_sums_raw_tp() { sums raw_tp; }
check_sums_tracepoint() { sums tracepoint; }

check_children() {
	sw run -i 100 -- vmtool children 500 && vmcheck sums r 1 && vmcheck children r 500
}

# A tree that runs already: a parent, its child, and a daemon that is forked twice while it is watched.
check_tree() {
	cat >tree.sh <<'END'
vmtool spin 60 0 &
echo $! >child
while [ ! -e go ]; do sleep 0.05; done
(setsid vmtool spin 0.4 1 & echo $! >daemon)
exec vmtool spin 60 1
END
	rm -f go daemon
	sh tree.sh &
	parent=$!
	sleep 0.2
	begin monitor -p $parent -i 100 -d 25 || return 1
	: >go
	until [ -s daemon ]; do sleep 0.1; done
	while kill -0 "$(cat daemon)" 2>/dev/null; do sleep 0.1; done
	sleep 0.3
	killall -INT schedwatt
	wait $recorder && vmcheck sums r 5 && vmcheck process r $parent alive 100 &&
		vmcheck process r "$(cat child)" alive 100 && vmcheck process r "$(cat daemon)" exited 100
}

# Two on one CPU, one of them in the cgroup below the one that is recorded.
check_cgroup() {
	g=/sys/fs/cgroup/check
	mkdir -p $g/below
	sh -c "echo 0 >$g/below/cgroup.procs; exec vmtool spin 60 0" &
	inside=$!
	vmtool spin 60 0 &
	outside=$!
	sleep 0.1
	sw monitor --cgroup $g -i 100 -d 1 && vmcheck sums r 4 && vmcheck process r $inside alive 200 || return 1
	grep -q '"cgroup":"/check/below"' r || fail 'its process is not said to be below' || return 1
	! vmcheck process r $outside alive 0 >/dev/null || fail 'who is outside is in it'
}

# While a CPU goes, its switches are not traced: that much may be lost, but no more may be missing.
check_offline() {
	[ -e $C/cpu1/online ] || { echo 'CPU 1 cannot be taken offline'; return 77; }
	begin monitor -i 100 -d 2 || return 1
	load
	echo 0 >$C/cpu1/online
	sleep 0.4
	echo 1 >$C/cpu1/online
	wait $recorder && vmcheck sums-lossy r 8 && vmcheck offline r
}

# --- other machines

check_possible() {
	if [ "$(cat $C/possible)" = "$(cat $C/online)" ]; then # newer kernels take those that firmware calls absent at its word
		echo 'all CPUs that are possible are online'
		return 77
	fi
	begin monitor -i 50 -d 0.8 --energy model || return 1
	load
	wait $recorder && vmcheck sums r 4 && vmcheck field r header cpus 2
}

# --- rights, and what a kernel lacks

# Who names BPF gets no other. Who does not gets the command's own cgroup, which is gone when the command is; and where
# there are several packages, between which version 2 does not tell, what /proc tells.
without_btf() {
	refused 1 'no BTF' schedwatt monitor -d 0.2 --attribution-mode ebpf --energy model || return 1
	sw run -i 100 --energy model -- vmtool spin 0.5 0 || return 1
	grep -q 'no BTF' err || fail 'it does not say why not BPF' || return 1
	backend=cgroup_v2
	vmcheck field r header packages 1 >/dev/null || backend=proc
	vmcheck field r header attribution_backend $backend && vmcheck agree r 400 $backend || return 1
	[ -z "$(find /sys/fs/cgroup -name 'schedwatt-*')" ] || fail 'its cgroup is still there'
}
check_no_btf() {
	: >empty
	mount -o bind empty /sys/kernel/btf/vmlinux || return 1
	without_btf
	status=$?
	umount /sys/kernel/btf/vmlinux
	return $status
}

# Nobody, who may not even make a cgroup: each thread as /proc tells of it.
check_no_rights() {
	be_user ,
	sw run -i 100 --energy model -- vmtool spin 0.5 0 && vmcheck field r header attribution_backend proc &&
		vmcheck field r header attribution_quality coarse && vmcheck agree r 400 proc || return 1
	grep -q CAP_BPF err || fail 'it does not say why not BPF'
}

# All over the same windows: version 2 as it is mounted, version 1 for cpuacct alone.
check_backends() {
	mkdir -p cpuacct
	mount -t cgroup -o cpuacct cpuacct cpuacct || { echo 'this kernel has no cpuacct'; return 77; }
	rm -f r
	timeout -s KILL 60 schedwatt compare -i 200 --energy model -f jsonl -o r -- vmtool spin 2 1 2>err || { cat err; return 1; }
	vmcheck agree r 1800 ebpf cgroup_v2 cgroup_v1 proc
	status=$?
	umount cpuacct
	return $status
}

check_capabilities() {
	be_user 38,39
	sw monitor -i 100 -d 0.5 --energy model && vmcheck sums r 2 || return 1
	refused 1 CAP_BPF vmtool as-user 2 schedwatt monitor -d 0.2 --energy model --attribution-mode ebpf
}

# Where maps are charged to it (before 5.11), a small limit that may not be raised has to do.
check_memlock() {
	as='vmtool memlock 8388608'
	sw monitor -i 100 -d 0.5 --energy model && vmcheck sums r 2
}

# --- the machine

/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tracefs tracing /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tmpfs tmp /tmp
chmod 777 /tmp
cd /tmp || exit 1
. /energy.sh
configuration=$(sed -n 's/.*configuration=\([a-z]*\).*/\1/p' /proc/cmdline)
eval "checks=\$checks_$configuration"
port=$(sed -n 's/.*results=\([a-zA-Z0-9]*\).*/\1/p' /proc/cmdline)
exec >"/dev/${port:=ttyS1}"
stty -F "/dev/$port" -opost 2>/dev/null
n=0
for check in ${checks}; do
	n=$((n + 1))
	(check_"$check") >/tmp/said 2>&1
	status=$?
	if [ $status -ne 0 ] && [ $status -ne 77 ]; then # once more, and in the open: others may want the real CPUs, too
		sed "s/^/# $check, at first: /" /tmp/said
		kill -9 -1 2>/dev/null
		rm -f loads
		(check_"$check") >/tmp/said 2>&1
		status=$?
	fi
	case $status in
	0) echo "ok $n - $check" ;;
	77) echo "ok $n - $check # SKIP $(head -1 /tmp/said)" ;;
	*) echo "not ok $n - $check" ;;
	esac
	sed "s/^/# $check: /" /tmp/said
	echo "# $check: $(cut -d' ' -f1 /proc/uptime) s"
	kill -9 -1 2>/dev/null # all but this process
done
echo "1..$n"
sync
vmtool exit 0
