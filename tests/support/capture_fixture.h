/* SPDX-License-Identifier: Apache-2.0 */
/* A capture of a few files in memory, opened by the reader under test, with the messages of the reader. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "input/reader.h"
#include "support/memory_files.h"

#define MAX_FILES 16

struct fixture {
    struct memory_file files[MAX_FILES];
    struct memory_files list;
    struct ct_files access;
    const struct ct_capture_options *options; /* options of the reader, or NULL */
    struct ct_ctx *ctx;
    struct ct_capture *capture;
    char log[8192];
};

static void fixture_log(void *user, enum ct_log_level level, const char *text)
{
    char *log = user;
    (void)level;
    size_t used = strlen(log);
    snprintf(log + used, sizeof((struct fixture *)0)->log - used, "%s\n", text);
}

/* Adds a file, or replaces the one with this path. A NULL `text` removes it. */
static inline void fixture_put_bytes(struct fixture *f, const char *path, const char *text, size_t size)
{
    size_t i = 0;
    while (i < f->list.count && strcmp(f->files[i].path, path) != 0)
        i++;
    if (!text) {
        if (i < f->list.count)
            f->files[i] = f->files[--f->list.count];
        return;
    }
    if (i == MAX_FILES)
        abort();
    f->files[i] = (struct memory_file){path, text, size};
    f->list.count += i == f->list.count;
    f->list.files = f->files;
}

static inline void fixture_put(struct fixture *f, const char *path, const char *text)
{
    fixture_put_bytes(f, path, text, text ? strlen(text) : 0);
}

static inline void fixture_dir(struct fixture *f, const char *path)
{
    f->files[f->list.count++] = (struct memory_file){path, NULL, 0};
    f->list.files = f->files;
}

static inline int fixture_open(struct fixture *f, const char *path)
{
    f->access = (struct ct_files){
        .user = &f->list, .look = memory_look, .read = memory_read, .read_at = memory_read_at};
    if (!f->ctx)
        f->ctx = ct_ctx_new();
    f->log[0] = 0;
    ct_capture_free(f->capture);
    ct_ctx_set_log(f->ctx, fixture_log, f->log, CT_LOG_NOTE);
    return ct_capture_open_files(f->ctx, &f->access, path, f->options, &f->capture);
}

static inline void fixture_free(struct fixture *f)
{
    ct_capture_free(f->capture);
    ct_ctx_free(f->ctx);
}

/* Returns 1 when `text` contains all the words, a list that ends with NULL. */
static inline int has_words(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strstr(text, *words)) {
            fprintf(stderr, "# '%s' is not in: %s\n", *words, text);
            return 0;
        }
    return 1;
}

#define WORDS(...)                                                                                           \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }
