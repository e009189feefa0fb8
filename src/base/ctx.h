/* SPDX-License-Identifier: Apache-2.0 */
/* The context, and the functions of the library that report errors and log messages. */
#pragma once

#include "coretap/base.h"

struct ct_ctx {
    char error[1024];
    ct_log_fn *log;
    void *log_user;
    enum ct_log_level log_most;
    int lacked_memory;
    int maps_files;  /* the last value given to ct_ctx_map_files */
    unsigned warned; /* number of warnings and errors that were logged, whoever saw them */
};

/* Stores the text and returns `code`, so that a function can end with `return ct_fail(…)`. When ctx is NULL
 * only the code is returned. */
int ct_fail(struct ct_ctx *ctx, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Stores a text and returns CT_ERR_ARG, because an argument of function `who` is wrong: the `number`th (from
 * 1) of `terms` does not hold, which are separated by commas (require.h). */
int ct_fail_argument(struct ct_ctx *ctx, const char *who, const char *terms, int number);

/* Stores a text and returns CT_ERR_ARG, because public function `who` was called after the end of the
 * object's input or output. */
int ct_fail_ended(struct ct_ctx *ctx, const char *who);

/* Returns whether `object` or `count` is null, so that a function cannot return an array of it. Sets the
 * count to 0. */
static inline int ct_no_array(const void *object, size_t *count)
{
    if (count)
        *count = 0;
    return !object || !count;
}

/* The same for a function that makes records at `out`, up to `cap` of them, from `size` bytes or records at
 * `in`: also returns true when one of the two arrays is null but not empty. */
static inline int ct_no_batch(const void *object, const void *in, size_t size, const void *out, size_t cap,
                              size_t *count)
{
    return ct_no_array(object, count) || (!in && size) || (!out && cap);
}

/* Stores a text that names the object for which memory ran out, and returns CT_ERR_NOMEM. */
int ct_fail_nomem(struct ct_ctx *ctx, const char *what);

/* Returns `result`, which comes from a callback or a call that gives only a code. For CT_ERR_NOMEM stores the
 * text that is missing. */
int ct_tell_nomem(struct ct_ctx *ctx, const char *what, int result);

/* Records that memory ran out, where the caller has no other way to report it. Any thread may call it. */
void ct_note_nomem(struct ct_ctx *ctx);

/* Returns `result`, or CT_ERR_NOMEM when errno is ENOMEM. For calls of libraries that only report "not there"
 * when memory ran out: they leave the errno of the allocator, so the caller sets errno to 0 before. */
int ct_unless_nomem(struct ct_ctx *ctx, const char *what, int result);

/* Returns how many warnings and errors were logged so far. */
unsigned ct_ctx_warned(const struct ct_ctx *ctx);

void ct_log(struct ct_ctx *ctx, enum ct_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
