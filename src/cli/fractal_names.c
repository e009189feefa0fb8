/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses: functions, objects, sections, regions. */
#include <stdlib.h>
#include <string.h>

#include "cli/fractal.h"
#include "cli/programs.h"

struct cli_names {
    char **texts; /* of the names, to be freed */
    size_t text_count, text_room;
    struct cli_name *all; /* symbols, then sections, then regions: each part sorted by lo; then the unknown */
    size_t count, symbols, sections, capacity;
    uint64_t code, end;
    struct ct_programs *programs; /* whose names those of functions are */
};

/* Keeps a text as it can be printed. */
static const char *keep(struct cli_names *n, const char *text)
{
    if (n->text_count == n->text_room) {
        const size_t room = n->text_room ? 2 * n->text_room : 1024;
        char **texts = realloc(n->texts, room * sizeof *texts);
        if (!texts)
            return NULL;
        n->texts = texts;
        n->text_room = room;
    }
    char *copy = cli_printable(text);
    if (copy)
        n->texts[n->text_count++] = copy;
    return copy;
}

static int push(struct cli_names *n, uint64_t lo, uint64_t size, const char *text, enum cli_name_kind kind)
{
    if (n->count + 1 >= n->capacity) {
        const size_t capacity = n->capacity ? n->capacity * 2 : 1024;
        struct cli_name *all = realloc(n->all, capacity * sizeof *all);
        if (!all)
            return 0;
        n->all = all;
        n->capacity = capacity;
    }
    const char *printable = keep(n, text);
    if (!printable)
        return 0;
    n->all[n->count++] = (struct cli_name){.lo = lo, .hi = lo + size, .text = printable, .kind = kind};
    n->all[n->count] = (struct cli_name){.text = CT_SYMBOL_UNKNOWN, .kind = NAME_UNKNOWN};
    return 1;
}

static int by_address(const void *a, const void *b)
{
    const struct cli_name *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    /* Of several for one address the longest counts, then the first by name: always the same one. */
    if (x->hi != y->hi)
        return x->hi > y->hi ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* Aliases go, and a symbol without a size ends where the next begins. */
static void tidy_symbols(struct cli_names *n)
{
    if (n->count)
        qsort(n->all, n->count, sizeof *n->all, by_address);
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++)
        if (!kept || n->all[i].lo != n->all[kept - 1].lo)
            n->all[kept++] = n->all[i];
    for (size_t i = 0; i < kept; i++)
        if (n->all[i].hi == n->all[i].lo)
            n->all[i].hi = i + 1 < kept ? n->all[i + 1].lo : n->all[i].lo + 4;
    n->count = n->symbols = kept;
    n->all[kept] = (struct cli_name){.text = CT_SYMBOL_UNKNOWN, .kind = NAME_UNKNOWN};
}

/* Functions with all that the name service knows: those of stripped programs, too. */
static int add_functions(struct cli_names *n, const struct ct_symbols *functions)
{
    size_t count;
    const struct ct_symbol *all = ct_symbols_all(functions, &count);
    int fine = 1;
    for (size_t i = 0; fine && i < count; i++) {
        fine = push(n, all[i].addr, all[i].size, ct_symbols_label(functions, &all[i]), NAME_FUNCTION);
        if (fine)
            n->all[n->count - 1].raw = all[i].name;
    }
    const struct ct_code_range *code = ct_symbols_code(functions, &count);
    n->code = count ? code[0].low : 0;
    return fine;
}

static int add_areas(struct cli_names *n, const struct ct_area *areas, size_t count, enum cli_name_kind kind)
{
    int fine = 1;
    for (size_t i = 0; fine && i < count; i++)
        fine = push(n, areas[i].addr, areas[i].size, areas[i].name, kind);
    return fine;
}

static int add_layout(struct cli_names *n, const struct ct_layout *layout)
{
    if (!add_areas(n, layout->objects, layout->object_count, NAME_OBJECT))
        return 0;
    tidy_symbols(n);
    if (!add_areas(n, layout->sections, layout->section_count, NAME_SECTION))
        return 0;
    if (n->count > n->symbols)
        qsort(n->all + n->symbols, n->count - n->symbols, sizeof *n->all, by_address);
    n->sections = n->count;
    n->end = layout->end;
    return 1;
}

static int add_program(struct cli_names *n, const struct cli_args *args, const char *path)
{
    struct ct_program *program;
    const struct ct_symbols *functions;
    const struct ct_layout *layout;
    const struct ct_programs_options options = {
        .size = sizeof options, .files = args->debug_files, .raw_names = args->raw_names};
    if (ct_programs_new(args->ctx, &options, &n->programs) != CT_OK ||
        ct_programs_add(n->programs, path, NULL, NULL, &program) != CT_OK ||
        ct_program_symbols(program, &functions) != CT_OK || ct_program_layout(program, &layout) != CT_OK)
        return 0;
    if (add_functions(n, functions) && add_layout(n, layout))
        return 1;
    cli_fail_nomem(args->ctx, path);
    return 0;
}

struct cli_names *cli_names_load(const struct cli_args *args, const char *path, uint64_t bias)
{
    struct cli_names *n = calloc(1, sizeof *n);
    if (!n || !push(n, 0, 0, "", NAME_UNKNOWN)) {
        cli_names_free(n);
        cli_fail_nomem(args->ctx, path ? path : "names");
        return NULL;
    }
    n->count = 0;
    n->all[0] = (struct cli_name){.text = CT_SYMBOL_UNKNOWN, .kind = NAME_UNKNOWN};
    if (path && !add_program(n, args, path)) {
        cli_names_free(n);
        return NULL;
    }
    cli_names_move(n, bias);
    return n;
}

void cli_names_move(struct cli_names *n, uint64_t by)
{
    for (size_t i = 0; i < n->sections; i++) {
        n->all[i].lo += by;
        n->all[i].hi += by;
    }
    n->code += by;
    n->end += by;
}

void cli_names_free(struct cli_names *n)
{
    if (!n)
        return;
    while (n->text_count)
        free(n->texts[--n->text_count]);
    free(n->texts);
    ct_programs_free(n->programs);
    free(n->all);
    free(n);
}

int cli_names_region(struct cli_names *n, uint64_t lo, uint64_t hi, const char *text)
{
    if (!push(n, lo, hi - lo, text, NAME_REGION))
        return 0;
    qsort(n->all + n->sections, n->count - n->sections, sizeof *n->all, by_address);
    return 1;
}

static const struct cli_name *lookup(const struct cli_name *first, size_t count, uint64_t va)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (first[mid].lo <= va)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && va < first[lo - 1].hi ? &first[lo - 1] : NULL;
}

/* The log knows lines: a line belongs to what its first byte belongs to, else to the first name that
 * begins in it. */
static const struct cli_name *lookup_line(const struct cli_name *first, size_t count, uint64_t va)
{
    const struct cli_name *at = lookup(first, count, va);
    return at || va & 63 ? at : lookup(first, count, va + 63);
}

const struct cli_name *cli_names_at(const struct cli_names *n, uint64_t va)
{
    const struct cli_name *at = lookup_line(n->all, n->symbols, va);
    if (!at)
        at = lookup_line(n->all + n->symbols, n->sections - n->symbols, va);
    if (!at)
        at = lookup(n->all + n->sections, n->count - n->sections, va);
    return at ? at : &n->all[n->count];
}

const struct cli_name *cli_names_find(const struct cli_names *n, const char *text, bool section)
{
    const size_t first = section ? n->symbols : 0, last = section ? n->sections : n->symbols;
    for (size_t i = first; i < last; i++)
        if (!strcmp(n->all[i].text, text) || (n->all[i].raw && !strcmp(n->all[i].raw, text)))
            return &n->all[i];
    return NULL;
}

uint64_t cli_names_code(const struct cli_names *n)
{
    return n->code;
}

uint64_t cli_names_end(const struct cli_names *n)
{
    return n->end;
}

const struct cli_name *cli_names_all(const struct cli_names *n, size_t *count)
{
    *count = n->count + 1;
    return n->all;
}

/* Names come from files: what would break a line of values is quoted (RFC 4180). */
static void csv_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void cli_fractal_csv_line(FILE *out, const struct ct_fractal_event *e, const struct cli_names *names)
{
    static const char kind[] = {'-', 'I', 'D'};
    fprintf(out, "%llu,0x%llx,0x%llx,%s,%u,%c,", (unsigned long long)e->time, (unsigned long long)e->va,
            (unsigned long long)e->pa, ct_fractal_op_name(e->op), e->initiator,
            kind[e->kind < 3 ? e->kind : 0]);
    csv_text(out, cli_names_at(names, e->va)->text);
    fputc('\n', out);
}
