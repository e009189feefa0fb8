/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the data of functions.js: all functions with their numbers, and where their source is in the
 * page. */
#include "base/search.h"
#include "format/report_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "format/json.h"

/* most functions that can be searched */
#define FOUND 10000

/* most functions of all threads together */
#define PARTS 20000

struct found {
    struct ct_json json;
    const struct ct_report_page *page;
    size_t count;
};

static int by_addr(const void *key, const void *element)
{
    const uint64_t addr = *(const uint64_t *)key;
    const struct ct_cover_function *f = element;
    return ct_order(addr, f->addr);
}

/* Finds a function in the coverage of its program, and sets *number to the program's number in the page. NULL
 * when it is missing. */
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

/* Writes the anchors of functions in the source, "" for those that coverage does not know. The page may lack
 * an anchor when there was no room for the source. */
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

/* Writes the file names and lines of functions, "" and 0 when unknown. */
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

/* A function, and its own time in a thread. */
struct part {
    size_t function;
    uint64_t alone;
};

static int by_alone(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return ct_order(y->alone, x->alone) ?: ct_order(x->function, y->function);
}

/* Writes the times of functions in a thread: number, own time, time with callees, and calls, for those with
 * the most time. */
static void put_parts(struct found *f, const struct ct_report_function *functions, struct part *parts)
{
    const struct ct_report_page *r = f->page;
    const size_t most = PARTS / r->threads->count;
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        if (ct_report_inclusive(r, &functions[i]) || functions[i].calls)
            parts[count++] = (struct part){i, ct_report_self(r, &functions[i])};
    qsort(parts, count, sizeof *parts, by_alone);
    ct_json_array(&f->json, "functions");
    for (size_t i = 0; i < count && i < most; i++) {
        const struct ct_report_function *one = &functions[parts[i].function];
        ct_json_number(&f->json, NULL, parts[i].function);
        ct_json_number(&f->json, NULL, parts[i].alone);
        ct_json_number(&f->json, NULL, ct_report_inclusive(r, one));
        ct_json_number(&f->json, NULL, one->calls);
    }
    ct_json_array_end(&f->json);
}

static int put_thread(struct found *f, const struct ct_report_thread *thread, const uint32_t *ranks,
                      struct part *parts)
{
    const struct ct_report_page *r = f->page;
    char core[CT_REPORT_STREAM_NAME];
    char name[CT_REPORT_THREAD_NAME];
    struct ct_report_function *functions = calloc(r->function_count + 1, sizeof *functions);
    const int rc =
        functions ? ct_report_add_up(thread->places, thread->place_count, ranks, functions) : CT_ERR_NOMEM;
    ct_json_object(&f->json, NULL);
    ct_json_text(&f->json, "core", ct_report_stream_name(r, &r->streams[thread->stream], core, sizeof core));
    ct_json_text(&f->json, "thread", ct_report_thread_name(r, thread->stream, thread->context, name));
    ct_json_number(&f->json, "all", thread->weight);
    if (!rc)
        put_parts(f, functions, parts);
    ct_json_object_end(&f->json);
    free(functions);
    return rc;
}

/* Writes the times of each thread on each core. CT_ERR_NOMEM. */
static int put_threads(struct found *f)
{
    uint32_t *ranks = ct_report_ranks(f->page);
    struct part *parts = calloc(f->count, sizeof *parts);
    int rc = ranks && parts ? CT_OK : CT_ERR_NOMEM;
    ct_json_array(&f->json, "threads");
    for (size_t i = 0; i < f->page->threads->count && !rc; i++)
        rc = put_thread(f, &f->page->threads->threads[i], ranks, parts);
    ct_json_array_end(&f->json);
    free(ranks);
    free(parts);
    return rc;
}

int ct_report_functions(FILE *out, const struct ct_report_page *r)
{
    struct found f = {.json = {.out = out, .script = true},
                      .page = r,
                      .count = r->ran_count < FOUND ? r->ran_count : FOUND};
    int rc = CT_OK;
    if (!f.count)
        return rc;
    fputs("<script type=\"application/json\" id=\"function-data\">", out);
    ct_json_object(&f.json, NULL);
    ct_json_text(&f.json, "unit", ct_report_unit(r));
    ct_json_number(&f.json, "all", ct_report_all(r));
    ct_json_number(&f.json, "ran", r->ran_count);
    put_names(&f);
    put_numbers(&f);
    put_sources(&f);
    put_anchors(&f);
    if (r->threads)
        rc = put_threads(&f);
    ct_json_object_end(&f.json);
    fputs("</script>\n", out);
    return rc;
}
