/* SPDX-License-Identifier: Apache-2.0 */
/* Names of contexts: reads them from .ini files, and finds one by its time. */
#include <string.h>

#include "base/search.h"
#include "input/reader.h"

int ct_context_set(struct ct_opening *opening, const struct ct_ini_item *item, struct ct_context_name **names,
                   size_t *count)
{
    uint64_t number;
    const int rc = ct_ini_number(item, UINT32_MAX, &number);
    if (rc)
        return rc;
    const struct ct_context_name *all = *names;
    const size_t before = CT_COUNT_WHILE(*count, at, all[at].context < number);
    if (before < *count && all[before].context == number)
        return ct_ini_fail(item, "this context already has the name %.100s; keep the correct line",
                           all[before].name);
    if (*count == CT_ITEMS_MAX)
        return ct_ini_fail(item,
                           "there are more than %d names of contexts, which is the limit; remove "
                           "some",
                           CT_ITEMS_MAX);
    const char *name = ct_arena_strdup(opening->arena, item->key);
    struct ct_context_name *more = ct_arena_push(opening->arena, *names, count, sizeof *more);
    if (!name || !more)
        return ct_fail_nomem(item->ctx, item->path);
    memmove(more + before + 1, more + before, (*count - 1 - before) * sizeof *more);
    more[before] =
        (struct ct_context_name){.name = name, .context = (uint32_t)number, .process = (uint32_t)number};
    *names = more;
    return CT_OK;
}

const struct ct_context_name *ct_context_name_find(const struct ct_buffer *buffer, uint32_t context,
                                                   uint64_t time)
{
    if (!buffer)
        return NULL;
    const struct ct_context_name *all = buffer->names;
    const size_t count =
        CT_COUNT_WHILE(buffer->name_count, at,
                       all[at].context < context || (all[at].context == context && all[at].from <= time));
    return count && all[count - 1].context == context ? &all[count - 1] : NULL;
}
