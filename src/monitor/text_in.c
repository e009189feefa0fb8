/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/text_in.h"

#include "base/require.h"
#include "coretap/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_name(const char *p, size_t n)
{
    uint32_t h = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)p[i]) * 0x01000193u;
    return h ^ h >> 15;
}

static void reader_free(struct ct_mon_text_reader *r)
{
    ct_mon_text_free(&r->rest);
    ct_mon_text_ranges_free(r);
    free(r->columns);
    free(r->name);
    free(r->table);
    free(r->named);
    free(r);
}

static struct ct_mon_text_reader *reader(struct ct_monitor *m)
{
    if (m->reader)
        return m->reader;
    struct ct_mon_text_reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->limit = UINT64_MAX;
    uint32_t cap = 16;
    while (cap < 4 * m->p->ninputs)
        cap *= 2;
    r->mask = cap - 1;
    r->table = calloc(cap, sizeof *r->table);
    r->named = calloc((size_t)m->p->ninputs + 1, sizeof *r->named);
    if (!r->table || !r->named) {
        free(r->table);
        free(r->named);
        free(r);
        return NULL;
    }
    for (uint32_t i = 0; i < m->p->ninputs; i++) {
        uint32_t h = hash_name(m->p->inputs[i].name, strlen(m->p->inputs[i].name)), k = h & r->mask;
        while (r->table[k].input)
            k = (k + 1) & r->mask;
        r->table[k].hash = h;
        r->table[k].input = i + 1;
    }
    m->reader_free = reader_free;
    return m->reader = r;
}

void ct_monitor_text_name(struct ct_monitor *m, const char *name)
{
    if (!m || !name)
        return;
    struct ct_mon_text_reader *r = reader(m);
    if (r) {
        free(r->name);
        r->name = strdup(name);
    }
}

void ct_monitor_text_limit(struct ct_monitor *m, uint64_t limit)
{
    if (!m)
        return;
    struct ct_mon_text_reader *r = reader(m);
    if (r)
        r->limit = limit;
}

int32_t ct_mon_text_find_input(const struct ct_monitor *m, const char *p, size_t n)
{
    struct ct_mon_text_reader *r = m->reader;
    uint32_t h = hash_name(p, n);
    for (uint32_t k = h & r->mask; r->table[k].input; k = (k + 1) & r->mask) {
        if (r->table[k].hash != h)
            continue;
        const char *name = m->p->inputs[r->table[k].input - 1].name;
        if (strncmp(name, p, n) != 0 || name[n])
            continue;
        r->any_known = r->named[r->table[k].input - 1] = true;
        return (int32_t)r->table[k].input - 1;
    }
    return -1;
}

int ct_mon_text_fail_at(struct ct_monitor *m, const char *text)
{
    struct ct_mon_text_reader *r = m->reader;
    char line[700];
    int code = ct_mon_run_close_before_mistake(m);
    if (code)
        return code;
    snprintf(line, sizeof line, "%s:%llu: %s", r->name ? r->name : "trace", (unsigned long long)r->line,
             text);
    return ct_mon_run_fail(m, CT_ERR_FORMAT, line);
}

int ct_mon_text_fail_syntax(struct ct_monitor *m, const char *expected)
{
    char text[200];
    snprintf(text, sizeof text, "error: expected %s; write each line as TIME: NAME = VALUE", expected);
    return ct_mon_text_fail_at(m, text);
}

void ct_mon_text_check_unknown(struct ct_monitor *m, const char *p, size_t n)
{
    struct ct_mon_text_reader *r = m->reader;
    const uint32_t hash = hash_name(p, n);
    for (size_t i = 0; i < r->nunknown; i++)
        if (r->unknown[i] == hash)
            return;
    if (r->nunknown == TEXT_UNKNOWN_MOST)
        return;
    if (!r->nunknown)
        snprintf(r->first_unknown, sizeof r->first_unknown, "%.*s", (int)(n < 60 ? n : 60), p);
    r->unknown[r->nunknown++] = hash;
    const char **names = calloc(m->p->ninputs + 1, sizeof *names);
    char *name = strndup(p, n);
    for (uint32_t i = 0; names && i < m->p->ninputs; i++)
        names[i] = m->p->inputs[i].name;
    const char *near = name && names ? ct_nearest_name(name, names) : NULL;
    r->told |= near != NULL;
    if (near)
        ct_log(m->ctx, CT_LOG_WARNING,
               "%s:%llu: events of '%s' are left out, because the specification has no such input; did you "
               "mean '%s'?",
               r->name ? r->name : "trace", (unsigned long long)r->line, name, near);
    free(name);
    free(names);
}

/* Writes the first inputs that the text does not name, as far as there is room. Returns whether there are
 * any. */
static bool list_unnamed(const struct ct_monitor *m, char *names, size_t size)
{
    size_t used = 0;
    *names = '\0';
    for (uint32_t i = 0; i < m->p->ninputs; i++) {
        if (m->reader->named[i])
            continue;
        const size_t room = size - sizeof ", …" - used;
        const int n = snprintf(names + used, room, "%s'%.60s'", used ? ", " : "", m->p->inputs[i].name);
        if (n < 0 || (size_t)n >= room) {
            memcpy(names + used, ", …", sizeof ", …");
            break;
        }
        used += (size_t)n;
    }
    return *names != '\0';
}

/* Says which inputs the text does not name, if it has events of other names: one may be meant for the other.
 * When no input has its name, nothing of the text counts. */
static void tell_other_names(const struct ct_monitor *m)
{
    const struct ct_mon_text_reader *r = m->reader;
    const char *name = r->name ? r->name : "trace";
    char names[200];
    if (r->told || !r->nunknown || !list_unnamed(m, names, sizeof names))
        return;
    if (r->any_known)
        ct_log(m->ctx, CT_LOG_NOTE,
               "%s: there are no events of %s; there are events of '%s'%s; give both the same name if one is "
               "meant for the other",
               name, names, r->first_unknown,
               r->nunknown > 1 ? " and other names, which are no inputs" : ", which is no input");
    else
        ct_log(
            m->ctx, CT_LOG_WARNING,
            "%s: no event is of an input of the specification, so all are left out; its inputs are %s; give "
            "both the same names",
            name, names);
}

/* Returns what to write in the place of a value of the wrong type, or "". */
static const char *instead_of_value(const struct ct_mon_value_in *in)
{
    static const char *const truths[] = {"true", "false", NULL};
    char text[16];
    const enum ct_mon_type_kind want = in->expected ? in->expected->kind : TY_ERROR;
    if (!in->found_size)
        return "";
    if (want == TY_STRING && !in->found_type)
        return "; put it in double quotes";
    if (want == TY_FLOAT && in->found_type && !strcmp(in->found_type, "Int"))
        return "; a Float has a fraction, such as 1.0";
    if (want == TY_FLOAT && *in->found == '.')
        return "; a Float begins with a digit, such as 0.5";
    if (want != TY_BOOL || in->found_size >= sizeof text)
        return "";
    memcpy(text, in->found, in->found_size);
    text[in->found_size] = '\0';
    return ct_nearest_name(text, truths) ? "; write true or false" : "";
}

static int fail_value(struct ct_monitor *m, const struct ct_mon_value_in *in, uint32_t input)
{
    char text[480];
    struct ct_mon_arena a;
    ct_mon_arena_init(&a, 1 << 16);
    if (m->heap.exhausted || in->error)
        return ct_mon_text_fail_at(
            m, ct_mon_value_error_text(m->heap.exhausted ? m->heap.exhausted : in->error));
    if (in->unknown) {
        snprintf(text, sizeof text, "Undefined variable %.*s; use %s, the time variable of this range",
                 (int)(in->unknown_size < 80 ? in->unknown_size : 80), in->unknown, in->variable);
        return ct_mon_text_fail_at(m, text);
    }
    if (setjmp(a.out_of_memory) == 0)
        snprintf(text, sizeof text,
                 "Unexpected value of type %s (%.*s), expected type %s, in input stream '%.100s%s'%s",
                 in->found_type ? in->found_type : "unknown",
                 (int)(in->found_size < 80 ? in->found_size : 80), in->found ? in->found : "",
                 ct_mon_type_text(&a, in->expected ? in->expected : m->p->inputs[input].type),
                 m->p->inputs[input].name, in->path, instead_of_value(in));
    else
        snprintf(text, sizeof text, "Unexpected value in input stream '%.100s'", m->p->inputs[input].name);
    ct_mon_arena_free(&a);
    return ct_mon_text_fail_at(m, text);
}

static bool is_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c >= 0x80;
}

/* Returns whether the line ends here, or a comment begins. */
static bool at_end(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p == end || *p == '#' || (*p == '-' && p + 1 < end && p[1] == '-');
}

const char *ct_mon_text_skip(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

static int read_value(struct ct_monitor *m, const char **at, const char *end, uint32_t input,
                      const char *variable, int64_t bound, struct ct_mon_cell *value)
{
    const struct ct_mon_type *type = m->p->inputs[input].type;
    const char *p = ct_mon_text_skip(*at, end);
    *value = cell_int(0);
    if (p < end && *p == '=') {
        p = ct_mon_text_skip(p + 1, end);
        if (at_end(p, end))
            return ct_mon_text_fail_syntax(m, "a value after '='");
        const char *q = p;
        int64_t i = 0;
        /* fast path: most lines have a short decimal number */
        while (q < end && *q >= '0' && *q <= '9' && q - p < 18)
            i = i * 10 + (*q++ - '0');
        if (type->kind == TY_INT && q > p && (q == end || at_end(q, end))) {
            value->v.i = i;
            *at = q;
            return CT_OK;
        }
        struct ct_mon_value_in in = {
            .p = p, .end = end, .heap = &m->heap, .variable = variable, .bound = bound};
        if (!ct_mon_value_read(&in, type, value))
            return fail_value(m, &in, input);
        *at = in.p;
        return CT_OK;
    }
    *at = p;
    if (!at_end(p, end))
        return ct_mon_text_fail_syntax(m, "'=' after the name of the stream");
    if (type->kind == TY_RECORD && !type->n)
        return CT_OK;
    struct ct_mon_value_in in = {.found_type = "Unit", .found = "()", .found_size = 2, .expected = type};
    return fail_value(m, &in, input);
}

const char *ct_mon_text_time(const char *p, const char *end, int64_t *time)
{
    const char *digits = p;
    *time = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*time, (int64_t)10, time) ||
            __builtin_add_overflow(*time, (int64_t)(*p - '0'), time))
            return NULL;
    return p > digits ? p : NULL;
}

const char *ct_mon_text_name_end(const char *p, const char *end)
{
    while (p < end && is_name((unsigned char)*p))
        p++;
    return p;
}

int ct_mon_text_event(struct ct_monitor *m, int64_t time, uint32_t input, const char *p, const char *end,
                      const char *variable)
{
    struct ct_mon_text_reader *r = m->reader;
    struct ct_mon_cell value;
    heap_allow(&m->heap, INT64_MAX); /* the work for values in the trace is bounded by its length */
    int code = read_value(m, &p, end, input, variable, time, &value);
    if (code)
        return code;
    if (!at_end(p, end))
        return ct_mon_text_fail_syntax(m, "the end of the line");
    code = ct_mon_run_event(m, time, input, value);
    if (code && m->ctx && !m->error) { /* a mistake in the trace: adds the place */
        char text[sizeof m->ctx->error];
        memcpy(text, m->ctx->error, sizeof text);
        return ct_fail(m->ctx, code, "%s:%llu: %.900s", r->name ? r->name : "trace",
                       (unsigned long long)r->line, text);
    }
    if (r->events++ >= r->limit)
        r->done = true;
    return code;
}

static int read_line(struct ct_monitor *m, const char *p, const char *end)
{
    struct ct_mon_text_reader *r = m->reader;
    int64_t time;
    if (!r->line++ && end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
        p += 3; /* a byte order mark */
    p = ct_mon_text_skip(p, end);
    if (at_end(p, end))
        return CT_OK;
    if (r->ncolumns)
        return ct_mon_text_table_row(m, p, end);
    if (!r->events && !r->nranges && ct_mon_text_table_begins(p, end))
        return ct_mon_text_table_names(m, p, end);
    const char *behind = ct_mon_text_time(p, end, &time);
    if (!behind)
        return ct_mon_text_fail_syntax(m, p < end && *p >= '0' && *p <= '9' ? "a time of at most 2^63-1"
                                          : r->line == 1 ? "a time, or a table that begins with 'time,NAME'"
                                                         : "a time");
    p = ct_mon_text_skip(behind, end);
    if (p < end && *p != ':') {
        return ct_mon_text_range_line(m, time, p, end) ?: ct_mon_text_range_next(m);
    }
    if (p == end)
        return ct_mon_text_fail_syntax(m, "':' after the time");
    const char *name = ct_mon_text_skip(p + 1, end);
    p = ct_mon_text_name_end(name, end);
    if (p == name)
        return ct_mon_text_fail_syntax(m, "the name of a stream");
    int32_t input = ct_mon_text_find_input(m, name, (size_t)(p - name));
    if (input < 0) {
        ct_mon_text_check_unknown(m, name, (size_t)(p - name));
        return CT_OK;
    }
    if (!r->nranges)
        return ct_mon_text_event(m, time, (uint32_t)input, p, end, NULL);
    return ct_mon_text_range_plain(m, time, (uint32_t)input, p, end) ?: ct_mon_text_range_next(m);
}

int ct_monitor_feed_text(struct ct_monitor *m, const char *text, size_t size, int last)
{
    CT_REQUIRE_OF(m, text || !size);
    struct ct_mon_text_reader *r = reader(m);
    const char *end = text + size;
    int code = ct_mon_run_usable(m);
    if (code)
        return code;
    if (!r)
        return ct_fail_nomem(m->ctx, "monitor");
    ct_mon_run_adopt(m);
    while (text < end && !code && !r->done) {
        const char *nl = memchr(text, '\n', (size_t)(end - text));
        if (!nl)
            break;
        if (r->rest.n) {
            ct_mon_text_add(&r->rest, text, (size_t)(nl - text));
            code = r->rest.failed ? ct_fail_nomem(m->ctx, "trace")
                                  : read_line(m, r->rest.p, r->rest.p + r->rest.n);
            r->rest.n = 0;
        } else {
            code = read_line(m, text, nl);
        }
        text = nl + 1;
    }
    if (!code && !r->done) {
        r->rest.limit = 64 << 20;
        ct_mon_text_add(&r->rest, text, (size_t)(end - text));
        if (r->rest.lacked_memory)
            return ct_fail_nomem(m->ctx, "trace");
        if (r->rest.failed)
            return ct_mon_run_fail(m, CT_ERR_LIMIT, "trace: a line is longer than the limit of 64 MiB");
        if (last && r->rest.n)
            code = read_line(m, r->rest.p, r->rest.p + r->rest.n);
        while (last && !code && r->nranges && !r->done)
            code = ct_mon_text_range_next(m);
        if (last && !code)
            tell_other_names(m);
    }
    if (!code)
        ct_mon_run_deliver(m);
    return code;
}

/* Prints a value into one line. For a raw output, keeps the line breaks of the specification. */
static void print_line(struct ct_mon_text *line, struct ct_mon_text *value, const struct ct_mon_cell *c,
                       const struct ct_mon_out_info *info)
{
    line->n = value->n = 0;
    ct_mon_print_value(value, c, info->type, info->raw);
    ct_mon_text_add_printable(line, value->p, value->n, info->raw);
}

size_t ct_monitor_print(const struct ct_monitor *m, const struct ct_monitor_result *results, size_t count,
                        char *out, size_t cap, size_t *done)
{
    if (!m)
        return 0;
    struct ct_mon_text slow = {0}, value = {.limit = cap};
    size_t n = 0, i;
    for (i = 0; i < count; i++) {
        const struct ct_monitor_result *r = &results[i];
        const struct ct_mon_out_info *info = &m->p->outputs[r->output];
        const struct ct_mon_cell c = {.v.i = r->v.i, .meta = r->form & ~(CERTAIN_NOT | CERTAIN_POSSIBLE)};
        size_t name = strlen(info->name);
        if (cap - n < name + 64)
            break;
        char *p = out + n;
        if (!info->raw) {
            p = ct_mon_print_u64(p, r->time);
            memcpy(p, ": ", 2);
            memcpy(p + 2, info->name, name);
            memcpy(p + 2 + name, " = ", 3);
            p += name + 5;
        }
        if (info->type->kind == TY_INT && !(c.meta & META_PTR)) {
            p = ct_mon_print_int(p, c.v.i);
        } else {
            print_line(&slow, &value, &c, info);
            if (value.failed || slow.failed || cap - (size_t)(p - out) < slow.n + 1)
                break;
            if (slow.n)
                memcpy(p, slow.p, slow.n);
            p += slow.n;
        }
        *p++ = '\n';
        n = (size_t)(p - out);
    }
    *done = i;
    if (slow.lacked_memory || value.lacked_memory)
        ct_note_nomem(m->ctx);
    ct_mon_text_free(&slow);
    ct_mon_text_free(&value);
    return n;
}
