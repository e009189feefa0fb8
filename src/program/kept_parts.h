/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols and lines of programs that stay loaded for later sets of programs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "coretap/program.h"

enum ct_part_kind {
    CT_PART_SYMBOLS, /* struct ct_symbols */
    CT_PART_LINES,   /* struct ct_lines */
};

/* What a part is of. The file must be unchanged for a part to be used again. The path is part of it, because
 * code without a name is named after it, and separate files are searched near it. */
struct ct_part_key {
    const char *path;
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds; /* when it was last written */
    uint64_t bias;
    enum ct_part_kind kind;
    bool raw_names;
};

struct ct_kept_part {
    struct ct_part_key key;
    char *path; /* that of the key */
    void *part;
    struct ct_kept_part *next;
};

/* Describes a part of the file at a path. Returns false when there is no such file. */
bool ct_part_describe(const char *path, enum ct_part_kind kind, uint64_t bias, bool raw_names,
                      struct ct_part_key *key);

/* Returns whether two keys are of the same part. */
bool ct_part_is_same(const struct ct_part_key *a, const struct ct_part_key *b);

/* Returns the part that is kept under a key, or NULL. */
void *ct_kept_part_find(const struct ct_kept_part *first, const struct ct_part_key *key);

/* Keeps a part. Returns false when there is no memory for that; the caller then still owns it. */
bool ct_kept_part_add(struct ct_kept_part **first, const struct ct_part_key *key, void *part);

/* Frees all parts. */
void ct_kept_parts_free(struct ct_kept_part *first);
