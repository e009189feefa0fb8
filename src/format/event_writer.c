/* SPDX-License-Identifier: Apache-2.0 */
/* Writes events to a receiver. Adds names of addresses, which are loaded when their memories are first used,
 * and assembles text from stimulus ports to lines. */
#include "coretap/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/table_memory.h"
#include "format/code_text.h"
#include "format/event_text.h"
#include "format/line_out.h"
#include "format/named_lines.h"

/* The unfinished lines of text of one source. */
struct source_text {
    struct source_text *next;
    const struct ct_source *source;
    uint8_t id;
    struct ct_port_text ports;
};

/* The end of a branch's line, behind the cycles: its target and the target's name. A short text fits the
 * first of the two cache lines. */
struct target_text {
    _Alignas(64) uint64_t addr;
    uint16_t memory;
    uint8_t size; /* including the end of the line; 0: empty */
    char text[117];
};

#define TARGET_BITS 14

/* longest text in the first cache line */
#define SHORT_TEXT 53u

/* how many events ahead the text of a target is prefetched */
#define TARGETS_AHEAD 8u

/* longest line of column names, with its NUL */
#define HEAD_SIZE 96

struct ct_event_writer {
    struct ct_ctx *ctx;
    struct ct_event_write_options options;
    struct ct_code_names names; /* of addresses */
    struct ct_code_text *code;  /* NULL when neither source nor instructions are wanted */
    uint32_t renewals;          /* of `names`, when the targets were last cleared */
    struct source_text *texts;
    struct ct_named_lines named;
    struct ct_line_out lines;
    char head[HEAD_SIZE]; /* names of the columns */
    bool keeps_targets;   /* `targets` can be used for the lines of branches */
    struct target_text targets[1u << TARGET_BITS];
};

/* ---- names ---- */

static int open_names(struct ct_event_writer *w)
{
    const struct ct_event_write_options *o = &w->options;
    const struct ct_code_text_options wanted = {
        .capture = o->capture, .lines = o->sources, .insns = o->insns};
    w->names = (struct ct_code_names){
        .ctx = w->ctx, .programs = o->programs, .user = o->user, .unnamed = o->unnamed};
    const int rc = ct_code_names_open(&w->names, o->capture);
    return rc || (!o->sources && !o->insns) ? rc : ct_code_text_new(&w->names, &wanted, &w->code);
}

/* Finds the name and the code of an event's address. Leaves them NULL when there are none. */
static int name_of(struct ct_event_writer *w, const struct ct_event *e, struct ct_event_place *place)
{
    uint64_t addr;
    if (!ct_event_address(e, &addr))
        return CT_OK;
    int rc = ct_code_names_find(&w->names, addr, e->memory, &place->name);
    if (!rc && w->code) {
        const struct ct_code_address at = {
            .addr = addr, .source = place->origin->source, .memory = e->memory, .isa = CT_ISA_UNKNOWN};
        rc = ct_code_text_find(w->code, &at, &place->code);
    }
    if (w->names.renewals != w->renewals)
        memset(w->targets, 0, sizeof w->targets);
    w->renewals = w->names.renewals;
    return rc;
}

/* ---- the writer ---- */

/* Sets the names of the columns. */
static void put_head(struct ct_event_writer *w)
{
    const struct ct_event_write_options *o = &w->options;
    const char *head = ct_event_head((enum ct_event_format)o->format, o->merged);
    const char *separator = o->format == CT_EVENT_FORMAT_CSV ? "," : "\t";
    if (!head)
        return;
    snprintf(w->head, sizeof w->head, "%.*s%s%s%s%s\n", (int)strlen(head) - 1, head,
             o->sources ? separator : "", o->sources ? "source" : "", o->insns ? separator : "",
             o->insns ? "instruction" : "");
    w->lines.head = w->head;
}

int ct_event_writer_new(struct ct_ctx *ctx, const struct ct_event_write_options *options, ct_write_fn *write,
                        void *user, struct ct_event_writer **out)
{
    struct ct_event_write_options mine;
    CT_REQUIRE_OUT(ctx, out, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    if (mine.format > CT_EVENT_FORMAT_TABLE1 || (mine.format == CT_EVENT_FORMAT_TABLE1 && mine.merged))
        return ct_fail(ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                       mine.format);
    if (mine.format == CT_EVENT_FORMAT_TABLE1 && (mine.sources || mine.insns))
        return ct_fail(
            ctx, CT_ERR_ARG,
            "%s: Table I has no column for source lines or instructions; omit them or choose another format",
            __func__);
    struct ct_event_writer *w = ct_table_of_records(1, sizeof *w);
    if (!w)
        return ct_fail_nomem(ctx, "events");
    memset(w, 0, sizeof *w);
    w->ctx = ctx;
    w->options = mine;
    w->named = (struct ct_named_lines){.ctx = ctx, .programs = mine.programs};
    w->keeps_targets = mine.format == CT_EVENT_FORMAT_TSV && !mine.merged;
    const int rc = ct_line_out_open(&w->lines, w->ctx, write, user) ?: open_names(w);
    if (rc) {
        ct_event_writer_free(w);
        return rc;
    }
    put_head(w);
    *out = w;
    return CT_OK;
}

void ct_event_writer_free(struct ct_event_writer *w)
{
    if (!w)
        return;
    ct_line_out_close(&w->lines);
    while (w->texts) {
        struct source_text *text = w->texts;
        w->texts = text->next;
        free(text);
    }
    ct_named_lines_free(&w->named);
    ct_code_text_free(w->code);
    ct_code_names_close(&w->names);
    free(w);
}

int ct_event_writer_heading(struct ct_event_writer *w, const char *buffer, int id)
{
    return w ? ct_line_out_heading(&w->lines, __func__, buffer, id) : CT_ERR_ARG;
}

int ct_event_writer_flush(struct ct_event_writer *w)
{
    return w ? ct_line_out_flush(&w->lines) : CT_ERR_ARG;
}

/* ---- lines ---- */

static struct source_text *text_of(struct ct_event_writer *w, const struct ct_event_origin *origin)
{
    struct source_text *text = w->texts;
    while (text && (text->source != origin->source || text->id != origin->id))
        text = text->next;
    if (text)
        return text;
    text = calloc(1, sizeof *text);
    if (!text)
        return NULL;
    text->source = origin->source;
    text->id = origin->id;
    text->next = w->texts;
    w->texts = text;
    return text;
}

/* The destination of a line of text. */
struct line_end {
    struct ct_event_writer *writer;
    const struct ct_event_place *place;
};

static void on_line(void *user, const struct ct_port_line *line)
{
    const struct line_end *end = user;
    struct ct_event_writer *w = end->writer;
    ct_event_text_line(&w->lines.text, (enum ct_event_format)w->options.format, end->place, line);
}

/* Takes the text from an event. Sets *whole when the event was only text, and gets no line. */
static int take_text(struct ct_event_writer *w, const struct ct_event_place *place, const struct ct_event *e,
                     bool *whole)
{
    struct line_end end = {w, place};
    *whole = ct_port_text_wants(e);
    if (!*whole && e->type != CT_EVENT_END)
        return CT_OK;
    struct source_text *text = text_of(w, place->origin);
    if (!text)
        return ct_fail_nomem(w->ctx, "lines of text");
    if (*whole)
        ct_port_text_add(&text->ports, e, on_line, &end);
    else
        ct_port_text_end(&text->ports, on_line, &end);
    return CT_OK;
}

static int on_named(void *user, const struct ct_named_event *named)
{
    const struct line_end *end = user;
    struct ct_event_writer *w = end->writer;
    ct_event_named_line(&w->lines.text, (enum ct_event_format)w->options.format, end->place, named,
                        w->named.table, w->named.shift);
    return CT_OK;
}

/* Takes the part of an event that belongs to a named event. Sets *whole when the event gets no line. */
static int take_named(struct ct_event_writer *w, const struct ct_event_place *place, const struct ct_event *e,
                      bool *whole)
{
    struct line_end end = {w, place};
    int rc = e->type == CT_EVENT_SW && w->options.programs ? ct_named_lines_find(&w->named) : CT_OK;
    if (rc && rc != CT_ERR_NOMEM)
        rc = w->options.unnamed_events ? w->options.unnamed_events(w->options.user) : CT_OK;
    return rc ? rc : ct_named_lines_take(&w->named, place->origin, e, whole, on_named, &end);
}

static int put(struct ct_event_writer *w, const struct ct_event_origin *origin, const struct ct_event *e,
               const uint64_t *time)
{
    struct ct_event_place place = {.origin = origin,
                                   .merged = w->options.merged,
                                   .time = time,
                                   .sources = w->options.sources,
                                   .insns = w->options.insns};
    bool whole;
    if (e->type > CT_EVENT_TEXT)
        return ct_fail(w->ctx, CT_ERR_ARG, "events: type %u does not exist; nothing was written", e->type);
    if (w->options.format == CT_EVENT_FORMAT_TABLE1) {
        ct_event_table1(&w->lines.text, origin, e);
        return CT_OK;
    }
    int rc = take_named(w, &place, e, &whole);
    if (!rc && !whole && w->options.text_ports)
        rc = take_text(w, &place, e, &whole);
    if (!rc && !whole)
        rc = name_of(w, e, &place);
    if (!rc && !whole)
        ct_event_line(&w->lines.text, (enum ct_event_format)w->options.format, &place, e);
    return rc;
}

/* Returns whether the text of a line's address can be cached. */
static bool has_target(const struct ct_event_writer *w, const struct ct_event *e)
{
    return w->keeps_targets && (e->type == CT_EVENT_BRANCH || e->type == CT_EVENT_START) && !e->unknown;
}

/* Returns the cache slot for an event of has_target(). Fibonacci hashing, because addresses of code differ in
 * their low bits. */
static struct target_text *target_at(struct ct_event_writer *w, const struct ct_event *e)
{
    const uint64_t hash = (e->value ^ e->memory) * UINT64_C(0x9e3779b97f4a7c15);
    return &w->targets[hash >> (64 - TARGET_BITS)];
}

/* Stores what follows the second tab of the line that starts at `begin`, if it is short enough. */
static void keep_target(struct target_text *target, const struct ct_event *e, const struct ct_text *t,
                        size_t begin)
{
    const char *from = t->data + begin;
    for (unsigned tabs = 0; tabs < 2; from++)
        tabs += *from == '\t';
    const size_t size = (size_t)(t->data + t->used - from);
    if (size > sizeof target->text)
        return;
    *target = (struct target_text){.addr = e->value, .memory = e->memory, .size = (uint8_t)size};
    memcpy(target->text, from, size);
}

/* Writes the line of an event of has_target(), from the cache if possible, because execution repeats the same
 * targets. */
static int put_target(struct ct_event_writer *w, const struct ct_event_origin *origin,
                      const struct ct_event *e)
{
    struct ct_text *t = &w->lines.text;
    struct target_text *target = target_at(w, e);
    ct_text_room(t);
    if (target->addr == e->value && target->memory == e->memory && target->size) {
        ct_event_begin(t, '\t', e);
        if (target->size <= SHORT_TEXT)
            memcpy(t->data + t->used, target->text, SHORT_TEXT);
        else
            memcpy(t->data + t->used, target->text, sizeof target->text);
        t->used += target->size;
        return CT_OK;
    }
    struct ct_event_place place = {
        .origin = origin, .sources = w->options.sources, .insns = w->options.insns};
    const int rc = name_of(w, e, &place);
    if (rc)
        return rc;
    const size_t begin = t->used;
    ct_event_line(t, CT_EVENT_FORMAT_TSV, &place, e);
    if (!place.name || place.name->is_plain)
        keep_target(target, e, t, begin);
    return CT_OK;
}

/* Begins lines. CT_ERR_ARG: the writer was not made for these records. */
static int begin(struct ct_event_writer *w, bool merged)
{
    if (w->options.merged != merged)
        return ct_fail(w->ctx, CT_ERR_ARG, "events with a time are for a writer of merged events");
    ct_line_out_begin(&w->lines);
    return CT_OK;
}

int ct_event_writer_add(struct ct_event_writer *w, const struct ct_event_origin *origin,
                        const struct ct_event *events, size_t count)
{
    CT_REQUIRE_OF(w, origin, origin->buffer, origin->source, events || !count);
    int rc = begin(w, false);
    for (size_t i = 0; i < count && !rc; i++) {
        if (count - i > TARGETS_AHEAD)
            __builtin_prefetch(target_at(w, &events[i + TARGETS_AHEAD]));
        rc = has_target(w, &events[i]) ? put_target(w, origin, &events[i]) : put(w, origin, &events[i], NULL);
    }
    return rc ? rc : ct_line_out_result(&w->lines);
}

int ct_event_writer_add_timed(struct ct_event_writer *w, const struct ct_event_origin *origin,
                              const struct ct_timed_event *events, size_t count)
{
    CT_REQUIRE_OF(w, origin, origin->buffer, origin->source, events || !count);
    int rc = begin(w, true);
    for (size_t i = 0; i < count && !rc; i++)
        rc = put(w, origin, &events[i].event, origin->timed ? &events[i].time : NULL);
    return rc ? rc : ct_line_out_result(&w->lines);
}
