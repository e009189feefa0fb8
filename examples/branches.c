/* SPDX-License-Identifier: Apache-2.0 */
/* Counts branches per function, with a session: how many conditional branches ran in each function, and how
 * many of them were taken.
 *
 *     branches CAPTURE [PROGRAM]...
 *
 * Names of functions come from the ELF files that the capture names, and from PROGRAM. The session decodes
 * the trace to steps, finds the programs, and counts what was lost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coretap/program.h>
#include <coretap/programs.h>
#include <coretap/session.h>

struct function {
    const char *name; /* owned by the programs */
    uint64_t ran, taken;
};

struct counts {
    struct ct_programs *programs;
    struct function *all;
    size_t count;
};

static int add(struct counts *counts, const char *name, int taken)
{
    size_t i = 0;
    while (i < counts->count && strcmp(counts->all[i].name, name) != 0)
        i++;
    if (i == counts->count) {
        struct function *all = realloc(counts->all, (i + 1) * sizeof *all);
        if (!all)
            return CT_ERR_NOMEM;
        all[i] = (struct function){.name = name};
        counts->all = all;
        counts->count++;
    }
    counts->all[i].ran++;
    counts->all[i].taken += taken ? 1 : 0;
    return CT_OK;
}

/* Counts the branches of some steps. A step leaves a node of the program graph, which ends with a branch. */
static int take(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct counts *counts = user;
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &count);
    const struct ct_edge *edges = ct_graph_edges(batch->graph, &count);
    (void)stream;
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_edge *edge = &edges[batch->edge[i]];
        const struct ct_node *node = &nodes[edge->from];
        struct ct_program_where where;
        if (node->type != CT_INSN_BR || !node->cond)
            continue;
        int rc = ct_programs_where(counts->programs, node->last, &where);
        if (!rc)
            rc = add(counts, where.function ? where.function : CT_SYMBOL_UNKNOWN, edge->exec);
        if (rc)
            return rc;
    }
    return CT_OK;
}

static int run(struct ct_ctx *ctx, struct counts *counts, const struct ct_capture *capture)
{
    const struct ct_session_options options = {
        .size = sizeof options, .programs = counts->programs, .user = counts, .steps = take};
    struct ct_session *session;
    int rc = ct_session_new(ctx, &options, &session);
    if (rc)
        return rc;
    rc = ct_session_run(session, capture, capture->buffers, capture->buffer_count);
    if (!rc)
        printf("%" PRIu64 " instructions, %" PRIu64 " gaps\n", ct_session_seen(session)->instructions,
               ct_session_seen(session)->losses.gaps);
    ct_session_free(session);
    return rc;
}

static int add_programs(struct ct_programs *programs, const struct ct_capture *capture, char **names)
{
    int rc = CT_OK;
    for (; *names && !rc; names++)
        rc = ct_programs_add(programs, *names, NULL, capture, NULL);
    return rc ? rc : ct_programs_add_capture(programs, capture);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: branches CAPTURE [PROGRAM]...\n");
        return 2;
    }
    const struct ct_programs_options options = {.size = sizeof options};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct counts counts = {0};
    int rc = ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_NOMEM;
    if (!rc)
        rc = ct_programs_new(ctx, &options, &counts.programs);
    if (!rc)
        rc = add_programs(counts.programs, capture, argv + 2);
    if (!rc)
        rc = run(ctx, &counts, capture);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    for (size_t i = 0; i < counts.count && !rc; i++)
        printf("%s: %" PRIu64 " conditional branches, %" PRIu64 " taken\n", counts.all[i].name,
               counts.all[i].ran, counts.all[i].taken);
    free(counts.all);
    ct_programs_free(counts.programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
