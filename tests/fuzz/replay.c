// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns: running one fuzz target on the files of a corpus, without a fuzzer: each file whole, and cut at every byte.
 * Must not know: what the target parses. Prints TAP, a test for each file; the file on which it died is the last named.
 * Usage: fuzz_NAME tests/fuzz/corpus/NAME
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>

#define INPUT_MAX (1 << 20)
#define CUTS_MAX 4096 /* of a long file, only its first bytes are worth the time */

/* In a block of just its size, so that AddressSanitizer sees a read past its end. */
static void run_exact(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	must(copy);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(size ? copy : copy + 1, size);
	free(copy);
}

static bool replay(const char *directory, const char *name)
{
	static uint8_t data[INPUT_MAX];
	char path[4096];
	size_t size;
	bool whole;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	size = fread(data, 1, sizeof(data), f);
	whole = !ferror(f) && size < sizeof(data);
	fclose(f);
	for (size_t cut = 0; cut < size && cut <= CUTS_MAX; cut++)
		run_exact(data, cut);
	run_exact(data, size);
	return whole;
}

static int is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int n, bad = 0;

	n = argc == 2 ? scandir(argv[1], &entries, is_file, alphasort) : -1;
	if (n <= 0) {
		printf("not ok 1 - %s: %s\n", argc == 2 ? argv[1] : "no corpus", n ? strerror(errno) : "no files");
		return 1;
	}
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		bool ok;

		printf("# %s\n", entries[i]->d_name);
		fflush(stdout);
		ok = replay(argv[1], entries[i]->d_name);
		printf("%s %d - %s\n", ok ? "ok" : "not ok", i + 1, entries[i]->d_name);
		bad |= !ok;
		free(entries[i]);
	}
	free(entries);
	return bad;
}
