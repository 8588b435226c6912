# shellcheck shell=sh disable=SC2154 # variables of guest.sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The checks of energy in the virtual machines: counters that modules/ simulate, and the drivers that kernels have.
# Must not know: which kernel this is. Relies on: guest.sh, which reads it; drivers/powercap/powercap_sys.c,
# arch/x86/events/rapl.c and drivers/powercap/intel_rapl_common.c for what comes, goes and is refused.

Z=/sys/class/powercap/intel-rapl

# Counters begun anew, and a list in the file `model` of what they should count.
simulate() { # simrapl or simpmu, parameters…
	module=$1
	P=/sys/module/$module/parameters
	shift
	rmmod "$module" 2>/dev/null
	insmod "/modules/$module.ko" "$@" || return 1
	vmtool sample model "$module" &
	sampler=$!
}

end_sampler() {
	sleep 0.2
	kill $sampler
}

# The model's clock. What it says now is put into the list, too: an exact end of a phase.
model_now() {
	tail -1 $P/model | tee -a model | cut -d' ' -f1
}

# Nobody runs, then one more and one more CPU is busy. In `marks`: where each phase begins and where it ends.
phases() { # CPUs
	model_now
	sleep 1.2
	model_now
	for cpu in "$@"; do
		vmtool spin 60 "$cpu" &
		echo $! >"spinner$cpu"
		sleep 0.1
		model_now
		sleep 1.1
		model_now
	done
}

phase() { # records, its number from 0, busy CPUs
	vmcheck joules "$1" model "$(sed -n "$((2 * $2 + 1))p" marks)" "$(sed -n "$((2 * $2 + 2))p" marks)" "$3"
}

# --- powercap

# One recording, that the checks which follow look at.
record_loads() {
	[ ! -e loads ] || return 0
	simulate simrapl psys=1 mmio=1 && begin monitor -i 100 -d 5 || return 1
	phases 0 1 >marks
	wait $recorder && end_sampler && mv r loads
}
check_idle() { record_loads && phase loads 0 0 && vmcheck sums loads 20; }
check_one_busy() { record_loads && phase loads 1 1; }
check_two_busy() { record_loads && phase loads 2 2; }

# Each package's joules go to who ran there. The twin is seen, and not counted (or the sums above would be double).
check_packages() {
	record_loads && vmcheck field loads header energy_source powercap && vmcheck field loads header packages 2 &&
		vmcheck pinned loads "$(cat spinner0)" 0 && vmcheck pinned loads "$(cat spinner1)" 1
}

check_run() {
	simulate simrapl psys=1 && sw run -i 100 -- vmtool spin 1 1 && end_sampler && vmcheck sums r 5 && vmcheck joules r model &&
		vmcheck field r summary end command
}

check_run_model() {
	sw run -i 100 -- vmtool spin 1 1 && vmcheck sums r 5 && vmcheck field r header energy_source model &&
		vmcheck field r summary end command
}

# It stands still until somebody looks, so that it wraps in the middle.
check_wrap() {
	simulate simrapl start_uj=262128000000 idle_mw=0 busy_mw=0 || return 1
	begin monitor -i 100 -d 1.5 || return 1
	vmtool spin 60 0 &
	before=$(cat $Z:0/energy_uj)
	echo 20000 >$P/busy_mw
	echo 10000 >$P/idle_mw
	wait $recorder && end_sampler && vmcheck sums r 8 && vmcheck joules r model || return 1
	[ "$before" -gt "$(cat $Z:0/energy_uj)" ] || fail "the counter did not wrap: $before, $(cat $Z:0/energy_uj)"
}

# Zones that cannot be read, go, and come again.
check_zones_fail() {
	simulate simrapl && kill $sampler && begin monitor -i 100 -d 1.5 || return 1
	echo 1 >$P/fail
	sleep 0.4
	echo 0 >$P/fail
	wait $recorder || return 1
	grep -q '"total_joules":null.*"window_flags":\[[^]]*"no_energy"' r || fail 'no window without energy' || return 1
	grep '"sample"' r | tail -1 | grep -q '"total_joules":[0-9]' || fail 'energy did not come again' || return 1
	echo 0x3f >$P/absent
	[ ! -e $Z:0 ] || fail 'zones did not go' || return 1
	refused 1 powercap schedwatt monitor -d 0.2 --energy powercap || return 1
	echo 0 >$P/absent
	sw monitor -i 100 -d 0.3 --energy powercap
}

# The driver goes and comes again, and its counters begin anew: no joules meanwhile, and none but the new ones afterwards.
check_reload() {
	simulate simrapl && begin monitor -i 100 -d 4.5 || return 1
	start=$(model_now)
	sleep 0.8
	end=$(model_now)
	end_sampler
	mv model before
	rmmod simrapl || return 1
	gone=$(vmtool now us)
	sleep 0.4
	back=$(vmtool now us)
	simulate simrapl start_uj=1000000000 || return 1
	wait $recorder && end_sampler && vmcheck sums r 20 && vmcheck joules r before "$start" "$end" -1 || return 1
	vmcheck gap r "$gone" "$back" 2 >again || { cat again; return 1; }
	cat again
	vmcheck joules r model "$(tail -1 again)" inf -1
}

# A package's zones go with its last CPU, and come with it.
check_package_off() {
	[ -e $C/cpu1/online ] || { echo 'CPU 1 cannot be taken offline'; return 77; }
	simulate simrapl && begin monitor -i 100 -d 3 || return 1
	echo 0 >$C/cpu1/online
	echo 0x38 >$P/absent
	sleep 0.8
	echo 1 >$C/cpu1/online
	echo 0 >$P/absent
	wait $recorder && end_sampler && vmcheck sums-lossy r 15 && vmcheck off r model
}

# Each package's idle power is known, and who runs on one has only what lies above it; or more was said than it uses.
check_marginal() {
	simulate simrapl || return 1
	vmtool spin 60 1 &
	spinner=$!
	sw monitor -i 100 -d 2 --policy marginal --baseline 4,11.5 && end_sampler && vmcheck sums r 10 &&
		vmcheck baseline r 4 11.5 none && vmcheck above r model $spinner 11.5 || return 1
	sw monitor -i 100 -d 0.8 --policy marginal --baseline 50,11.5 && vmcheck sums r 3 && vmcheck baseline r 50 11.5 all
}

# The kernel lets root alone read energy.
check_unreadable() {
	simulate simrapl && kill $sampler && be_user 38,39 || return 1
	refused 1 'CVE-2020-8694.*CAP_DAC_READ_SEARCH' $as schedwatt monitor -d 0.2 --energy powercap || return 1
	sw monitor -i 100 -d 0.3 && vmcheck field r header energy_source model &&
		vmcheck field r header energy_quality modelled && refusal powercap CVE-2020-8694 || return 1
	be_user 2,38,39
	sw monitor -i 100 -d 0.3 && vmcheck field r header energy_source powercap && vmcheck sums r 2
}

# --- perf

check_perf() {
	simulate simpmu && begin monitor -i 100 -d 3.2 --energy perf || return 1
	phases 1 >marks
	wait $recorder && end_sampler && vmcheck sums r 20 && vmcheck field r header energy_source perf &&
		vmcheck field r header packages 2 && phase r 0 0 && phase r 1 1 && vmcheck pinned r "$(cat spinner1)" 1 ||
		return 1
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	be_user 38,39
	sw monitor -i 100 -d 0.3 --energy perf && vmcheck field r header energy_source perf && vmcheck sums r 2 || return 1
	be_user 39
	refused 1 perf_event_paranoid $as schedwatt monitor -d 0.2 --energy perf
	status=$?
	rmmod simpmu
	return $status
}

# --- other machines

check_siblings() {
	[ "$(cat $C/cpu0/topology/thread_siblings_list)" = 0-1 ] || fail 'CPUs 0 and 1 are no siblings' || return 1
	simulate simrapl || return 1
	begin monitor -i 100 -d 1.2 || return 1
	for cpu in 0 1; do vmtool spin 60 $cpu & done
	wait $recorder && end_sampler && vmcheck sums r 5 && vmcheck joules r model && vmcheck field r header packages 1
}


# The kernel's own drivers, on a processor that they know and whose counters stand still: each source says why it does
# not do, and the model answers.
stock() {
	if [ -e $Z:0 ] || [ -e /sys/bus/event_source/devices/power/events/energy-pkg ]; then
		fail 'this processor counts energy' || return 1
	fi
	load
	sw monitor -i 100 -d 0.5 && vmcheck sums r 2 && vmcheck field r header energy_source model &&
		vmcheck field r header energy_quality modelled && refusal powercap 'RAPL' && refusal perf '[Pp]ower' &&
		refusal msr 'register' || return 1
	refused 1 'strict.*RAPL' schedwatt monitor -d 0.2 --strict
}

check_stock() {
	if [ ! -e /stock/intel_rapl_msr.ko ] || [ ! -e /stock/rapl.ko ]; then
		echo "this kernel's packages hold no RAPL drivers"
		return 77
	fi
	rmmod simrapl simpmu 2>/dev/null
	for module in iosf_mbi intel_rapl_common intel_rapl_msr rapl msr; do
		insmod /stock/$module.ko && echo "$module is loaded"
	done
	stock
	status=$?
	for module in msr rapl intel_rapl_msr intel_rapl_common iosf_mbi; do rmmod $module 2>/dev/null; done
	return $status
}
