/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: one counter of perf. Must not know: what it counts, or its unit.
 * Source: perf_event_open(2); kernel/events/core.c: an event whose CPU went offline stays, and stands still, for ever.
 */
#include "perf_event.h"

#include "../base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * To schedule others on its CPU, the kernel takes an event off it for microseconds, and energy of that time is not
 * counted. As long as it is less than a step of the hardware's counter, no reading could tell.
 */
#define OFF_MAX_NS 1000000

int sw_perf_open(uint32_t type, uint64_t config, int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0 ? (int)fd : -errno;
}

/* Not pread(2): an event has no position, and kernels refuse one (ESPIPE). */
static int read_count(int fd, struct sw_perf_count *ret)
{
	struct sw_perf_count count;
	ssize_t n;

	do
		n = read(fd, &count, sizeof(count));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(count))
		return -ENODEV; /* end of file: the event is in an error state, or its PMU is gone */
	*ret = count;
	return 0;
}

int sw_perf_event_open(sw_perf_open_fn *open_fn, uint32_t type, uint64_t config, unsigned cpu,
		       struct sw_perf_event *ret)
{
	struct sw_perf_event event = { .fd = open_fn(type, config, (int)cpu) };
	int err;

	if (event.fd < 0)
		return event.fd;
	err = read_count(event.fd, &event.last);
	if (err)
		close(event.fd);
	else
		*ret = event;
	return err;
}

void sw_perf_event_close(struct sw_perf_event *event)
{
	if (event->fd >= 0)
		close(event->fd);
	event->fd = -1;
}

int sw_perf_event_read(struct sw_perf_event *event, uint64_t *ret)
{
	uint64_t enabled_ns, running_ns;
	struct sw_perf_count now;
	int err;

	err = event->lost ? -ENODEV : read_count(event->fd, &now);
	if (!err && now.enabled_ns <= event->last.enabled_ns)
		err = -ENODEV;
	if (err) {
		event->lost = true;
		return err;
	}
	enabled_ns = now.enabled_ns - event->last.enabled_ns;
	running_ns = now.running_ns - event->last.running_ns;
	event->last = now;
	if (running_ns > enabled_ns || enabled_ns - running_ns > OFF_MAX_NS)
		return -EAGAIN;
	*ret = now.value;
	return 0;
}

/* perf_event_open(2) asks the running kernel, whatever --procfs stands for: its own /proc tells why it refused. */
static void read_paranoid(char *text, size_t size)
{
	ssize_t n = sw_file_read(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", text, size);

	text[n < 0 ? 0 : strcspn(text, "\n")] = '\0';
}

int sw_perf_event_fail(const char *name, unsigned cpu, int err, struct sw_error *error)
{
	const char *words;
	char paranoid[16];

	switch (err) {
	case -EACCES:
	case -EPERM:
		read_paranoid(paranoid, sizeof(paranoid));
		return sw_fail(error, err, "%s on CPU %u: permission denied. To count on a whole CPU needs CAP_PERFMON "
			       "(CAP_SYS_ADMIN before Linux 5.8), or /proc/sys/kernel/perf_event_paranoid at 0 or "
			       "below, and it says %s: run as root, grant CAP_PERFMON, or sysctl "
			       "kernel.perf_event_paranoid=0. A container's seccomp filter must let perf_event_open "
			       "pass, too", name, cpu, paranoid[0] ? paranoid : "nothing");
	case -ENODEV:
	case -ENXIO:
		words = "the CPU is offline, or the counter is gone";
		break;
	case -ENOENT:
	case -EINVAL:
	case -EOPNOTSUPP:
		words = "the kernel does not count this event there";
		break;
	case -EMFILE:
	case -ENFILE:
		words = "too many open files (ulimit -n)";
		break;
	case -ENOSYS:
		words = "this kernel has no perf_event_open (CONFIG_PERF_EVENTS)";
		break;
	default:
		return sw_fail(error, err, "%s on CPU %u: error %d", name, cpu, -err);
	}
	return sw_fail(error, err, "%s on CPU %u: %s", name, cpu, words);
}
