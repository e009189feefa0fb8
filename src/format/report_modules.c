/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the time of each program and library. */
#include "base/search.h"
#include "format/report_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "format/number.h"
#include "format/page.h"
#include "format/xml.h"

/* most rows of the table */
#define MODULES 100

struct module {
    const char *path;
    uint64_t self;
    uint64_t functions;
};

static int by_path(const void *a, const void *b)
{
    const struct module *x = a;
    const struct module *y = b;
    return strcmp(x->path, y->path);
}

static int by_self(const void *a, const void *b)
{
    const struct module *x = a, *y = b;
    return ct_order(y->self, x->self) ?: by_path(a, b);
}

/* Adds up the functions of each module, and sorts modules by time, the largest first. Returns their
 * number. */
static size_t add_up(const struct ct_report_page *r, struct module *modules)
{
    size_t count = 0;
    for (size_t i = 0; i < r->ran_count; i++) {
        const char *path = r->functions[i].module;
        modules[i] = (struct module){path ? path : CT_SYMBOL_UNKNOWN, ct_report_self(r, &r->functions[i]), 1};
    }
    qsort(modules, r->ran_count, sizeof *modules, by_path);
    for (size_t i = 0; i < r->ran_count; i++) {
        if (count && !by_path(&modules[count - 1], &modules[i])) {
            modules[count - 1].self += modules[i].self;
            modules[count - 1].functions++;
        } else {
            modules[count++] = modules[i];
        }
    }
    qsort(modules, count, sizeof *modules, by_self);
    return count;
}

static void row(FILE *out, const struct module *m, uint64_t all)
{
    fputs("<tr>", out);
    ct_page_part_cells(out, m->self, all);
    ct_page_count_cell(out, m->self);
    ct_page_count_cell(out, m->functions);
    fputs("<td class=\"wide name first\" data-tip=\"", out);
    ct_xml_text(out, m->path);
    fputs("\">", out);
    ct_xml_text(out, ct_base_name(m->path));
    fputs("</td></tr>\n", out);
}

static void table(FILE *out, const struct ct_report_page *r, const struct module *modules, size_t count)
{
    const uint64_t all = ct_report_all(r);
    char text[CT_NUMBER_SIZE];
    uint64_t rest = 0;
    fprintf(out,
            "<h3>Modules</h3>\n<div class=\"panel scroll tall\" tabindex=\"0\"><table class=\"list byname\" "
            "id=\"modules\"><thead><tr><th scope=\"col\" class=\"num\" aria-sort=\"descending\">"
            "<button>Part</button></th><th scope=\"col\"></th><th scope=\"col\" class=\"num\"><button>%s"
            "</button></th><th scope=\"col\" class=\"num\"><button>Functions</button></th><th scope=\"col\" "
            "class=\"first\"><button>Module</button></th></tr></thead><tbody>\n",
            r->cycles ? "Cycles" : "Instructions");
    for (size_t i = 0; i < count; i++) {
        if (i < MODULES)
            row(out, &modules[i], all);
        else
            rest += modules[i].self;
    }
    fputs("</tbody></table></div>\n", out);
    if (count > MODULES)
        fprintf(out, "<p class=\"more\">%zu more modules, with %s of the %s, are left out.</p>\n",
                count - MODULES, ct_page_percent(text, rest, all), ct_report_unit(r));
}

int ct_report_modules(FILE *out, const struct ct_report_page *r)
{
    struct module *modules = calloc(r->ran_count + 1, sizeof *modules);
    if (!modules)
        return CT_ERR_NOMEM;
    const size_t count = add_up(r, modules);
    if (count > 1)
        table(out, r, modules, count);
    free(modules);
    return CT_OK;
}
