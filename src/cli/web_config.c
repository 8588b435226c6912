/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the web configuration file, and who it lets in. Must not know: connections.
 * Relies on: libyaml for the syntax; crypt(5) for bcrypt; exporter-toolkit's docs/web-configuration.md for the names.
 */
#include "web_config.h"

#include <crypt.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "message.h"

enum { FILE_BYTES_MAX = 1 << 20 };

struct reader {
	const char *path;
	yaml_document_t document;
	struct web_config config;
	int err;
};

static int refuse(struct reader *r, const yaml_node_t *at, const char *what, const char *value)
{
	if (!r->err)
		message_error("--web.config.file '%s', line %zu: %s '%s'", r->path, at->start_mark.line + 1, what, value);
	r->err = r->err ? r->err : -EINVAL;
	return r->err;
}

static const char *scalar(struct reader *r, int index)
{
	yaml_node_t *node = yaml_document_get_node(&r->document, index);

	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* The text of a file, for certificates and keys: NULL with a message. */
static char *read_file(struct reader *r, const char *name)
{
	const char *slash = strrchr(r->path, '/');
	int dir = name[0] != '/' && slash ? (int)(slash - r->path) + 1 : 0;
	char *text = malloc(FILE_BYTES_MAX + 1), *path = NULL;
	size_t n = 0;
	FILE *f = NULL;

	if (text && asprintf(&path, "%.*s%s", dir, r->path, name) >= 0)
		f = fopen(path, "re");
	if (f)
		n = fread(text, 1, FILE_BYTES_MAX, f);
	if (!f || ferror(f) || !n) {
		r->err = errno ? -errno : -EINVAL;
		message_error("cannot read '%s', which --web.config.file '%s' names: %s", path ? path : name, r->path,
			      f && !ferror(f) ? "it is empty" : strerror(errno));
		free(text);
		text = NULL;
	} else {
		text[n] = '\0';
	}
	if (f)
		fclose(f);
	free(path);
	return text;
}

static void take_file(struct reader *r, char **to, const char *name)
{
	free(*to);
	*to = read_file(r, name);
}

static void take_tls_value(struct reader *r, const yaml_node_t *at, const char *key, const char *value)
{
	struct web_config *c = &r->config;

	if (!strcmp(key, "cert_file"))
		take_file(r, &c->cert, value);
	else if (!strcmp(key, "key_file"))
		take_file(r, &c->key, value);
	else if (!strcmp(key, "client_ca_file"))
		take_file(r, &c->client_ca, value);
	else if (!strcmp(key, "client_auth_type") && !strcmp(value, "RequireAndVerifyClientCert"))
		c->client_cert_required = true;
	else if (!strcmp(key, "client_auth_type") && strcmp(value, "NoClientCert"))
		refuse(r, at, "client_auth_type is NoClientCert or RequireAndVerifyClientCert here, not", value);
	else if (!strcmp(key, "min_version") && !strcmp(value, "TLS13"))
		c->tls13_only = true;
	else if (!strcmp(key, "min_version") && strcmp(value, "TLS12"))
		refuse(r, at, "min_version is TLS12 or TLS13 here, not", value);
	else if (strcmp(key, "client_auth_type") && strcmp(key, "min_version"))
		refuse(r, at, "tls_server_config has no rule here that is called", key);
}

static void take_user(struct reader *r, const yaml_node_t *at, const char *name, const char *hash)
{
	struct web_config *c = &r->config;
	struct web_user *users = reallocarray(c->users, c->n_users + 1, sizeof(*users));

	if (strncmp(hash, "$2", 2) || strlen(hash) != 60)
		refuse(r, at, "the password of basic_auth_users has to be a hash of bcrypt ($2y$…) for the user", name);
	if (!users) {
		r->err = -ENOMEM;
		return;
	}
	c->users = users;
	users[c->n_users] = (struct web_user){ strdup(name), strdup(hash) };
	if (!users[c->n_users].name || !users[c->n_users].hash)
		r->err = -ENOMEM;
	c->n_users++;
}

static void take_section(struct reader *r, const char *section, const yaml_node_t *node)
{
	bool tls = !strcmp(section, "tls_server_config");

	if (!tls && strcmp(section, "basic_auth_users")) {
		refuse(r, node, "only tls_server_config and basic_auth_users are known here, not", section);
		return;
	}
	if (node->type != YAML_MAPPING_NODE) {
		refuse(r, node, "there have to be names and values in", section);
		return;
	}
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top && !r->err; p++) {
		const yaml_node_t *at = yaml_document_get_node(&r->document, p->key);
		const char *key = scalar(r, p->key), *value = scalar(r, p->value);

		if (!key || !value)
			refuse(r, at, "a name with one value is wanted in", section);
		else if (tls)
			take_tls_value(r, at, key, value);
		else
			take_user(r, at, key, value);
	}
}

static void take_document(struct reader *r)
{
	yaml_node_t *root = yaml_document_get_root_node(&r->document);
	const struct web_config *c = &r->config;

	if (!root || (root->type == YAML_SCALAR_NODE && !root->data.scalar.length))
		return; /* an empty file asks for nothing */
	if (root->type != YAML_MAPPING_NODE) {
		refuse(r, root, "it has to begin with a section, such as", "basic_auth_users:");
		return;
	}
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top && !r->err; p++) {
		const char *section = scalar(r, p->key);

		take_section(r, section ? section : "", yaml_document_get_node(&r->document, p->value));
	}
	if (!r->err && !c->cert != !c->key)
		refuse(r, root, "TLS takes both a certificate and its key; missing is", c->cert ? "key_file" : "cert_file");
	if (!r->err && c->client_cert_required && (!c->cert || !c->client_ca))
		refuse(r, root, "to verify clients takes cert_file, key_file and", "client_ca_file");
}

int web_config_read(const char *path, struct web_config *ret)
{
	struct reader r = { .path = path };
	yaml_parser_t parser;
	FILE *f = fopen(path, "re");

	if (!f) {
		r.err = -errno;
		message_error("cannot read --web.config.file '%s': %s", path, strerror(errno));
		return r.err;
	}
	if (!yaml_parser_initialize(&parser)) {
		fclose(f);
		return -ENOMEM;
	}
	yaml_parser_set_input_file(&parser, f);
	if (!yaml_parser_load(&parser, &r.document)) {
		message_error("--web.config.file '%s', line %zu: %s", path, parser.problem_mark.line + 1,
			      parser.problem ? parser.problem : "it is no YAML");
		r.err = -EINVAL;
	} else {
		take_document(&r);
		yaml_document_delete(&r.document);
	}
	yaml_parser_delete(&parser);
	fclose(f);
	if (r.err)
		web_config_free(&r.config);
	else
		*ret = r.config;
	return r.err;
}

/* Takes the same time wherever two hashes differ. */
static bool is_equal(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned char differ = 0;

	if (strlen(b) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return !differ;
}

bool web_config_admits(const struct web_config *w, const char *name, const char *password)
{
	/* an unknown name takes as long as a wrong password, so that names cannot be found out */
	static const char nobody[] = "$2y$10$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyz01234";
	const char *hash = nobody, *got;
	struct crypt_data *data = calloc(1, sizeof(*data));
	bool admitted;

	if (!data)
		return false;
	for (size_t i = 0; i < w->n_users; i++) {
		if (!strcmp(w->users[i].name, name))
			hash = w->users[i].hash;
	}
	got = crypt_r(password, hash, data);
	admitted = got && hash != nobody && is_equal(got, hash);
	explicit_bzero(data, sizeof(*data));
	free(data);
	return admitted;
}

static void forget(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

void web_config_free(struct web_config *w)
{
	free(w->cert);
	forget(w->key);
	free(w->client_ca);
	for (size_t i = 0; i < w->n_users; i++) {
		free(w->users[i].name);
		forget(w->users[i].hash);
	}
	free(w->users);
	*w = (struct web_config){ 0 };
}
