/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/counts.h"

#include "cli/branch_lists.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- all operands ---- */

bool cli_counts_has_program(struct ct_cover *cover, struct ct_programs *programs, uint32_t number)
{
    for (size_t i = 0; i < ct_programs_count(programs); i++) {
        uint32_t other;
        if (ct_cover_number(cover, ct_programs_at(programs, i), &other) == CT_OK && other == number)
            return true;
    }
    return false;
}

/* Reports that the file of a program is missing, and what the result lacks without it. */
static void tell_missing(const struct cli_counts *c, const char *program)
{
    if (!c->read.args->quiet)
        cli_say("%s: the program was not found; %s; name the program with --elf", program,
                c->names_suffice ? "code that ran in it has no source lines" : "its counts are left out");
}

/* Finds the programs of saved files at the paths given there. Reports a missing one. Fails when all are
 * missing, unless their names suffice. */
static int find_programs(struct cli_counts *c)
{
    const size_t count = ct_cover_programs(c->cover);
    for (uint32_t i = 0; i < count; i++) {
        const struct ct_program_identity program = ct_cover_program_at(c->cover, i);
        const bool here = cli_programs_is_there(program.name);
        const bool last = i + 1 == count && !ct_programs_count(c->read.programs) && !c->names_suffice;
        if (cli_counts_has_program(c->cover, c->read.programs, i))
            continue;
        if (!here && !last)
            tell_missing(c, program.name);
        struct ct_program *added = NULL;
        if ((here || last) && ct_programs_add(c->read.programs, program.name, NULL, NULL, &added) != CT_OK)
            return cli_library_error(c->read.args->ctx);
        if (added) {
            added->started = (uint8_t)program.started;
            added->named = 0; /* not by the user */
        }
    }
    return CLI_CLEAN;
}

/* Gives each program a number in the counts, also one without counts. */
static int number_programs(struct cli_counts *c)
{
    uint32_t number;
    for (size_t i = 0; i < ct_programs_count(c->read.programs); i++)
        if (ct_cover_number(c->cover, ct_programs_at(c->read.programs, i), &number) != CT_OK)
            return cli_library_error(c->read.args->ctx);
    return CLI_CLEAN;
}

static bool is_named(const struct cli_counts *c)
{
    for (size_t i = 0; i < c->read.args->list_count; i++)
        if (c->read.args->list[i].option == c->read.elf)
            return true;
    return false;
}

/* Adds a branch list, for commands that take nothing but counts. */
static int read_branch_list(void *user, const char *path)
{
    return cli_branch_lists_is_file(path) ? cli_branch_lists_count(user, path) : -1;
}

static bool start(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    c->read.args = args;
    c->read.elf = elf;
    c->read.needs_program = true;
    if (!c->read.file_why) {
        c->read.file_option = "context";
        c->read.file_why = "a coverage file has only the sums of whole captures, for each context";
    }
    if (ct_cover_new(args->ctx, &c->cover) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    c->read.analysis = ct_cover_analysis(c->cover);
    if (!c->read.user) {
        c->read.user = c;
        c->read.other = read_branch_list;
    }
    return cli_programs_new(&c->read.programs, args, NULL);
}

int cli_counts_find(struct cli_counts *c, int code)
{
    const struct cli_results *r = &c->read;
    if (!r->has_file || code == CLI_FAILED || r->kept_nothing)
        return code;
    if (!is_named(c))
        return find_programs(c) == CLI_FAILED ? CLI_FAILED : code;
    if (!r->has_capture && !cli_programs_of(r->programs, r->args, r->elf, NULL))
        return CLI_FAILED;
    return number_programs(c) == CLI_FAILED ? CLI_FAILED : code;
}

int cli_counts_read(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    const bool begun = start(c, args, elf) && (!c->begun || c->begun(c->read.user));
    return cli_counts_find(c, begun ? cli_results_read(&c->read) : CLI_FAILED);
}

/* ---- a chain that the caller runs ---- */

int cli_counts_open(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    return start(c, args, elf) && cli_results_open(&c->read, args->operand) &&
                   cli_programs_any(c->read.programs, args, &c->read.capture)
               ? CLI_CLEAN
               : CLI_FAILED;
}

void cli_counts_lend(struct cli_counts *c, struct ct_cover *cover)
{
    if (!c->lent)
        ct_cover_free(c->cover);
    c->lent = true;
    c->cover = cover;
    c->read.analysis = cover ? ct_cover_analysis(cover) : NULL;
}

void cli_counts_tell_captures(struct cli_counts *c)
{
    struct ct_analysis *all = ct_cover_analysis(c->cover);
    const struct ct_analysis_captures one = {.known = 1,
                                             .damaged = cli_capture_is_damaged(&c->read.capture, false),
                                             .losses = c->read.capture.seen.losses};
    if (!all->captures.known && !all->captures.unknown && c->read.has_capture && !c->read.shard)
        ct_analysis_add_captures(all, &one);
}

/* Reports what ran outside of all programs. `of` are more words on the result, and `programs` (may be NULL)
 * give names to code in no program. */
static void tell_outside(const char *operand, const struct ct_cover *cover, struct ct_programs *programs,
                         const char *result, const char *of)
{
    const struct ct_cover_share *share = ct_cover_ran(cover);
    const uint64_t sum = ct_holes_total(&share->outside);
    char text[CT_RAN_WORDS];
    if (!sum)
        return;
    ct_holes_words(text, &share->outside, NULL, programs, "instruction", "instructions");
    cli_say("%s: %s incomplete: %" PRIu64 " of %" PRIu64
            " instructions%s ran outside the known programs, in %s%s; %s",
            operand, result, sum, share->ran, of, text,
            share->untold ? ", and coverage files older than version 4 do not record such instructions" : "",
            ct_holes_are_named(&share->outside, programs)
                ? "that code is in no program's file, so it has no coverage"
                : "name their program with --elf FILE[@HEX], or see 'coretap list' for code that was "
                  "generated at run time");
}

void cli_counts_tell_outside(const struct cli_counts *c, const char *result)
{
    const bool all = c->read.has_file && c->read.filter.filter.context_count;
    if (!c->read.args->quiet)
        tell_outside(c->read.args->operand, c->cover, c->read.programs, result,
                     all ? " of all contexts" : "");
}

static bool has_counts(const struct cli_counts *c, struct ct_program *program)
{
    struct ct_cover_item *items = NULL;
    size_t count = 0;
    uint32_t number;
    if (ct_cover_number(c->cover, program, &number) == CT_OK &&
        ct_cover_items(c->cover, number, CT_EDGES_ALL, &items, &count) == CT_OK)
        free(items);
    return count > 0;
}

int cli_counts_tell_unrun(const struct cli_counts *c)
{
    struct ct_programs *programs = c->read.programs;
    size_t contexts; /* a context exists only with counts */
    (void)ct_cover_contexts(c->cover, &contexts);
    size_t named = 0;
    size_t unrun = 0;
    for (size_t i = 0; i < ct_programs_count(programs) && ct_programs_at(programs, i)->named; i++) {
        named++;
        unrun += !has_counts(c, ct_programs_at(programs, i));
    }
    if (c->read.shard || (!contexts && !ct_cover_ran(c->cover)->ran) || !unrun ||
        (c->read.args->quiet && unrun < named))
        return CLI_CLEAN;
    for (size_t i = 0; i < named; i++)
        if (!has_counts(c, ct_programs_at(programs, i)))
            cli_say("%s: none of its code ran; its counts are 0; if it did run, name the build that ran, "
                    "with its load address where the capture does not give it (--elf FILE@HEX)",
                    ct_programs_at(programs, i)->path);
    return unrun < named ? CLI_CLEAN : CLI_DAMAGED;
}

void cli_outside_tell_sum(const char *operand, const struct ct_analysis *sum)
{
    if (sum->kind == ct_cover_kind())
        tell_outside(operand, (const struct ct_cover *)sum, NULL, "the coverage is", "");
}

void cli_counts_close(struct cli_counts *c)
{
    cli_results_close(&c->read);
    if (!c->lent)
        ct_cover_free(c->cover);
}

/* ---- reports ---- */

const struct ct_arch *cli_counts_arch(const struct cli_counts *c)
{
    for (size_t i = 0; c->read.has_capture && i < c->read.capture.count; i++)
        if (c->read.capture.buffers[i].source_count)
            return &c->read.capture.buffers[i].sources[0].arch;
    return NULL;
}

/* Makes the views. Captures were filtered while they were read; coverage files still have the counts of other
 * contexts. */
struct ct_cover_views *cli_counts_views(struct cli_counts *c)
{
    const struct cli_args *args = c->read.args;
    const int others = args->rest_count - 1;
    struct ct_analysis *all = ct_cover_analysis(c->cover);
    char several[4200];
    snprintf(several, sizeof several, "%s and %d more", args->operand, others);
    const struct ct_cover_views_options options = {.size = sizeof options,
                                                   .title = others > 0 ? several : args->operand,
                                                   .arch = cli_counts_arch(c),
                                                   .contexts = c->read.filter.filter.contexts,
                                                   .context_count = c->read.filter.filter.context_count,
                                                   .each_context = c->contexts,
                                                   .all_functions = c->all_functions};
    struct ct_cover_views *views = NULL;
    struct cli_wait wait;
    cli_wait_begin(&wait, "working out the coverage", 0, args->quiet);
    const int rc = ct_cover_views_new(c->cover, c->read.programs, &options, &views);
    cli_wait_end(&wait);
    if (rc)
        cli_library_error(all->ctx);
    return views;
}
