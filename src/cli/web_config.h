/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of --web.config.file, in the form that Prometheus's exporters share (exporter-toolkit, "web configuration"):
 *   tls_server_config: cert_file, key_file, client_ca_file, client_auth_type, min_version
 *   basic_auth_users: NAME: HASH of bcrypt
 * What is in it and not known here is refused: who writes a rule must not believe that it holds when it does not.
 */
#ifndef SW_CLI_WEB_CONFIG_H
#define SW_CLI_WEB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct web_user {
	char *name;
	char *hash; /* as crypt(5) has it: "$2y$…" */
};

struct web_config {
	/* Contents of the files, PEM; NULL: no TLS, or no such file. */
	char *cert, *key, *client_ca;
	bool client_cert_required;
	bool tls13_only;
	struct web_user *users;
	size_t n_users; /* 0: anybody */
};

/* Relative file names are relative to the directory of `path`. 0; -errno with a message, and *ret is untouched. */
int web_config_read(const char *path, struct web_config *ret);

/* May this user with this password in? About 0.1 s of CPU time, as bcrypt wants it. */
bool web_config_admits(const struct web_config *w, const char *name, const char *password);

/* A zeroed one is fine. */
void web_config_free(struct web_config *w);

#endif
