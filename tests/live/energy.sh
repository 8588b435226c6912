#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Energy counters of made-up machines, through the command: which zones a header lists, what a reader without rights
# gets, and machines that have nothing to read.
. "$(dirname "$0")/tap.bash"
. "$here/fixture.bash"

zones() { # records: a line for each zone of the header, "name package counted problem?"
	head -1 "$1" | python3 -c '
import json, sys
for z in json.load(sys.stdin)["zones"]:
    print(z["name"], z["package"], "counted" if z["counted"] else "shown", "broken" if z["problem"] else "read")'
}

lists() { # records, what; the zones wanted on stdin
	zones "$1" >got 2>&1
	diff - got >why
	ok $? "$2" why
}

fixture laptop intel-laptop
sw monitor -i 100 -d 0.2 --sysfs "$dir/laptop" -f jsonl -o laptop.jsonl 2>err
is $? 0 'monitor on the fixture of a laptop' err
lists laptop.jsonl 'its zones: the package once, psys apart' <<'END'
package-0 0 counted read
package-0 (mmio) 0 shown read
package-0/core 0 shown read
package-0/uncore 0 shown read
psys None shown read
END

fixture server two-socket-server
sw monitor -i 100 -d 0.2 --sysfs "$dir/server" -f jsonl -o server.jsonl 2>err
is $? 0 'monitor on the fixture of a server' err
lists server.jsonl 'its zones: each socket and its memory' <<'END'
package-0 0 counted read
package-0/dram 0 counted read
package-1 1 counted read
package-1/dram 1 counted read
END

# --- one package that may not be read, one that may; not root, but with the right to load programs
unprivileged() {
	timeout -s KILL 60 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=+bpf,+perfmon \
		--ambient-caps=+bpf,+perfmon "$S" "$@"
}
chmod 000 server/class/powercap/intel-rapl:1/energy_uj
if unprivileged monitor -i 50 -d 0.2 --energy none >out 2>err; then
	unprivileged monitor -i 50 -d 0.5 --sysfs "$dir/server" -f jsonl >part.jsonl 2>err
	is $? 0 'monitor where one package of two may not be read' err
	lists part.jsonl 'that one is left out, the others are read' <<'END'
package-0 0 shown broken
package-0/dram 0 counted read
package-1 1 counted read
package-1/dram 1 counted read
END
	[ "$(grep -c CVE-2020-8694 part.jsonl err | awk -F: '{ n += $2 } END { print n }')" -eq 1 ]
	ok $? 'which is said once, with its reason, and not with every sample' part.jsonl
	python3 - part.jsonl >why 2>&1 <<'END'
import json, sys
samples = [r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "sample"]
assert len(samples) >= 3, len(samples)
for s in samples:
    assert s["zone_joules"]["package-0"] is None and s["zone_joules"]["package-1"] is not None, s
    assert s["window_flags"].count("partial") == 1, s
    assert s["proc_oncpu_ns"] > 0, s
END
	ok $? 'its joules are null, the other package has some, CPU time goes on' why
else
	skip 'a package that may not be read' 'nobody cannot load BPF programs here, whatever his capabilities'
fi

# --- nothing to read
fixture guest virtual-machine
sw monitor -i 100 -d 0.2 --sysfs "$dir/guest" -f jsonl -o guest.jsonl 2>err
is $? 0 'monitor on the fixture of a virtual machine' err
head -1 guest.jsonl | grep -q '"energy_quality":"modelled".*"source":"powercap","reason":"there is no class/powercap'
ok $? 'its energy is modelled, and the header says why' guest.jsonl
sw monitor -d 0.2 --strict --sysfs "$dir/guest" >out 2>err
is $? 1 'with --strict it is an error' err
done_testing
