/* SPDX-License-Identifier: Apache-2.0 */
#include "format/listing_code.h"

#include <stdlib.h>

#include "base/ctx.h"

int ct_listing_code_new(struct ct_ctx *ctx, const struct ct_lister_code_options *o,
                        struct ct_listing_code **out)
{
    const struct ct_code_text_options wanted = {
        .capture = o->capture, .lines = o->symbols, .insns = o->insns};
    struct ct_listing_code *code = calloc(1, sizeof *code);
    if (!code)
        return ct_fail_nomem(ctx, "listing");
    code->symbols = o->symbols;
    code->insns = o->insns;
    code->names =
        (struct ct_code_names){.ctx = ctx, .programs = o->programs, .user = o->user, .unnamed = o->unnamed};
    int rc = ct_code_names_open(&code->names, o->capture);
    if (!rc)
        rc = ct_code_text_new(&code->names, &wanted, &code->text);
    if (rc)
        ct_listing_code_free(code);
    else
        *out = code;
    return rc;
}

void ct_listing_code_free(struct ct_listing_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < sizeof code->kept / sizeof *code->kept; i++)
        free(code->kept[i].text);
    ct_code_text_free(code->text);
    ct_code_names_close(&code->names);
    free(code);
}

static void put_name(struct ct_text *t, const struct ct_address_name *name)
{
    if (name)
        ct_address_name_put(t, CT_ADDRESS_TSV, name);
    else
        ct_text_lit(t, CT_SYMBOL_UNKNOWN);
}

/* Appends the line of an address. */
static void put_line(const struct ct_listing_code *code, struct ct_text *t, uint64_t addr,
                     const struct ct_address_name *name, const struct ct_code_line *line)
{
    ct_text_room(t);
    ct_text_char(t, '\t');
    ct_text_hex(t, addr);
    if (code->symbols) {
        ct_text_char(t, '\t');
        put_name(t, name);
        ct_text_char(t, '\t');
        ct_code_source_put(t, CT_ADDRESS_TSV, line);
    }
    if (code->insns) {
        ct_text_char(t, '\t');
        ct_text_string(t, line->insn);
    }
    ct_text_char(t, '\n');
}

/* What was written of a range so far. */
struct shown {
    bool any;
    const char *label, *file; /* of the last line */
    uint32_t line;
    bool is_long; /* a name or a path was too long for the cache */
};

/* Returns whether an address has another function or source line than the last one, and notes it. */
static bool is_new(struct shown *shown, const struct ct_address_name *name, const struct ct_code_line *line)
{
    const char *label = name ? name->label : NULL;
    const bool new =
        !shown->any || label != shown->label || line->file != shown->file || line->line != shown->line;
    shown->any = true;
    shown->label = label;
    shown->file = line->file;
    shown->line = line->line;
    shown->is_long |= (name && !name->is_plain) || (line->file && strlen(line->file) > CT_CODE_INSN);
    return new;
}

/* Appends the line of an address. Without instructions, only the first address of each function and source
 * line has one. Returns the distance to the next address, or 0 when unknown. */
static unsigned put_address(struct ct_listing_code *code, struct ct_text *t, const struct ct_code_address *at,
                            struct shown *shown)
{
    const struct ct_address_name *name;
    const struct ct_code_line *line;
    code->result = ct_code_text_find(code->text, at, &line);
    if (!code->result)
        code->result = ct_code_names_find(&code->names, at->addr, at->memory, &name);
    if (code->result)
        return 0;
    if (is_new(shown, name, line) || code->insns)
        put_line(code, t, at->addr, name, line);
    return code->insns ? line->size : at->isa == CT_ISA_T32 ? 2 : 4;
}

/* Appends the lines of the addresses from `at` up to `end`. */
static struct shown put_lines(struct ct_listing_code *code, struct ct_text *t, struct ct_code_address at,
                              uint64_t end)
{
    struct shown shown = {0};
    while (at.addr < end && !code->result) {
        const unsigned size = put_address(code, t, &at, &shown);
        at.addr += size && size < end - at.addr ? size : end - at.addr;
    }
    return shown;
}

/* ---- cached lines ---- */

/* Returns the cache slot for the lines of a range. Fibonacci hashing, because addresses of code differ in
 * their low bits. */
static struct ct_code_lines *lines_at(struct ct_listing_code *code, const struct ct_code_address *at,
                                      uint64_t end)
{
    const uint64_t hash = (at->addr ^ end << 1 ^ at->memory) * UINT64_C(0x9e3779b97f4a7c15);
    return &code->kept[hash >> (64 - CT_CODE_LINES_BITS)];
}

/* Stores lines in the cache. Without memory they are not stored. */
static void keep(struct ct_code_lines *lines, const struct ct_code_address *at, uint64_t end,
                 const char *text, size_t size)
{
    if (size > lines->room) {
        free(lines->text);
        lines->text = malloc(size);
        lines->room = lines->text ? (uint32_t)size : 0;
    }
    lines->size = 0;
    if (!lines->text)
        return;
    memcpy(lines->text, text, size);
    lines->at = *at;
    lines->end = end;
    lines->size = (uint32_t)size;
}

/* Clears the cache when programs were added, because it lacks their names. */
static void renew(struct ct_listing_code *code)
{
    for (size_t i = 0; code->renewals != code->names.renewals && i < sizeof code->kept / sizeof *code->kept;
         i++)
        code->kept[i].size = 0;
    code->renewals = code->names.renewals;
}

static void put_range(struct ct_listing_code *code, struct ct_text *t, const struct ct_code_address *at,
                      uint64_t end)
{
    struct ct_code_lines *kept = lines_at(code, at, end);
    ct_text_room(t);
    renew(code);
    if (kept->size && kept->end == end && ct_code_address_same(&kept->at, at)) {
        ct_text_bytes(t, kept->text, kept->size);
        return;
    }
    const size_t begin = t->used;
    const struct shown shown = put_lines(code, t, *at, end);
    /* No flush happened meanwhile when lines are short and there was room for twice the longest cached
     * text. */
    if (!shown.is_long && begin + 2 * CT_TEXT_LINE <= CT_TEXT_SIZE && t->used > begin &&
        t->used - begin <= CT_TEXT_LINE && end - at->addr <= CT_TEXT_LINE)
        keep(kept, at, end, t->data + begin, t->used - begin);
}

/* ---- records ---- */

/* Returns the instruction set at the address of a record. An element has that of its context, which symbols
 * know better only in 64-bit state, where they tell code from data. */
static uint8_t isa_of(const struct ct_flow *r)
{
    return r->kind == CT_FLOW_ELEM && r->isa == CT_ISA_A64 ? CT_ISA_UNKNOWN : r->isa;
}

/* Finds the first address of a record and, in *end, the end of its instructions. When only one address is
 * known, the range has one instruction. Returns false without an address. */
static bool addresses_of(const struct ct_flow *r, uint64_t *start, uint64_t *end)
{
    const struct ct_elem *e = &r->elem;
    const bool is_exception = r->kind == CT_FLOW_ELEM && e->kind == CT_ELEM_EXCEPTION;
    *start = is_exception ? e->v : r->start;
    *end = r->kind == CT_FLOW_RANGE ? r->end : *start + 1;
    return r->kind != CT_FLOW_ELEM || (is_exception && e->n & CT_EXCEPTION_HAS_RET);
}

void ct_list_code(struct ct_listing_code *code, struct ct_text *t, const struct ct_source *source,
                  uint32_t memory, const struct ct_flow *r)
{
    const bool is_read = r->kind != CT_FLOW_ELEM;
    struct ct_code_address at = {
        .source = source, .memory = memory, .space = is_read ? r->space : 0, .isa = isa_of(r)};
    uint64_t end;
    if (addresses_of(r, &at.addr, &end) && !code->result)
        put_range(code, t, &at, end);
}
