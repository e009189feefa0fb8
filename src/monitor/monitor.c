/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions for compiling specifications and inspecting the result. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/open_resolved.h"
#include "base/options.h"
#include "base/printable.h"
#include "base/require.h"
#include "base/utf8.h"
#include "monitor/cost.h"
#include "monitor/joint.h"
#include "monitor/library.h"
#include "monitor/parse.h"
#include "monitor/run.h"
#include "monitor/watch.h"
#include "base/ctx.h"

extern const char ct_mon_stdlib_tessla[];
extern const size_t ct_mon_stdlib_tessla_size;

enum {
    COMPILE_WORK = 100000000, /* units of work, about a second */
    INCLUDE_BYTES = 16 << 20
};

/* Returns the bytes of a byte order mark at the start of a text, which editors for Windows write. */
static size_t byte_order_mark(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static const struct ct_mon_source *make_source(struct ct_mon_arena *a, const char *name, const char *text,
                                               size_t size)
{
    struct ct_mon_source *s = ARENA_NEW(a, struct ct_mon_source);
    const size_t mark = byte_order_mark(text, size);
    s->name = ct_mon_arena_copy(a, name, strlen(name));
    s->text = ct_mon_arena_copy(a, text + mark, size - mark);
    s->size = size - mark;
    return s;
}

/* Reads a text file whose resolved path is `real`. Returns NULL also when it contains a NUL byte. Allocates
 * before it opens the file, because the arena may jump when memory runs out. */
static const struct ct_mon_source *read_file(struct ct_mon_arena *a, const char *path, const char *real)
{
    struct stat st;
    if (stat(real, &st) || !S_ISREG(st.st_mode) || st.st_size > INCLUDE_BYTES)
        return NULL;
    struct ct_mon_source *s = ARENA_NEW(a, struct ct_mon_source);
    char *text = ct_mon_arena_alloc(a, (size_t)st.st_size + 1);
    s->name = ct_mon_arena_copy(a, path, strlen(path));
    s->text = text;
    const int fd = ct_open_resolved(real);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    if (!f) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    s->size = fread(text, 1, (size_t)st.st_size, f);
    bool fine = !ferror(f);
    fclose(f);
    const size_t mark = byte_order_mark(text, s->size);
    s->text += mark;
    s->size -= mark;
    return fine && !memchr(text, 0, s->size) ? s : NULL;
}

/* State of the search for included files. */
struct includes {
    struct ct_mon_arena *arena;
    const char *name; /* name of the specification */
    uint64_t *sum;    /* hash over all texts */
};

/* Adds a text and a terminator to the hash of a specification. */
static void add_text(uint64_t *sum, const char *text, size_t size)
{
    *sum = ct_fnv(ct_fnv(*sum, text, size), "", 1);
}

/* Returns whether a file lies in the specification's folder or below it, with symbolic links resolved. Writes
 * the resolved path to `real`, of PATH_MAX bytes. */
static bool is_below(const char *specification, const char *path, char *real)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(specification, '/');
    const size_t length = slash ? (size_t)(slash - specification) + 1 : 0;
    char named[PATH_MAX] = ".";
    if (length >= sizeof named)
        return false;
    if (length)
        memcpy(named, specification, length);
    named[length ? length : 1] = '\0';
    if (!realpath(named, folder) || !realpath(path, real))
        return false;
    const size_t whole = strlen(folder);
    return strncmp(real, folder, whole) == 0 && (real[whole] == '/' || folder[whole - 1] == '/');
}

/* Finds an included file next to the including one, as NAME or NAME.tessla, in or below the specification's
 * folder. */
static const struct ct_mon_source *include_file(void *user, const struct ct_mon_source *from,
                                                const char *name)
{
    const struct includes *includes = user;
    struct ct_mon_arena *a = includes->arena;
    const char *slash = strrchr(from->name, '/');
    int dir = slash && name[0] != '/' ? (int)(slash - from->name + 1) : 0;
    const struct ct_mon_source *s = NULL;
    char real[PATH_MAX];
    for (int ending = 0; ending < 2 && !s; ending++) {
        const char *path = ct_mon_arena_printf(a, "%.*s%s%s", dir, from->name, name, ending ? ".tessla" : "");
        s = is_below(includes->name, path, real) ? read_file(a, path, real) : NULL;
    }
    if (s)
        add_text(includes->sum, s->text, s->size);
    return s;
}

/* Reports bytes that show that a source is no text in lines. */
static bool is_no_text(struct ct_mon_diags *d, const struct ct_mon_source *s)
{
    const char *nul = memchr(s->text, 0, s->size), *cr = memchr(s->text, '\r', s->size);
    const bool lines = !cr || memchr(s->text, '\n', s->size);
    if (!nul && lines)
        return false;
    const uint32_t at = (uint32_t)((nul ? nul : cr) - s->text);
    ct_mon_diag_error(d, (struct ct_mon_span){s, at, at + 1}, "%s",
                      nul ? "The specification contains a NUL byte; write it as UTF-8 text"
                          : "Lines end with a carriage return alone; end them with a line feed");
    return true;
}

static void compile(struct ct_monitor_spec *spec, const char *name, const char *text, size_t size,
                    const struct ct_monitor_options *o)
{
    struct ct_mon_arena *a = &spec->arena;
    const struct ct_mon_source *source = make_source(a, name, text, size);
    struct includes includes = {a, name, &spec->sum};
    const char how[] = {(char)('0' + o->dialect), (char)('0' + (o->changes_only != 0))};
    spec->sum = CT_FNV_BEGIN;
    add_text(&spec->sum, how, sizeof how);
    add_text(&spec->sum, o->time_unit, o->time_unit ? strlen(o->time_unit) : 0);
    add_text(&spec->sum, text, size);
    const struct ct_mon_source *library =
        make_source(a, CT_MON_LIBRARY_NAME, ct_mon_stdlib_tessla, ct_mon_stdlib_tessla_size);
    ct_mon_elab_init(&spec->elab, a, &spec->diags, o->time_unit);
    spec->elab.changes_only = o->changes_only;
    if (is_no_text(&spec->diags, source))
        return;
    ct_mon_library_open(&spec->elab, library);
    if (o->dialect == CT_MONITOR_WATCHPOINT || (o->dialect == CT_MONITOR_AUTO && ct_mon_watch_is(a, source)))
        ct_mon_watch_spec(&spec->elab, source);
    else
        ct_mon_elab_spec(&spec->elab, ct_mon_parse_spec(a, &spec->diags, source,
                                                        o->no_include ? NULL : include_file, &includes));
    if (spec->diags.errors || !ct_mon_analyse(&spec->elab, &spec->order))
        return;
    ct_mon_emit_program(&spec->elab, &spec->order, &spec->program);
    spec->runnable = spec->diags.errors == 0;
    if (spec->runnable && o->engine == CT_MONITOR_NATIVE)
        spec->native = ct_mon_native_new(&spec->program, a, NULL);
    if (spec->runnable && o->engine == CT_MONITOR_BACKGROUND &&
        !(spec->beside = ct_mon_beside_new(&spec->program)))
        ct_mon_arena_leave(a, ARENA_NO_MEMORY);
}

static int too_large(struct ct_ctx *ctx, const char *name, enum ct_mon_arena_end end)
{
    if (end == ARENA_NO_MEMORY)
        return ct_fail_nomem(ctx, name);
    if (end == ARENA_WORK)
        return ct_fail(ctx, CT_ERR_LIMIT,
                       "%s: compiling the specification takes too much work (expanded macros, constants, "
                       "formulas); it was not compiled; make it smaller",
                       name);
    return ct_fail(ctx, CT_ERR_LIMIT,
                   "%s: compiling the specification takes more memory than the limit (expanded macros, "
                   "formulas); it was not compiled; raise the limit with --monitor-memory",
                   name);
}

int ct_monitor_compile(struct ct_ctx *ctx, const char *name, const char *text, size_t size,
                       const struct ct_monitor_options *options, struct ct_monitor_spec **out)
{
    struct ct_monitor_options o;
    if (out)
        *out = NULL;
    CT_REQUIRE_OUT(ctx, out, name, text || !size);
    const int rc = ct_options_read(ctx, "ct_monitor_compile", options, &o, sizeof o);
    if (rc)
        return rc;
    if (o.dialect > CT_MONITOR_WATCHPOINT)
        return ct_fail(ctx, CT_ERR_ARG, "monitor: unknown dialect %u", o.dialect);
    if (o.engine > CT_MONITOR_BACKGROUND)
        return ct_fail(ctx, CT_ERR_ARG, "monitor: unknown engine %u", o.engine);
    if (o.time_unit && !ct_mon_unit_known(o.time_unit))
        return ct_fail(ctx, CT_ERR_ARG,
                       "monitor: the time unit '%s' is unknown; use one of fs ps ns us ms s min h d",
                       o.time_unit);
    if (size > INCLUDE_BYTES)
        return ct_fail(
            ctx, CT_ERR_LIMIT,
            "%s: the specification is larger than the limit of 16 MiB; it was not compiled; make it smaller",
            name);
    struct ct_monitor_spec *volatile spec = calloc(1, sizeof *spec);
    if (!spec)
        return ct_fail_nomem(ctx, "monitor");
    ct_mon_arena_init(&spec->arena,
                      (o.memory ? o.memory : CT_MONITOR_MEMORY) / 5 * 4); /* the rest is for constants */
    spec->arena.work = COMPILE_WORK;
    ct_mon_diags_init(&spec->diags, &spec->arena);
    if (setjmp(spec->arena.out_of_memory)) {
        const enum ct_mon_arena_end end = spec->arena.end;
        ct_monitor_spec_free(spec);
        return too_large(ctx, name, end);
    }
    compile(spec, name, text, size, &o);
    ct_mon_diags_sort(&spec->diags);
    *out = spec;
    if (spec->runnable)
        return CT_OK;
    struct ct_monitor_diag d = {.text = "does not compile"};
    for (size_t i = 0; i < ct_monitor_diag_count(spec); i++) {
        ct_monitor_diag_get(spec, i, &d);
        if (!d.warning)
            break;
    }
    return ct_fail(ctx, CT_ERR_FORMAT, "%s:%u:%u: error: %s", d.file ? d.file : name, d.line, d.column,
                   d.text);
}

void ct_monitor_spec_free(struct ct_monitor_spec *spec)
{
    if (!spec || __atomic_fetch_sub(&spec->users, 1, __ATOMIC_ACQ_REL))
        return;
    ct_mon_joint_release(spec->joint);
    ct_mon_native_free(spec->native);
    ct_mon_beside_free(spec->beside);
    ct_mon_heap_free(&spec->elab.constants);
    ct_mon_arena_free(&spec->arena);
    free(spec);
}

static const struct ct_mon_diag *diag_at(const struct ct_monitor_spec *spec, size_t index)
{
    const struct ct_mon_diag *d = spec->diags.first;
    while (d && index--)
        d = d->next;
    return d;
}

size_t ct_monitor_diag_count(const struct ct_monitor_spec *spec)
{
    if (!spec)
        return 0;
    size_t n = 0;
    for (const struct ct_mon_diag *d = spec->diags.first; d; d = d->next)
        n++;
    return n;
}

int ct_monitor_diag_get(const struct ct_monitor_spec *spec, size_t index, struct ct_monitor_diag *out)
{
    CT_REQUIRE(NULL, spec, out);
    const struct ct_mon_diag *d = diag_at(spec, index);
    const char *line;
    size_t size;
    CT_REQUIRE(NULL, d);
    *out = (struct ct_monitor_diag){.text = d->text, .warning = d->warning, .file = ""};
    if (!d->span.source)
        return CT_OK;
    out->file = d->span.source->name;
    ct_mon_source_place(d->span.source, d->span.from, &out->line, &out->column, &line, &size);
    ct_mon_source_place(d->span.source, d->span.to, &out->end_line, &out->end_column, &line, &size);
    return CT_OK;
}

static size_t copy_out(struct ct_mon_text *t, char *text, size_t cap)
{
    if (t->failed)
        t->n = 0;
    size_t n = t->n, k = n < cap ? n : cap ? cap - 1 : 0;
    if (k)
        memcpy(text, t->p, k);
    if (cap)
        text[k] = 0;
    ct_mon_text_free(t);
    return n;
}

/* Prints a source line, with a question mark for each unprintable character, so that carets stay aligned. */
static void print_source(struct ct_mon_text *t, const char *line, size_t size)
{
    for (size_t length; size; line += length, size -= length) {
        ct_utf8_read(line, size, &length);
        const bool plain = *line == '\t' || ct_printable_length(line, length);
        ct_mon_text_add(t, plain ? line : "?", plain ? length : 1);
    }
}

/* Prints a source line and carets under the span. Tabs before the carets stay tabs. */
static void print_place(struct ct_mon_text *t, struct ct_mon_span span, unsigned line, unsigned col,
                        uint32_t width)
{
    const char *begin;
    size_t size;
    unsigned ignored;
    ct_mon_source_place(span.source, span.from, &ignored, &ignored, &begin, &size);
    size = size < 400 ? size : 400;
    ct_mon_text_printf(t, "%5u | ", line);
    print_source(t, begin, size);
    ct_mon_text_add_z(t, "\n      | ");
    for (size_t i = 0, k = 1; i < size && k < col; i++) {
        if (((unsigned char)begin[i] & 0xc0) == 0x80)
            continue;
        ct_mon_text_add(t, begin[i] == '\t' ? "\t" : " ", 1);
        k++;
    }
    for (uint32_t i = 0; i < width && i < 200; i++)
        ct_mon_text_add(t, "^", 1);
}

static void print_message(struct ct_mon_text *t, struct ct_mon_span span, bool warning, const char *message)
{
    unsigned line = 0, col = 0, end_line = 0, end_col = 0;
    const char *begin;
    size_t size;
    if (span.source) {
        ct_mon_source_place(span.source, span.from, &line, &col, &begin, &size);
        ct_mon_source_place(span.source, span.to, &end_line, &end_col, &begin, &size);
        ct_mon_text_add_printable(t, span.source->name, strlen(span.source->name), false);
        ct_mon_text_printf(t, ":%u:%u: ", line, col);
    }
    ct_mon_text_add_z(t, warning ? "warning: " : "error: ");
    ct_mon_text_add_printable(t, message, strlen(message), false);
    ct_mon_text_add(t, "\n", 1);
    if (!span.source)
        return;
    print_place(t, span, line, col, end_line == line && end_col > col ? end_col - col : 1);
    ct_mon_text_add(t, "\n", 1);
}

size_t ct_monitor_diag_print(const struct ct_monitor_spec *spec, size_t index, char *text, size_t cap)
{
    if (!spec)
        return 0;
    const struct ct_mon_diag *d = diag_at(spec, index);
    struct ct_mon_text t = {0};
    if (cap)
        text[0] = 0;
    if (!d)
        return 0;
    print_message(&t, d->span, d->warning, d->text);
    return copy_out(&t, text, cap);
}

size_t ct_monitor_input_print(const struct ct_monitor_spec *spec, size_t index, const char *message,
                              char *text, size_t cap)
{
    if (!spec)
        return 0;
    struct ct_mon_text t = {0};
    if (cap)
        text[0] = 0;
    if (index >= spec->elab.ninputs)
        return 0;
    print_message(&t, spec->elab.inputs[index].span, false, message);
    return copy_out(&t, text, cap);
}

size_t ct_monitor_input_count(const struct ct_monitor_spec *spec)
{
    if (!spec)
        return 0;
    return spec->program.ninputs;
}

size_t ct_monitor_output_count(const struct ct_monitor_spec *spec)
{
    if (!spec)
        return 0;
    return spec->program.noutputs;
}

static uint8_t public_type(const struct ct_mon_type *t)
{
    switch (t->kind) {
    case TY_INT:
        return CT_MONITOR_INT;
    case TY_FLOAT:
        return CT_MONITOR_FLOAT;
    case TY_BOOL:
        return CT_MONITOR_BOOL;
    case TY_STRING:
        return CT_MONITOR_STRING;
    case TY_VERDICT:
        return CT_MONITOR_VERDICT;
    default:
        return t->kind == TY_RECORD && !t->n ? CT_MONITOR_UNIT : CT_MONITOR_OTHER;
    }
}

int ct_monitor_input(const struct ct_monitor_spec *spec, size_t index, struct ct_monitor_stream *out)
{
    CT_REQUIRE(NULL, spec, out);
    CT_REQUIRE(NULL, index < spec->program.ninputs);
    const struct ct_mon_input_info *in = &spec->program.inputs[index];
    *out = (struct ct_monitor_stream){.name = in->name,
                                      .type_text = in->type_text,
                                      .type = public_type(in->type),
                                      .source = in->source_kind,
                                      .source_arg = in->source_arg,
                                      .source_number = in->source_number,
                                      .source_core = in->source_core};
    return CT_OK;
}

int ct_monitor_output(const struct ct_monitor_spec *spec, size_t index, struct ct_monitor_stream *out)
{
    CT_REQUIRE(NULL, spec, out);
    CT_REQUIRE(NULL, index < spec->program.noutputs);
    const struct ct_mon_out_info *o = &spec->program.outputs[index];
    *out = (struct ct_monitor_stream){
        .name = o->name, .type_text = o->type_text, .type = public_type(o->type), .raw = o->raw};
    return CT_OK;
}

size_t ct_monitor_node_count(const struct ct_monitor_spec *spec)
{
    if (!spec)
        return 0;
    return spec->program.nnodes;
}

uint64_t ct_monitor_sum(const struct ct_monitor_spec *spec)
{
    return spec ? spec->sum : 0;
}

enum ct_monitor_engine ct_monitor_engine_of(const struct ct_monitor_spec *spec)
{
    if (!spec)
        return CT_MONITOR_BYTECODE;
    return spec->native || ct_mon_beside_code(spec->beside) ? CT_MONITOR_NATIVE : CT_MONITOR_BYTECODE;
}

size_t ct_monitor_dot(const struct ct_monitor_spec *spec, char *text, size_t cap)
{
    if (!spec)
        return 0;
    struct ct_mon_text t = {0};
    ct_mon_dot_write(&spec->elab, &spec->order, &t);
    return copy_out(&t, text, cap);
}

/* Computes the costs of an output of a specification without errors. */
static int find_costs(const struct ct_monitor_spec *spec, size_t output, struct ct_mon_costs *costs)
{
    if (!spec || !spec->runnable || output >= spec->program.noutputs)
        return CT_ERR_ARG;
    return ct_mon_costs_of(&spec->elab, &spec->order, output, costs);
}

int ct_monitor_output_cost(const struct ct_monitor_spec *spec, size_t output, struct ct_monitor_cost *out)
{
    struct ct_mon_costs costs;
    const int rc = out ? find_costs(spec, output, &costs) : CT_ERR_ARG;
    if (rc)
        return rc;
    *out = costs.cost;
    ct_mon_costs_free(&costs);
    return CT_OK;
}

int ct_monitor_output_needs(const struct ct_monitor_spec *spec, size_t output, size_t input,
                            uint64_t *operations)
{
    struct ct_mon_costs costs;
    const int rc =
        operations && spec && input < spec->elab.ninputs ? find_costs(spec, output, &costs) : CT_ERR_ARG;
    if (rc)
        return rc;
    *operations = costs.inputs[input];
    ct_mon_costs_free(&costs);
    return CT_OK;
}

size_t ct_monitor_output_growth_print(const struct ct_monitor_spec *spec, size_t output, char *text,
                                      size_t cap)
{
    struct ct_mon_costs costs;
    struct ct_mon_text t = {0};
    if (cap)
        text[0] = 0;
    if (find_costs(spec, output, &costs))
        return 0;
    if (costs.cost.may_grow)
        print_message(
            &t, costs.growing, true,
            "this value may grow without limit: each new value contains the previous value and more");
    ct_mon_costs_free(&costs);
    return copy_out(&t, text, cap);
}
