/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the results of monitors with their places, and marks violations and uncertain results. */
#include "verify/group.h"
#include "base/ctx.h"

#include <string.h>

#define VALUE_MAX 500 /* most bytes of a value that are reported */

static bool is_violation(const struct ct_verify_output *out, const struct ct_monitor_result *result,
                         const char *value)
{
    switch (out->rule) {
    case CT_VERIFY_FALSE:
        return result->v.i == (out->stream.type == CT_MONITOR_VERDICT ? CT_MONITOR_FALSE : 0);
    case CT_VERIFY_TRUE:
        return result->v.i != 0;
    case CT_VERIFY_EACH:
        return true;
    case CT_VERIFY_TEXT:
        return strcmp(out->wanted, value) == 0;
    default:
        return false;
    }
}

/* Returns whether missing trace could have changed a result. */
static bool is_uncertain(const struct ct_verify_spec *s, const struct ct_monitor_result *result)
{
    const uint64_t forget = s->verifier->options.forget;
    if (!forget || !(s->lost || s->doubted))
        return !ct_monitor_certain(result);
    const bool forgotten = result->time > s->lost_last && result->time - s->lost_last >= forget;
    return !ct_monitor_certain(result) && !forgotten;
}

/* Returns the value from "TIME: NAME = VALUE\n". */
static const char *value_text(const struct ct_verify_spec *s, const struct ct_monitor_result *result,
                              const struct ct_verify_output *out, char room[VALUE_MAX + 1])
{
    char line[VALUE_MAX + 320];
    size_t done;
    size_t size = ct_monitor_print(s->monitor, result, 1, line, sizeof line, &done);
    if (!done)
        return "(too long to be shown)";
    size_t skip = 0;
    if (!out->stream.raw) {
        const size_t name = strlen(out->stream.name);
        while (skip < size && line[skip] != ':')
            skip++;
        skip += 2 + name + 3;
    }
    size -= size && line[size - 1] == '\n';
    size = skip < size ? size - skip : 0;
    size = size < VALUE_MAX ? size : VALUE_MAX;
    memcpy(room, line + skip, size);
    room[size] = '\0';
    return room;
}

static const struct ct_verify_place *doubt_of(const struct ct_verify_spec *s, uint64_t tag)
{
    for (size_t i = 0; i < s->doubt_count; i++)
        if (s->doubts[i].tag == tag)
            return &s->doubts[i].place;
    return NULL;
}

/* Finds the two events, earlier one first, whose unknown order makes a result uncertain. */
static bool find_doubt(const struct ct_verify_spec *s, const struct ct_monitor_result *result,
                       const struct ct_verify_place *doubt[2])
{
    uint64_t tags[2];
    if (ct_monitor_doubted(s->monitor, result, tags) != CT_OK)
        return false;
    const bool turned = tags[0] > tags[1];
    doubt[0] = doubt_of(s, tags[turned]);
    doubt[1] = doubt_of(s, tags[!turned]);
    return doubt[0] && doubt[1];
}

void ct_verify_tell(struct ct_verify_spec *s, struct ct_verify_spec *lead,
                    const struct ct_monitor_result *results, size_t count)
{
    struct ct_verifier *v = s->verifier;
    const uint64_t dropped = lead->place_total - lead->place_count;
    const size_t none = s->born > dropped ? (size_t)(s->born - dropped) : 0;
    char room[VALUE_MAX + 1];
    for (size_t i = 0; i < count; i++) {
        const uint32_t output = results[i].output - s->first_output;
        const struct ct_verify_output *out = &s->outputs[output];
        while (lead->cursor < lead->place_count && lead->places[lead->cursor].time <= results[i].time)
            lead->cursor++;
        if (s->skip) {
            s->skip--;
            continue;
        }
        const struct ct_verify_place *doubt[2];
        const size_t own = lead->cursor > none ? lead->cursor - none : 0;
        const size_t before = own ? lead->cursor - 1 : lead->cursor;
        const size_t told = own && own - 1 < v->options.history ? own - 1 : own ? v->options.history : 0;
        struct ct_verify_result result = {
            .time = results[i].time,
            .place = own ? &lead->places[before] : NULL,
            .before = lead->places + (before - told),
            .before_count = told,
            .name = out->stream.name,
            .value = value_text(lead, &results[i], out, room),
            .spec = s->number,
            .instance = s->instance,
            .core = s->core == CT_VERIFY_ANY_CORE ? NULL : v->cores[s->core],
            .output = output,
            .type = out->stream.type,
            .big = out->stream.type == CT_MONITOR_INT && ct_monitor_is_big(lead->monitor, &results[i]),
            .number = results[i].v,
        };
        result.violation = is_violation(out, &results[i], result.value);
        result.uncertain = is_uncertain(lead, &results[i]);
        if (result.uncertain && find_doubt(lead, &results[i], doubt))
            memcpy(result.doubt, doubt, sizeof doubt);
        v->telling = true;
        if (result.violation || !ct_monitor_possible(&results[i]))
            v->fn(v->user, &result);
        v->telling = false;
    }
}

int ct_verify_not_in_result(const struct ct_verifier *v, const char *who)
{
    if (!v->telling)
        return CT_OK;
    return ct_fail(
        v->ctx, CT_ERR_ARG,
        "%s: the receiver of results calls it, so nothing was done; call it after the receiver has "
        "returned",
        who);
}

static void on_results(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct ct_verify_spec *s = user;
    if (s->group)
        ct_verify_group_tell(s->group, results, count);
    else
        ct_verify_tell(s, s, results, count);
}

int ct_verify_monitor(struct ct_verify_spec *s)
{
    const struct ct_verifier *v = s->verifier;
    return ct_monitor_new(v->ctx, s->spec, v->options.limits, on_results, s, &s->monitor);
}
