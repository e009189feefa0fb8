/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/counts.h"

#include "cli/missing.h"

#include "base/ctx.h"
#include "report/losses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a capture ---- */

static int on_bytes(void *user, uint64_t bytes)
{
    struct cli_counts *c = user;
    cli_progress_update(&c->capture.progress, bytes);
    return 0;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct cli_counts *c = user;
    return c->steps(c->user, stream, batch);
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct cli_counts *c = user;
    cli_capture_tell_frames(&c->capture, chain);
    if (!cli_ran_add(&c->ran, c->capture.capture, buffer, chain, c->programs))
        return ct_tell_nomem(c->args->ctx, "programs", CT_ERR_NOMEM);
    const int rc = c->decoded ? c->decoded(c->user, buffer, chain) : CT_OK;
    memset(c->lanes, 0, sizeof c->lanes);
    return rc;
}

uint32_t cli_counts_lane(struct cli_counts *c, uint8_t id)
{
    if (!c->lanes[id])
        c->lanes[id] = ++c->lane_count;
    return c->lanes[id] - 1;
}

static int run_session(struct cli_counts *c)
{
    const struct ct_chain_options chain = cli_capture_chain_options(&c->capture, CT_LEVEL_STEPS);
    const struct ct_session_options options = {.size = sizeof options,
                                               .programs = c->programs,
                                               .threads = c->threads,
                                               .ids = {chain.ids[0], chain.ids[1]},
                                               .user = c,
                                               .progress = on_bytes,
                                               .steps = c->steps ? on_steps : NULL,
                                               .decoded = on_decoded,
                                               .filter = cli_filter_of(&c->filter)};
    struct ct_session *session = NULL;
    int rc = ct_session_new(c->args->ctx, &options, &session);
    if (!rc)
        rc = ct_session_add(session, ct_cover_analysis(c->cover));
    if (!rc)
        rc = ct_session_run(session, c->capture.capture, c->capture.buffers, c->capture.count);
    if (!rc) {
        c->capture.seen = *ct_session_seen(session);
        ct_sieve_seen_add(&c->filter.seen, ct_session_sieved(session));
    }
    ct_session_free(session);
    return rc ? cli_library_error(c->args->ctx) : CLI_CLEAN;
}

/* Opens the capture, and makes the programs those that are known before it is decoded. */
static bool open_capture(struct cli_counts *c, const char *path)
{
    if (c->has_capture)
        cli_capture_close(&c->capture);
    c->has_capture = cli_capture_open_path(&c->capture, c->args, path);
    return c->has_capture && cli_programs_of(c->programs, c->args, c->elf, &c->capture);
}

static int read_capture(struct cli_counts *c, const char *path)
{
    if (!open_capture(c, path))
        return CLI_FAILED;
    const bool by_memory = ct_programs_by_memory(c->capture.capture);
    if (!by_memory && !cli_programs_any(c->programs, path)) {
        if (c->capture.capture->missing_count && run_session(c) != CLI_FAILED)
            cli_missing_tell(&c->capture); /* in which of them the trace lies */
        return CLI_FAILED;
    }
    if (run_session(c) == CLI_FAILED || (by_memory && !cli_programs_any(c->programs, path)))
        return CLI_FAILED;
    return cli_capture_code_or_empty(&c->capture, CLI_CLEAN);
}

/* ---- coverage files ---- */

/* Says what was lost of the captures that a coverage file is of, and gives the exit
 * code, as cli_capture_code does. */
static int tell_captures(const struct cli_counts *c, const char *path, const struct ct_analysis_captures *all)
{
    char words[CT_LOSSES_WORDS];
    const bool partial = all->losses.overflows || all->losses.no_access || all->unknown;
    const bool damaged = all->damaged || (partial && c->args->values[CLI_CAPTURE_STRICT].given);
    const bool tells = damaged || !c->args->quiet;
    if (tells && ct_losses_any(&all->losses))
        cli_say("%s: losses: %s", path, ct_losses_words(words, &all->losses));
    if (tells && all->damaged && !ct_losses_damaged(&all->losses))
        cli_say("%s: %" PRIu64 " of the %" PRIu64 " captures that it is of were not whole", path,
                all->damaged, all->known);
    if (tells && all->unknown)
        cli_say("%s: what was lost is not known of %" PRIu64
                " coverage files of version 1 in it; write them anew from "
                "their captures with 'coretap cover --format data'",
                path, all->unknown);
    return damaged ? CLI_DAMAGED : CLI_CLEAN;
}

static int read_file(struct cli_counts *c, const char *path)
{
    struct ct_cover *file;
    if (ct_cover_new(c->args->ctx, &file) != CT_OK)
        return cli_library_error(c->args->ctx);
    int code = CLI_FAILED;
    if (cli_filter_refuse(&c->filter, c->args, "context",
                          "a coverage file has counts of whole captures, by context") &&
        cli_cover_read(c->args->ctx, file, path)) {
        const bool added = ct_analysis_merge(ct_cover_analysis(c->cover), ct_cover_analysis(file)) == CT_OK;
        code = added ? tell_captures(c, path, &ct_cover_analysis(file)->captures)
                     : cli_library_error(c->args->ctx);
    }
    ct_cover_free(file);
    return code;
}

/* ---- all operands ---- */

/* Whether one of the programs is what counts know by this number. */
static bool has_program(struct cli_counts *c, uint32_t number)
{
    for (size_t i = 0; i < ct_programs_count(c->programs); i++) {
        uint32_t other;
        if (ct_cover_number(c->cover, ct_programs_at(c->programs, i), &other) == CT_OK && other == number)
            return true;
    }
    return false;
}

/* The programs of coverage files are read from where the files name them. One that is not there is told of;
 * that nothing is there at all is an error. */
static int find_programs(struct cli_counts *c)
{
    const size_t count = ct_cover_programs(c->cover);
    for (uint32_t i = 0; i < count; i++) {
        const struct ct_cover_program program = ct_cover_program_at(c->cover, i);
        const bool here = access(program.name, R_OK) == 0;
        const bool last = i + 1 == count && !ct_programs_count(c->programs);
        if (has_program(c, i))
            continue;
        if (!here && !last && !c->args->quiet)
            cli_say("%s: is not there; its counts are left out. Name the program with --elf", program.name);
        struct ct_program *added = NULL;
        if ((here || last) && ct_programs_add(c->programs, program.name, NULL, NULL, &added) != CT_OK)
            return cli_library_error(c->args->ctx);
        if (added) {
            added->started = (uint8_t)program.started;
            added->named = 0; /* nobody did */
        }
    }
    return CLI_CLEAN;
}

/* Programs that were named may not be those that were counted. */
static int check_programs(struct cli_counts *c)
{
    const size_t known = ct_cover_programs(c->cover);
    for (size_t i = 0; i < ct_programs_count(c->programs); i++) {
        uint32_t number;
        if (ct_cover_number(c->cover, ct_programs_at(c->programs, i), &number) != CT_OK)
            return cli_library_error(c->args->ctx);
    }
    if (ct_cover_programs(c->cover) != known)
        cli_say("%s: has no counts of one of the programs, or counts of another build of it; they stay zero",
                c->args->operand);
    return CLI_CLEAN;
}

static bool is_named(const struct cli_counts *c)
{
    for (size_t i = 0; i < c->args->list_count; i++)
        if (c->args->list[i].option == c->elf)
            return true;
    return false;
}

static bool start(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    c->args = args;
    c->elf = elf;
    if (ct_cover_new(args->ctx, &c->cover) == CT_OK)
        return cli_programs_new(&c->programs, args, NULL);
    cli_library_error(args->ctx);
    return false;
}

int cli_counts_read(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    int worst = start(c, args, elf) ? CLI_CLEAN : CLI_FAILED;
    bool files = false;
    for (int i = 0; i < args->rest_count && worst != CLI_FAILED; i++) {
        const char *path = args->rest[i];
        const bool is_file = cli_cover_is_file(path);
        const int code = is_file ? read_file(c, path) : read_capture(c, path);
        files |= is_file;
        worst = code > worst ? code : worst;
    }
    c->kept_nothing = !files && worst != CLI_FAILED && cli_filter_kept_nothing(&c->filter, args, &c->ran);
    if (c->kept_nothing)
        return CLI_DAMAGED;
    if (!files || worst == CLI_FAILED)
        return worst;
    if (is_named(c) ? !c->has_capture && !cli_programs_of(c->programs, args, elf, NULL)
                    : find_programs(c) == CLI_FAILED)
        return CLI_FAILED;
    return check_programs(c) == CLI_FAILED ? CLI_FAILED : worst;
}

/* ---- a chain that others run ---- */

int cli_counts_open(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    return start(c, args, elf) && open_capture(c, args->operand) &&
                   cli_programs_any(c->programs, args->operand)
               ? CLI_CLEAN
               : CLI_FAILED;
}

int cli_counts_take(struct cli_counts *c, const struct ct_chain *chain)
{
    ct_cover_free(c->cover);
    c->cover = NULL;
    int rc = ct_cover_new(c->args->ctx, &c->cover);
    if (!rc)
        rc = ct_session_give(ct_cover_analysis(c->cover), c->programs, chain);
    if (rc) { /* counts of a part of the trace are none */
        ct_cover_free(c->cover);
        c->cover = NULL;
    }
    return rc ? cli_library_error(c->args->ctx) : CLI_CLEAN;
}

struct ct_analysis_captures cli_counts_captures(const struct cli_counts *c)
{
    const struct ct_analysis_captures all = ct_cover_analysis(c->cover)->captures;
    if (all.known || all.unknown || !c->has_capture)
        return all;
    return (struct ct_analysis_captures){
        .known = 1, .damaged = cli_capture_is_damaged(&c->capture, false), .losses = c->capture.seen.losses};
}

void cli_counts_close(struct cli_counts *c)
{
    cli_filter_free(&c->filter);
    if (c->has_capture)
        cli_capture_close(&c->capture);
    ct_programs_free(c->programs);
    ct_cover_free(c->cover);
}

/* ---- reports ---- */

bool cli_counts_is_first(struct cli_counts *c, struct ct_program *p)
{
    uint32_t number = 0;
    uint32_t other = 0;
    (void)ct_cover_number(c->cover, p, &number); /* all are in the counts */
    for (size_t i = 0; ct_programs_at(c->programs, i) != p; i++)
        if (ct_cover_number(c->cover, ct_programs_at(c->programs, i), &other) == CT_OK && other == number)
            return false;
    return true;
}

/* Captures were filtered already; of coverage files the counts of other contexts are still there. */
static bool in_context(const struct cli_counts *c, const struct ct_edge_context *context)
{
    const struct ct_filter *filter = &c->filter.filter;
    bool found = filter->context_count == 0;
    for (size_t i = 0; i < filter->context_count && !found; i++)
        found = context->known & CT_CONTEXT_CTXT && context->ctxt == filter->contexts[i] && !context->others;
    return found;
}

int cli_counts_items(struct cli_counts *c, struct ct_program *p, struct ct_cover_item **items, size_t *count)
{
    uint32_t program;
    int result = ct_cover_number(c->cover, p, &program);
    if (result != CT_OK)
        return result;
    if (!c->filter.filter.context_count)
        return ct_cover_items(c->cover, program, CT_EDGES_ALL, items, count);
    struct ct_cover *chosen;
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(c->cover, &contexts);
    result = ct_cover_new(c->args->ctx, &chosen);
    if (result != CT_OK)
        return result;
    struct ct_cover_program id = ct_cover_program_at(c->cover, program);
    uint32_t number = 0;
    result = ct_cover_program(chosen, &id, &number);
    for (size_t i = 0; i < contexts && result == CT_OK; i++) {
        struct ct_cover_item *some = NULL;
        size_t n = 0;
        if (!in_context(c, &all[i]))
            continue;
        result = ct_cover_items(c->cover, program, i, &some, &n);
        for (size_t k = 0; result == CT_OK && k < n; k++)
            result = ct_cover_add_item(chosen, number, &all[i], &some[k]);
        free(some);
    }
    if (result == CT_OK)
        result = ct_cover_items(chosen, number, CT_EDGES_ALL, items, count);
    ct_cover_free(chosen);
    return result;
}

/* The architecture of the first core of the capture; of a newest A profile without a capture. */
static struct ct_arch arch_of(const struct cli_counts *c)
{
    struct ct_arch arch = {0};
    for (size_t i = 0; c->has_capture && i < c->capture.count; i++)
        if (c->capture.buffers[i].source_count)
            return c->capture.buffers[i].sources[0].arch;
    (void)ct_arch_by_name("ARM-AA64", &arch);
    return arch;
}

static int source_of(const struct cli_counts *c, struct ct_program *p, struct ct_cover_source *source)
{
    *source = (struct ct_cover_source){
        .size = sizeof *source, .arch = arch_of(c), .all_functions = c->all_functions};
    int rc = ct_program_symbols(p, &source->symbols);
    if (!rc)
        rc = ct_program_lines(p, &source->lines);
    return rc ? rc : ct_program_memory(p, &source->memory);
}

bool cli_counts_report(struct cli_counts *c, struct ct_program *p, struct ct_cover_source *source,
                       struct ct_cover_report **report)
{
    struct ct_cover_item *items;
    size_t count;
    int result = source_of(c, p, source);
    if (result == CT_OK)
        result = cli_counts_items(c, p, &items, &count);
    if (result == CT_OK) {
        result = ct_cover_report_new(c->args->ctx, source, items, count, report);
        free(items);
    }
    if (result != CT_OK)
        cli_library_error(c->args->ctx);
    return result == CT_OK;
}

/* The sums of one context, unless nothing of the program ran in it. */
static int sum_context(struct cli_counts *c, struct ct_program *p, size_t context, struct ct_cover_sums *sums,
                       bool *ran)
{
    struct ct_cover_source source;
    struct ct_cover_report *report;
    struct ct_cover_item *items = NULL;
    uint32_t number;
    size_t count = 0;
    *ran = false;
    int result = source_of(c, p, &source);
    if (result == CT_OK)
        result = ct_cover_number(c->cover, p, &number);
    if (result == CT_OK)
        result = ct_cover_items(c->cover, number, context, &items, &count);
    if (result != CT_OK || count == 0) {
        free(items);
        return result;
    }
    result = ct_cover_report_new(c->args->ctx, &source, items, count, &report);
    free(items);
    if (result != CT_OK)
        return result;
    *sums = report->sums;
    *ran = true;
    ct_cover_report_free(report);
    return CT_OK;
}

static int by_who(const void *a, const void *b)
{
    const struct ct_cover_context *x = a;
    const struct ct_cover_context *y = b;
    return ct_edge_context_order(&x->context, &y->context);
}

bool cli_counts_contexts(struct cli_counts *c, struct ct_program *p, struct ct_cover_context **out,
                         size_t *count)
{
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(c->cover, &contexts);
    struct ct_cover_context *rows = calloc(contexts + 1, sizeof *rows);
    int result = CT_OK;
    *out = rows;
    *count = 0;
    if (!rows) {
        cli_no_memory();
        return false;
    }
    for (size_t i = 0; i < contexts && result == CT_OK; i++) {
        bool ran = false;
        if (in_context(c, &all[i]))
            result = sum_context(c, p, i, &rows[*count].sums, &ran);
        if (ran)
            rows[(*count)++].context = all[i];
    }
    qsort(rows, *count, sizeof *rows, by_who);
    if (result != CT_OK)
        cli_library_error(c->args->ctx);
    return result == CT_OK;
}
