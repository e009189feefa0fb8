/* SPDX-License-Identifier: Apache-2.0 */
#include "program/kept_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program/dwarf_lines.h"

bool ct_part_describe(const char *path, enum ct_part_kind kind, uint64_t bias, bool raw_names,
                      struct ct_part_key *key)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    *key = (struct ct_part_key){.path = path,
                                .device = st.st_dev,
                                .inode = st.st_ino,
                                .size = (uint64_t)st.st_size,
                                .seconds = st.st_mtim.tv_sec,
                                .nanoseconds = st.st_mtim.tv_nsec,
                                .bias = bias,
                                .kind = kind,
                                .raw_names = raw_names};
    return true;
}

bool ct_part_is_same(const struct ct_part_key *a, const struct ct_part_key *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds && a->bias == b->bias && a->kind == b->kind &&
           a->raw_names == b->raw_names && !strcmp(a->path, b->path);
}

void *ct_kept_part_find(const struct ct_kept_part *first, const struct ct_part_key *key)
{
    while (first && !ct_part_is_same(&first->key, key))
        first = first->next;
    return first ? first->part : NULL;
}

bool ct_kept_part_add(struct ct_kept_part **first, const struct ct_part_key *key, void *part)
{
    struct ct_kept_part *kept = malloc(sizeof *kept);
    char *path = kept ? strdup(key->path) : NULL;
    if (!path) {
        free(kept);
        return false;
    }
    *kept = (struct ct_kept_part){.key = *key, .path = path, .part = part, .next = *first};
    kept->key.path = path;
    *first = kept;
    return true;
}

void ct_kept_parts_free(struct ct_kept_part *first)
{
    while (first) {
        struct ct_kept_part *next = first->next;
        if (first->key.kind == CT_PART_SYMBOLS)
            ct_symbols_free(first->part);
        else
            ct_lines_free(first->part);
        free(first->path);
        free(first);
        first = next;
    }
}
