/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: that outputs get whole records in place, compressed where the name says so and then readable at any time, and
 * that what goes wrong is said once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "capture.h"
#include "cli/message.h"
#include "cli/output.h"

struct place {
	char dir[64], path[128];
};

static int setup(void **state)
{
	struct place *p = test_calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/schedwatt-output-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;
	int r;

	unlink(p->path);
	r = rmdir(p->dir);
	test_free(p);
	return r;
}

static const char *name(struct place *p, const char *file)
{
	unlink(p->path);
	snprintf(p->path, sizeof(p->path), "%s/%s", p->dir, file);
	return p->path;
}

static size_t slurp(const char *path, char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, bytes, size);
	assert_true(n >= 0 && (size_t)n < size);
	close(fd);
	return (size_t)n;
}

/* What a file holds, decompressed as far as it goes; whether it has its end. */
static bool unpack(const char *path, char *text, size_t size)
{
	static char packed[1 << 20];
	z_stream z = { 0 };
	int r;

	z.avail_in = (unsigned)slurp(path, packed, sizeof(packed));
	z.next_in = (unsigned char *)packed;
	z.next_out = (unsigned char *)text;
	z.avail_out = (unsigned)size - 1;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	r = inflate(&z, Z_SYNC_FLUSH);
	assert_true(r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR);
	assert_int_equal(z.avail_in, 0);
	text[size - 1 - z.avail_out] = '\0';
	inflateEnd(&z);
	return r == Z_STREAM_END;
}

static void put(struct output *o, const char *text)
{
	struct buf b = { 0 };

	buf_text(&b, text);
	assert_int_equal(output_write(o, &b, -1), 0);
	buf_free(&b);
}

static void test_plain(void **state)
{
	static const char *const names[] = { "x", "x.gzip", "gz", "x.gz.txt", "x.GZ" };
	struct output o;
	char text[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(output_open_records(&o, name(*state, names[i])), 0);
		put(&o, "one\n");
		put(&o, "");
		put(&o, "two\n");
		assert_int_equal(output_close(&o), 0);
		assert_int_equal(slurp(o.name, text, sizeof(text)), 8);
		assert_memory_equal(text, "one\ntwo\n", 8);
	}
	/* only records are compressed */
	assert_int_equal(output_open(&o, name(*state, "x.gz")), 0);
	put(&o, "one\n");
	assert_int_equal(output_close(&o), 0);
	assert_int_equal(slurp(o.name, text, sizeof(text)), 4);
}

/* After each record all that was written can be read; only a closed file has an end. */
static void test_packed(void **state)
{
	struct output o;
	char text[64];

	assert_int_equal(output_open_records(&o, name(*state, "x.gz")), 0);
	put(&o, "one\n");
	assert_false(unpack(o.name, text, sizeof(text)));
	assert_string_equal(text, "one\n");
	put(&o, "");
	put(&o, "two\n");
	assert_false(unpack(o.name, text, sizeof(text)));
	assert_string_equal(text, "one\ntwo\n");
	assert_int_equal(output_close(&o), 0);
	assert_true(unpack(o.name, text, sizeof(text)));
	assert_string_equal(text, "one\ntwo\n");

	/* nothing, compressed */
	assert_int_equal(output_open_records(&o, name(*state, ".gz")), 0);
	assert_int_equal(output_close(&o), 0);
	assert_true(unpack(o.name, text, sizeof(text)));
	assert_string_equal(text, "");
}

/* More than any buffer inside holds, and hard to compress. */
static void test_packed_large(void **state)
{
	enum { SIZE = 300000 };
	static char written[SIZE + 1], read_back[SIZE + 2];
	uint32_t seed = 1;
	struct output o;

	for (size_t i = 0; i < SIZE; i++) {
		seed = seed * 1664525 + 1013904223;
		written[i] = (char)('!' + (seed >> 24) % 90);
	}
	assert_int_equal(output_open_records(&o, name(*state, "x.gz")), 0);
	put(&o, written);
	assert_false(unpack(o.name, read_back, sizeof(read_back)));
	assert_string_equal(read_back, written);
	assert_int_equal(output_close(&o), 0);
	assert_true(unpack(o.name, read_back, sizeof(read_back)));
	assert_string_equal(read_back, written);
}

/* Full from the first byte on: said once, by the write or, with nothing written, by the end of the file. */
static void test_full(void **state)
{
	struct capture c;
	struct output o;
	struct buf b = { 0 };

	assert_int_equal(symlink("/dev/full", name(*state, "full.gz")), 0);
	buf_text(&b, "one\n");
	assert_int_equal(output_open_records(&o, ((struct place *)*state)->path), 0);
	capture_begin(&c);
	assert_int_equal(output_write(&o, &b, -1), -ENOSPC);
	assert_int_equal(output_write(&o, &b, -1), -ENOSPC);
	assert_int_equal(output_close(&o), -ENOSPC);
	capture_end(&c);
	assert_non_null(strstr(c.said, "full.gz: No space left on device\n"));
	assert_ptr_equal(strchr(c.said, '\n'), c.said + strlen(c.said) - 1);

	assert_int_equal(output_open_records(&o, ((struct place *)*state)->path), 0);
	capture_begin(&c);
	assert_int_equal(output_close(&o), -ENOSPC);
	capture_end(&c);
	assert_non_null(strstr(c.said, "full.gz: No space left on device\n"));
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_packed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_packed_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
