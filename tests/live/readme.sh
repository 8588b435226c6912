#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What README says can be typed: its commands as they are written, in a pid namespace where the processes that they name
# exist, and its lines of Python on what a recording really holds. Compiling is package.sh's and examples.sh's.
. "$(dirname "$0")/tap.bash"
readme=$here/../../README.md

# A project to build, an idle machine's file, sudo, and the numbers of the processes in the text.
cat >Makefile <<'END'
all: a b c
a b c: ; @i=0; while [ $$i -lt 3000 ]; do i=$$((i + 1)); done
END
mkdir bin
ln -s "$S" bin/schedwatt
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
chmod 755 bin/sudo
export PATH=$dir/bin:$PATH
pids=$(grep '^\$ .*schedwatt' "$readme" | grep -oE -- '-p [0-9,]+' | tr -dc '0-9,\n' | tr , '\n' | sort -nu)

# A command goes on until it ends by itself, or until it is interrupted as a user would.
cat >run_one <<'END'
mount -t proc proc /proc
for pid in $pids; do
	echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
	while :; do :; done &
	[ $! -eq "$pid" ] || exit 97
done
echo 90000 >/proc/sys/kernel/ns_last_pid
timeout -s INT 3 bash -c "$1"
status=$?
kill -9 $(jobs -p)
[ "$status" -eq 124 ] && status=0 # timeout's own: it was interrupted, and ended
exit $status
END

commands=$(grep -n '^\$ .*schedwatt' "$readme" | grep -v 'pkg-config' | sed 's/^\([0-9]*\):\$ /\1 /')
if ! pids=$pids unshare -pf --mount bash run_one true 2>why; then
	skip 'commands of README' "no pid namespace: $(head -1 why)"
else
	while read -r line command; do
		case $command in
		*system.slice*) [ -e /sys/fs/cgroup/system.slice/cgroup.controllers ] || command=${command/\/sys\/fs\/cgroup\/system.slice/0::\/} ;;
		esac
		pids=$pids timeout -s KILL 60 unshare -pf --mount bash run_one "$command" >out 2>err
		is $? 0 "line $line: $command" err
		grep -qE 'CPU (time|s)' out err
		ok $? "line $line says what was used" out
	done <<<"$commands"
fi
[ "$(wc -l <<<"$commands")" -ge 6 ]
ok $? 'README has commands'

# --- Python
sed -n '/^```python$/,/^```$/p' "$readme" | grep -v '^```' >recipe.py
record=$(sed -n 's/^`\(schedwatt run --flat[^`]*\)`.*/\1/p' "$readme")
bash -c "$record" 2>err
is $? 0 "$record" err
cat >>recipe.py <<'END'

rows = [json.loads(line) for line in open("build.jsonl")]
told = [r for r in rows if r["type"] == "process"]
assert len(processes) == len(told) > 0, len(told)
for name in ("oncpu_ns", "t_ns", "start_boottime_ns"):
    assert processes[name].dtype == "Int64", (name, processes[name].dtype)
    assert [int(x) for x in processes[name]] == [r[name] for r in told], name
assert processes["exit_status"].isna().sum() == sum(r.get("exit_status") is None for r in told)
total = sum(r["total_joules"] for r in rows if r["type"] == "sample")
assert abs(samples.total_joules.sum() - total) < 1e-9, total
assert all(isinstance(t, str) for t in samples.time_utc)

# the greatest numbers, beside one that is not there
json.dump({"type": "process", "a": 2**64 - 1, "b": 2**63 - 1}, open("big.jsonl", "w"))
open("big.jsonl", "a").write('\n{"type":"process","a":1,"b":null}\n')
big = open("big.jsonl").read().replace('": ', '":')
open("big.jsonl", "w").write(big)
t = table("big.jsonl", "process")
assert int(t.a[0]) == 2**64 - 1 and int(t.b[0]) == 2**63 - 1 and t.b.isna()[1], t
END
/usr/bin/python3 recipe.py >out 2>err
is $? 0 'the recipe gives pandas exact numbers' err
grep -q '^make ' out
ok $? 'by command' out
sw run -f csv -o build.csv -- make 2>err
/usr/bin/python3 -c 'import pandas; t = pandas.read_csv("build.csv"); assert (t.oncpu_ns > 0).any() and t.joules.dtype == float, t' 2>err
is $? 0 'csv is read as it is' err
done_testing
