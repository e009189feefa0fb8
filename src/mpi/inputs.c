/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/inputs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"

int ct_inputs_add(void *list, const char *path, const uint8_t digest[CT_FLEET_DIGEST])
{
    struct ct_inputs *inputs = list;
    const size_t size = CT_FLEET_DIGEST + strlen(path) + 1;
    if (inputs->room - inputs->size < size) {
        const size_t room = 2 * inputs->room + size;
        char *data = realloc(inputs->data, room);
        if (!data)
            return CT_ERR_NOMEM;
        inputs->data = data;
        inputs->room = room;
    }
    memcpy(inputs->data + inputs->size, digest, CT_FLEET_DIGEST);
    memcpy(inputs->data + inputs->size + CT_FLEET_DIGEST, path, size - CT_FLEET_DIGEST);
    inputs->size += size;
    return CT_OK;
}

uint64_t ct_inputs_sum(const struct ct_inputs *inputs)
{
    return ct_fnv(CT_FNV_BEGIN, inputs->data, inputs->size);
}

/* ---- comparing ---- */

/* A file of a list, from byte `at` to `end`. */
struct file {
    size_t at, end;
    const char *digest, *path;
};

/* Moves to the next file, at file->end. Returns false at the end, and where another rank's list is cut. */
static bool next(const struct ct_inputs *inputs, struct file *file)
{
    const size_t left = inputs->size - file->end;
    if (left <= CT_FLEET_DIGEST)
        return false;
    const char *at = inputs->data + file->end;
    const char *zero = memchr(at + CT_FLEET_DIGEST, 0, left - CT_FLEET_DIGEST);
    if (!zero)
        return false;
    *file = (struct file){.at = file->end,
                          .end = (size_t)(zero + 1 - inputs->data),
                          .digest = at,
                          .path = at + CT_FLEET_DIGEST};
    return true;
}

/* Finds a file by its path, from `file` to the end and then from the start: most lists have the same
 * order. */
static bool find(const struct ct_inputs *inputs, const char *path, struct file *file)
{
    const size_t begin = file->end;
    while (next(inputs, file))
        if (!strcmp(file->path, path))
            return true;
    file->end = 0;
    while (file->end < begin && next(inputs, file))
        if (!strcmp(file->path, path))
            return true;
    file->end = begin;
    return false;
}

struct comparison {
    struct ct_inputs_rank first, other;
    void (*say)(void *user, const char *words);
    void *user;
    unsigned told;
};

/* Reports how a file of a rank differs from rank 0. `has` is before its path, `than` behind it. */
static void tell(struct comparison *c, const char *has, const char *path, const char *than)
{
    char words[CT_INPUTS_WHY];
    const struct ct_inputs_rank *a = &c->other, *b = &c->first;
    if (c->told++ < CT_INPUTS_MOST)
        snprintf(words, sizeof words,
                 "rank %d on %s has %s %.300s%s rank 0 on %s; share the file between the machines, or copy "
                 "it again",
                 a->number, a->host, has, path, than, b->host);
    else if (c->told == CT_INPUTS_MOST + 1)
        snprintf(words, sizeof words,
                 "rank %d on %s differs from rank 0 in more files, which are not "
                 "listed",
                 a->number, a->host);
    else
        return;
    c->say(c->user, words);
}

void ct_inputs_compare(const struct ct_inputs *first, struct ct_inputs_rank first_rank,
                       const struct ct_inputs *other, struct ct_inputs_rank other_rank,
                       void (*say)(void *user, const char *words), void *user)
{
    struct comparison c = {.first = first_rank, .other = other_rank, .say = say, .user = user};
    struct file file = {0}, same = {0};
    while (c.told <= CT_INPUTS_MOST && next(first, &file)) {
        if (!find(other, file.path, &same))
            tell(&c, "no", file.path, ", which exists on");
        else if (memcmp(file.digest, same.digest, CT_FLEET_DIGEST) != 0)
            tell(&c, "another", file.path, " than");
    }
    file = same = (struct file){0};
    while (c.told <= CT_INPUTS_MOST && next(other, &file))
        if (!find(first, file.path, &same))
            tell(&c, "a file", file.path, ", which does not exist on");
}
