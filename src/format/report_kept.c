/* SPDX-License-Identifier: Apache-2.0 */
#include "format/report_kept.h"

#include "base/room.h"

#include <stdlib.h>

/* ---- functions ---- */

static int find_program(struct ct_report_kept *k, struct ct_program *program, uint32_t *number)
{
    *number = CT_STACK_NONE;
    if (!program)
        return CT_OK;
    for (size_t i = 0; i < k->program_count; i++)
        if (k->programs[i] == program) {
            *number = (uint32_t)i;
            return CT_OK;
        }
    if (!CT_PUSH_ROOM(k->programs, k->program_count))
        return CT_ERR_NOMEM;
    *number = (uint32_t)k->program_count;
    k->programs[k->program_count++] = program;
    return CT_OK;
}

static int add_key(struct ct_report_kept *k, const struct ct_report_key *key, uint32_t *number)
{
    if (!CT_MAKE_ROOM(k->keys, k->key_room, k->key_count + 1))
        return CT_ERR_NOMEM;
    *number = (uint32_t)k->key_count;
    k->keys[k->key_count++] = *key;
    return ct_pair_map_put(&k->numbers, key->addr, key->program, *number);
}

/* Finds or makes the key of a function of the stacks. CT_ERR_NOMEM. */
static int find_key(struct ct_report_kept *k, const struct ct_stacks *stacks,
                    const struct ct_program_place *places, uint32_t function, uint32_t *number)
{
    size_t at;
    struct ct_report_key key = {.program = CT_STACK_NONE, .addr = UINT64_MAX};
    const struct ct_symbol *symbol = ct_stacks_symbol(stacks, function, &at);
    if (symbol) {
        const struct ct_program_place *place = &places[at];
        const int rc = find_program(k, place->program, &key.program);
        if (rc)
            return rc;
        key.addr = symbol->addr + place->shift - (place->program ? place->program->bias : 0);
    }
    *number = ct_pair_map_get(&k->numbers, key.addr, key.program);
    return *number == CT_PAIR_NONE ? add_key(k, &key, number) : CT_OK;
}

/* Replaces the functions in the trees by the numbers of their keys. CT_ERR_NOMEM. */
static int name_functions(struct ct_report_kept *k, const struct ct_stacks *stacks,
                          const struct ct_program_place *places, struct ct_report_threads *threads)
{
    struct ct_pair_map numbers = {0};
    int rc = CT_OK;
    for (size_t i = 0; i < threads->count; i++)
        for (size_t p = 0; p < threads->threads[i].place_count && !rc; p++) {
            struct ct_stack_place *place = &threads->threads[i].places[p];
            uint32_t number = ct_pair_map_get(&numbers, place->function, 0);
            if (number == CT_PAIR_NONE) {
                rc = find_key(k, stacks, places, place->function, &number);
                rc = rc ? rc : ct_pair_map_put(&numbers, place->function, 0, number);
            }
            place->function = number;
        }
    ct_pair_map_free(&numbers);
    return rc;
}

/* ---- threads ---- */

/* Removes the thread with the least time. */
static void drop_least(struct ct_report_threads *threads)
{
    size_t least = 0;
    for (size_t i = 1; i < threads->count; i++)
        if (threads->threads[i].weight < threads->threads[least].weight)
            least = i;
    free(threads->threads[least].places);
    threads->count--;
    for (size_t i = least; i < threads->count; i++)
        threads->threads[i] = threads->threads[i + 1];
    threads->left_out++;
}

/* Moves the threads of `from` to the end of `into`. CT_ERR_NOMEM. */
static int move_threads(struct ct_report_threads *into, struct ct_report_threads *from)
{
    const size_t count = into->count + from->count;
    struct ct_report_thread *threads = realloc(into->threads, (count + 1) * sizeof *threads);
    if (!threads)
        return CT_ERR_NOMEM;
    into->threads = threads;
    for (size_t i = 0; i < from->count; i++)
        threads[into->count + i] = from->threads[i];
    into->count = count;
    into->left_out += from->left_out;
    from->count = 0;
    while (into->count > CT_REPORT_THREADS)
        drop_least(into);
    return CT_OK;
}

int ct_report_kept_add(struct ct_report_kept *k, const struct ct_stacks *stacks,
                       const struct ct_program_place *places, const uint32_t *stream_of, bool cycles)
{
    struct ct_report_threads threads = {0};
    int rc = ct_report_threads_make(stacks, stream_of, cycles, &threads);
    if (!rc)
        rc = name_functions(k, stacks, places, &threads);
    if (!rc)
        rc = move_threads(&k->threads, &threads);
    ct_report_threads_free(&threads);
    return rc;
}

void ct_report_kept_free(struct ct_report_kept *k)
{
    ct_report_threads_free(&k->threads);
    ct_pair_map_free(&k->numbers);
    free(k->keys);
    free(k->programs);
    *k = (struct ct_report_kept){0};
}
