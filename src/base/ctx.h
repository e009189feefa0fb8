/* Inside of the context: how a layer fails and how it says something. */
#ifndef CT_BASE_CTX_H
#define CT_BASE_CTX_H

#include "coretap/base.h"

struct ct_ctx {
    char error[1024];
    ct_log_fn *log;
    void *log_user;
    enum ct_log_level log_most;
};

/* Stores the text and returns `code`, so that a function ends with `return ct_fail(…)`.
 * ctx may be NULL: then only the code survives. */
int ct_fail(struct ct_ctx *ctx, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* CT_ERR_NOMEM with the object that there was no memory for. */
int ct_fail_nomem(struct ct_ctx *ctx, const char *what);

void ct_log(struct ct_ctx *ctx, enum ct_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
