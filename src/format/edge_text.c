/* SPDX-License-Identifier: Apache-2.0 */
/* Writes events of edges as lines, and the table that explains their numbers. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/out.h"
#include "base/require.h"
#include "coretap/format.h"
#include "format/address_name.h"
#include "format/line_out.h"

#define MAGIC_SIZE (sizeof CT_EDGE_EVENTS_MAGIC - 1)

/* ---- events as lines ---- */

struct ct_edge_text {
    struct ct_line_out lines;
    bool begun; /* the magic was read */
    bool wide;  /* the next eight bytes are a timestamp */
};

int ct_edge_text_new(struct ct_ctx *ctx, ct_write_fn *write, void *user, struct ct_edge_text **out)
{
    CT_REQUIRE_OUT(ctx, out, write);
    struct ct_edge_text *t = calloc(1, sizeof *t);
    if (!t)
        return ct_fail_nomem(ctx, "events of edges");
    const int rc = ct_line_out_open(&t->lines, ctx, write, user);
    if (rc) {
        free(t);
        return rc;
    }
    t->lines.head = "event\tvalue\n";
    *out = t;
    return CT_OK;
}

void ct_edge_text_free(struct ct_edge_text *t)
{
    if (t)
        ct_line_out_close(&t->lines);
    free(t);
}

static const char *kind_name(unsigned kind)
{
    static const char *const names[] = {
        [CT_EDGE_EVENT_STREAM] = "stream",
        [CT_EDGE_EVENT_SYNC] = "sync",
        [CT_EDGE_EVENT_ON] = "on",
        [CT_EDGE_EVENT_GAP] = "gap",
        [CT_EDGE_EVENT_OVERFLOW] = "overflow",
        [CT_EDGE_EVENT_NO_ACCESS] = "no-access",
        [CT_EDGE_EVENT_EXCEPTION] = "exception",
        [CT_EDGE_EVENT_RETURN] = "return",
        [CT_EDGE_EVENT_CONTEXT] = "context",
        [CT_EDGE_EVENT_CYCLES] = "cycles",
        [CT_EDGE_EVENT_END] = "end",
    };
    return kind < sizeof names / sizeof *names ? names[kind] : "?";
}

static void print(struct ct_edge_text *t, uint64_t event)
{
    const uint32_t number = (uint32_t)event, value = (uint32_t)(event >> 32);
    struct ct_text *text;
    if (number == (CT_EDGE_EVENT_OTHER | CT_EDGE_EVENT_TIMESTAMP) && !t->wide) {
        t->wide = true;
        return;
    }
    text = ct_line_out_begin(&t->lines);
    if (t->wide) {
        ct_text_lit(text, "timestamp\t");
        ct_text_dec(text, event);
    } else if (number < CT_EDGE_EVENT_OTHER) {
        ct_text_dec(text, number);
        ct_text_char(text, '\t');
    } else {
        ct_text_string(text, kind_name(number & ~CT_EDGE_EVENT_OTHER));
        ct_text_char(text, '\t');
    }
    if (!t->wide && value == CT_EDGE_EVENT_UNCOUNTED)
        ct_text_char(text, '-');
    else if (!t->wide)
        ct_text_dec(text, value);
    ct_text_char(text, '\n');
    t->wide = false;
}

int ct_edge_text_write(void *edge_text, const void *data, size_t size)
{
    struct ct_edge_text *t = edge_text;
    const uint8_t *bytes = data;
    CT_REQUIRE(NULL, t, data || !size);
    const size_t skip = t->begun || size < MAGIC_SIZE ? 0 : MAGIC_SIZE;
    t->begun = true;
    for (size_t at = skip; at + 8 <= size; at += 8)
        print(t, ct_load64(bytes + at));
    return ct_line_out_result(&t->lines);
}

int ct_edge_text_flush(struct ct_edge_text *t)
{
    return t ? ct_line_out_flush(&t->lines) : CT_ERR_ARG;
}

/* ---- the table of numbers ---- */

static const char *way_of(const struct ct_node *from, const struct ct_edge *edge)
{
    if (edge->kind == CT_EDGE_INTERRUPTED)
        return "interrupted";
    if (edge->kind == CT_EDGE_OPEN)
        return "open";
    if (from->flags & CT_NODE_CUT || (from->type != CT_INSN_BR && from->type != CT_INSN_IBR))
        return "on";
    if (!edge->exec)
        return "not-taken";
    return from->sub == CT_INSN_SUB_LINK   ? "call"
           : from->sub == CT_INSN_SUB_NONE ? from->type == CT_INSN_IBR ? "jump" : "taken"
                                           : "return";
}

static void print_place(struct ct_line_out *lines, struct ct_address_names *names, uint64_t addr,
                        uint32_t memory)
{
    struct ct_text *text = ct_line_out_begin(lines);
    const struct ct_address_name *name = ct_address_names_find(names, addr, memory);
    if (name->label)
        ct_address_name_put(text, CT_ADDRESS_TSV, name);
    else
        ct_text_char(text, '-');
}

static void print_edge(struct ct_line_out *lines, struct ct_address_names *names, uint32_t number,
                       const struct ct_node *from, const struct ct_edge *edge)
{
    char columns[160];
    const int size = snprintf(columns, sizeof columns,
                              "%" PRIu32 "\t%s\t0x%" PRIx64 "\t0x%" PRIx64 "\t0x%" PRIx64 "\t%" PRIu32 "\t",
                              number, way_of(from, edge), from->start, from->last, edge->next, from->n);
    ct_text_bytes(ct_line_out_begin(lines), columns, (size_t)size);
    print_place(lines, names, from->last, from->memory);
    ct_text_char(&lines->text, '\t');
    if (edge->kind == CT_EDGE_OPEN)
        ct_text_char(&lines->text, '-');
    else
        print_place(lines, names, edge->next, from->memory);
    ct_text_char(&lines->text, '\n');
}

/* Names code of the programs that can be loaded. CT_ERR_NOMEM. */
static int set_programs(struct ct_address_names *names, struct ct_programs *programs)
{
    const struct ct_program_place *places;
    size_t count;
    if (!programs)
        return CT_OK;
    (void)ct_programs_places(programs, &places, &count); /* programs that cannot be loaded give no names */
    if (!places)
        return CT_ERR_NOMEM;
    ct_address_names_set(names, places, count);
    return CT_OK;
}

int ct_edge_numbers_write(struct ct_ctx *ctx, const struct ct_graph *edges, struct ct_programs *programs,
                          ct_write_fn *write, void *user)
{
    struct ct_address_names *names = NULL;
    uint32_t count;
    CT_REQUIRE(ctx, edges, write);
    struct ct_line_out *lines = calloc(1, sizeof *lines);
    if (!lines)
        return ct_fail_nomem(ctx, "numbers of edges");
    int rc = ct_line_out_open(lines, ctx, write, user);
    if (rc) {
        free(lines);
        return rc;
    }
    rc = ct_address_names_new(ctx, &names) ?: set_programs(names, programs);
    const struct ct_node *nodes = ct_graph_nodes(edges, &count);
    const struct ct_edge *all = ct_graph_edges(edges, &count);
    lines->head = "edge\tway\tfrom\tbranch\tto\tinstructions\tbranch-at\tto-at\n";
    for (uint32_t i = 0; !rc && i < count; i++)
        print_edge(lines, names, i, &nodes[all[i].from], &all[i]);
    if (!rc)
        rc = ct_line_out_flush(lines);
    ct_address_names_free(names);
    ct_line_out_close(lines);
    free(lines);
    return rc;
}
