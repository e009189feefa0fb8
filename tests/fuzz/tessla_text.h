/* SPDX-License-Identifier: Apache-2.0 */
/* Random specifications, each with a random trace: printed syntax trees of both dialects, and changed
 * specifications of a corpus. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "support/rng.h"

enum {
    TESSLA_TEXT_MOST = 1 << 14
};

/* A text in the making. What exceeds its room is dropped. */
struct tessla_text {
    struct rng rng;
    size_t n;
    char p[TESSLA_TEXT_MOST];
};

struct tessla_corpus {
    char *text;
    struct tessla_spec *specs;
    size_t count;
};

/* Reads specifications separated by lines "---8<---". Returns false when the file is unreadable or has
 * none. */
bool tessla_corpus_read(struct tessla_corpus *c, const char *path);
void tessla_corpus_free(struct tessla_corpus *c);

/* Makes an input of fuzz_tessla.c: options, specification, trace. It depends only on the state of t->rng. */
void tessla_text_make(struct tessla_text *t, const struct tessla_corpus *c);

/* Shared by the files of the printer. */
void tessla_add(struct tessla_text *t, const char *text);
void tessla_add_format(struct tessla_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
unsigned tessla_below(struct tessla_text *t, unsigned n);
void tessla_add_tree(struct tessla_text *t);
void tessla_add_watch_tree(struct tessla_text *t);

/* Adds one of the texts at random. */
#define TESSLA_PICK(t, ...)                                                                                  \
    tessla_add(                                                                                              \
        t, ((const char *const[]){                                                                           \
               __VA_ARGS__})[tessla_below(t, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))])
