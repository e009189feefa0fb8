/* SPDX-License-Identifier: Apache-2.0 */
/* Output of the library, kept in memory. Functions with three arguments are a ct_write_fn, whose `user` is a
 * struct output or NULL. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/base.h"

/* Bytes, and a zero behind them. Zeros when nothing was written. */
struct output {
    char *text;
    size_t size;
    size_t room;
};

static inline int output_append(void *user, const void *data, size_t size)
{
    struct output *o = user;
    if (o->room - o->size <= size) {
        const size_t room = 2 * (o->size + size) + 1;
        char *text = realloc(o->text, room);
        if (!text)
            return CT_ERR_NOMEM;
        o->text = text;
        o->room = room;
    }
    if (size)
        memcpy(o->text + o->size, data, size);
    o->size += size;
    o->text[o->size] = '\0';
    return CT_OK;
}

/* Appends a line: a function that receives messages. */
static inline void output_line(void *user, const char *text)
{
    (void)output_append(user, text, strlen(text));
    (void)output_append(user, "\n", 1);
}

static inline bool output_same(const struct output *a, const struct output *b)
{
    return a->size == b->size && (!a->size || memcmp(a->text, b->text, a->size) == 0);
}

static inline void output_free(struct output *o)
{
    free(o->text);
    *o = (struct output){0};
}

static inline int output_drop(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return CT_OK;
}

static inline int output_refuse(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return CT_ERR_LIMIT;
}
