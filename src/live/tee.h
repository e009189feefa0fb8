/* SPDX-License-Identifier: Apache-2.0 */
/* The file that a live run keeps its trace in, and the .ini beside it that describes it: both can be read at
 * any time, also when the run was killed. */
#ifndef CT_LIVE_TEE_H
#define CT_LIVE_TEE_H

#include "live/ring.h"
#include "coretap/live.h"
#include "live/say.h"

struct ct_live_tee;

/* Creates the file input->tee and its description from the .ini of the stream. `fd` is what is read, and
 * cannot be the file. A character device, such as /dev/full, has no description. CT_ERR_ARG: the file cannot
 * be one; CT_ERR_IO, the errors of ct_raw_describe. */
int ct_live_tee_open(struct ct_ctx *ctx, const struct ct_live_say *say, const struct ct_live_input *input,
                     int fd, struct ct_live_tee **out);

/* Writes bytes that came. When that fails it is said, and no more is written. */
void ct_live_tee_write(struct ct_live_tee *tee, const uint8_t *data, size_t size);

/* What comes next is of another connection. */
void ct_live_tee_break(struct ct_live_tee *tee);

void ct_live_tee_look(const struct ct_live_tee *tee, struct ct_live_intake *intake);

/* Returns why not all is in the file, which was said; NULL: it is. */
const char *ct_live_tee_close(struct ct_live_tee *tee);

#endif
