/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes the means of a series doubtful, in sentences. */
#ifndef SW_CLI_SERIES_NOTES_H
#define SW_CLI_SERIES_NOTES_H

struct series;

/* Fill s->notes from the rest of *s. 0 or -ENOMEM. */
int series_notes(struct series *s);

#endif
