/* SPDX-License-Identifier: Apache-2.0 */
/* The file in which a live run keeps its trace, and the .ini that describes it. Both can be read at any time,
 * even if the run is killed. */
#pragma once

#include "live/ring.h"
#include "coretap/live.h"
#include "live/say.h"

struct ct_live_tee;

/* Creates the file input->tee, and its description from the .ini of the stream. `fd` is the input, which must
 * be another file. A character device, such as /dev/full, gets no description. Errors: CT_ERR_ARG when the
 * file cannot be used, CT_ERR_IO, those of ct_raw_describe. */
int ct_live_tee_open(struct ct_ctx *ctx, const struct ct_live_say *say, const struct ct_live_input *input,
                     int fd, struct ct_live_tee **out);

/* Writes bytes. On failure, reports it and writes no more. */
void ct_live_tee_write(struct ct_live_tee *tee, const uint8_t *data, size_t size);

/* Notes that the next bytes belong to another connection. */
void ct_live_tee_break(struct ct_live_tee *tee);

void ct_live_tee_look(const struct ct_live_tee *tee, struct ct_live_intake *intake);

/* Closes the file. Returns why it is incomplete, which was already reported; NULL when it is complete. */
const char *ct_live_tee_close(struct ct_live_tee *tee);
