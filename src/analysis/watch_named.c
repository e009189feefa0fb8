/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints of named events. */
#include <stdio.h>
#include <string.h>

#include "analysis/watch.h"
#include "base/ctx.h"
#include "base/require.h"

#define MOST_LISTED 400 /* bytes of names in an error message */

int ct_watches_named_at(struct ct_watches *w, const struct ct_named_table *table, uint64_t shift)
{
    size_t count = 0;
    CT_REQUIRE(NULL, w);
    if (table)
        (void)ct_named_table_entries(table, &count);
    uint32_t *as = ct_arena_alloc(&w->arena, (count + 1) * sizeof *as);
    if (!as)
        return ct_fail_nomem(w->ctx, "watchpoints");
    for (size_t i = 0; i < count; i++)
        as[i] = CT_WATCH_NOT_NAMED;
    w->named = count ? table : NULL;
    w->named_as = as;
    w->named_shift = shift;
    return CT_OK;
}

/* Reports that there is no such name, and lists the names of its kind. */
static int unnamed(const struct ct_watches *w, const char *spec, enum ct_named_kind kind)
{
    char names[MOST_LISTED] = "";
    size_t count = 0;
    size_t used = 0;
    const struct ct_named_entry *all = w->named ? ct_named_table_entries(w->named, &count) : NULL;
    for (size_t i = 0; i < count && used < sizeof names; i++)
        if (all[i].kind == kind)
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", used ? ", " : "", all[i].text);
    return ct_fail(
        w->ctx, CT_ERR_NOT_FOUND, "watchpoint '%s': no program has an event with this name%s%s", spec,
        used ? "; there are " : " or any other event of this kind; define it with coretap/itm.h", names);
}

static uint8_t form_of(const struct ct_named_entry *entry)
{
    if (entry->kind != CT_NAMED_VALUE)
        return CT_WATCH_NO_VALUE;
    switch (entry->types[0]) {
    case CT_NAMED_FLOAT:
    case CT_NAMED_DOUBLE:
        return CT_WATCH_REAL;
    case CT_NAMED_INT:
    case CT_NAMED_LONG:
        return CT_WATCH_SIGNED;
    default:
        return CT_WATCH_UNSIGNED;
    }
}

/* Adds the watchpoint of all entries of a kind and name. */
static int add(struct ct_watches *w, const char *spec, enum ct_named_kind kind, const char *name)
{
    size_t count = 0;
    size_t first = SIZE_MAX;
    const struct ct_named_entry *all = w->named ? ct_named_table_entries(w->named, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (all[i].kind != kind || strcmp(all[i].text, name) != 0)
            continue;
        first = first < i ? first : i;
        if (form_of(&all[i]) != form_of(&all[first]))
            return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                           "watchpoint '%s': the program writes values of several types under this name; "
                           "give each type its own name",
                           spec);
        w->named_as[i] = (uint32_t)first;
    }
    if (first == SIZE_MAX)
        return unnamed(w, spec, kind);
    const int rc = ct_watches_point(w, spec, CT_WATCH_NAMED, first);
    if (!rc)
        w->points[w->count - 1].form = form_of(&all[first]);
    return rc;
}

int ct_watches_add_named(struct ct_watches *w, const char *spec, bool *is_named)
{
    static const struct {
        const char *word;
        enum ct_named_kind kind;
    } words[] = {{"value:", CT_NAMED_VALUE},
                 {"text:", CT_NAMED_TEXT},
                 {"begin:", CT_NAMED_BEGIN},
                 {"end:", CT_NAMED_END}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t size = strlen(words[i].word);
        *is_named = strncmp(spec, words[i].word, size) == 0;
        if (*is_named)
            return add(w, spec, words[i].kind, spec + size);
    }
    return CT_OK;
}

uint32_t ct_watch_named_number(const struct ct_watches *w, const struct ct_named_event *event)
{
    size_t count;
    const struct ct_named_entry *all = ct_named_table_entries(w->named, &count);
    return w->named_as[event->entry - all];
}
