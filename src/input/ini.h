/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the .ini dialect of captures (docs/formats.md) line by line, with line numbers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

/* A line key=value, or a section header, whose key and value are NULL. Valid during the call. */
struct ct_ini_item {
    struct ct_ctx *ctx;
    const char *path;
    const char *section;
    const char *key;
    char *value; /* the receiver may modify it */
    unsigned line;
};

/* Receives each item. An error, reported with ct_fail, ends the parsing. */
typedef int ct_ini_fn(void *user, const struct ct_ini_item *item);

/* Parses `text`, which came from `path`. CT_ERR_FORMAT for malformed lines, CT_ERR_NOMEM, or what `fn`
 * returned. */
int ct_ini_parse(struct ct_ctx *ctx, const char *path, const char *text, size_t size, ct_ini_fn *fn,
                 void *user);

/* Returns the value without its quotes. NULL, with a message for CT_ERR_FORMAT, when the quotes do not
 * match. */
const char *ct_ini_unquote(const struct ct_ini_item *item);

/* Parses the value, which may be quoted, as a number: 0x and hexadecimal digits, or decimal, at most `max`.
 * CT_ERR_CONFIG. */
int ct_ini_number(const struct ct_ini_item *item, uint64_t max, uint64_t *out);

/* Returns CT_ERR_CONFIG with a message: "path:line: key=value: " and the text. */
int ct_ini_fail(const struct ct_ini_item *item, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
