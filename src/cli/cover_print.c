/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cover_print.h"
#include "cli/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Notes that nothing tells where the functions of a program lie. Each section of code then is a single
 * function without a name (see struct ct_symbol), of which only the code that ran is known. */
static void tell_unbounded(const struct cli_counts *c, const struct ct_cover_report *report)
{
    const struct ct_cover_ratio *insns = &report->sums.insns;
    size_t named = 0;
    for (size_t i = 0; i < report->function_count; i++)
        named += !strstr(report->functions[i].name, "+0x");
    if (!named && insns->seen && insns->seen == insns->all && !c->read.args->quiet)
        cli_say("%s: one of its programs has no symbols, so only code that ran is known; the percentages of "
                "functions, instructions and calls are not a coverage; name a file with symbols with --elf "
                "or --symdir",
                c->read.args->operand);
}

/* Notes how much of the programs is optimised code, whose branches are not the conditions of the source. */
static void tell_optimised(struct cli_counts *c, const struct ct_cover_views *views)
{
    uint64_t units = 0;
    uint64_t optimised = 0;
    for (size_t i = 0; i < ct_cover_views_count(views); i++) {
        units += ct_cover_views_report(views, i)->units;
        optimised += ct_cover_views_report(views, i)->optimised_units;
    }
    if (optimised && !c->optimised_told && !c->read.args->quiet)
        cli_say(
            "%s: %" PRIu64 " of %" PRIu64 " compile units are optimised code, whose branches can be "
            "complete although a condition of the source never changed; measure conditions and MC/DC with "
            "a build at -O0",
            c->read.args->operand, optimised, units);
    c->optimised_told = true;
}

int cli_cover_check(struct cli_counts *c, const struct ct_cover_views *views)
{
    const struct ct_empty_options options = {
        .result = "the coverage is",
        .ran = &c->read.ran,
        .views = views,
        .in_contexts = c->read.filter.filter.context_count > 0,
    };
    for (size_t i = 0; i < ct_cover_views_count(views) && !c->unbounded_told; i++)
        tell_unbounded(c, ct_cover_views_report(views, i));
    c->unbounded_told = true;
    return c->read.ran.instructions ? cli_empty(c->read.args, &options) : CLI_CLEAN;
}

/* Reports that no program has lines, without which a file for lcov is empty, and one for Cobertura says that
 * all of its 0 lines ran. Returns an enum cli_exit. */
static int check_lines(const struct cli_counts *c, const struct ct_cover_views *views, const char *file)
{
    const struct ct_empty_options options = {
        .size = sizeof options, .result = file, .views = views, .needs_lines = 1, .saved = c->read.has_file};
    char words[CT_EMPTY_WORDS];
    struct ct_empty why;
    (void)ct_empty_find(c->read.args->ctx, &options, &why);
    if (why.reason != CT_EMPTY_NO_DEBUG)
        return CLI_CLEAN;
    cli_say("%s: %s", c->read.args->operand, ct_empty_words(words, &why));
    return CLI_DAMAGED;
}

bool cli_cover_has_counts(const struct ct_cover *cover)
{
    size_t contexts; /* a context exists only with counts */
    (void)ct_cover_contexts(cover, &contexts);
    return contexts > 0;
}

/* Reports that no program has counts. Returns an enum cli_exit. */
static int check_data(const struct cli_counts *c)
{
    const struct ct_empty_options options = {
        .result = "the coverage file is", .ran = &c->read.ran, .cover = c->cover};
    return c->read.ran.instructions ? cli_empty(c->read.args, &options) : CLI_CLEAN;
}

static int print_data(FILE *out, struct cli_counts *c)
{
    const int code = c->read.shard ? CLI_CLEAN : check_data(c);
    return code == CLI_CLEAN ? cli_results_save_read(&c->read, out) : code;
}

/* Finds the creation time to write into a file, in seconds since 1970: SOURCE_DATE_EPOCH, so that the same
 * coverage gives the same file, or 0 for the current time. Returns false after a message. */
static bool find_time(uint64_t *seconds)
{
    static const unsigned long long end_of_9999 = 253402300799;
    const char *text = getenv("SOURCE_DATE_EPOCH");
    *seconds = 0;
    if (!text || !*text)
        return true;
    if (!text[strspn(text, "0123456789")]) /* a number that is too large reads as the largest one */
        *seconds = strtoull(text, NULL, 10);
    if (*seconds && *seconds <= end_of_9999)
        return true;
    cli_say("SOURCE_DATE_EPOCH: the value '%s' in the environment cannot be the time of a Cobertura file; "
            "set it to seconds since 1970, from 1 to %llu, or unset it",
            text, end_of_9999);
    return false;
}

/* Writes the views. Returns an enum cli_exit. A write error is reported at the end of the command. */
static int write_views(FILE *out, const struct cli_counts *c, const struct ct_cover_views *views,
                       enum cli_cover_format format, bool functions)
{
    static const uint8_t formats[] = {
        [CLI_COVER_TEXT] = CT_COVER_FORMAT_TEXT,           [CLI_COVER_LCOV] = CT_COVER_FORMAT_LCOV,
        [CLI_COVER_COBERTURA] = CT_COVER_FORMAT_COBERTURA, [CLI_COVER_JSON] = CT_COVER_FORMAT_JSON,
        [CLI_COVER_HTML] = CT_COVER_FORMAT_HTML,           [CLI_COVER_SONARQUBE] = CT_COVER_FORMAT_SONARQUBE,
    };
    struct ct_cover_write_options options = {
        .size = sizeof options, .format = formats[format], .functions = functions};
    if (format == CLI_COVER_COBERTURA && !find_time(&options.seconds))
        return CLI_FAILED;
    const int rc = ct_cover_views_write(views, &options, cli_output_write, out);
    if (rc == CT_ERR_NOT_FOUND) {
        cli_say(
            "%s: the tracefile is empty, because all lines that are known are ones that a compiler made up "
            "(as <autogenerated>), which readers of tracefiles refuse; name the debug information of the "
            "program's sources with --symdir, or choose another format",
            c->read.args->operand);
        return CLI_DAMAGED;
    }
    if (rc && rc != CT_ERR_IO)
        cli_no_memory();
    return rc && rc != CT_ERR_IO ? CLI_FAILED : CLI_CLEAN;
}

int cli_cover_print(FILE *out, struct cli_counts *c, enum cli_cover_format format, bool functions)
{
    cli_counts_tell_captures(c);
    if (format == CLI_COVER_DATA)
        return print_data(out, c);
    struct ct_cover_views *views = cli_counts_views(c);
    int code = views ? cli_cover_check(c, views) : CLI_FAILED;
    static const char *const of_lines[] = {[CLI_COVER_LCOV] = "the tracefile is",
                                           [CLI_COVER_COBERTURA] = "the Cobertura file is",
                                           [CLI_COVER_SONARQUBE] = "the SonarQube file is"};
    if (code == CLI_CLEAN && of_lines[format])
        code = check_lines(c, views, of_lines[format]);
    if (code == CLI_CLEAN)
        tell_optimised(c, views);
    if (code == CLI_CLEAN)
        code = write_views(out, c, views, format, functions);
    ct_cover_views_free(views);
    return code;
}
