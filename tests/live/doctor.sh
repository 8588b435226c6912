#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `schedwatt doctor` on this machine: with and without privileges, with and without energy counters; what it says is what
# the other commands do, and nothing of it stays.
. "$(dirname "$0")/tap.bash"
. "$here/fixture.bash"

doctor() { # wanted status, what, arguments…: to out and err
	local wanted=$1 what=$2
	shift 2
	sw doctor "$@" >out 2>err
	is $? "$wanted" "$what" err
}

# A jq-like look at the records of out: the value of FIELD of the check AREA NAME, or of the verdict.
look() { # area, name, field
	python3 - "$@" <<-'END'
		import json, sys
		area, name, field = sys.argv[1:]
		for line in open("out"):
		    r = json.loads(line)
		    if (r["type"], r.get("area"), r.get("name")) == ("check", area, name) or area == r["type"] == "verdict":
		        print(json.dumps(r[field]) if not isinstance(r[field], str) else r[field])
	END
}

mkdir laptop vm masked
fixture laptop intel-laptop
fixture vm virtual-machine
fixture masked container-masked

# --- BPF works, and there is no energy
doctor 1 'exit 1 where nothing measures energy' --sysfs vm -f jsonl
is "$(look verdict - works)" false 'the verdict says so' out
is "$(look verdict - energy_source)" null 'it names no source' out
is "$(look verdict - backend)" ebpf 'and the back end that opens' out
is "$(look energy powercap state)" lacks 'powercap lacks' out
[ -n "$(look energy powercap reason)" ] && [ "$(look energy powercap remedy)" != null ]
is $? 0 'with a reason and a remedy' out
is "$(look energy model state)" note 'a model is no measurement' out
for hook in tp_btf raw_tp tracepoint tree; do
	is "$(look hook $hook state)" works "the hook $hook attaches" out
done
slots=$(look memory slots value) bytes=$(look memory tables value)
is "$(look backend proc state)" works 'proc opens' out
[ "${bytes%% *}" -ge $((slots * 64)) ]
is $? 0 "tables of $slots slots take $bytes" out

# --- and with counters
doctor 0 'exit 0 where a back end opens and energy is measured' --sysfs laptop -f jsonl
is "$(look verdict - works)" true 'the verdict says so, too' out
is "$(look verdict - energy_source)" powercap 'it names the source' out
is "$(look zone powercap:package-0 state)" works 'and its zones' out
sw monitor -d 0.05 -i 50 --sysfs laptop -f jsonl >records 2>err
python3 - out records >why <<-'END'
	import json, sys
	found = [json.loads(line) for line in open(sys.argv[1])]
	header = json.loads(open(sys.argv[2]).readline())
	verdict = found[-1]
	zones = [c["name"].split(":", 1)[1] for c in found[:-1] if c["area"] == "zone" and c["name"].startswith("powercap:")]
	assert found[-1]["type"] == "verdict" and all(c["type"] == "check" for c in found[:-1]), found
	assert header["attribution_backend"] == verdict["backend"], header
	assert header["energy_source"] == verdict["energy_source"], header
	assert [z["name"] for z in header["zones"]] == zones, (header["zones"], zones)
	keys = {"type", "area", "name", "state", "value", "reason", "remedy"}
	assert all(set(c) == keys for c in found[:-1])
	lacking = [c for c in found[:-1] if c["state"] == "lacks"]
	assert lacking and all(c["reason"] and c["remedy"] for c in lacking), lacking
END
is $? 0 'a monitor takes what it names' why
doctor 0 '--slots is what the tables are made for' --sysfs laptop --slots 1000 -f jsonl
is "$(look memory slots value)" 1024 'rounded up' out
doctor 1 'a container whose counters are masked' --sysfs masked -f jsonl
look energy powercap remedy | grep -q -- '--sysfs /host/sys'
is $? 0 'is told how to get at them' out

# --- as text
doctor 1 'text' --sysfs vm
[ "$(wc -L <out)" -le 100 ]
is $? 0 'no line is wider than 100 columns' out
tail -1 out | grep -q '^CPU time comes from ebpf, but nothing measures energy'
is $? 0 'the last line is the verdict' out
for area in kernel privilege hook backend memory cgroup energy zone; do
	grep -qx "$area" out || echo "$area"
done >missing
[ ! -s missing ]
is $? 0 'every area has its heading' missing
[ "$(grep -c '^ *remedy: ' out)" -ge 1 ]
is $? 0 'remedies have lines of their own' out
sw doctor --sysfs laptop -f text >explicit 2>err
tail -1 explicit | grep -qx 'CPU time comes from ebpf, and powercap measures energy.'
is $? 0 'the verdict where all works' explicit

# --- without privileges
if command -v setpriv >/dev/null; then
	cp "$S" schedwatt
	chmod 755 schedwatt
	nobody() {
		timeout -s KILL 60 setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all --inh-caps -all \
			./schedwatt "$@"
	}
	nobody doctor -f jsonl --sysfs vm >out 2>err
	is $? 1 'nobody has neither BPF nor energy' err
	is "$(look backend ebpf state)" lacks 'ebpf lacks' out
	look backend ebpf remedy | grep -q 'setcap cap_bpf,cap_perfmon'
	is $? 0 'and the remedy names the capabilities' out
	is "$(look privilege CAP_BPF state)" lacks 'CAP_BPF is not effective' out
	is "$(look verdict - backend)" proc 'proc is left' out
	is "$(look memory slots state)" unknown 'there are no slots' out
	nobody doctor -f jsonl --sysfs laptop >out 2>err
	is $? 0 'coarse time and energy that everybody may read do' err
else
	skip 'without privileges' 'setpriv is not installed'
fi

# --- failures
for wrong in '-f csv' '-f xml' '--slots 3' '--slots x' '--energy none' '--hook tp_btf' '-p 1' 'word'; do
	# shellcheck disable=SC2086
	sw doctor $wrong >out 2>err
	is $? 2 "doctor $wrong is a usage error" err
	[ ! -s out ] && [ "$(wc -l <err)" -eq 1 ]
	is $? 0 'in one line' err
done
for wrong in '--sysfs /does/not/exist' '--procfs /dev/null' '--cgroupfs /dev'; do
	# shellcheck disable=SC2086
	sw doctor $wrong >out 2>err
	is $? 1 "doctor $wrong fails" err
	[ ! -s out ] && grep -q "${wrong#* }" err
	is $? 0 'and says on what' err
done
sw doctor --sysfs laptop >/dev/full 2>err
is $? 1 'a full disk is a failure' err
grep -qx 'schedwatt: cannot write to stdout: No space left on device' err
is $? 0 'which is told' err

# --- a process that lives on has nothing of it
library=$(echo "$B"/libschedwatt.so.*.*.*)
if [ -e "$library" ]; then
	python3 - "$library" >why 2>&1 <<-'END'
		import ctypes, os, sys
		lib = ctypes.CDLL(sys.argv[1])
		lib.sw_checkup_free.argtypes = [ctypes.c_void_p]
		def held():
		    fds = sorted(os.path.realpath("/proc/self/fd/" + fd) for fd in os.listdir("/proc/self/fd"))
		    return fds, [line for line in open("/proc/self/maps") if "bpf" in line]
		before = held()
		for _ in range(2):
		    checkup = ctypes.c_void_p()
		    assert lib.sw_checkup_run(None, ctypes.byref(checkup)) == 0 and checkup.value
		    lib.sw_checkup_free(checkup)
		assert held() == before, (held(), before)
	END
	is $? 0 'nothing stays open, attached or mapped' why
else
	skip 'nothing stays open, attached or mapped' 'with sanitizers there is no shared library'
fi
done_testing
