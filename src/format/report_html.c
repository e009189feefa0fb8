/* SPDX-License-Identifier: Apache-2.0 */
#include "format/report_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/lanes.h"
#include "format/number.h"
#include "format/page.h"
#include "format/wcet_html.h"
#include "format/xml.h"

/* most functions in the coverage */
#define FUNCTIONS 500
#define LINES     10000

/* most streams in a table */
#define STREAMS 256

/* most captures and saved results in a table or a sentence */
#define INPUTS 256

/* room for the subject of the page; the name of a file has up to 255 bytes */
#define SUBJECT 400

/* ---- used by all sections ---- */

uint64_t ct_report_self(const struct ct_report_page *r, const struct ct_report_function *f)
{
    return r->cycles ? f->cycles : f->insns;
}

uint64_t ct_report_inclusive(const struct ct_report_page *r, const struct ct_report_function *f)
{
    return r->cycles ? f->all_cycles : f->all_insns;
}

uint64_t ct_report_all(const struct ct_report_page *r)
{
    uint64_t all = 0;
    for (size_t i = 0; i < r->function_count; i++)
        all += ct_report_self(r, &r->functions[i]);
    return all;
}

const char *ct_report_unit(const struct ct_report_page *r)
{
    return r->cycles ? "cycles" : "instructions";
}

const char **ct_report_names(const struct ct_report_page *r)
{
    const char **names = calloc(r->function_count + 1, sizeof *names);
    for (size_t i = 0; names && i < r->function_count; i++)
        names[i] = r->functions[i].place.function;
    return names;
}

uint32_t *ct_report_ranks(const struct ct_report_page *r)
{
    uint32_t most = 0;
    for (size_t i = 0; i < r->function_count; i++)
        if (r->functions[i].number > most)
            most = r->functions[i].number;
    uint32_t *ranks = calloc((size_t)most + 1, sizeof *ranks);
    for (size_t i = 0; ranks && i < r->function_count; i++)
        ranks[r->functions[i].number] = (uint32_t)i;
    return ranks;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Returns the name of a capture without folders, and with its number if another one has the same name. */
static const char *capture_name(const struct ct_report_page *r, size_t capture, char *text, size_t size)
{
    const char *name = base_name(r->captures[capture].name);
    size_t same = 0;
    for (size_t i = 0; i < r->capture_count; i++)
        same += strcmp(base_name(r->captures[i].name), name) == 0;
    if (same > 1)
        snprintf(text, size, "%s (%zu)", name, capture + 1);
    else
        snprintf(text, size, "%s", name);
    return text;
}

const char *ct_report_stream_name(const struct ct_report_page *r, const struct ct_report_stream *s,
                                  char *text, size_t size)
{
    char capture[CT_REPORT_STREAM_NAME / 2];
    const char *core = s->core ? s->core : s->name;
    if (r->capture_count > 1)
        snprintf(text, size, "%s: %s", capture_name(r, s->capture, capture, sizeof capture), core);
    else
        snprintf(text, size, "%s", core);
    return text;
}

/* ---- saved results ---- */

static uint32_t all_tells(const struct ct_report_page *r)
{
    uint32_t all = 0;
    for (size_t i = 0; i < r->input_count; i++)
        all |= r->inputs[i].tells;
    return all;
}

/* Lists the inputs without the data of this section. */
static void silent_inputs(FILE *out, const struct ct_report_page *r, uint32_t tells)
{
    size_t count = 0;
    for (size_t i = 0; i < r->input_count; i++) {
        if (r->inputs[i].tells & tells || ++count > INPUTS)
            continue;
        fputs(count > 1 ? ", <code>" : "<p class=\"more\">This section has no data of <code>", out);
        ct_xml_text(out, r->inputs[i].name);
        fputs("</code>", out);
    }
    if (count > INPUTS)
        fprintf(out, " and %zu more", count - INPUTS);
    if (count)
        fputs(".</p>\n", out);
}

bool ct_report_told(FILE *out, const struct ct_report_page *r, uint32_t tells)
{
    const char *who = tells == CT_REPORT_COVERAGE
                          ? "a capture, or a file that <code>coretap cover --format data</code> wrote,"
                      : tells == CT_REPORT_TIMES
                          ? "a capture, or a file that <code>coretap timing --format data</code> wrote,"
                      : tells == CT_REPORT_STACKS
                          ? "a capture, or a file that <code>coretap profile --format data</code> wrote,"
                          : "only a capture";
    if (!r->input_count)
        return true;
    if (!(all_tells(r) & tells)) {
        fprintf(out, "<p>No input of this page has data for this section; %s has.</p>\n", who);
        return false;
    }
    silent_inputs(out, r, tells);
    return true;
}

/* Returns whether the page is made of captures only; then instructions and the size of the trace are known,
 * too. */
static bool has_captures_alone(const struct ct_report_page *r)
{
    bool alone = true;
    for (size_t i = 0; i < r->input_count; i++)
        alone = alone && (r->inputs[i].tells & CT_REPORT_STREAMS);
    return alone;
}

/* ---- summary ---- */

/* Adds up the streams. */
static struct ct_report_stream total(const struct ct_report_page *r)
{
    struct ct_report_stream sum = {0};
    for (size_t i = 0; i < r->stream_count; i++) {
        const struct ct_report_stream *s = &r->streams[i];
        sum.bytes += s->bytes;
        sum.instructions += s->instructions;
        sum.times.cycles += s->times.cycles;
        sum.times.exceptions += s->times.exceptions;
    }
    if (r->input_count)
        sum.times.cycles = r->all_cycles;
    return sum;
}

/* Writes a number in full as long as a card has room for it. */
static const char *card_number(char text[CT_NUMBER_SIZE], uint64_t value)
{
    return value < 1000000 ? ct_number_count(text, value) : ct_number_short(text, value);
}

static void cycles_card(FILE *out, const struct ct_report_page *r, const struct ct_report_stream *sum)
{
    const size_t streams = r->stream_count;
    char value[CT_NUMBER_SIZE];
    char note[64];
    if (r->input_count)
        snprintf(note, sizeof note, "of %zu %s", r->input_count,
                 r->input_count == 1     ? "file"
                 : has_captures_alone(r) ? "captures"
                                         : "captures and files");
    else
        snprintf(note, sizeof note, "of %zu trace %s", streams, streams == 1 ? "source" : "sources");
    if (sum->times.cycles)
        ct_page_card(out, "Cycles", card_number(value, sum->times.cycles), NULL, note);
    else
        ct_page_card(out, "Cycles", "-", NULL,
                     r->cycles ? "the trace has no count" : "not counted by the trace unit");
}

static void instructions_card(FILE *out, const struct ct_report_stream *sum)
{
    char value[CT_NUMBER_SIZE];
    char note[64];
    snprintf(note, sizeof note, "%.2f cycles each",
             (double)sum->times.cycles / (double)(sum->instructions ? sum->instructions : 1));
    ct_page_card(out, "Instructions", card_number(value, sum->instructions), NULL,
                 sum->times.cycles ? note : NULL);
}

static void trace_card(FILE *out, const struct ct_report_stream *sum)
{
    char value[CT_NUMBER_SIZE];
    char note[64];
    snprintf(note, sizeof note, "%.2f bits for an instruction",
             8 * (double)sum->bytes / (double)(sum->instructions ? sum->instructions : 1));
    ct_page_card(out, "Trace", card_number(value, sum->bytes), "bytes", note);
}

static void cover_card(FILE *out, const struct ct_cover_views *views)
{
    struct ct_cover_ratio lines = {0};
    char value[CT_NUMBER_SIZE];
    char note[80];
    for (size_t i = 0; views && i < views->count; i++) {
        lines.seen += views->views[i].report->sums.lines.seen;
        lines.all += views->views[i].report->sums.lines.all;
    }
    if (!lines.all)
        return;
    snprintf(note, sizeof note, "%" PRIu64 " of %" PRIu64, lines.seen, lines.all);
    ct_page_card(out, "Lines that ran", ct_cover_percent(value, lines), NULL, note);
}

static void wcet_card(FILE *out, const struct ct_report_page *r)
{
    char value[CT_NUMBER_SIZE];
    char seen[CT_NUMBER_SIZE];
    char note[80];
    if (!r->wcet)
        return;
    snprintf(note, sizeof note, "longest run observed: %s",
             r->wcet->result->observed_runs ? card_number(seen, r->wcet->result->observed_max) : "none");
    ct_page_card(out, "Longest path", card_number(value, r->wcet->result->wcet), "cycles", note);
}

static void loss_card(FILE *out, const struct ct_losses *losses)
{
    char value[CT_NUMBER_SIZE];
    char words[CT_LOSSES_WORDS];
    if (ct_losses_any(losses))
        ct_page_card(out, "Gaps in the trace", card_number(value, losses->gaps), NULL,
                     ct_losses_words(words, losses));
    else
        ct_page_card(out, "Gaps in the trace", "none", NULL, "nothing was lost");
}

static void stream_row(FILE *out, const struct ct_report_page *r, const struct ct_report_stream *s)
{
    char name[CT_REPORT_STREAM_NAME];
    fputs("<tr><td class=\"name keep\">", out);
    ct_xml_text(out, ct_report_stream_name(r, s, name, sizeof name));
    fputs("</td><td class=\"keep\">", out);
    ct_xml_text(out, s->protocol);
    fputs("</td><td class=\"name\">", out);
    ct_xml_text(out, s->buffer);
    fprintf(out, " %02x</td>", s->id);
    ct_page_count_cell(out, s->bytes);
    ct_page_count_cell(out, s->instructions);
    ct_page_count_cell(out, s->times.cycles);
    ct_page_count_cell(out, s->times.exceptions);
    ct_page_count_cell(out, s->losses.gaps);
    fputs("<td class=\"wide\"></td></tr>\n", out);
}

static void inputs(FILE *out, const struct ct_report_page *r)
{
    char words[CT_LOSSES_WORDS];
    fputs("<div class=\"panel scroll\"><table class=\"list\" id=\"inputs\"><thead><tr><th scope=\"col\">Made "
          "of</th><th scope=\"col\">Kind</th><th scope=\"col\" class=\"num\">Gaps</th><th "
          "scope=\"col\">Losses</th><th></th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < r->input_count && i < INPUTS; i++) {
        const struct ct_report_input *input = &r->inputs[i];
        fputs("<tr><td class=\"name keep\">", out);
        ct_xml_text(out, input->name);
        fputs("</td><td class=\"keep\">", out);
        ct_xml_text(out, input->kind);
        fputs("</td>", out);
        ct_page_count_cell(out, input->losses.gaps);
        fprintf(out, "<td>%s</td><td class=\"wide\"></td></tr>\n",
                ct_losses_any(&input->losses) ? ct_losses_words(words, &input->losses) : "none");
    }
    fputs("</tbody></table></div>\n", out);
    if (r->input_count > INPUTS)
        fprintf(out, "<p class=\"more\">%zu more are left out.</p>\n", r->input_count - INPUTS);
}

static int write_summary(FILE *out, const struct ct_report_page *r)
{
    const struct ct_report_stream sum = total(r);
    fputs("<div class=\"cards\">\n", out);
    cycles_card(out, r, &sum);
    if (has_captures_alone(r))
        instructions_card(out, &sum);
    cover_card(out, r->cover);
    wcet_card(out, r);
    if (has_captures_alone(r))
        trace_card(out, &sum);
    loss_card(out, &r->losses);
    fputs("</div>\n", out);
    if (r->input_count)
        inputs(out, r);
    if (!ct_report_told(out, r, CT_REPORT_STREAMS))
        return CT_OK;
    fputs(
        "<div class=\"panel scroll tall\" tabindex=\"0\"><table class=\"list\" id=\"sources\"><thead><tr><th "
        "scope=\"col\">Core</th><th scope=\"col\">Trace</th><th scope=\"col\">Buffer and ID</th><th "
        "scope=\"col\" "
        "class=\"num\">Bytes</th><th scope=\"col\" class=\"num\">Instructions</th><th scope=\"col\" "
        "class=\"num\">Cycles</th><th scope=\"col\" class=\"num\">Exceptions</th><th scope=\"col\" "
        "class=\"num\">Gaps</th><th></th></tr></thead><tbody>\n",
        out);
    for (size_t i = 0; i < r->stream_count && i < STREAMS; i++)
        stream_row(out, r, &r->streams[i]);
    fputs("</tbody></table></div>\n", out);
    if (r->stream_count > STREAMS)
        fprintf(out, "<p class=\"more\">%zu more sources are left out.</p>\n", r->stream_count - STREAMS);
    return CT_OK;
}

/* ---- the page ---- */

static int worst(FILE *out, const struct ct_report_page *r)
{
    if (r->wcet)
        return ct_wcet_html_parts(out, r->wcet);
    fputs("<p>", out);
    ct_xml_text(out, r->no_wcet);
    fputs("</p>\n", out);
    return CT_OK;
}

static int coverage(FILE *out, const struct ct_report_page *r)
{
    if (!ct_report_told(out, r, CT_REPORT_COVERAGE))
        return CT_OK;
    const struct ct_cover_shape shape = {.level = 3, .functions = FUNCTIONS, .lines = LINES};
    return ct_cover_html_programs(out, r->cover, &shape);
}

/* ---- the sections: those that were asked for, and for which the capture has data ---- */

static bool has_times(const struct ct_report_page *r)
{
    return r->cycles || r->input_count;
}

static bool has_events(const struct ct_report_page *r)
{
    return r->named;
}

static bool has_path(const struct ct_report_page *r)
{
    return r->wcet || r->no_wcet;
}

static bool has_coverage(const struct ct_report_page *r)
{
    return r->cover || (r->input_count && !(all_tells(r) & CT_REPORT_COVERAGE));
}

static const struct section {
    const char *id, *title, *in_nav;
    int (*put)(FILE *out, const struct ct_report_page *report);
    bool (*is_there)(const struct ct_report_page *report); /* NULL: always */
} sections[] = {
    {"summary", NULL, "Summary", write_summary, NULL},
    {"time", "Where the time went", "Where time went", ct_report_time, NULL},
    {"timing", "How long functions take", "How long", ct_report_timing, has_times},
    {"timeline", "Timeline", "Timeline", ct_report_timeline, NULL},
    {"events", "Named events", "Events", ct_report_named_html, has_events},
    {"worst", "Worst case", "Worst case", worst, has_path},
    {"coverage", "Coverage", "Coverage", coverage, has_coverage},
};

#define SECTIONS (sizeof sections / sizeof *sections)

static bool is_there(const struct section *section, const struct ct_report_page *r)
{
    return !section->is_there || section->is_there(r);
}

static void navigation(FILE *out, const struct ct_report_page *r)
{
    fputs("<nav class=\"nav\" aria-label=\"Sections\"><ul>\n", out);
    for (size_t i = 0; i < SECTIONS; i++)
        if (is_there(&sections[i], r))
            fprintf(out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].in_nav);
    fputs("</ul></nav>\n", out);
}

/* Returns the program's name or, with several programs, that of the first capture, followed by the number of
 * further ones. It lies in `text`. */
static const char *subject(const struct ct_report_page *r, char text[SUBJECT])
{
    const char *name = r->program ? r->program : r->input_count ? r->inputs[0].name : r->captures[0].name;
    if (!r->program && r->input_count > 1)
        snprintf(text, SUBJECT, "%.300s and %zu more", base_name(name), r->input_count - 1);
    else
        snprintf(text, SUBJECT, "%.300s", base_name(name));
    return text;
}

static void sums(FILE *out, const struct ct_report_page *r)
{
    fprintf(out,
            "<p>Stacks, functions, branches, their times and coverage are sums over all inputs. The timeline "
            "shows each core of each capture; %s.</p>\n",
            r->together ? "all captures come from one system" : "its time starts with its own trace");
}

static void heading(FILE *out, const struct ct_report_page *r)
{
    char text[SUBJECT];
    fputs("<header>\n<h1>", out);
    ct_xml_text(out, subject(r, text));
    fprintf(out, "</h1>\n<p class=\"about\">Made by coretap %s from ", ct_version());
    if (r->input_count) {
        fprintf(out, "%zu %s.</p>\n", r->input_count,
                r->input_count == 1     ? "saved result"
                : has_captures_alone(r) ? "captures"
                                        : "captures and saved results");
        if (r->input_count > 1)
            sums(out, r);
        fputs("</header>\n", out);
        return;
    }
    fputs("the trace in <code>", out);
    ct_xml_text(out, r->captures[0].name);
    fputs("</code> (", out);
    ct_xml_text(out, r->captures[0].kind);
    fputs(").</p>\n</header>\n", out);
}

static void title(FILE *out, const struct ct_report_page *r)
{
    char what[SUBJECT];
    char text[SUBJECT + sizeof ": trace report"];
    snprintf(text, sizeof text, "%s: trace report", subject(r, what));
    ct_page_begin(out, text);
}

int ct_report_html(FILE *out, const struct ct_report_page *r)
{
    int rc = CT_OK;
    title(out, r);
    navigation(out, r);
    fputs("<main>\n", out);
    heading(out, r);
    for (size_t i = 0; i < SECTIONS; i++) {
        if (!is_there(&sections[i], r))
            continue;
        fprintf(out, "<section id=\"%s\">\n", sections[i].id);
        if (sections[i].title)
            fprintf(out, "<h2>%s</h2>\n", sections[i].title);
        const int result = sections[i].put(out, r);
        rc = rc ? rc : result;
        fputs("</section>\n", out);
    }
    fputs("</main>\n", out);
    const int found = ct_report_functions(out, r);
    rc = rc ? rc : found;
    ct_page_script(out, ct_page_js, ct_page_js_size);
    ct_page_script(out, ct_lanes_js, ct_lanes_js_size);
    ct_page_script(out, ct_functions_js, ct_functions_js_size);
    ct_page_end(out);
    return rc;
}
