/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: reading and writing out the command line of one process. Must not know: who asks for it, or when.
 * Relies on proc_pid_cmdline(5), proc_pid_stat(5), fs/proc/base.c (get_mm_cmdline()).
 */
#include "cmdline.h"

#include "../base/procfs.h"
#include "../base/root.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CUT "…"
#define STAT_SIZE 4096 /* 52 numbers of at most 20 digits, and a name of at most 64 bytes */
#define NS_PER_S 1000000000ULL

/* How many bytes a UTF-8 sequence that begins with `c` has; 1 for what begins none. */
static size_t utf8_length(unsigned char c)
{
	return c >= 0xf0 && c < 0xf8 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc0 && c < 0xe0 ? 2 : 1;
}

/* `n`, less the beginning of a UTF-8 sequence that does not end before it. */
static size_t without_half(const char *raw, size_t n)
{
	size_t i = n;

	while (i && n - i < 3 && ((unsigned char)raw[i - 1] & 0xc0) == 0x80)
		i--;
	if (i && utf8_length((unsigned char)raw[i - 1]) > n - (i - 1))
		return i - 1;
	return n;
}

/* One argument and NULs only, two more than its own: the rest of an argument area that now holds a shorter title. */
static bool is_padded_title(const char *raw, size_t n)
{
	size_t end = strnlen(raw, n);

	if (n - end < 3)
		return false;
	while (end < n && !raw[end])
		end++;
	return end == n;
}

static char *put_byte(char *to, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	if (c >= 0x20 && c != 0x7f) {
		if (c == ' ' || c == '\\')
			*to++ = '\\';
		*to++ = (char)c;
		return to;
	}
	*to++ = '\\';
	if (c == '\n' || c == '\t') {
		*to++ = c == '\n' ? 'n' : 't';
		return to;
	}
	*to++ = 'x';
	*to++ = hex[c >> 4];
	*to++ = hex[c & 15];
	return to;
}

static char *put_argument(char *to, const char *raw, size_t n)
{
	if (!n)
		return mempcpy(to, "''", 2);
	for (size_t i = 0; i < n; i++)
		to = put_byte(to, (unsigned char)raw[i]);
	return to;
}

char *sw_cmdline_escape(const char *raw, size_t n, int cut)
{
	char *text, *to, *fit;
	size_t at, length;

	if (!n)
		return NULL;
	if (is_padded_title(raw, n)) {
		n = strnlen(raw, n) + 1;
		cut = 0;
	}
	if (cut)
		n = without_half(raw, n);
	/* A byte becomes four at most, an empty argument (one NUL) three: a blank and two quotes. */
	text = to = malloc(4 * n + sizeof(" " CUT));
	if (!text)
		return NULL;
	for (at = 0; at < n; at += length + 1) {
		length = strnlen(raw + at, n - at);
		if (at)
			*to++ = ' ';
		to = put_argument(to, raw + at, length);
	}
	if (cut) {
		if (n && !raw[n - 1])
			*to++ = ' '; /* the cut is between two arguments */
		to = mempcpy(to, CUT, strlen(CUT));
	}
	*to++ = '\0';
	fit = realloc(text, (size_t)(to - text));
	return fit ? fit : text;
}

static bool started_at(int pid_fd, uint64_t start_boottime_ns)
{
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t tick_ns, seen_ns, apart_ns;
	struct sw_proc_stat stat;
	char text[STAT_SIZE];
	ssize_t n = sw_file_read(pid_fd, "stat", text, sizeof(text));

	if (n <= 0 || hz <= 0 || sw_proc_stat_parse(text, (size_t)n, &stat) || !SW_PROC_STAT_HAS(&stat, starttime))
		return false;
	tick_ns = NS_PER_S / (uint64_t)hz;
	if (__builtin_mul_overflow(stat.starttime, tick_ns, &seen_ns))
		return false;
	apart_ns = seen_ns > start_boottime_ns ? seen_ns - start_boottime_ns : start_boottime_ns - seen_ns;
	return apart_ns <= tick_ns + tick_ns / 2;
}

char *sw_cmdline_read(int procfs_fd, int32_t pid, uint64_t start_boottime_ns)
{
	char path[16], raw[SW_CMDLINE_MAX + 2]; /* a byte more than is kept, and a NUL */
	char *text = NULL;
	ssize_t n;
	int pid_fd;

	if (pid <= 0)
		return NULL;
	/* The directory stays that of this one process: in it, nothing can be read of another that gets its pid. */
	snprintf(path, sizeof(path), "%d", pid);
	pid_fd = openat(procfs_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (pid_fd < 0)
		return NULL;
	if (started_at(pid_fd, start_boottime_ns)) {
		n = sw_file_read_start(pid_fd, "cmdline", raw, sizeof(raw));
		if (n > SW_CMDLINE_MAX)
			text = sw_cmdline_escape(raw, SW_CMDLINE_MAX, 1);
		else if (n > 0)
			text = sw_cmdline_escape(raw, (size_t)n, 0);
	}
	close(pid_fd);
	return text;
}
