/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints of contexts, by number or by name. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/watch.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/require.h"

#define MOST_LISTED 400 /* bytes of names in an error message */

int ct_watches_contexts(struct ct_watches *w, const struct ct_buffer *buffer)
{
    const struct ct_watched_contexts *last = w->context_sets ? &w->contexts[w->context_sets - 1] : NULL;
    bool in_vmid = false;
    w->contexts_traced |= !buffer->source_count; /* a source outside of the trace gives the names */
    for (size_t i = 0; i < buffer->source_count; i++) {
        w->contexts_traced |= ct_source_tells_context(&buffer->sources[i]);
        in_vmid |= ct_source_thread_in_vmid(&buffer->sources[i]);
    }
    if (!buffer->name_count || (last && last->of == buffer->names && last->in_vmid == in_vmid))
        return CT_OK;
    struct ct_watched_contexts *all = ct_arena_push(&w->arena, w->contexts, &w->context_sets, sizeof *all);
    struct ct_context_name *names = ct_arena_alloc(&w->arena, buffer->name_count * sizeof *names);
    if (!all || !names)
        return ct_fail_nomem(w->ctx, "watchpoints");
    w->contexts = all;
    for (size_t i = 0; i < buffer->name_count; i++) {
        names[i] = buffer->names[i];
        names[i].name = ct_arena_strdup(&w->arena, buffer->names[i].name);
        if (!names[i].name)
            return ct_fail_nomem(w->ctx, "watchpoints");
    }
    all[w->context_sets - 1] =
        (struct ct_watched_contexts){.names = {.names = names, .name_count = buffer->name_count},
                                     .clock = buffer->maps ? buffer->maps->clock : (struct ct_clock){0},
                                     .of = buffer->names,
                                     .in_vmid = in_vmid};
    return CT_OK;
}

int ct_watches_any_context(struct ct_watches *w)
{
    CT_REQUIRE(NULL, w);
    w->any_context = true;
    return CT_OK;
}

/* ---- watchpoints by name ---- */

/* Returns whether the same name stands among those before it. */
static bool is_repeated(const struct ct_buffer *names, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(names->names[i].name, names->names[index].name) == 0)
            return true;
    return false;
}

/* Reports that no context has the name, and lists the names. */
static int unnamed(const struct ct_watches *w, const char *spec)
{
    char names[MOST_LISTED] = "";
    size_t used = 0;
    for (size_t s = 0; s < w->context_sets; s++) {
        const struct ct_buffer *b = &w->contexts[s].names;
        for (size_t i = 0; i < b->name_count && used < sizeof names; i++)
            if (!is_repeated(b, i))
                used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                         b->names[i].name);
    }
    return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                   "watchpoint '%s': the capture has no context with this name%s%s; use an ID "
                   "(context:0x12), or name contexts in the [context] section of an .ini (docs/formats.md)",
                   spec, used ? "; there are " : "", names);
}

static bool is_known(const struct ct_watches *w, const char *name)
{
    for (size_t s = 0; s < w->context_sets; s++)
        for (size_t i = 0; i < w->contexts[s].names.name_count; i++)
            if (strcmp(w->contexts[s].names.names[i].name, name) == 0)
                return true;
    return false;
}

int ct_watches_add_context(struct ct_watches *w, const char *spec, bool *is_context)
{
    static const char prefix[] = "context:";
    const char *text = spec + sizeof prefix - 1;
    char *end = NULL;
    *is_context = strncmp(spec, prefix, sizeof prefix - 1) == 0;
    if (!*is_context)
        return CT_OK;
    errno = 0;
    const uint64_t number = isdigit((unsigned char)*text) ? strtoull(text, &end, 0) : 0;
    if (end && !*end && !errno && number <= UINT32_MAX)
        return ct_watches_point(w, spec, CT_WATCH_CONTEXT, number);
    if (!*text || (end && !*end))
        return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                       "watchpoint '%s': the context is missing or above 2^32-1; write a context ID or name: "
                       "context:0x12, context:bash",
                       spec);
    if (!w->any_context && !is_known(w, text))
        return unnamed(w, spec);
    if (!w->any_context && !w->contexts_traced)
        return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                       "watchpoint '%s': no trace unit of the capture traces context IDs, so it is unknown "
                       "which process runs; record with context IDs (perf record -e cs_etm/contextid/)",
                       spec);
    return ct_watches_point(w, spec, CT_WATCH_CONTEXT, CT_WATCH_CONTEXT_NAME);
}

/* ---- the running context ---- */

/* Returns the time of an event in nanoseconds of the capture, or CT_NO_TIME when not known. */
static uint64_t time_of(const struct ct_clock *clock, const struct ct_watch_event *e)
{
    if (!clock->known || !e->has_timestamp)
        return CT_NO_TIME;
    return ct_clock_nanoseconds(clock, e->timestamp);
}

/* Returns whether an event tells the running context. */
static bool is_told(const struct ct_watched_contexts *set, const struct ct_watch_event *e, uint32_t *context)
{
    *context = set->in_vmid ? e->vmid : e->ctxt;
    return e->known & (set->in_vmid ? CT_CONTEXT_VMID : CT_CONTEXT_CTXT);
}

/* Returns whether a context had a name at any time. */
static bool had_name(const struct ct_buffer *names, uint32_t context, const char *name)
{
    for (size_t i = 0; i < names->name_count; i++)
        if (names->names[i].context == context && strcmp(names->names[i].name, name) == 0)
            return true;
    return false;
}

/* Returns whether a context or its process had a name at any time. */
static bool was_called(const struct ct_buffer *names, uint32_t context, const char *name)
{
    bool found = had_name(names, context, name);
    for (size_t i = 0; i < names->name_count && !found; i++)
        found = names->names[i].context == context && had_name(names, names->names[i].process, name);
    return found;
}

/* Returns whether a context or its process has a name at the given time. */
static bool is_called(const struct ct_buffer *names, uint32_t context, uint64_t time, const char *name)
{
    if (time == CT_NO_TIME)
        return was_called(names, context, name);
    const struct ct_context_name *own = ct_context_name_find(names, context, time);
    const struct ct_context_name *whole =
        own && own->process != context ? ct_context_name_find(names, own->process, time) : NULL;
    return (own && strcmp(own->name, name) == 0) || (whole && strcmp(whole->name, name) == 0);
}

bool ct_watches_is_context(const struct ct_watches *w, const struct ct_watchpoint *point,
                           const struct ct_watch_event *e)
{
    const char *name = strchr(point->name, ':') + 1;
    for (size_t s = 0; s < w->context_sets; s++) {
        const struct ct_watched_contexts *set = &w->contexts[s];
        uint32_t context;
        if (is_told(set, e, &context) && is_called(&set->names, context, time_of(&set->clock, e), name))
            return true;
    }
    return false;
}

size_t ct_watches_context_text(const struct ct_watches *w, const struct ct_watch_event *e, char *text,
                               size_t size)
{
    uint32_t number = e->ctxt;
    bool is_known = e->known & CT_CONTEXT_CTXT;
    for (size_t s = 0; s < w->context_sets; s++) {
        const struct ct_watched_contexts *set = &w->contexts[s];
        uint32_t context;
        if (!is_told(set, e, &context))
            continue;
        const struct ct_context_name *name =
            ct_context_name_find(&set->names, context, time_of(&set->clock, e));
        if (name)
            return (size_t)snprintf(text, size, "%s", name->name);
        number = context;
        is_known = true;
    }
    return is_known ? (size_t)snprintf(text, size, "0x%x", (unsigned)number)
                    : (size_t)snprintf(text, size, "unknown");
}
