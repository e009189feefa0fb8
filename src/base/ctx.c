/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ctx.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ct_ctx *ct_ctx_new(void)
{
    return calloc(1, sizeof(struct ct_ctx));
}

void ct_ctx_free(struct ct_ctx *ctx)
{
    if (ctx)
        free(ctx);
}

const char *ct_ctx_error(const struct ct_ctx *ctx)
{
    return ctx ? ctx->error : "";
}

void ct_ctx_set_log(struct ct_ctx *ctx, ct_log_fn *fn, void *user, enum ct_log_level most)
{
    if (!ctx)
        return;
    ctx->log = fn;
    ctx->log_user = user;
    ctx->log_most = most;
}

int ct_fail(struct ct_ctx *ctx, int code, const char *fmt, ...)
{
    if (ctx) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(ctx->error, sizeof ctx->error, fmt, ap);
        va_end(ap);
    }
    return code;
}

int ct_ctx_fail(struct ct_ctx *ctx, int code, const char *text)
{
    if (code == CT_ERR_NOMEM)
        ct_note_nomem(ctx);
    return ct_fail(ctx, code ? code : CT_ERR_ARG, "%s", text ? text : "");
}

/* Returns the length of what stands before the next comma outside of parentheses. */
static size_t term_length(const char *terms)
{
    size_t i = 0;
    for (int depth = 0; terms[i] && (depth || terms[i] != ','); i++)
        depth += (terms[i] == '(') - (terms[i] == ')');
    return i;
}

int ct_fail_argument(struct ct_ctx *ctx, const char *who, const char *terms, int number)
{
    for (; number > 1; number--)
        terms += term_length(terms) + 2;
    const int length = (int)term_length(terms);
    const bool is_value = !memchr(terms, ' ', (size_t)length) && *terms != '!';
    return ct_fail(ctx, CT_ERR_ARG, "%s: wrong argument; nothing was done; '%.*s' %s", who, length, terms,
                   is_value ? "must not be NULL or 0" : "must hold");
}

int ct_fail_ended(struct ct_ctx *ctx, const char *who)
{
    return ct_fail(ctx, CT_ERR_ARG, "%s: the end came before, so nothing was done; make another object", who);
}

int ct_fail_nomem(struct ct_ctx *ctx, const char *what)
{
    ct_note_nomem(ctx);
    return ct_fail(ctx, CT_ERR_NOMEM, "%s: out of memory", what);
}

int ct_tell_nomem(struct ct_ctx *ctx, const char *what, int result)
{
    return result == CT_ERR_NOMEM && !ct_ctx_lacked_memory(ctx) ? ct_fail_nomem(ctx, what) : result;
}

void ct_note_nomem(struct ct_ctx *ctx)
{
    if (ctx)
        __atomic_store_n(&ctx->lacked_memory, 1, __ATOMIC_RELAXED);
}

int ct_unless_nomem(struct ct_ctx *ctx, const char *what, int result)
{
    return errno == ENOMEM ? ct_fail_nomem(ctx, what) : result;
}

void ct_ctx_map_files(struct ct_ctx *ctx, int on)
{
    if (ctx)
        ctx->maps_files = on;
}

int ct_ctx_lacked_memory(const struct ct_ctx *ctx)
{
    return ctx && __atomic_load_n(&ctx->lacked_memory, __ATOMIC_RELAXED);
}

unsigned ct_ctx_warned(const struct ct_ctx *ctx)
{
    return __atomic_load_n(&ctx->warned, __ATOMIC_RELAXED);
}

void ct_log(struct ct_ctx *ctx, enum ct_log_level level, const char *fmt, ...)
{
    if (ctx && level <= CT_LOG_WARNING)
        __atomic_add_fetch(&ctx->warned, 1, __ATOMIC_RELAXED);
    if (!ctx || !ctx->log || level > ctx->log_most)
        return;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ctx->log(ctx->log_user, level, text);
}
