/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the volume of trace as a table, as JSON, or as bars. */
#include "coretap/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "base/c_locale.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/out.h"
#include "base/require.h"
#include "coretap/json.h"

/* Sizes of the bar chart, in pixels. */
#define WIDTH   820
#define LEFT    300
#define RIGHT   110
#define BAR     13
#define HEADING 34
#define TOP     70

/* The settings of a row, in the order of the output. */
static const struct setting {
    size_t member;
    const char *name, *brief;
} settings[] = {
    {offsetof(struct ct_volume_row, branch_broadcast), "branch_broadcast", "broadcast"},
    {offsetof(struct ct_volume_row, cycle_count), "cycle_count", "cycles"},
    {offsetof(struct ct_volume_row, return_stack), "return_stack", "stack"},
    {offsetof(struct ct_volume_row, timestamps), "timestamps", "timestamps"},
    {offsetof(struct ct_volume_row, context_id), "context_id", "context"},
};

#define SETTINGS (sizeof settings / sizeof *settings)

/* The output and its options. */
struct writing {
    const struct ct_volume *volume;
    struct ct_volume_write_options o;
    FILE *out;
};

static bool is_set(const struct ct_volume_row *row, size_t setting)
{
    return *((const uint8_t *)row + settings[setting].member) != 0;
}

static const char *protocol_of(const struct ct_volume_row *row)
{
    return row->protocol == CT_PROTOCOL_PTM ? "ptm" : row->protocol == CT_PROTOCOL_ETE ? "ete" : "etm4";
}

static double part(uint64_t bytes, uint64_t of)
{
    return of ? 8 * (double)bytes / (double)of : 0;
}

/* Returns the cycles of the cores: measured, or calculated from the given instructions per cycle. */
static double cycles_of(const struct writing *w)
{
    return w->o.ipc > 0 ? (double)w->volume->instructions / w->o.ipc : (double)w->volume->cycles;
}

/* Returns the megabytes per second of one core. */
static double rate_of(const struct writing *w, const struct ct_volume_row *row)
{
    const double cycles = cycles_of(w);
    return cycles > 0 ? (double)row->bytes / cycles * (double)w->o.clock / 1e6 : 0;
}

/* ---- text ---- */

static void table(const struct writing *w)
{
    const struct ct_volume *v = w->volume;
    fprintf(w->out, "# %" PRIu64 " instructions, %" PRIu64 " branches, %.0f cycles, %" PRIu32 " core%s%s\n",
            v->instructions, v->branches, cycles_of(w), v->cores, v->cores == 1 ? "" : "s",
            w->o.ipc > 0 ? ", cycles as --ipc says" : "");
    fputs("protocol\tbroadcast\tcycles\tstack\ttimestamps\tcontext\tbytes\tbits/instruction\tbits/branch",
          w->out);
    fputs(w->o.clock ? "\tMB/s\n" : "\n", w->out);
    for (size_t i = 0; i < v->row_count; i++) {
        const struct ct_volume_row *row = &v->rows[i];
        fputs(protocol_of(row), w->out);
        for (size_t k = 0; k < SETTINGS; k++)
            fputs(is_set(row, k) ? "\tyes" : "\t-", w->out);
        fprintf(w->out, "\t%" PRIu64 "\t%.4f\t%.3f", row->bytes, part(row->bytes, v->instructions),
                part(row->bytes, v->branches));
        if (w->o.clock)
            fprintf(w->out, "\t%.2f", rate_of(w, row));
        fputc('\n', w->out);
    }
}

/* ---- JSON ---- */

static void json_row(const struct writing *w, struct ct_json *json, const struct ct_volume_row *row)
{
    ct_json_object(json, NULL);
    ct_json_text(json, "protocol", protocol_of(row));
    for (size_t k = 0; k < SETTINGS; k++)
        ct_json_bool(json, settings[k].name, is_set(row, k));
    ct_json_number(json, "bytes", row->bytes);
    ct_json_real(json, "bits_per_instruction", part(row->bytes, w->volume->instructions));
    ct_json_real(json, "bits_per_branch", part(row->bytes, w->volume->branches));
    if (w->o.clock)
        ct_json_real(json, "mb_per_s", rate_of(w, row));
    ct_json_object_end(json);
}

static int write_json(const struct writing *w, struct ct_ctx *ctx, ct_write_fn *write, void *user)
{
    const struct ct_volume *v = w->volume;
    struct ct_json *json;
    int rc = ct_json_new(ctx, NULL, write, user, &json);
    if (rc)
        return rc;
    ct_json_object(json, NULL);
    ct_json_number(json, "instructions", v->instructions);
    ct_json_number(json, "branches", v->branches);
    ct_json_number(json, "cycles", (uint64_t)llround(cycles_of(w)));
    ct_json_number(json, "cores", v->cores);
    if (w->o.clock)
        ct_json_number(json, "clock", w->o.clock);
    ct_json_array(json, "rows");
    for (size_t i = 0; i < v->row_count; i++)
        json_row(w, json, &v->rows[i]);
    ct_json_array_end(json);
    ct_json_object_end(json);
    rc = ct_json_flush(json);
    ct_json_free(json);
    return rc;
}

/* ---- bars ---- */

static double value_of(const struct writing *w, const struct ct_volume_row *row)
{
    return w->o.clock ? rate_of(w, row) : part(row->bytes, w->volume->instructions);
}

static void label(FILE *out, const struct ct_volume_row *row)
{
    bool any = false;
    for (size_t k = 0; k < SETTINGS; k++)
        if (is_set(row, k)) {
            fprintf(out, "%s%s", any ? ", " : "", settings[k].brief);
            any = true;
        }
    if (!any)
        fputs("plain", out);
}

static void bar(const struct writing *w, const struct ct_volume_row *row, int y, double most)
{
    const double value = value_of(w, row);
    const double width = most > 0 ? value / most * (WIDTH - LEFT - RIGHT) : 0;
    fprintf(w->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 8, y + BAR - 3);
    label(w->out, row);
    fprintf(w->out,
            "</text><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/><text x=\"%.1f\" "
            "y=\"%d\">",
            row->branch_broadcast ? "b"
            : row->cycle_count    ? "c"
                                  : "p",
            LEFT, y + 1, width, BAR - 2, LEFT + width + 6, y + BAR - 3);
    fprintf(w->out, w->o.clock ? "%.1f MB/s</text>\n" : "%.3f</text>\n", value);
}

static void bars(const struct writing *w)
{
    const struct ct_volume *v = w->volume;
    double most = 0;
    unsigned protocols = 0;
    int y = TOP;
    for (size_t i = 0; i < v->row_count; i++) {
        most = value_of(w, &v->rows[i]) > most ? value_of(w, &v->rows[i]) : most;
        protocols += !i || v->rows[i].protocol != v->rows[i - 1].protocol;
    }
    const int height = TOP + (int)protocols * HEADING + (int)v->row_count * BAR + 16;
    fprintf(
        w->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
        "role=\"img\" aria-label=\"Trace volume by settings of the trace unit\">\n"
        "<style>svg{--back:#fff;--text:#16191d;--soft:#565e69;--p:#2f6fd6;--c:#0f766e;--b:#9a5700}"
        "@media(prefers-color-scheme:dark){svg{--back:#181c21;--text:#e5e8ed;--soft:#9ba5b2;--p:#5f97f0;"
        "--c:#4fc3b3;--b:#efb04d}}"
        "text{font:11px sans-serif;fill:var(--soft)}.title{font-size:14px;font-weight:bold;fill:var(--text)}"
        ".head{font-weight:bold;fill:var(--text)}"
        ".p{fill:var(--p)}.c{fill:var(--c)}.b{fill:var(--b)}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" style=\"fill:var(--back)\"/>\n",
        WIDTH, height, WIDTH, height);
    fprintf(w->out, "<text class=\"title\" x=\"16\" y=\"26\">Trace volume, %s</text>\n",
            w->o.clock ? "megabytes a second of one core" : "bits for each instruction");
    fprintf(w->out, "<text x=\"16\" y=\"46\">%" PRIu64 " instructions, %" PRIu64 " branches, %.0f cycles",
            v->instructions, v->branches, cycles_of(w));
    if (w->o.clock)
        fprintf(w->out, ", clock %.4g GHz", (double)w->o.clock / 1e9);
    fputs("</text>\n", w->out);
    for (size_t i = 0; i < v->row_count; i++) {
        if (!i || v->rows[i].protocol != v->rows[i - 1].protocol) {
            y += HEADING;
            fprintf(w->out, "<text class=\"head\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT, y - 6,
                    v->rows[i].protocol == CT_PROTOCOL_PTM   ? "PTM"
                    : v->rows[i].protocol == CT_PROTOCOL_ETE ? "ETE"
                                                             : "ETMv4");
        }
        bar(w, &v->rows[i], y, most);
        y += BAR;
    }
    fputs("</svg>\n", w->out);
}

/* ---- all of them ---- */

static int write_file(struct writing *w, struct ct_ctx *ctx, ct_write_fn *write, void *user)
{
    struct ct_out out;
    const int rc = ct_out_open(&out, ctx, write, user);
    if (rc)
        return rc;
    w->out = out.file;
    if (w->o.format == CT_VOLUME_FORMAT_SVG)
        bars(w);
    else
        table(w);
    return ct_out_close(&out, CT_OK);
}

int ct_volume_write(struct ct_ctx *ctx, const struct ct_volume *volume,
                    const struct ct_volume_write_options *options, ct_write_fn *write, void *user)
{
    CT_C_LOCALE;
    struct writing w = {.volume = volume};
    CT_REQUIRE(ctx, volume, write);
    const int rc = ct_options_read(ctx, __func__, options, &w.o, sizeof w.o);
    if (rc)
        return rc;
    if (w.o.format > CT_VOLUME_FORMAT_SVG || !(w.o.ipc >= 0) || volume->row_count > CT_VOLUME_ROWS)
        return ct_fail(ctx, CT_ERR_ARG,
                       "%s: the format is unknown, or the instructions per cycle are negative; nothing is "
                       "written",
                       __func__);
    return w.o.format == CT_VOLUME_FORMAT_JSON ? write_json(&w, ctx, write, user)
                                               : write_file(&w, ctx, write, user);
}
