/* SPDX-License-Identifier: BSD-2-Clause */
/* Which web configurations are taken, what is said of the others, and whom they let in. */
#include "tree.h"

#include "capture.h"
#include "cli/web_config.h"

#include <errno.h>

/* crypt_blowfish's own test: the password is U*U. */
#define HASH "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"

static int setup(void **state)
{
	*state = tree_new();
	return 0;
}

static int teardown(void **state)
{
	tree_free(*state);
	return 0;
}

/* Read with what is said kept in *c. */
static int read_config(const struct tree *t, const char *text, struct web_config *ret, struct capture *c)
{
	char path[128];
	int err;

	tree_write(t, "web.yml", text);
	snprintf(path, sizeof(path), "%s/web.yml", t->path);
	capture_begin(c);
	err = web_config_read(path, ret);
	capture_end(c);
	return err;
}

static void test_good(void **state)
{
	struct web_config w = { 0 };
	struct capture c;

	tree_write(*state, "cert.pem", "the certificate\n");
	tree_write(*state, "keys/key.pem", "the key\n");
	tree_write(*state, "ca.pem", "the authority\n");
	assert_int_equal(read_config(*state,
				     "tls_server_config:\n"
				     "  cert_file: cert.pem\n"
				     "  key_file: keys/key.pem # beside this file\n"
				     "  client_auth_type: RequireAndVerifyClientCert\n"
				     "  client_ca_file: \"ca.pem\"\n"
				     "  min_version: TLS13\n"
				     "basic_auth_users:\n"
				     "  ann: " HASH "\n"
				     "  'b: ob': " HASH "\n", &w, &c), 0);
	assert_string_equal(c.said, "");
	assert_string_equal(w.cert, "the certificate\n");
	assert_string_equal(w.key, "the key\n");
	assert_string_equal(w.client_ca, "the authority\n");
	assert_true(w.client_cert_required && w.tls13_only);
	assert_int_equal(w.n_users, 2);
	assert_string_equal(w.users[1].name, "b: ob");
	assert_true(web_config_admits(&w, "ann", "U*U"));
	assert_true(web_config_admits(&w, "b: ob", "U*U"));
	assert_false(web_config_admits(&w, "ann", "U*u"));
	assert_false(web_config_admits(&w, "ann", ""));
	assert_false(web_config_admits(&w, "carl", "U*U"));
	assert_false(web_config_admits(&w, "", ""));
	web_config_free(&w);
	assert_int_equal(w.n_users, 0);
}

/* Nothing is asked for, and nobody kept out. */
static void test_empty(void **state)
{
	static const char *const texts[] = { "", "# nothing\n", "---\n", "basic_auth_users: {}\n",
					     "tls_server_config:\n  client_auth_type: NoClientCert\n  min_version: TLS12\n" };
	struct capture c;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct web_config w = { 0 };

		if (read_config(*state, texts[i], &w, &c))
			fail_msg("%s: %s", texts[i], c.said);
		assert_true(!w.cert && !w.key && !w.n_users && !w.client_cert_required && !w.tls13_only);
		web_config_free(&w);
	}
}

/* What would not hold is refused, with the line, and leaves nothing. */
static void test_bad(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *what;
	} cases[] = {
		{ "http_server_config:\n  http2: true\n", 2, "'http_server_config'" },
		{ "basic_auth_users:\n  ann: secret\n", 2, "hash of bcrypt ($2y$…) for the user 'ann'" },
		{ "basic_auth_users:\n  ann: [a, b]\n", 2, "'basic_auth_users'" },
		{ "basic_auth_users: ann\n", 1, "'basic_auth_users'" },
		{ "\ntls_server_config:\n  cipher_suites: x\n", 3, "'cipher_suites'" },
		{ "tls_server_config:\n  min_version: TLS10\n", 2, "TLS12 or TLS13 here, not 'TLS10'" },
		{ "tls_server_config:\n  client_auth_type: RequestClientCert\n", 2, "'RequestClientCert'" },
		{ "tls_server_config:\n  cert_file: cert.pem\n", 1, "'key_file'" },
		{ "tls_server_config:\n  key_file: cert.pem\n", 1, "'cert_file'" },
		{ "tls_server_config:\n  cert_file: cert.pem\n  key_file: cert.pem\n  client_auth_type: "
		  "RequireAndVerifyClientCert\n", 1, "'client_ca_file'" },
		{ "- a\n- b\n", 1, "section" },
		{ "a: [b\n", 2, "expected" },
		{ "a:\n\tb: c\n", 2, "found" },
	};
	struct capture c;
	char where[160];

	tree_write(*state, "cert.pem", "a certificate\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct web_config w = { 0 };
		const struct tree *t = *state;

		assert_int_equal(read_config(t, cases[i].text, &w, &c), -EINVAL);
		snprintf(where, sizeof(where), "schedwatt: --web.config.file '%s/web.yml', line %u: ", t->path, cases[i].line);
		if (strncmp(c.said, where, strlen(where)) || !strstr(c.said, cases[i].what))
			fail_msg("%s\nsaid %s", cases[i].text, c.said);
		assert_true(!w.cert && !w.key && !w.users);
	}
}

static void test_missing(void **state)
{
	struct web_config w = { 0 };
	struct capture c;

	assert_int_equal(read_config(*state, "tls_server_config:\n  cert_file: none.pem\n  key_file: none.pem\n", &w, &c),
			 -ENOENT);
	assert_non_null(strstr(c.said, "/none.pem'"));
	assert_non_null(strstr(c.said, "No such file"));
	tree_write(*state, "none.pem", "");
	assert_true(read_config(*state, "tls_server_config:\n  cert_file: none.pem\n  key_file: none.pem\n", &w, &c) < 0);
	assert_non_null(strstr(c.said, "it is empty"));
	capture_begin(&c);
	assert_int_equal(web_config_read("/nonexistent/web.yml", &w), -ENOENT);
	capture_end(&c);
	assert_string_equal(c.said, "schedwatt: cannot read --web.config.file '/nonexistent/web.yml': No such file or directory\n");
	assert_null(w.cert);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_good, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
	};

	return cmocka_run_group_tests_name("web_config", tests, NULL, NULL);
}
