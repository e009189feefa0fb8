/* SPDX-License-Identifier: Apache-2.0 */
/* Places that feed inputs, given by a specification, a binding or an input's name; and their cores. */
#include "verify/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"

/* Returns the place for an input named after something that a trace contains besides execution. */
static const char *place_by_name(const char *input)
{
    static const char *const names[][2] = {
        {"exception", "exception"},
        {"exception_return", "exception-return"},
        {"gap", "gap"},
        {"overflow", "overflow"},
        {"no_access", "no-access"},
        {"context", "context"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(input, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

/* Returns the place that a specification's source denotes, in `room`; NULL when no trace has such a place. */
static const char *place_by_source(const struct ct_monitor_stream *in, char room[CT_VERIFY_PLACE_MAX])
{
    const size_t size = CT_VERIFY_PLACE_MAX;
    const char *at = in->source_core ? "@" : "";
    const char *core = in->source_core ? in->source_core : "";
    if (strcmp(in->source, "codeLine") == 0)
        snprintf(room, size, "%s:%" PRIu64 "%s%s", in->source_arg, in->source_number, at, core);
    else if (strcmp(in->source, "function_call") == 0)
        snprintf(room, size, "entry:%s%s%s", in->source_arg, at, core);
    else if (strcmp(in->source, "function_return") == 0)
        snprintf(room, size, "return:%s%s%s", in->source_arg, at, core);
    else if (strcmp(in->source, "onExecuting") == 0)
        snprintf(room, size, "0x%" PRIx64 "%s%s", in->source_number, at, core);
    else if (strcmp(in->source, "itm_trace") == 0)
        snprintf(room, size, "itm:%" PRIu64 "%s%s", in->source_number, at, core);
    else if (strcmp(in->source, "variable_value") == 0)
        snprintf(room, size, "store:%s%s%s", in->source_arg, at, core);
    else
        return NULL;
    return room;
}

const char *ct_verify_place_of(const struct ct_monitor_stream *in, const struct ct_verify_bind *binds,
                               size_t count, char room[CT_VERIFY_PLACE_MAX])
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(binds[i].input, in->name) == 0)
            return binds[i].place;
    return in->source ? place_by_source(in, room) : place_by_name(in->name);
}

/* Returns whether some place has values of the input's type. */
static bool is_of_place(const struct ct_monitor_stream *in)
{
    return in->type == CT_MONITOR_UNIT || in->type == CT_MONITOR_INT || in->type == CT_MONITOR_FLOAT ||
           in->type == CT_MONITOR_BOOL || in->type == CT_MONITOR_STRING;
}

int ct_verify_input_place(const struct ct_monitor_stream *in, char *place, size_t cap)
{
    char room[CT_VERIFY_PLACE_MAX];
    CT_REQUIRE(NULL, in, place, cap);
    const char *found = ct_verify_place_of(in, NULL, 0, room);
    place[0] = '\0';
    CT_REQUIRE(NULL, is_of_place(in));
    if (!found)
        return CT_ERR_NOT_FOUND;
    return (size_t)snprintf(place, cap, "%s", found) < cap ? CT_OK : CT_ERR_LIMIT;
}

/* ---- cores ---- */

int ct_verifier_sources(struct ct_verifier *v, const char *const *cores, size_t count)
{
    CT_REQUIRE_OF(v, cores || !count);
    if (v->spec_count || count > UINT16_MAX)
        return ct_fail(v->ctx, CT_ERR_ARG,
                       "%s: specifications were already added, or there are too many sources; call it before "
                       "adding specifications",
                       __func__);
    v->source_count = v->core_count = 0;
    v->cores = ct_arena_alloc(&v->arena, (count + 1) * sizeof *v->cores);
    v->core_of = ct_arena_alloc(&v->arena, (count + 1) * sizeof *v->core_of);
    v->lost_until = ct_arena_alloc(&v->arena, (count + 1) * sizeof *v->lost_until);
    if (!v->cores || !v->core_of || !v->lost_until)
        return ct_fail_nomem(v->ctx, "verifier");
    for (size_t i = 0; i < count; i++) {
        v->cores[i] = ct_arena_strdup(&v->arena, cores[i]);
        if (!v->cores[i])
            return ct_fail_nomem(v->ctx, "verifier");
        for (v->core_of[i] = 0; strcmp(v->cores[v->core_of[i]], v->cores[i]) != 0;)
            v->core_of[i]++;
    }
    v->source_count = v->core_count = count;
    return CT_OK;
}

int ct_verifier_core(struct ct_verifier *v, const char *core)
{
    CT_REQUIRE_OF(v, core);
    if (v->source_count)
        return ct_fail(v->ctx, CT_ERR_ARG,
                       "%s: the runs are of several sources, whose cores are already "
                       "known; do not call it",
                       __func__);
    const int rc = ct_verifier_sources(v, &core, 1);
    v->source_count = 0; /* without sources, the verifier is not on an axis */
    return rc;
}

uint32_t ct_verify_place_core(const struct ct_verifier *v, const char **place, char room[CT_VERIFY_PLACE_MAX])
{
    const char *at = strrchr(*place, '@');
    uint32_t core = at && strcmp(at + 1, "each") == 0 ? CT_VERIFY_EACH_CORE : CT_VERIFY_ANY_CORE;
    for (size_t i = 0; at && core == CT_VERIFY_ANY_CORE && i < v->core_count; i++)
        if (strcmp(v->cores[i], at + 1) == 0)
            core = (uint32_t)i;
    if (core != CT_VERIFY_ANY_CORE) {
        snprintf(room, CT_VERIFY_PLACE_MAX, "%.*s", (int)(at - *place), *place);
        *place = room;
    }
    return core;
}

int ct_verify_no_core(const struct ct_verifier *v, const char *place, int rc)
{
    char all[200] = "";
    size_t used = 0;
    const char *at = strrchr(place, '@');
    if (rc != CT_ERR_NOT_FOUND || !at)
        return rc;
    for (size_t i = 0; i < v->core_count && used < sizeof all; i++)
        if (!v->source_count || v->core_of[i] == i)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", v->cores[i]);
    return ct_fail(v->ctx, rc, "place '%s': the run has no core %s, so nothing reaches this place; %s%s%s",
                   place, at + 1,
                   v->core_count
                       ? "choose one of "
                       : "with --per-core each run has only one source: omit the core, and choose the source "
                         "with --id or --buffer",
                   v->core_count ? all : "", v->core_count ? " ('coretap info' lists them)" : "");
}
