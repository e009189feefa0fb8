/* SPDX-License-Identifier: Apache-2.0 */
/* A text that grows, and that tells when memory ran out for a part of it. */
#ifndef CT_LIVE_TEXT_H
#define CT_LIVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A text; all zero is an empty one. */
struct ct_live_text {
    char *text; /* ends with a NUL; NULL when there was no memory for any of it */
    size_t size, room;
    bool lacks; /* memory ran out */
};

/* Appends bytes to the text `user`; it is a ct_write_fn. CT_ERR_NOMEM. */
int ct_live_text_write(void *user, const void *data, size_t size);

/* Appends at most 1000 bytes of formatted text. */
void ct_live_text_print(struct ct_live_text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends text from elsewhere, made printable. */
void ct_live_text_put(struct ct_live_text *text, const char *other);

/* Empties the text, to be written again in the same memory. */
void ct_live_text_rewind(struct ct_live_text *text);
void ct_live_text_free(struct ct_live_text *text);

#endif
