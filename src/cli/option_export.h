/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of the exporter's options. Each function stores its value in *e: 0, or EINVAL or ENOMEM when all has been said. */
#ifndef SW_CLI_OPTION_EXPORT_H
#define SW_CLI_OPTION_EXPORT_H

#include "options.h"

void option_export_defaults(struct export_options *e);
int option_listen(struct export_options *e, const char *arg); /* adds to those given before */
int option_telemetry_path(struct export_options *e, const char *arg);
int option_export_by(struct export_options *e, const char *arg);
int option_max_series(struct export_options *e, const char *arg);
int option_keep(struct export_options *e, const char *arg);

#endif
