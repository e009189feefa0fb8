/* SPDX-License-Identifier: Apache-2.0 */
/* The values that inputs get from watchpoint events, and the sources that provide them. */
#include "verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"

int ct_verify_place_is_software(const char *place)
{
    static const char *const words[] = {
        "itm:", "stm:", "dwt:", "value:", "text:", "begin:", "end:", "load:", "store:"};
    for (size_t i = 0; place && i < sizeof words / sizeof *words; i++)
        if (strncmp(place, words[i], strlen(words[i])) == 0)
            return 1;
    return 0;
}

/* ---- sources ---- */

int ct_verifier_protocols(struct ct_verifier *v, const uint8_t *protocols, size_t count)
{
    CT_REQUIRE_OF(v, protocols || !count);
    if (v->spec_count || (v->source_count && count != v->source_count))
        return ct_fail(v->ctx, CT_ERR_ARG,
                       "%s: specifications were already added, or the number of sources "
                       "differs; call it before adding specifications, with the sources "
                       "of ct_verifier_sources",
                       __func__);
    uint8_t *copy = ct_arena_alloc(&v->arena, count + 1);
    if (!copy)
        return ct_fail_nomem(v->ctx, "verifier");
    if (count)
        memcpy(copy, protocols, count);
    v->protocols = copy;
    v->protocol_count = count;
    return CT_OK;
}

/* Returns whether a source of a protocol may have events of a kind. */
static bool gives(uint8_t what, uint8_t kind)
{
    const uint8_t protocol = what & (uint8_t)~CT_VERIFY_TRACES_DATA;
    const bool traces_data = what & CT_VERIFY_TRACES_DATA;
    const bool is_software = ct_protocol_is_software(protocol);
    switch (kind) {
    case CT_WATCH_GAP:
    case CT_WATCH_OVERFLOW:
    case CT_WATCH_TIMESTAMP:
        return true;
    case CT_WATCH_ITM:
    case CT_WATCH_DWT:
        return protocol == CT_PROTOCOL_ITM;
    case CT_WATCH_STM:
        return protocol == CT_PROTOCOL_STM;
    case CT_WATCH_NAMED:
        return is_software;
    case CT_WATCH_ACCESS:
        return false;
    case CT_WATCH_LOAD:
    case CT_WATCH_STORE:
        return protocol == CT_PROTOCOL_ITM || traces_data;
    default:
        return !is_software;
    }
}

/* Lists the protocols of all sources, each once. */
static void list_protocols(const struct ct_verifier *v, char *room, size_t size)
{
    uint64_t seen = 0;
    size_t used = 0;
    snprintf(room, size, "no source");
    for (size_t i = 0; i < v->protocol_count; i++) {
        const uint8_t p = v->protocols[i] & (uint8_t)~CT_VERIFY_TRACES_DATA;
        if (p >= 64 || seen >> p & 1 || used >= size)
            continue;
        seen |= UINT64_C(1) << p;
        used += (size_t)snprintf(room + used, size - used, "%s%s", used ? ", " : "",
                                 ct_protocol_name((enum ct_protocol)p));
    }
}

static const char *giver_of(uint8_t kind)
{
    return kind == CT_WATCH_ACCESS                        ? "an event log of coretap fractal"
           : kind == CT_WATCH_NAMED                       ? "an ITM or STM"
           : kind == CT_WATCH_STM                         ? "an STM"
           : kind == CT_WATCH_ITM || kind == CT_WATCH_DWT ? "an ITM"
           : kind == CT_WATCH_LOAD || kind == CT_WATCH_STORE
               ? "a data trace, by a DWT (an ITM) or an ETMv3 that traces data"
               : "a core";
}

bool ct_verify_core_gives(const struct ct_verifier *v, uint32_t core, uint8_t kind)
{
    bool found = !v->protocols;
    for (size_t i = 0; i < v->protocol_count && !found; i++)
        found = (core == CT_VERIFY_ANY_CORE || core == v->core_of[i]) && gives(v->protocols[i], kind);
    return found;
}

bool ct_verify_hears(const struct ct_verify_spec *s, size_t source)
{
    const struct ct_verifier *v = s->verifier;
    uint32_t all;
    const struct ct_watchpoint *points = ct_watches_all(v->watches, &all);
    bool found = !s->input_count;
    for (size_t i = 0; i < s->input_count && !found; i++) {
        const struct ct_verify_feed *f = &s->feeds[i];
        found = (f->core == CT_VERIFY_ANY_CORE || f->core == v->core_of[source]) &&
                (!v->protocols || gives(v->protocols[source], points[f->first].kind));
    }
    return found;
}

static int check_source(const struct ct_verifier *v, const struct ct_watchpoint *point, uint32_t core)
{
    char all[200];
    if (ct_verify_core_gives(v, core, point->kind))
        return CT_OK;
    if (core < v->protocol_count)
        return ct_fail(v->ctx, CT_ERR_NOT_FOUND,
                       "place '%s': belongs to %s, but %s is %s, so nothing reaches this place; name another "
                       "source, or omit it",
                       point->name, giver_of(point->kind), v->cores[core],
                       ct_protocol_name((enum ct_protocol)(v->protocols[core] & ~CT_VERIFY_TRACES_DATA)));
    list_protocols(v, all, sizeof all);
    return ct_fail(v->ctx, CT_ERR_NOT_FOUND,
                   "place '%s': belongs to %s, but the capture has none with trace, so nothing feeds the "
                   "input; the capture has %s",
                   point->name, giver_of(point->kind), all);
}

/* ---- types ---- */

int ct_verify_check_value(const struct ct_verifier *v, const struct ct_monitor_stream *in,
                          const struct ct_watchpoint *point, uint32_t core)
{
    const bool has_value = point->form != CT_WATCH_NO_VALUE;
    const bool is_real = point->form == CT_WATCH_REAL;
    const bool fits = point->form == CT_WATCH_TEXT
                          ? in->type == CT_MONITOR_STRING
                          : in->type == CT_MONITOR_UNIT || (!is_real && in->type == CT_MONITOR_INT) ||
                                (has_value && !is_real && in->type == CT_MONITOR_BOOL) ||
                                ((point->form == CT_WATCH_RAW || is_real) && in->type == CT_MONITOR_FLOAT);
    if (!fits)
        return ct_fail(v->ctx, CT_ERR_CONFIG,
                       "input %s: has type %s, but the place %s gives %s; declare the input with this "
                       "type",
                       in->name, in->type_text, point->name,
                       !has_value                    ? "a Unit or an Int"
                       : is_real                     ? "a Unit or a Float"
                       : point->form == CT_WATCH_RAW ? "a Unit, an Int, a Float or a Bool"
                                                     : "a Unit, an Int or a Bool");
    return check_source(v, point, core);
}

/* ---- values ---- */

static int64_t number_of(const struct ct_watch_event *e)
{
    if (e->kind == CT_WATCH_CONTEXT)
        return e->ctxt;
    const bool numbered =
        e->kind == CT_WATCH_EXCEPTION || e->kind == CT_WATCH_GAP || e->kind == CT_WATCH_OVERFLOW;
    return (int64_t)(numbered ? e->number : e->value);
}

/* Reads the bits of a write as a floating-point number. */
static bool float_of(const struct ct_watch_event *e, double *out)
{
    const uint32_t half = (uint32_t)e->value;
    const uint32_t bits = e->number & CT_WATCH_BITS;
    float single;
    if (bits == 64) {
        memcpy(out, &e->value, sizeof *out);
        return true;
    }
    memcpy(&single, &half, sizeof single);
    *out = single;
    return bits == 32;
}

bool ct_verify_value(const struct ct_verify_spec *s, const struct ct_watch_event *e, uint32_t input,
                     struct ct_monitor_event *out)
{
    switch (s->types[input]) {
    case CT_MONITOR_FLOAT:
        return float_of(e, &out->v.f);
    case CT_MONITOR_BOOL:
        out->v.i = e->value != 0;
        return true;
    case CT_MONITOR_STRING:
        out->v.s = ct_watch_event_text(e);
        out->size = (uint32_t)strlen(out->v.s);
        return true;
    case CT_MONITOR_INT:
        out->v.i = number_of(e);
        return (s->forms[input] != CT_WATCH_RAW && s->forms[input] != CT_WATCH_UNSIGNED) ||
               e->value <= INT64_MAX;
    default:
        return true;
    }
}

bool ct_verify_lacks_value(struct ct_verify_spec *s, const struct ct_watch_event *e, uint32_t input)
{
    struct ct_monitor_stream in;
    if ((e->kind != CT_WATCH_LOAD && e->kind != CT_WATCH_STORE) || e->number & CT_WATCH_BITS ||
        s->types[input] == CT_MONITOR_UNIT)
        return false;
    ct_monitor_input(s->spec, input, &in);
    if (!s->told_unknown)
        ct_log(s->verifier->ctx, CT_LOG_WARNING,
               "%s: input %s: an access covers only some bytes of the variable, and the others are not known "
               "yet, so its value is unknown and it is ignored; declare the input as Events[Unit] to get all "
               "accesses",
               s->name, in.name);
    s->told_unknown = true;
    return true;
}

int ct_verify_misfit(struct ct_verify_spec *s, const struct ct_watch_event *e, uint32_t input)
{
    struct ct_monitor_stream in;
    ct_monitor_input(s->spec, input, &in);
    const bool is_float = in.type == CT_MONITOR_FLOAT;
    ct_fail(s->verifier->ctx, CT_ERR_LIMIT, "input %s: a write of %" PRIu32 " bits, 0x%" PRIx64 ", %s",
            in.name, e->number & CT_WATCH_BITS, e->value,
            is_float ? "is not a Float, which has 32 or 64 bits; declare the input as Events[Int]"
                     : "exceeds the range of an Int; bind the input with .signed if the variable is "
                       "signed");
    return ct_verify_failed(s, CT_ERR_LIMIT);
}
