/* SPDX-License-Identifier: Apache-2.0 */
/* The .ini dialect of captures (docs/formats.md), line by line and with line numbers. */
#ifndef CT_INPUT_INI_H
#define CT_INPUT_INI_H

#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

/* One key=value line, or the head of a section: then key and value are NULL. Valid during the call. */
struct ct_ini_item {
    struct ct_ctx *ctx;
    const char *path;
    const char *section;
    const char *key;
    char *value; /* the receiver may write in it */
    unsigned line;
};

/* Receives each item; an error (reported with ct_fail) ends the reading. */
typedef int ct_ini_fn(void *user, const struct ct_ini_item *item);

/* Reads `text`, which came from `path`. CT_ERR_FORMAT for lines that are none,
 * CT_ERR_NOMEM, or what `fn` returned. */
int ct_ini_parse(struct ct_ctx *ctx, const char *path, const char *text, size_t size, ct_ini_fn *fn,
                 void *user);

/* Takes the quotes off the value: its text, or NULL with CT_ERR_FORMAT's message when they do not match. */
const char *ct_ini_unquote(const struct ct_ini_item *item);

/* The value, perhaps quoted, as a number: 0x and hex digits, or decimal, at most `max`. CT_ERR_CONFIG. */
int ct_ini_number(const struct ct_ini_item *item, uint64_t max, uint64_t *out);

/* CT_ERR_CONFIG: "path:line: key=value: " and the text. */
int ct_ini_fail(const struct ct_ini_item *item, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
