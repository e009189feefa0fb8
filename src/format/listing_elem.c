/* SPDX-License-Identifier: Apache-2.0 */
/* Element lines, docs/listing.md. */
#include "format/listing_code.h"
#include "format/listing_sw.h"

static const struct ct_word isa_names[] = {
    [CT_ISA_A64] = CT_WORD("a64"), [CT_ISA_A32] = CT_WORD("a32"), [CT_ISA_T32] = CT_WORD("t32"),
    [CT_ISA_TEE] = CT_WORD("tee"), [CT_ISA_JAZ] = CT_WORD("jaz"), [CT_ISA_UNKNOWN] = CT_WORD("unk"),
};

static const char *const gap_names[] = {
    [CT_GAP_INIT] = "init_decoder",     [CT_GAP_RESET] = "reset_decoder",
    [CT_GAP_OVERFLOW] = "overflow",     [CT_GAP_DISCARD] = "discard",
    [CT_GAP_BAD_PACKET] = "bad_packet", [CT_GAP_BAD_IMAGE] = "bad_program_image",
    [CT_GAP_LIMIT] = "undefined",       [CT_GAP_END] = "end_of_trace",
};

static void range(struct ct_text *t, const struct ct_flow *r)
{
    static const struct ct_word types[] = {
        [CT_INSN_OTHER] = CT_WORD("other"),     [CT_INSN_BR] = CT_WORD("br"),
        [CT_INSN_IBR] = CT_WORD("ibr"),         [CT_INSN_ISB] = CT_WORD("isb"),
        [CT_INSN_DSB_DMB] = CT_WORD("dsb_dmb"), [CT_INSN_WFI_WFE] = CT_WORD("wfi_wfe"),
        [CT_INSN_TSTART] = CT_WORD("tstart"),
    };
    static const struct ct_word subs[] = {
        [CT_INSN_SUB_NONE] = CT_WORD("none"),     [CT_INSN_SUB_LINK] = CT_WORD("link"),
        [CT_INSN_SUB_RET] = CT_WORD("ret"),       [CT_INSN_SUB_ERET] = CT_WORD("eret"),
        [CT_INSN_SUB_V7_RET] = CT_WORD("v7_ret"),
    };
    ct_text_lit(t, " instr_range start=");
    ct_text_hex(t, r->start);
    ct_text_lit(t, " end=");
    ct_text_hex(t, r->end);
    ct_text_lit(t, " n=");
    ct_text_dec(t, r->n);
    ct_text_lit(t, " last_sz=");
    ct_text_dec(t, r->last_size);
    ct_text_lit(t, " isa=");
    ct_text_word(t, &isa_names[r->isa]);
    ct_text_lit(t, " exec=");
    ct_text_char(t, r->exec ? 'E' : 'N');
    ct_text_lit(t, " type=");
    ct_text_word(t, &types[r->type]);
    ct_text_lit(t, " sub=");
    ct_text_word(t, &subs[r->sub]);
    ct_text_lit(t, " cond=");
    ct_text_char(t, r->cond && !r->loop ? '1' : '0');
}

/* Returns the cache slot for the line of a range. Fibonacci hashing, because addresses of code differ in
 * their low bits; the lowest is free for `exec`. */
static struct ct_range_line *line_at(const struct ct_element_lister *lister, const struct ct_flow *r)
{
    const uint64_t hash = (r->start | r->exec) * UINT64_C(0x9e3779b97f4a7c15);
    return &lister->ranges[hash >> (64 - CT_RANGE_LINE_BITS)];
}

void ct_list_flow_soon(const struct ct_element_lister *lister, const struct ct_flow *r)
{
    if (!lister->ranges)
        return;
    const char *line = (const char *)line_at(lister, r);
    __builtin_prefetch(line);
    __builtin_prefetch(line + 64);
}

/* Appends the line of a range, from the cache if possible, because the same ranges run again and again. */
static void range_again(struct ct_element_lister *lister, const struct ct_flow *r)
{
    struct ct_text *t = lister->text;
    struct ct_range_line *line = line_at(lister, r);
    const uint64_t others = r->n | (uint64_t)r->isa << 32 | (uint64_t)r->type << 36 | (uint64_t)r->sub << 40 |
                            (uint64_t)r->last_size << 44 | (uint64_t)r->exec << 52 |
                            (uint64_t)(r->cond && !r->loop) << 53;
    if (line->start == r->start && line->end == r->end && line->others == others && line->size) {
        memcpy(t->data + t->used, line->text, sizeof line->text);
        t->used += line->size;
        return;
    }
    const size_t begin = t->used;
    range(t, r);
    const size_t size = t->used - begin;
    if (size > sizeof line->text)
        return;
    *line = (struct ct_range_line){.start = r->start, .end = r->end, .others = others, .size = (uint8_t)size};
    memcpy(line->text, t->data + begin, size);
}

static void space(struct ct_text *t, unsigned mask)
{
    static const struct {
        unsigned mask;
        const char *name;
    } spaces[] = {
        {CT_SPACE_ANY, "any"},     {CT_SPACE_ANY_S, "any_s"}, {CT_SPACE_ANY_NS, "any_ns"},
        {CT_SPACE_ANY_R, "any_r"}, {CT_SPACE_EL1S, "el1s"},   {CT_SPACE_EL1N, "el1n"},
        {CT_SPACE_EL1R, "el1r"},   {CT_SPACE_EL2S, "el2s"},   {CT_SPACE_EL2N, "el2n"},
        {CT_SPACE_EL2R, "el2r"},   {CT_SPACE_EL3, "el3"},     {CT_SPACE_ROOT, "root"},
    };
    bool first = true;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces && mask; i++) {
        /* A combined name stands for exactly its set; other sets are single names joined. */
        bool whole = i < 4 ? mask == spaces[i].mask : (mask & spaces[i].mask) != 0;
        if (!whole)
            continue;
        if (!first)
            ct_text_char(t, '+');
        ct_text_string(t, spaces[i].name);
        mask &= ~spaces[i].mask;
        first = false;
    }
}

static void context(struct ct_text *t, const struct ct_flow *r)
{
    static const char *const worlds[] = {" sec=s", " sec=ns", " sec=root", " sec=realm"};
    const struct ct_elem *e = &r->elem;
    ct_text_lit(t, " pe_context isa=");
    ct_text_word(t, &isa_names[r->isa]);
    if (e->aux & CT_CONTEXT_EL) {
        ct_text_lit(t, " el=");
        ct_text_dec(t, e->n & 15u);
    }
    ct_text_string(t, worlds[e->n >> 4 & 3]);
    ct_text_string(t, e->aux & CT_CONTEXT_SF ? " bits=64" : " bits=32");
    if (e->aux & CT_CONTEXT_CTXT) {
        ct_text_lit(t, " ctxt=");
        ct_text_hex(t, e->v & 0xffffffffu);
    }
    if (e->aux & CT_CONTEXT_VMID) {
        ct_text_lit(t, " vmid=");
        ct_text_hex(t, e->v >> 32);
    }
}

static void exception(struct ct_text *t, const struct ct_elem *e)
{
    ct_text_lit(t, " exception exc=");
    ct_text_hex(t, e->aux);
    if (!(e->n & CT_EXCEPTION_HAS_RET))
        return;
    ct_text_lit(t, " ret=");
    ct_text_hex(t, e->v);
    if (e->n & CT_EXCEPTION_TARGET)
        ct_text_lit(t, " brtgt=1");
}

/* Lists events of a trace unit by their bits, with the names from the capture. */
static void event(struct ct_text *t, const struct ct_elem *e, const struct ct_source *of)
{
    ct_text_lit(t, " event ");
    if (e->aux) {
        ct_text_lit(t, "type=trigger");
        return;
    }
    ct_text_lit(t, "num=");
    ct_text_dec(t, e->n);
    bool named = false;
    for (unsigned i = 0; of && i < CT_SOURCE_EVENTS; i++) {
        if (!(e->n >> i & 1) || !of->events[i])
            continue;
        ct_text_string(t, named ? "," : " name=");
        ct_text_printable(t, of->events[i]);
        named = true;
    }
}

static void element(struct ct_text *t, const struct ct_flow *r, const struct ct_source *of)
{
    static const char *const ons[] = {"begin_or_filter", "overflow", "debug_restart"};
    static const char *const trans[] = {"init", "start", "commit", "fail"};
    const struct ct_elem *e = &r->elem;
    switch (e->kind) {
    case CT_ELEM_GAP:
        ct_text_lit(t, " no_sync reason=");
        ct_text_string(t, gap_names[e->n]);
        break;
    case CT_ELEM_TRACE_ON:
        ct_text_lit(t, " trace_on reason=");
        ct_text_string(t, ons[e->n]);
        break;
    case CT_ELEM_END:
        ct_text_lit(t, " eo_trace reason=");
        ct_text_string(t, gap_names[e->n]);
        break;
    case CT_ELEM_CONTEXT:
        context(t, r);
        break;
    case CT_ELEM_EXCEPTION:
        exception(t, e);
        break;
    case CT_ELEM_RETURN:
        ct_text_lit(t, " exception_ret");
        break;
    case CT_ELEM_LOST_ADDRESS:
        ct_text_lit(t, " addr_unknown");
        break;
    case CT_ELEM_TIMESTAMP:
        ct_text_lit(t, " timestamp ts=");
        ct_text_hex(t, e->v);
        break;
    case CT_ELEM_CYCLES:
        ct_text_lit(t, " cycle_count cc=");
        ct_text_dec(t, e->v);
        break;
    case CT_ELEM_EVENT:
        event(t, e, of);
        break;
    case CT_ELEM_MARKER:
        ct_text_lit(t, " sync_marker type=ts value=");
        ct_text_hex(t, e->v);
        break;
    case CT_ELEM_TRANS:
        ct_text_lit(t, " mem_trans type=");
        ct_text_string(t, trans[e->n]);
        break;
    case CT_ELEM_ITE:
        ct_text_lit(t, " instrumentation el=");
        ct_text_dec(t, e->n);
        ct_text_lit(t, " value=");
        ct_text_hex(t, e->v);
        break;
    default:
        break;
    }
}

/* Returns whether an element has a line. Elements that only decoding needs have none. */
static bool has_line(const struct ct_flow *r)
{
    if (r->unlisted)
        return false;
    if (r->kind != CT_FLOW_ELEM)
        return true;
    switch (r->elem.kind) {
    case CT_ELEM_SYNC:
    case CT_ELEM_FUNC_RET:
    case CT_ELEM_SW_SOURCE:
    case CT_ELEM_DATA:
        return false;
    case CT_ELEM_CONTEXT:
        return !(r->elem.aux & CT_CONTEXT_SILENT);
    case CT_ELEM_CYCLES:
        return r->elem.n != CT_CYCLES_UNPLACED;
    default:
        return true;
    }
}

/* Returns whether an element belongs to the line before it. */
static bool is_attached(const struct ct_flow *r)
{
    const struct ct_elem *e = &r->elem;
    return r->kind == CT_FLOW_ELEM && ((e->kind == CT_ELEM_CYCLES && e->n == CT_CYCLES_ATTACHED) ||
                                       (e->kind == CT_ELEM_TIMESTAMP && e->n == CT_TIMESTAMP_ATTACHED));
}

/* Notes the record of the last line, for the lines of code below it. */
static __attribute__((noinline)) void note_last(struct ct_element_lister *lister, const struct ct_flow *r)
{
    lister->last = *r;
    lister->last_memory = lister->memory;
}

/* Appends the lines of code below the last line. */
static __attribute__((noinline)) void code_of_last(struct ct_element_lister *lister)
{
    ct_list_code(lister->code, lister->text, lister->of, lister->last_memory, &lister->last);
}

void ct_list_flow_end(struct ct_element_lister *lister)
{
    if (lister->open) {
        if (lister->last_fields)
            ct_text_string(lister->text, lister->last_fields);
        ct_text_char(lister->text, '\n');
        if (__builtin_expect(lister->code != NULL, 0))
            code_of_last(lister);
    }
    lister->open = false;
    lister->last_fields = NULL;
}

void ct_list_flow(struct ct_element_lister *lister, const struct ct_flow *r)
{
    struct ct_text *t = lister->text;
    if (r->kind == CT_FLOW_ELEM && r->elem.kind == CT_ELEM_SW_SOURCE)
        lister->source = r->elem;
    if (!has_line(r))
        return;
    if (is_attached(r) && lister->open) {
        if (r->elem.kind == CT_ELEM_CYCLES)
            ct_list_dec(t, " cc=", r->elem.v);
        else
            ct_list_hex(t, " ts=", r->elem.v);
        return;
    }
    ct_list_flow_end(lister);
    ct_text_room(t);
    ct_text_offset(t, r->offset);
    ct_text_char(t, ' ');
    ct_text_char(t, ct_text_digits[lister->id >> 4]);
    ct_text_char(t, ct_text_digits[lister->id & 15]);
    switch (r->kind) {
    case CT_FLOW_RANGE:
        if (lister->ranges)
            range_again(lister, r);
        else
            range(t, r);
        break;
    case CT_FLOW_RANGE_NOPATH:
        ct_text_lit(t, " i_range_nopath start=");
        ct_text_hex(t, r->start);
        ct_text_lit(t, " next=");
        ct_text_hex(t, r->end);
        ct_text_lit(t, " n=");
        ct_text_dec(t, r->n);
        break;
    case CT_FLOW_NO_ACCESS:
        ct_text_lit(t, " addr_nacc addr=");
        ct_text_hex(t, r->start);
        ct_text_lit(t, " space=");
        space(t, r->space);
        break;
    default:
        if (!ct_list_sw(lister, &r->elem))
            element(t, r, lister->names_apart ? NULL : lister->of);
        break;
    }
    lister->open = true;
    if (__builtin_expect(lister->code != NULL, 0))
        note_last(lister, r);
}
