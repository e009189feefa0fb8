/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the stacks of streams, which become a part of the sums when the stream is over. */
#include <stdlib.h>

#include "analysis/stack_sums.h"
#include "analysis/stacks.h"
#include "base/ctx.h"
#include "base/saturate.h"

/* stands for code that is in no function; no address is that large */
#define NOWHERE UINT64_MAX

void ct_stack_streams_free(struct ct_stack_sums *s)
{
    for (size_t i = 0; i < s->stream_count; i++)
        ct_stacks_free(s->streams[i].stacks);
    free(s->streams);
}

static struct ct_stack_stream *find(const struct ct_stack_sums *s, uint32_t lane)
{
    for (size_t i = s->stream_count; i-- > 0;)
        if (s->streams[i].lane == lane)
            return &s->streams[i];
    return NULL;
}

static int make_stream(struct ct_stack_sums *s, uint32_t lane)
{
    struct ct_stack_options options = {.size = sizeof options};
    struct ct_stack_stream *streams = realloc(s->streams, (s->stream_count + 1) * sizeof *streams);
    if (!streams)
        return ct_fail_nomem(s->analysis.ctx, "stacks");
    s->streams = streams;
    streams[s->stream_count] = (struct ct_stack_stream){.lane = lane};
    int rc = s->programs ? ct_programs_places(s->programs, &options.programs, &options.program_count) : CT_OK;
    if (!rc)
        rc = ct_stacks_new(s->analysis.ctx, &options, &streams[s->stream_count].stacks);
    s->stream_count += !rc;
    return rc;
}

int ct_stack_streams_take(struct ct_stack_sums *s, const struct ct_analysis_batch *batch)
{
    const int rc = find(s, batch->lane) ? CT_OK : make_stream(s, batch->lane);
    return rc ? rc : ct_stacks_add(find(s, batch->lane)->stacks, 0, batch->steps);
}

/* Finds what a function of a stream is known by; its program is given as a number of the sums. */
static int identify(struct ct_stack_sums *s, const struct ct_stacks *stacks, uint32_t number,
                    struct ct_stack_function *out)
{
    size_t at;
    const struct ct_symbol *symbol = ct_stacks_symbol(stacks, number, &at);
    *out = (struct ct_stack_function){.name = CT_SYMBOL_UNKNOWN, .addr = NOWHERE, .program = CT_STACK_NONE};
    if (!symbol)
        return CT_OK;
    const struct ct_program_place *place = &stacks->programs[at];
    out->addr = symbol->addr + place->shift;
    out->name = *symbol->name ? symbol->name : ct_symbols_label(place->symbols, symbol);
    if (!place->program)
        return CT_OK;
    struct ct_program_identity identity;
    out->addr -= place->program->bias;
    const int rc = ct_program_identify(place->program, &identity);
    return rc ? rc : ct_program_table_add(&s->table, &s->analysis, &identity, &out->program);
}

/* Returns the number in the sums of a function of a stream, which is looked up once. */
static int number_of(struct ct_stack_sums *s, const struct ct_stacks *stacks, uint32_t *numbers,
                     uint32_t function, uint32_t *number)
{
    struct ct_stack_function named;
    *number = numbers[function];
    if (*number != CT_STACK_NONE)
        return CT_OK;
    int rc = identify(s, stacks, function, &named);
    if (!rc)
        rc = ct_stack_sums_add_function(s, &named, number);
    numbers[function] = *number;
    return rc;
}

/* Adds the places of a stream. `numbers` has room for the numbers in the sums of its functions, `places` for
 * those of its places. */
static int add_places(struct ct_stack_sums *s, const struct ct_stacks *stacks, uint32_t *numbers,
                      uint32_t *places)
{
    const size_t functions = stacks->first[stacks->program_count] + (size_t)1;
    size_t count;
    const struct ct_stack_place *all = ct_stacks_places(stacks, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < functions; i++)
        numbers[i] = CT_STACK_NONE;
    for (size_t i = 0; i < count && !rc; i++) {
        struct ct_stack_place place = all[i];
        rc = number_of(s, stacks, numbers, all[i].function, &place.function);
        if (place.parent != CT_STACK_NONE)
            place.parent = places[place.parent];
        if (!rc)
            rc = ct_stack_sums_add_place(s, &place, &places[i]);
    }
    return rc;
}

int ct_stack_sums_add(struct ct_stack_sums *s, const struct ct_stacks *stacks)
{
    if (!s || !stacks)
        return ct_fail_null(s ? s->analysis.ctx : NULL, __func__);
    uint32_t *numbers = malloc((stacks->first[stacks->program_count] + (size_t)1) * sizeof *numbers);
    uint32_t *places = malloc((stacks->place_count + 1) * sizeof *places);
    const int rc =
        numbers && places ? add_places(s, stacks, numbers, places) : ct_fail_nomem(s->analysis.ctx, "stacks");
    if (!rc)
        ct_add_up(&s->renewed, ct_stacks_renewed(stacks));
    free(numbers);
    free(places);
    return rc;
}

int ct_stack_streams_end(struct ct_stack_sums *s, uint32_t lane)
{
    struct ct_stack_stream *stream = find(s, lane);
    if (!stream)
        return CT_OK;
    int rc = ct_stacks_finish(stream->stacks);
    if (!rc)
        rc = ct_stack_sums_add(s, stream->stacks);
    ct_stacks_free(stream->stacks);
    *stream = s->streams[--s->stream_count];
    return rc;
}
