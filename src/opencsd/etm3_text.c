/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/packet_text.h"

#include <inttypes.h>
#include <stdbool.h>

#include "opencsd/fields_text.h"
#include "opencsd/v7_text.h"

/* names and words by ocsd_etmv3_pkt_type */
static const struct words {
    const char *name;
    const char *words;
} types[] = {
    [ETM3_PKT_NOTSYNC] = {"NOTSYNC", "Trace Stream not synchronised"},
    [ETM3_PKT_INCOMPLETE_EOT] = {"INCOMPLETE_EOT.", "Incomplete packet at end of trace data."},
    [ETM3_PKT_BRANCH_ADDRESS] = {"BRANCH_ADDRESS", "Branch address."},
    [ETM3_PKT_A_SYNC] = {"A_SYNC", "Alignment Synchronisation."},
    [ETM3_PKT_CYCLE_COUNT] = {"CYCLE_COUNT", "Cycle Count."},
    [ETM3_PKT_I_SYNC] = {"I_SYNC", "Instruction Packet synchronisation."},
    [ETM3_PKT_I_SYNC_CYCLE] = {"I_SYNC_CYCLE", "Instruction Packet synchronisation with cycle count."},
    [ETM3_PKT_TRIGGER] = {"TRIGGER", "Trace Trigger Event."},
    [ETM3_PKT_P_HDR] = {"P_HDR", "Atom P-header."},
    [ETM3_PKT_STORE_FAIL] = {"STORE_FAIL", "Data Store Failed."},
    [ETM3_PKT_OOO_DATA] = {"OOO_DATA", "Out of Order data value packet."},
    [ETM3_PKT_OOO_ADDR_PLC] = {"OOO_ADDR_PLC", "Out of Order data address placeholder."},
    [ETM3_PKT_NORM_DATA] = {"NORM_DATA", "Data trace packet."},
    [ETM3_PKT_DATA_SUPPRESSED] = {"DATA_SUPPRESSED", "Data trace suppressed."},
    [ETM3_PKT_VAL_NOT_TRACED] = {"VAL_NOT_TRACED", "Data trace value not traced."},
    [ETM3_PKT_IGNORE] = {"IGNORE", "Packet ignored."},
    [ETM3_PKT_CONTEXT_ID] = {"CONTEXT_ID", "Context ID change."},
    [ETM3_PKT_VMID] = {"VMID", "VMID change."},
    [ETM3_PKT_EXCEPTION_ENTRY] = {"EXCEPTION_ENTRY", "Exception entry data marker."},
    [ETM3_PKT_EXCEPTION_EXIT] = {"EXCEPTION_EXIT", "Exception return."},
    [ETM3_PKT_TIMESTAMP] = {"TIMESTAMP", "Timestamp Value."},
    [ETM3_PKT_BAD_SEQUENCE] = {"BAD_SEQUENCE", "Invalid sequence for packet type."},
    [ETM3_PKT_BAD_TRACEMODE] = {"BAD_TRACEMODE", "Invalid packet type for this trace mode."},
};

static const struct words *words_of(ocsd_etmv3_pkt_type type)
{
    static const struct words reserved = {"I_RESERVED", "Reserved Packet Header"};
    return (unsigned)type < sizeof types / sizeof *types && types[type].name ? &types[type] : &reserved;
}

/* Adds the security state and mode; `other` is the word for all modes but Hyp. */
static void add_security(struct ct_ocsd_line *line, const etmv3_context_t *context, const char *other)
{
    ct_ocsd_line_say(line, context->curr_NS ? "NS; " : "S; ");
    ct_ocsd_line_say(line, context->curr_Hyp ? "Hyp; " : other);
}

static void add_exception(struct ct_ocsd_line *line, const ocsd_etmv3_excep *e)
{
    ct_ocsd_line_say(line, "Exception=");
    if (!e->bits.cm_type) {
        ct_ocsd_line_say(line, ct_ocsd_v7_exception_word(e->type));
        ct_ocsd_line_say(line, "; ");
    } else if (e->type == Excp_CMIRQn) {
        ct_ocsd_line_add(line, "IRQ%u", e->bits.cm_irq_n);
    } else {
        ct_ocsd_line_say(line, ct_ocsd_v7_exception_word(e->type));
    }
    if (e->bits.cm_type && e->bits.cm_resume)
        ct_ocsd_line_add(line, "; Resume=%u", e->bits.cm_resume);
    if (e->bits.cancel)
        ct_ocsd_line_say(line, "; Cancel prev instr");
}

static void add_branch(struct ct_ocsd_line *line, const ocsd_etmv3_pkt *p)
{
    ct_ocsd_v7_add_address(line, &p->addr);
    ct_ocsd_line_say(line, "; ");
    if (p->curr_isa != p->prev_isa)
        ct_ocsd_line_add(line, "ISA=%s; ", ct_ocsd_v7_isa_word(p->curr_isa));
    if (p->context.updated)
        add_security(line, &p->context, "");
    if (p->exception.bits.present)
        add_exception(line, &p->exception);
}

static void add_sync(struct ct_ocsd_line *line, const ocsd_etmv3_pkt *p)
{
    ct_ocsd_v7_add_sync(line, p->isync_info.reason, p->isync_info.no_address ? NULL : &p->addr);
    add_security(line, &p->context, " ");
    if (p->context.updated_c)
        ct_ocsd_line_add(line, "CtxtID=%x; ", p->context.ctxtID);
    if (p->isync_info.no_address)
        return;
    ct_ocsd_line_add(line, "ISA=%s; ", ct_ocsd_v7_isa_word(p->curr_isa));
    if (p->isync_info.has_cycle_count)
        ct_ocsd_line_add(line, "Cycles=%u; ", p->cycle_count);
}

/* Adds the atoms of a P-header, with a W for each cycle. */
static void add_atoms(struct ct_ocsd_line *line, const ocsd_etmv3_pkt *p)
{
    const bool each = p->p_hdr_fmt == 1;
    for (unsigned i = 0; !each && i < p->cycle_count; i++)
        ct_ocsd_line_say(line, "W");
    for (unsigned i = 0; i < p->atom.num; i++) {
        if (each && p->cycle_count)
            ct_ocsd_line_say(line, "W");
        ct_ocsd_line_say(line, p->atom.En_bits >> i & 1 ? "E" : "N");
    }
    if (p->cycle_count)
        ct_ocsd_line_add(line, "; Cycles=%u", p->cycle_count);
}

static void add_data(struct ct_ocsd_line *line, const ocsd_etmv3_pkt *p)
{
    if (p->type == ETM3_PKT_NORM_DATA && p->data.update_addr) {
        ct_ocsd_line_say(line, "; ");
        ct_ocsd_fields_address(line, &p->data.addr);
        ct_ocsd_fields_address_bits(line, &p->data.addr);
    }
    if (p->type == ETM3_PKT_OOO_DATA || (p->type == ETM3_PKT_NORM_DATA && p->data.update_dval))
        ct_ocsd_line_add(line, "; Val=0x%x", p->data.value);
    if (p->type != ETM3_PKT_NORM_DATA)
        ct_ocsd_line_add(line, "; OO_Tag=0x%x", p->data.ooo_tag);
}

/* Adds the fields of a packet besides its type. 1.3.3 prints a VMID as a character. */
static void add_payload(struct ct_ocsd_line *line, const ocsd_etmv3_pkt *p)
{
    switch (p->type) {
    case ETM3_PKT_BAD_SEQUENCE:
    case ETM3_PKT_BAD_TRACEMODE:
        ct_ocsd_line_add(line, "[%s]", words_of(p->err_type)->name);
        break;
    case ETM3_PKT_BRANCH_ADDRESS:
        ct_ocsd_line_say(line, "; ");
        add_branch(line, p);
        break;
    case ETM3_PKT_I_SYNC:
    case ETM3_PKT_I_SYNC_CYCLE:
        ct_ocsd_line_say(line, "; ");
        add_sync(line, p);
        break;
    case ETM3_PKT_P_HDR:
        ct_ocsd_line_say(line, "; ");
        add_atoms(line, p);
        break;
    case ETM3_PKT_CYCLE_COUNT:
        ct_ocsd_line_add(line, "; Cycles=%u", p->cycle_count);
        break;
    case ETM3_PKT_CONTEXT_ID:
        ct_ocsd_line_add(line, "; CtxtID=0x%x", p->context.ctxtID);
        break;
    case ETM3_PKT_VMID:
        ct_ocsd_line_say(line, "; VMID=0x");
        ct_ocsd_line_put(line, (const char *)&p->context.VMID, 1);
        break;
    case ETM3_PKT_TIMESTAMP:
        ct_ocsd_line_add(line, "; TS=0x%" PRIx64 " (%" PRIu64 ") ", p->timestamp, p->timestamp);
        break;
    case ETM3_PKT_OOO_DATA:
    case ETM3_PKT_OOO_ADDR_PLC:
    case ETM3_PKT_NORM_DATA:
        add_data(line, p);
        break;
    default:
        break;
    }
}

size_t ct_ocsd_etm3_text(const void *packet, char *text, size_t size)
{
    const ocsd_etmv3_pkt *p = packet;
    struct ct_ocsd_line line = {.text = text, .size = size};
    const struct words *words = words_of(p->type);
    ct_ocsd_line_say(&line, words->name);
    ct_ocsd_line_say(&line, " : ");
    ct_ocsd_line_say(&line, words->words);
    add_payload(&line, p);
    return line.used;
}
