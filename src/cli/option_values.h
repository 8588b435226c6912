/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of single options. Each function stores its value in *o: 0, or EINVAL or ENOMEM when all has been said. */
#ifndef SW_CLI_OPTION_VALUES_H
#define SW_CLI_OPTION_VALUES_H

#include "options.h"

/* Below, two steps of the energy counter are a fifth of the window and more. */
enum { OPTION_INTERVAL_MIN_MS = 10 };

int option_pids(struct options *o, const char *arg); /* adds to those given before; each is kept once */
int option_scope(struct options *o, const char *arg);
int option_cgroup(struct options *o, const char *arg);
int option_by(struct options *o, const char *arg);
int option_interval(struct options *o, const char *arg); /* from 1: whether 10 is the floor depends on --energy */
int option_duration(struct options *o, const char *arg);
int option_slots(struct options *o, const char *arg);
int option_format(struct options *o, const char *arg);
int option_policy(struct options *o, const char *arg);
int option_hook(struct options *o, const char *arg);
int option_baseline(struct options *o, const char *arg); /* watts, or the name of a file */
int option_max_busy(struct options *o, const char *arg);
int option_tree(struct options *o, const char *arg); /* NULL: 1 per cent */
int option_model(struct options *o, const char *arg);
int option_runs(uint32_t *ret, const char *option, const char *arg, uint32_t min); /* up to 10000 */
int option_budget(struct options *o, const char *arg);
int option_label(struct options *o, const char *arg);

/* One of `names` (NULL at the end), stored in *ret; `list` names them in words. */
int option_name(const char **ret, const char *option, const char *arg, const char *const *names, const char *list);

#endif
