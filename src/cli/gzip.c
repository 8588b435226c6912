/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the compressor and its flushing. Must not know: what is compressed, or where it goes.
 * Relies on: zlib.h (deflateInit2: windowBits + 16 is a gzip header and trailer; Z_SYNC_FLUSH ends at a byte's edge all
 * that was put in), RFC 1952.
 */
#include "gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum {
	WINDOW_BITS = 15 + 16,
	MEMORY_LEVEL = 8, /* zlib's default */
	PIECE = 16384,
};

struct gzip {
	z_stream stream;
};

int gzip_new(struct gzip **ret)
{
	struct gzip *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	if (deflateInit2(&g->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}

/* zlib's error cannot be but a bug of ours: it has its memory, and is never told to go on after the end. */
static void deflate_all(struct gzip *g, int flush, struct buf *out)
{
	unsigned char piece[PIECE];

	do {
		g->stream.next_out = piece;
		g->stream.avail_out = sizeof(piece);
		if (deflate(&g->stream, flush) == Z_STREAM_ERROR) {
			out->err = -EIO;
			return;
		}
		buf_add(out, (char *)piece, sizeof(piece) - g->stream.avail_out);
	} while (!g->stream.avail_out);
}

void gzip_add(struct gzip *g, const struct buf *text, bool last, struct buf *out)
{
	const char *at = text->len ? text->data : "";
	size_t left = text->len;

	do {
		size_t n = left < UINT_MAX ? left : UINT_MAX;

		g->stream.next_in = (unsigned char *)at;
		g->stream.avail_in = (unsigned)n;
		at += n;
		left -= n;
		deflate_all(g, left ? Z_NO_FLUSH : last ? Z_FINISH : Z_SYNC_FLUSH, out);
	} while (left && !out->err);
}

void gzip_free(struct gzip *g)
{
	if (!g)
		return;
	deflateEnd(&g->stream);
	free(g);
}
