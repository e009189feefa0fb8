/* SPDX-License-Identifier: Apache-2.0 */
/* The context, as the library's functions use it to fail and to log. */
#ifndef CT_BASE_CTX_H
#define CT_BASE_CTX_H

#include "coretap/base.h"

struct ct_ctx {
    char error[1024];
    ct_log_fn *log;
    void *log_user;
    enum ct_log_level log_most;
    int lacked_memory;
    int maps_files; /* what ct_ctx_map_files said last */
};

/* Stores the text and returns `code`, so that a function ends with `return ct_fail(…)`. With ctx NULL only
 * the code survives. */
int ct_fail(struct ct_ctx *ctx, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Returns CT_ERR_ARG because a pointer that function `who` needs is null, and stores a text. */
int ct_fail_null(struct ct_ctx *ctx, const char *who);

/* Tells whether a function cannot give an array of `object`, and sets the count to 0. */
static inline int ct_no_array(const void *object, size_t *count)
{
    if (count)
        *count = 0;
    return !object || !count;
}

/* Returns CT_ERR_NOMEM and stores a text that names the object for which memory was missing. */
int ct_fail_nomem(struct ct_ctx *ctx, const char *what);

/* Returns `result` of callbacks and calls that give no more than a code; for CT_ERR_NOMEM stores the text
 * that nobody stored. */
int ct_tell_nomem(struct ct_ctx *ctx, const char *what, int result);

/* Notes that memory was missing, where the caller has no other way to tell. Any thread may call it. */
void ct_note_nomem(struct ct_ctx *ctx);

/* Returns `result`, or CT_ERR_NOMEM when errno is ENOMEM. For calls of libraries that say no
 * more than that something is not there when memory ran out: they leave the allocator's errno,
 * which the caller sets to 0 before. */
int ct_unless_nomem(struct ct_ctx *ctx, const char *what, int result);

void ct_log(struct ct_ctx *ctx, enum ct_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
