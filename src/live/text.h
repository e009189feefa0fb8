/* SPDX-License-Identifier: Apache-2.0 */
/* A growing text that records when memory ran out for part of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coretap/base.h"

/* A text; all zero is an empty one. */
struct ct_live_text {
    char *text; /* NUL-terminated; NULL when nothing was allocated */
    size_t size, room;
    bool lacks; /* memory ran out, so the text is incomplete */
};

/* Appends bytes to the text `user`. It is a ct_write_fn. Error: CT_ERR_NOMEM. */
int ct_live_text_write(void *user, const void *data, size_t size);

/* Appends formatted text of at most 1000 bytes. */
void ct_live_text_print(struct ct_live_text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends text of unknown origin, made printable. */
void ct_live_text_put(struct ct_live_text *text, const char *other);

/* Empties the text and keeps its memory. */
void ct_live_text_rewind(struct ct_live_text *text);
void ct_live_text_free(struct ct_live_text *text);

/* Hands the text to `write` unless it is empty, and frees it. CT_ERR_NOMEM with `what` in the message when
 * the text is not whole; what `write` returned. */
int ct_live_text_give(struct ct_live_text *text, struct ct_ctx *ctx, const char *what, ct_write_fn *write,
                      void *user);
