/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "format/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "coretap/format.h"
#include "format/number.h"
#include "base/out.h"
#include "format/xml.h"

static void begin(FILE *out, const char *title, const char *more_policy)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
            "'unsafe-inline'; "
            "script-src 'unsafe-inline'%s\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
            more_policy);
    ct_xml_text(out, title);
    fputs("</title>\n<style>\n", out);
    fwrite(ct_page_css, 1, ct_page_css_size, out);
    fputs("</style>\n</head>\n<body>\n", out);
}

void ct_page_begin(FILE *out, const char *title)
{
    begin(out, title, "");
}

int ct_page_begin_of(FILE *out, const char *words, const char *name)
{
    char *title;
    if (asprintf(&title, "%s%s", words, name) < 0)
        return CT_ERR_NOMEM;
    ct_page_begin(out, title);
    fputs("<main>\n<h1>", out);
    ct_xml_text(out, title);
    fputs("</h1>\n", out);
    free(title);
    return CT_OK;
}

void ct_page_end(FILE *out)
{
    fputs("</body>\n</html>\n", out);
}

void ct_page_script(FILE *out, const char *script, size_t size)
{
    fputs("<script>\n", out);
    fwrite(script, 1, size, out);
    fputs("</script>\n", out);
}

static void definition(FILE *out, const char *tag, const char *text)
{
    fprintf(out, "<%s>", tag);
    ct_xml_text(out, text);
}

void ct_page_card(FILE *out, const char *label, const char *value, const char *unit, const char *note)
{
    fputs("<dl class=\"card\">", out);
    definition(out, "dt", label);
    fputs("</dt>", out);
    definition(out, "dd class=\"value\"", value);
    if (unit) {
        fputc(' ', out);
        definition(out, "small", unit);
        fputs("</small>", out);
    }
    fputs("</dd>", out);
    if (note) {
        definition(out, "dd", note);
        fputs("</dd>", out);
    }
    fputs("</dl>\n", out);
}

void ct_page_bar(FILE *out, double part)
{
    fprintf(out, "<span class=\"bar\" aria-hidden=\"true\"><i style=\"width:%.1f%%\"></i></span>",
            100 * part);
}

void ct_page_count_cell(FILE *out, uint64_t value)
{
    char text[CT_NUMBER_SIZE];
    fprintf(out, "<td class=\"num\" data-v=\"%" PRIu64 "\">%s</td>", value, ct_number_count(text, value));
}

const char *ct_page_percent(char text[CT_NUMBER_SIZE], uint64_t part, uint64_t all)
{
    const char *shown = ct_number_percent(text, part, all);
    return *shown == '<' ? "&lt;0.1 %" : shown;
}

void ct_page_part_cells(FILE *out, uint64_t part, uint64_t all)
{
    char text[CT_NUMBER_SIZE];
    fprintf(out, "<td class=\"num\" data-v=\"%" PRIu64 "\">%s</td><td>", part,
            ct_page_percent(text, part, all));
    ct_page_bar(out, all ? (double)part / (double)all : 0);
    fputs("</td>", out);
}

int ct_page_write(struct ct_ctx *ctx, const struct ct_page_options *options, ct_write_fn *write, void *user)
{
    struct ct_page_options mine;
    struct ct_out out;
    CT_REQUIRE(ctx, write);
    int rc = ct_options_read(ctx, __func__, options, &mine, sizeof mine);
    if (!rc)
        rc = ct_out_open(&out, ctx, write, user);
    if (rc)
        return rc;
    begin(out.file, mine.title ? mine.title : "coretap", mine.served ? "; connect-src 'self'" : "");
    if (mine.body)
        fputs(mine.body, out.file);
    ct_page_script(out.file, ct_page_js, ct_page_js_size);
    if (mine.script)
        ct_page_script(out.file, mine.script, strlen(mine.script));
    ct_page_end(out.file);
    return ct_out_close(&out, CT_OK);
}
