/* SPDX-License-Identifier: BSD-2-Clause */
/* A made-up /proc in a directory of tree.h: processes and threads as the kernel writes them. For tests only. */
#ifndef SW_TESTS_PROC_TREE_H
#define SW_TESTS_PROC_TREE_H

#include "tree.h"

/* What a test says of a thread; what it leaves out is 0, but for the state ('S') and num_threads (1). */
struct fake_task {
	int tid, ppid, cpu, num_threads;
	const char *comm;
	char state;
	unsigned long long start, utime, stime, cutime, cstime, cminflt, flags, startcode, schedstat_ns;
	bool no_schedstat;
};

static inline void fake_stat_(const struct tree *t, const char *path, const struct fake_task *k)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "%d (%s) %c %d 1 1 0 -1 %llu 5 %llu 0 0 %llu %llu %llu %llu 20 0 %d 0 %llu 4096 7 18446744073709551615 "
		 "%llu 0 0 0 0 0 0 0 0 0 0 0 17 %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		 k->tid, k->comm ? k->comm : "task", k->state ? k->state : 'S', k->ppid, k->flags, k->cminflt, k->utime,
		 k->stime, k->cutime, k->cstime, k->num_threads ? k->num_threads : 1, k->start, k->startcode, k->cpu);
	tree_write(t, path, line);
}

/* A thread of process `pid`; its leader when tid is the same. */
static inline void fake_thread(const struct tree *t, int pid, struct fake_task k)
{
	char path[96], text[64];

	if (pid == k.tid) {
		snprintf(path, sizeof(path), "%d/stat", pid);
		fake_stat_(t, path, &k);
	}
	snprintf(path, sizeof(path), "%d/task/%d/stat", pid, k.tid);
	fake_stat_(t, path, &k);
	snprintf(path, sizeof(path), "%d/task/%d/schedstat", pid, k.tid);
	snprintf(text, sizeof(text), "%llu 5 3\n", k.schedstat_ns);
	if (!k.no_schedstat)
		tree_write(t, path, text);
}

static inline void fake_process(const struct tree *t, struct fake_task k)
{
	fake_thread(t, k.tid, k);
}

static inline void fake_gone(const struct tree *t, const char *path)
{
	char full[192];

	snprintf(full, sizeof(full), "%s/%s", t->path, path);
	nftw(full, tree_unlink_, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
