/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the part of bash's completion that knows schedwatt's commands and options, from the tables that parsing and
 * --help go by; which values an option has, its help says. Runs where schedwatt is built, so it is no part of the command.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/option_tables.h"

static bool is_short(int key)
{
	return key > ' ' && key < 0x7f;
}

static bool is_hidden(const struct argp_option *o)
{
	return o->flags & OPTION_HIDDEN;
}

/* An alias stands behind its option, which has the argument. */
static void print_options(const struct option_tables *t)
{
	for (size_t i = 0; i < t->n; i++) {
		for (const struct argp_option *o = t->table[i]; o->name || o->key; o++) {
			if (is_hidden(o))
				continue;
			if (o->name)
				printf(" --%s", o->name);
			if (is_short(o->key))
				printf(" -%c", o->key);
		}
	}
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* The values in "What it is: one (default), two or three": of each part the first word. */
static void print_values(const char *help)
{
	const char *p = strchr(help, ':');
	unsigned depth = 0;
	bool wanted = true;

	for (p = p ? p + 1 : ""; *p; p++) {
		if (*p == '(') {
			depth++;
		} else if (*p == ')') {
			depth--;
		} else if (depth) {
			continue;
		} else if (*p == ',' || begins(p, " or ")) {
			wanted = true;
			p += *p == ',' ? 0 : 3;
		} else if (wanted && islower((unsigned char)*p)) {
			int n = (int)strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");

			if (!(n == 2 && begins(p, "or")))
				printf(" %.*s", n, p);
			wanted = n == 2 && begins(p, "or");
			p += n - 1;
		}
	}
}

/* By what the help calls the argument. */
static void print_kind(const struct argp_option *o)
{
	static const char *const words[] = { "NAME", "FORMAT", "WHAT", "SCOPE" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(o->arg, words[i])) {
			printf("words");
			print_values(o->doc);
			return;
		}
	}
	if (begins(o->arg, "FILE"))
		printf("files");
	else if (begins(o->arg, "DIR") || o->key == KEY_CGROUP)
		printf("directories");
	else if (begins(o->arg, "PID"))
		printf("pids");
	else if (o->key == KEY_COLUMNS || o->key == KEY_THREAD_COLUMNS)
		printf("columns %s", o->key == KEY_COLUMNS ? "PROCESS" : "THREAD");
	else
		printf("none");
}

static void print_kinds(const struct option_tables *t)
{
	const struct argp_option *said = NULL;

	for (size_t i = 0; i < t->n; i++) {
		for (const struct argp_option *o = t->table[i]; o->name || o->key; o++) {
			if (!(o->flags & OPTION_ALIAS))
				said = o;
			if (is_hidden(o) || !said->arg || said->flags & OPTION_ARG_OPTIONAL)
				continue;
			if (o->name)
				printf("\t'%s --%s'%s", t->name, o->name, is_short(o->key) ? " | " : "");
			if (is_short(o->key))
				printf("%s'%s -%c'", o->name ? "" : "\t", t->name, o->key);
			printf(") echo '");
			print_kind(said);
			printf("' ;;\n");
		}
	}
}

int main(void)
{
	struct option_tables t;

	printf("_schedwatt_commands=(");
	for (int c = 0; c < COMMANDS; c++)
		printf("%s ", option_tables((enum command)c).name);
	printf("help)\n\n_schedwatt_options() { # command\n\tcase $1 in\n");
	for (int c = 0; c < COMMANDS; c++) {
		t = option_tables((enum command)c);
		printf("\t%s) echo '", t.name);
		print_options(&t);
		printf("' ;;\n");
	}
	printf("\tesac\n}\n\n_schedwatt_kind() { # command, option\n\tcase \"$1 $2\" in\n");
	for (int c = 0; c < COMMANDS; c++) {
		t = option_tables((enum command)c);
		print_kinds(&t);
	}
	printf("\tesac\n}\n");
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
