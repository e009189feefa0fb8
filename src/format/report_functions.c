/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what functions.js searches and shows: all functions with their numbers, and where their source is in
 * the page. */
#include "format/report_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "format/json.h"

/* the most functions that can be found */
#define FOUND 10000

struct found {
    struct ct_json json;
    const struct ct_report_page *page;
    size_t count;
};

static int by_addr(const void *key, const void *element)
{
    const uint64_t addr = *(const uint64_t *)key;
    const struct ct_cover_function *f = element;
    return addr < f->addr ? -1 : addr > f->addr;
}

/* Finds a function in the coverage of its program, whose number in the page becomes *number. NULL: it is not
 * there. */
static const struct ct_cover_function *find(const struct ct_report_page *r,
                                            const struct ct_report_function *f, size_t *number)
{
    const size_t programs = r->cover && f->module ? r->cover->count : 0;
    for (*number = 0; *number < programs; ++*number) {
        const struct ct_cover_view *view = &r->cover->views[*number];
        if (!strcmp(view->program, f->module))
            return view->report->function_count
                       ? bsearch(&f->in_file, view->report->functions, view->report->function_count,
                                 sizeof *view->report->functions, by_addr)
                       : NULL;
    }
    return NULL;
}

/* Writes the names of the anchors of functions in the source; "" where coverage does not know them. Whether
 * the page has the anchor depends on the room that it had for source. */
static void put_anchors(struct found *f)
{
    ct_json_array(&f->json, "anchors");
    for (size_t i = 0; i < f->count; i++) {
        char text[64] = "";
        size_t number;
        const struct ct_cover_function *known = find(f->page, &f->page->functions[i], &number);
        if (known && known->file != CT_LINE_NONE)
            snprintf(text, sizeof text, CT_COVER_LINE_ANCHOR, number, known->file, known->line);
        ct_json_text(&f->json, NULL, text);
    }
    ct_json_array_end(&f->json);
}

/* Writes the file names and lines of functions; "" and 0 where they are not known. */
static void put_sources(struct found *f)
{
    ct_json_array(&f->json, "files");
    for (size_t i = 0; i < f->count; i++) {
        const char *file = f->page->functions[i].place.file;
        ct_json_text(&f->json, NULL, file ? file : "");
    }
    ct_json_array_end(&f->json);
    ct_json_array(&f->json, "lines");
    for (size_t i = 0; i < f->count; i++)
        ct_json_number(&f->json, NULL, f->page->functions[i].place.line);
    ct_json_array_end(&f->json);
}

static void put_names(struct found *f)
{
    ct_json_array(&f->json, "names");
    for (size_t i = 0; i < f->count; i++)
        ct_json_text(&f->json, NULL, f->page->functions[i].place.function);
    ct_json_array_end(&f->json);
    ct_json_array(&f->json, "modules");
    for (size_t i = 0; i < f->count; i++) {
        const char *module = f->page->functions[i].module;
        ct_json_text(&f->json, NULL, module ? ct_base_name(module) : "");
    }
    ct_json_array_end(&f->json);
}

static void put_numbers(struct found *f)
{
    const struct ct_report_page *r = f->page;
    ct_json_array(&f->json, "alone");
    for (size_t i = 0; i < f->count; i++)
        ct_json_number(&f->json, NULL, ct_report_self(r, &r->functions[i]));
    ct_json_array_end(&f->json);
    ct_json_array(&f->json, "inclusive");
    for (size_t i = 0; i < f->count; i++)
        ct_json_number(&f->json, NULL, ct_report_inclusive(r, &r->functions[i]));
    ct_json_array_end(&f->json);
    ct_json_array(&f->json, "calls");
    for (size_t i = 0; i < f->count; i++)
        ct_json_number(&f->json, NULL, r->functions[i].calls);
    ct_json_array_end(&f->json);
}

void ct_report_functions(FILE *out, const struct ct_report_page *r)
{
    struct found f = {.json = {.out = out, .script = true},
                      .page = r,
                      .count = r->ran_count < FOUND ? r->ran_count : FOUND};
    if (!f.count)
        return;
    fputs("<script type=\"application/json\" id=\"function-data\">", out);
    ct_json_object(&f.json, NULL);
    ct_json_text(&f.json, "unit", ct_report_unit(r));
    ct_json_number(&f.json, "all", ct_report_all(r));
    ct_json_number(&f.json, "ran", r->ran_count);
    put_names(&f);
    put_numbers(&f);
    put_sources(&f);
    put_anchors(&f);
    ct_json_object_end(&f.json);
    fputs("</script>\n", out);
}
