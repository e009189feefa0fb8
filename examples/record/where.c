/* Where the time of a recorded program went: cycles and instructions of its functions.
 *
 *   where CAPTURE PROGRAM     a capture with cycle counts, and the ELF file of the program */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <coretap/decode.h>
#include <coretap/input.h>
#include <coretap/program.h>

#define OPEN  4096 /* greatest number of ranges between two cycle counts */
#define LINES 10

struct function {
    const char *name;
    uint64_t instructions;
    double cycles;
};

struct account {
    struct ct_symbols *symbols;
    const struct ct_symbol *first; /* all symbols … */
    size_t count;
    struct function *functions; /* … with their totals, and one more for code outside of all */
    struct {
        struct function *function;
        uint32_t n;
    } open[OPEN]; /* ranges since the last cycle count */
    size_t opened;
    uint64_t opened_instructions;
    uint64_t instructions, cycles;
};

static void add_range(struct account *a, const struct ct_flow *range)
{
    const struct ct_symbol *symbol = ct_symbols_at(a->symbols, range->start, NULL);
    struct function *function = &a->functions[symbol ? (size_t)(symbol - a->first) : a->count];
    function->instructions += range->n;
    a->instructions += range->n;
    if (a->opened == OPEN)
        return;
    a->open[a->opened].function = function;
    a->open[a->opened++].n = range->n;
    a->opened_instructions += range->n;
}

/* Distributes a cycle count over all ranges since the last one, in proportion to their instructions. */
static void add_cycles(struct account *a, uint64_t cycles)
{
    a->cycles += cycles;
    for (size_t i = 0; i < a->opened; i++)
        a->open[i].function->cycles += (double)cycles * a->open[i].n / (double)a->opened_instructions;
    a->opened = 0;
    a->opened_instructions = 0;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct account *a = user;
    (void)stream;
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_flow *record = &batch->records[i];
        if (record->kind == CT_FLOW_RANGE)
            add_range(a, record);
        else if (record->kind == CT_FLOW_ELEM && record->elem.kind == CT_ELEM_CYCLES)
            add_cycles(a, record->elem.v);
    }
    return 0;
}

static int decode(struct ct_ctx *ctx, const struct ct_buffer *buffer, struct account *a)
{
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_FLOW};
    const struct ct_chain_sink sink = {.user = a, .flow = on_flow};
    struct ct_chain *chain;
    int rc = ct_chain_new(ctx, buffer, &options, &sink, &chain);
    if (rc)
        return rc;
    rc = ct_chain_run(chain);
    ct_chain_free(chain);
    return rc;
}

static int by_cycles(const void *x, const void *y)
{
    const struct function *a = x, *b = y;
    return a->cycles < b->cycles ? 1 : -(a->cycles > b->cycles);
}

static void print(struct account *a)
{
    qsort(a->functions, a->count + 1, sizeof *a->functions, by_cycles);
    printf("  time  cycles  instructions  function\n");
    for (size_t i = 0; i <= a->count && i < LINES && a->functions[i].instructions; i++) {
        const struct function *f = &a->functions[i];
        printf("%5.1f%% %7.0f %13" PRIu64 "  %s\n", 100 * f->cycles / (a->cycles ? (double)a->cycles : 1),
               f->cycles, f->instructions, f->name);
    }
    printf("%5.1f%% %7" PRIu64 " %13" PRIu64 "  in all\n", 100.0, a->cycles, a->instructions);
}

int main(int argc, char **argv)
{
    static struct account a;
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    int rc = argc == 3 && ctx ? ct_symbols_load(ctx, argv[2], 0, &a.symbols) : CT_ERR_ARG;
    if (!rc) {
        a.first = ct_symbols_all(a.symbols, &a.count);
        a.functions = calloc(a.count + 1, sizeof *a.functions);
        rc = a.functions ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_NOMEM;
    }
    for (size_t i = 0; !rc && i <= a.count; i++)
        a.functions[i].name = i < a.count ? a.first[i].name : "(no function)";
    for (size_t i = 0; !rc && i < capture->buffer_count; i++)
        rc = decode(ctx, &capture->buffers[i], &a);
    if (!rc)
        print(&a);
    else
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "no context");
    ct_capture_free(capture);
    free(a.functions);
    ct_symbols_free(a.symbols);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
