/* SPDX-License-Identifier: Apache-2.0 */
/* A fixture for names of functions from a file that a test writes. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coretap/program.h"
#include "support/unit.h"

#define MISSING "" /* where there is no function */

struct symbols_fixture {
    char path[48], said[1024]; /* the file; the warnings since it was last loaded */
    struct ct_ctx *ctx;
    struct ct_symbols *symbols;
};

static inline void symbols_keep(void *user, enum ct_log_level level, const char *text)
{
    struct symbols_fixture *f = user;
    (void)level;
    snprintf(f->said + strlen(f->said), sizeof f->said - strlen(f->said), "%s\n", text);
}

/* Makes a context that keeps warnings, and an empty file whose name begins with `path`. */
static inline int symbols_begin(struct symbols_fixture *f, const char *path)
{
    *f = (struct symbols_fixture){.ctx = ct_ctx_new()};
    snprintf(f->path, sizeof f->path, "%s-XXXXXX", path);
    const int fd = mkstemp(f->path);
    if (!f->ctx || fd < 0)
        return 1;
    ct_ctx_set_log(f->ctx, symbols_keep, f, CT_LOG_WARNING);
    return close(fd);
}

static inline int symbols_finish(struct symbols_fixture *f)
{
    ct_symbols_free(f->symbols);
    ct_ctx_free(f->ctx);
    return unlink(f->path);
}

/* Writes the file, for the names to be loaded anew. */
static inline void symbols_write(struct symbols_fixture *f, const void *bytes, size_t size)
{
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    ct_symbols_free(f->symbols);
    f->symbols = NULL;
    *f->said = 0;
}

static inline const char *name_at(const struct symbols_fixture *f, uint64_t addr)
{
    const struct ct_symbol *symbol = ct_symbols_at(f->symbols, addr, NULL);
    return symbol ? ct_symbols_label(f->symbols, symbol) : MISSING;
}
