// SPDX-License-Identifier: BSD-2-Clause
/* base/procfs.c: a line of /proc/PID/stat that is taken says the same when it is written out again. */
#include "fuzz.h"

#include "../../src/base/procfs.h"

#include <errno.h>
#include <inttypes.h>

static size_t write_out(const struct sw_proc_stat *s, char *line, size_t size)
{
	char *to = line, *end = line + size;

	to += snprintf(to, (size_t)(end - to), "%" PRId64 " (%s)", s->pid, s->comm);
	if (s->n_fields > 2)
		to += snprintf(to, (size_t)(end - to), " %c", s->state);
#define PRINT_int64_t PRId64
#define PRINT_uint64_t PRIu64
#define X(number, name, type)                                                     \
	if (SW_PROC_STAT_HAS(s, name))                                            \
		to += snprintf(to, (size_t)(end - to), " %" PRINT_##type, s->name);
	SW_PROC_STAT_FIELDS(X)
#undef X
	*to++ = '\n';
	return (size_t)(to - line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_proc_stat s, again;
	const size_t numbers = offsetof(struct sw_proc_stat, ppid);
	const char *end = (const char *)data + size, *open, *close, *newline;
	char line[2048];
	int err;

	memset(&s, 0x5a, sizeof(s));
	again = s;
	err = sw_proc_stat_parse((const char *)data, size, &s);
	if (err) {
		must(err == (size ? -EINVAL : -ENODATA) || err == -ERANGE);
		must(!memcmp(&s, &again, sizeof(s)));
		return 0;
	}
	must(s.n_fields >= 2 && s.n_fields <= SW_PROC_STAT_N_FIELDS);
	must(strnlen(s.comm, sizeof(s.comm)) < sizeof(s.comm));
	open = memchr(data, '(', size);
	close = memrchr(data, ')', size);
	must(open && close > open && !memcmp(open + 1, s.comm, strlen(s.comm)));
	must(strlen(s.comm) == (size_t)(close - open - 1) || strlen(s.comm) == sizeof(s.comm) - 1);
	newline = memchr(close, '\n', (size_t)(end - close));
	must(!newline || newline + 1 == end);
	must(s.n_fields == 2 ? !s.state : !!memchr(data, s.state, size));
#define X(number, name, type) must(SW_PROC_STAT_HAS(&s, name) || !s.name);
	SW_PROC_STAT_FIELDS(X)
#undef X
	must(!sw_proc_stat_parse(line, write_out(&s, line, sizeof(line)), &again));
	must(again.n_fields == s.n_fields && again.pid == s.pid && again.state == s.state);
	must(!strcmp(again.comm, s.comm));
	must(!memcmp((char *)&again + numbers, (char *)&s + numbers, sizeof(s) - numbers));
	return 0;
}
