/* SPDX-License-Identifier: Apache-2.0 */
/* The reasons of empty results. */
#include "coretap/empty.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/append.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"

static const char name_program[] = "name the program that ran with --elf FILE[@HEX]";

/* ---- one reason ---- */

/* Fills in a reason. The consequence is about `result`. */
static void because(struct ct_empty *why, enum ct_empty_reason reason, const struct ct_ran *ran,
                    const char *result, const char *fact, const char *remedy)
{
    char names[CT_RAN_WORDS];
    *why = (struct ct_empty){.reason = reason};
    snprintf(why->fact, sizeof why->fact, "%s", fact);
    snprintf(why->remedy, sizeof why->remedy, "%s", remedy);
    if (!ran || !ran->instructions)
        snprintf(why->consequence, sizeof why->consequence, "%s empty", result);
    else
        snprintf(why->consequence, sizeof why->consequence,
                 "%s empty although %" PRIu64 " instructions ran%s%s", result, ran->instructions,
                 ran->count ? ", in " : "", ct_ran_words(names, ran));
}

int ct_empty_because(struct ct_empty *out, enum ct_empty_reason reason, const struct ct_ran *ran,
                     const char *result, const char *fact, const char *remedy)
{
    CT_REQUIRE(NULL, out, reason != CT_EMPTY_NOT, result, fact, remedy);
    because(out, reason, ran, result, fact, remedy);
    return CT_OK;
}

/* Returns whether a reason is told before its consequence: nothing was decoded. */
static bool is_of_input(uint32_t reason)
{
    return reason == CT_EMPTY_NO_TRACE || reason == CT_EMPTY_UNSELECTED || reason == CT_EMPTY_NO_SOURCE ||
           reason == CT_EMPTY_NO_MEMORY;
}

/* Returns whether the fact is the cause. When something ran, the result is empty although it did. */
static bool has_cause(const struct ct_empty *why)
{
    return why->reason != CT_EMPTY_NOT_REACHED && why->reason != CT_EMPTY_NO_VALUES &&
           !strstr(why->consequence, " although ");
}

const char *ct_empty_words(char text[CT_EMPTY_WORDS], const struct ct_empty *why)
{
    if (!text || !why)
        return NULL;
    const bool first = is_of_input(why->reason);
    const char *between = first ? "; " : has_cause(why) ? ", because " : ": ";
    text[0] = '\0';
    if (why->reason)
        snprintf(text, CT_EMPTY_WORDS, "%s%s%s; %s", first ? why->fact : why->consequence, between,
                 first ? why->consequence : why->fact, why->remedy);
    return text;
}

/* ---- the input ---- */

/* Fills in a reason for which nothing was decoded. */
static bool of_input(struct ct_empty *why, enum ct_empty_reason reason, const char *remedy)
{
    why->reason = reason;
    snprintf(why->consequence, sizeof why->consequence, "nothing was decoded");
    snprintf(why->remedy, sizeof why->remedy, "%s", remedy);
    return true;
}

static bool find_no_trace(const struct ct_empty_options *o, struct ct_empty *why)
{
    if (!o->seen || o->seen->has_trace || o->saved)
        return false;
    if (o->selected) {
        snprintf(why->fact, sizeof why->fact, "the part that %s selects contains no trace", o->selected);
        return of_input(why, CT_EMPTY_UNSELECTED, "'coretap info' shows how much each source traced");
    }
    if (o->seen->bytes) {
        snprintf(why->fact, sizeof why->fact,
                 "none of its %" PRIu64 " bytes belong to a trace source that the capture describes",
                 o->seen->bytes);
        return of_input(why, CT_EMPTY_NO_SOURCE, "'coretap info' lists the trace IDs in it");
    }
    snprintf(why->fact, sizeof why->fact, "the capture contains no trace bytes");
    return of_input(why, CT_EMPTY_NO_TRACE, "check that the trace sink was enabled when it was recorded");
}

/* Returns the number of instructions that ran. */
static uint64_t ran(const struct ct_empty_options *o)
{
    return o->ran ? o->ran->instructions : o->seen ? o->seen->instructions : 0;
}

static bool find_no_memory(const struct ct_empty_options *o, struct ct_empty *why)
{
    char text[CT_RAN_WORDS];
    if (!o->seen || !o->seen->holes.count || o->saved || ran(o))
        return false;
    snprintf(why->fact, sizeof why->fact, "the capture has no memory image of code that ran in %.900s",
             ct_holes_words(text, &o->seen->holes, o->capture, NULL, "time", "times"));
    return of_input(why, CT_EMPTY_NO_MEMORY, "'coretap info' lists the images and the missing files");
}

static bool find_nothing_ran(const struct ct_empty_options *o, struct ct_empty *why)
{
    if ((!o->ran && !o->seen) || o->saved || ran(o))
        return false;
    because(why, CT_EMPTY_NOTHING_RAN, NULL, o->result, "its trace contains no executed instructions",
            "'coretap stats' shows what it contains");
    return true;
}

/* ---- the filter ---- */

/* A text that is being written. */
struct text {
    char *start;
    size_t used;
};

#define ADD(text, ...) ct_append((text)->start, CT_EMPTY_TEXT, &(text)->used, __VA_ARGS__)

static void add_contexts(struct text *text, const struct ct_sieve_seen *seen)
{
    for (uint32_t i = 0; i < seen->context_count; i++)
        ADD(text, "%s%" PRIx32, i ? ", " : "; contexts ", seen->contexts[i]);
    if (seen->context_count == CT_SIEVE_CONTEXTS)
        ADD(text, ", …");
}

static void add_threads(struct text *text, const struct ct_sieve_seen *seen)
{
    for (uint32_t i = 0; i < seen->thread_count; i++)
        ADD(text, "%s%" PRIu32, i ? ", " : "; threads ", seen->threads[i]);
    if (seen->thread_count == CT_SIEVE_CONTEXTS)
        ADD(text, ", …");
}

static void add_levels(struct text *text, uint8_t levels)
{
    const char *before = "; exception levels ";
    for (unsigned i = 0; i < 4; i++)
        if (levels >> i & 1) {
            ADD(text, "%s%u", before, i);
            before = ", ";
        }
}

/* Adds what could have been selected. */
static void add_seen(struct text *text, const struct ct_sieve_seen *seen)
{
    static const char *const where[2][2] = {{"", "up to --to "},
                                            {"shortly before --from and later ", "near --from and --to "}};
    const char *near = where[seen->inside != 0][seen->left != 0];
    if (seen->instructions)
        ADD(text, "%sthere are up to %" PRIu64 " instructions", near, seen->instructions);
    else /* events do not tell the number */
        ADD(text, "%sthere are %" PRIu64 " events", near, seen->steps);
    if (seen->has_cycles)
        ADD(text, " and %s%" PRIu64 " cycles", seen->instructions ? "" : "up to ", seen->cycles);
    ADD(text, " in a stream");
    if (seen->has_ticks)
        ADD(text, "; timestamps %" PRIu64 " to %" PRIu64, seen->first_ticks, seen->last_ticks);
    add_contexts(text, seen);
    add_threads(text, seen);
    add_levels(text, seen->levels);
}

static bool find_filtered(const struct ct_empty_options *o, struct ct_empty *why)
{
    if (!o->sieved || !o->sieved->steps || o->sieved->kept)
        return false;
    because(why, CT_EMPTY_FILTERED, o->ran, o->result,
            ran(o) ? "none of them belongs to the selected part" /* other events, or no memory image: */
                   : "none of its events belongs to the selected part",
            "");
    add_seen(&(struct text){.start = why->remedy}, o->sieved);
    return true;
}

/* ---- results ---- */

/* Sums of coverage. */
static void find_in_views(const struct ct_empty_options *o, struct ct_empty *why)
{
    const size_t count = ct_cover_views_count(o->views);
    uint64_t seen = 0, elsewhere = 0, lines = 0;
    for (size_t i = 0; i < count; i++) {
        lines += ct_cover_views_report(o->views, i)->sums.lines.all;
        seen += ct_cover_views_report(o->views, i)->sums.insns.seen;
        elsewhere += ct_cover_views_report(o->views, i)->elsewhere;
    }
    if (o->needs_lines && !lines && (count || o->saved)) {
        because(why, CT_EMPTY_NO_DEBUG, NULL, o->result,
                "the programs have no source lines, of which its format consists",
                "compile them with -g, or name their debug information with --symdir");
        return;
    }
    if (seen)
        return;
    if (elsewhere)
        because(why, CT_EMPTY_NO_LINES, o->ran, o->result, "the functions that ran have no source lines",
                "--all-functions counts such functions too");
    else if (o->in_contexts)
        because(why, CT_EMPTY_NO_CONTEXT, o->ran, o->result,
                "none of them ran in this context in a known program",
                "'coretap cover --contexts' lists the contexts that ran");
    else
        because(why, CT_EMPTY_NO_PROGRAM, o->ran, o->result, "none of them belongs to a known program",
                name_program);
}

static void find_in_cover(const struct ct_empty_options *o, struct ct_empty *why)
{
    size_t contexts; /* a context exists only with counts */
    (void)ct_cover_contexts(o->cover, &contexts);
    if (!contexts)
        because(why, CT_EMPTY_NO_PROGRAM, o->ran, o->result, "none of them belongs to a known program",
                name_program);
}

static void find_in_times(const struct ct_empty_options *o, struct ct_empty *why)
{
    if (!o->times->totals.cycles)
        because(why, CT_EMPTY_NO_CYCLES, o->ran, o->result, "the trace has no cycle counts",
                "record with cycle counts");
}

/* Returns whether everything watched, besides losses, occurs only in software trace or data trace. */
static bool watches_values(const struct ct_watches *watches)
{
    uint32_t count = 0;
    const struct ct_watchpoint *all = ct_watches_all(watches, &count);
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        switch (all[i].kind) {
        case CT_WATCH_ITM:
        case CT_WATCH_STM:
        case CT_WATCH_DWT:
        case CT_WATCH_LOAD:
        case CT_WATCH_STORE:
        case CT_WATCH_NAMED:
            any = true;
            break;
        case CT_WATCH_GAP:
        case CT_WATCH_OVERFLOW:
        case CT_WATCH_NO_ACCESS:
            break;
        default:
            return false;
        }
    return any;
}

static bool find_no_values(const struct ct_empty_options *o, struct ct_empty *why)
{
    if (!o->watches || !watches_values(o->watches) || (o->saved && !ran(o)))
        return false;
    because(why, CT_EMPTY_NO_VALUES, o->ran, o->result,
            "the trace has no values for the watched places; only software trace (ITM, STM) and data trace "
            "contain values",
            "'coretap info' lists the sources");
    return true;
}

/* Results of watchpoints. */
static void find_in_watches(const struct ct_empty_options *o, struct ct_empty *why)
{
    const bool files = o->saved && !ran(o);
    size_t count = 0;
    if (o->counts)
        (void)ct_counts_all(o->counts, &count);
    if (count)
        return;
    because(why, CT_EMPTY_NOT_REACHED, o->ran, o->result,
            files ? "execution reached none of the watchpoints in the captures of the saved sums"
                  : "execution reached none of the watchpoints",
            files ? "for each of these captures, 'coretap cover --functions' shows what ran"
                  : "'coretap cover --functions' shows what ran");
}

static void find_in_profile(const struct ct_empty_options *o, struct ct_empty *why)
{
    char fact[CT_EMPTY_TEXT];
    const char *program = o->profile->program ? o->profile->program : "the programs";
    const bool lines = o->profile_format == CT_PROFILE_FORMAT_LLVM;
    if (o->profile->entries)
        return;
    if (lines)
        snprintf(fact, sizeof fact,
                 "no function that ran in %s%s has known source lines, including the line of its declaration",
                 program, o->profile->program_count > 1 ? " and others" : "");
    else
        snprintf(fact, sizeof fact, ran(o) ? "none of them belongs to %s" : "the file has no counts of %s",
                 program);
    because(why, lines ? CT_EMPTY_NO_LINES : CT_EMPTY_NO_PROGRAM, o->ran, o->result, fact,
            lines ? "name the program that has debug information with --elf FILE[@HEX]" : name_program);
}

/* Results of which only the number is given. */
static void find_in_count(const struct ct_empty_options *o, struct ct_empty *why)
{
    static const struct {
        enum ct_empty_reason reason;
        const char *fact, *remedy;
    } reasons[] = {
        [CT_EMPTY_EDGE_EVENTS] = {CT_EMPTY_NO_EDGE, "no edge was traversed completely",
                                  "'coretap stats' shows what the trace contains"},
        [CT_EMPTY_PERF_SAMPLES] = {CT_EMPTY_NO_SAMPLE,
                                   "none of them belongs to an uninterrupted run of branches",
                                   "'coretap stats' shows what was lost"},
        [CT_EMPTY_LEARNT_BLOCKS] = {CT_EMPTY_NO_PROGRAM, "none of them belongs to the program of --elf",
                                    "name the program that ran, and its load address with @HEX"},
        [CT_EMPTY_FUNCTION_RUNS] = {CT_EMPTY_NO_RUN, "no function ran from call to return with cycle counts",
                                    "name the program with --elf, and record with cycle counts"},
        [CT_EMPTY_SELECTED_RUNS] = {CT_EMPTY_NO_RUN,
                                    "none of the selected functions ran from call to return with cycle "
                                    "counts",
                                    "choose another --match"},
        [CT_EMPTY_INTERVALS] = {CT_EMPTY_NO_RUN,
                                "none of the given functions and pairs ran from start to end with cycle "
                                "counts",
                                "'coretap timing' shows what was measured"},
        [CT_EMPTY_SLICES] = {CT_EMPTY_FILTERED, "no function ran in the selected time",
                             "choose another --from and --to"},
        [CT_EMPTY_WEIGHTS] = {CT_EMPTY_NO_CYCLES, "the trace has no cycle counts",
                              "count instructions instead with --weight, or record with cycle counts"},
    };
    if (!o->count)
        because(why, reasons[o->items].reason, o->ran, o->result, reasons[o->items].fact,
                reasons[o->items].remedy);
}

/* Looks for a reason in the result itself. Returns false when no result is given. */
static bool find_in_result(const struct ct_empty_options *o, struct ct_empty *why)
{
    if (o->views)
        find_in_views(o, why);
    else if (o->cover)
        find_in_cover(o, why);
    else if (o->times)
        find_in_times(o, why);
    else if (o->watches || o->counts)
        find_in_watches(o, why);
    else if (o->profile)
        find_in_profile(o, why);
    else if (o->items)
        find_in_count(o, why);
    else
        return false;
    return true;
}

int ct_empty_find(struct ct_ctx *ctx, const struct ct_empty_options *options, struct ct_empty *out)
{
    struct ct_empty_options o;
    struct ct_empty in_result = {0};
    CT_REQUIRE(ctx, out);
    *out = (struct ct_empty){0};
    const int rc = ct_options_read(ctx, "ct_empty_find", options, &o, sizeof o);
    if (rc)
        return rc;
    if (o.items > CT_EMPTY_WEIGHTS)
        return ct_fail(ctx, CT_ERR_ARG, "ct_empty_find: results of kind %u do not exist", o.items);
    o.result = o.result ? o.result : "the result is";
    const bool given = find_in_result(&o, &in_result);
    /* what prevented any result is told first */
    if (given && !in_result.reason)
        return CT_OK;
    if (!find_no_trace(&o, out) && !find_filtered(&o, out) && !find_no_values(&o, out) &&
        !find_no_memory(&o, out) && !find_nothing_ran(&o, out))
        *out = in_result;
    return CT_OK;
}
