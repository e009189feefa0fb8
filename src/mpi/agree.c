/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the ranks before a job begins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "mpi/hello.h"
#include "mpi/inputs.h"
#include "mpi/ranks.h"

static void describe(const struct ct_ranks *r, struct ct_hello *hello)
{
    const uint32_t number = 0x01020304;
    const struct cli_fleet *f = r->fleet;
    memset(hello, 0, sizeof *hello);
    hello->words = hello->captures = CT_FNV_BEGIN;
    memcpy(hello->order, &number, sizeof hello->order);
    snprintf(hello->version, sizeof hello->version, "%s", ct_version_exact());
    snprintf(hello->host, sizeof hello->host, "%.*s", (int)sizeof hello->host - 1, r->host);
    for (size_t i = 1; f->words && f->words[i]; i++)
        hello->words = ct_fnv(hello->words, f->words[i], strlen(f->words[i]) + 1);
    for (int i = 0; i < f->inner.rest_count; i++)
        hello->words = ct_fnv(hello->words, f->inner.rest[i], strlen(f->inner.rest[i]) + 1);
    for (size_t i = 0; i < ct_manifest_count(f->manifest); i++) {
        const struct ct_fleet_capture *capture = ct_manifest_at(f->manifest, i);
        hello->captures = ct_fnv(hello->captures, capture->digest, CT_FLEET_DIGEST);
        hello->captures = ct_fnv(hello->captures, capture->path, strlen(capture->path) + 1);
    }
}

/* ---- files that are read besides captures ---- */

/* Returns the value of an option of the command that makes pieces; NULL: not given. */
static const char *inner_text(const struct cli_args *args, const char *name)
{
    for (size_t i = 0; i < args->command->option_count; i++)
        if (args->values[i].given && !strcmp(args->command->options[i].name, name))
            return args->values[i].text;
    return NULL;
}

static bool list_inputs(const struct ct_ranks *r, struct ct_inputs *inputs)
{
    const struct cli_args *inner = &r->fleet->inner;
    const char *folders[CLI_PATHS_MAX + 2] = {NULL};
    const size_t count = inner->symdirs.count;
    memcpy(folders, inner->symdirs.paths, count * sizeof *folders);
    folders[count] = inner_text(inner, "buildid-dir");
    if (!ct_fleet_job_files(r->fleet->job, folders, inner_text(inner, "symfs"), ct_inputs_add, inputs))
        return true;
    cli_say("rank %d on %s: out of memory for the list of files that the options name; the job ends", r->rank,
            r->host);
    return false;
}

static void say(void *user, const char *words)
{
    (void)user;
    cli_say("%s", words);
}

/* Receives the list of a rank, and prints how it differs from that of rank 0. */
static void compare_inputs(const struct ct_ranks *r, const struct ct_inputs *inputs, int rank,
                           const char *host)
{
    struct ct_inputs other = {0};
    uint64_t size;
    ranks_receive(&size, sizeof size, rank, RANKS_SIZE);
    other.data = malloc(size + 1);
    if (!other.data) {
        cli_no_memory();
        MPI_Abort(MPI_COMM_WORLD, CLI_FAILED); /* the sender waits until its list is received */
        return;
    }
    other.size = other.room = size;
    ranks_receive(other.data, size, rank, RANKS_SUM);
    ct_inputs_compare(inputs, (struct ct_inputs_rank){0, r->host}, &other,
                      (struct ct_inputs_rank){rank, host}, say, NULL);
    free(other.data);
}

/* Sends the list of a rank to rank 0. */
static void send_inputs(const struct ct_inputs *inputs)
{
    const uint64_t size = inputs->size;
    ranks_send(&size, sizeof size, 0, RANKS_SIZE);
    ranks_send(inputs->data, inputs->size, 0, RANKS_SUM);
}

/* Returns whether all ranks read the same files. `all` has the hellos of all ranks, on rank 0. */
static bool inputs_agree(const struct ct_ranks *r, const struct ct_hello *all, uint64_t mine,
                         const struct ct_inputs *inputs)
{
    uint64_t first = mine;
    bool same = true;
    for (int i = 1; all && i < r->count; i++)
        same = same && all[i].inputs == mine;
    if (ranks_all(same))
        return true;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (r->rank && mine != first)
        send_inputs(inputs);
    for (int i = 1; all && i < r->count; i++)
        if (all[i].inputs != mine)
            compare_inputs(r, inputs, i, all[i].host);
    return false;
}

/* ---- all comparisons ---- */

/* Returns whether the hellos of all ranks agree. Prints which ones differ. */
static bool hellos_agree(const struct ct_ranks *r, const struct ct_hello *all)
{
    bool same = true;
    for (int i = 0; i < r->count && all; i++) {
        char why[CT_HELLO_WHY];
        if (!ct_hello_differs(&all[0], &all[i], i, why))
            continue;
        cli_say("%s", why);
        same = false;
    }
    return ranks_all(same);
}

bool ranks_agree(const struct ct_ranks *r)
{
    struct ct_hello mine, *all = r->rank ? NULL : calloc((size_t)r->count, sizeof *all);
    struct ct_inputs inputs = {0};
    describe(r, &mine);
    uint8_t ready = list_inputs(r, &inputs) && (r->rank || all), every;
    mine.inputs = ct_inputs_sum(&inputs);
    MPI_Allreduce(&ready, &every, 1, MPI_UINT8_T, MPI_MIN, MPI_COMM_WORLD);
    if (every) {
        MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
        every = hellos_agree(r, all) && inputs_agree(r, all, mine.inputs, &inputs);
    }
    free(inputs.data);
    free(all);
    return every;
}
