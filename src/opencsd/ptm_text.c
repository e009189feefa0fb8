/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/packet_text.h"

#include "opencsd/fields_text.h"
#include "opencsd/v7_text.h"

/* names and words by ocsd_ptm_pkt_type */
static const struct words {
    const char *name;
    const char *words;
} types[] = {
    [PTM_PKT_NOTSYNC] = {"NOTSYNC", "PTM Not Synchronised"},
    [PTM_PKT_INCOMPLETE_EOT] = {"INCOMPLETE_EOT", "Incomplete packet flushed at end of trace"},
    [PTM_PKT_NOERROR] = {"NO_ERROR", "Error type not set"},
    [PTM_PKT_BRANCH_ADDRESS] = {"BRANCH_ADDRESS", "Branch address packet"},
    [PTM_PKT_A_SYNC] = {"ASYNC", "Alignment Synchronisation Packet"},
    [PTM_PKT_I_SYNC] = {"ISYNC", "Instruction Synchronisation packet"},
    [PTM_PKT_TRIGGER] = {"TRIGGER", "Trigger Event packet"},
    [PTM_PKT_WPOINT_UPDATE] = {"WP_UPDATE", "Waypoint update packet"},
    [PTM_PKT_IGNORE] = {"IGNORE", "Ignore packet"},
    [PTM_PKT_CONTEXT_ID] = {"CTXTID", "Context ID packet"},
    [PTM_PKT_VMID] = {"VMID", "VM ID packet"},
    [PTM_PKT_ATOM] = {"ATOM", "Atom packet"},
    [PTM_PKT_TIMESTAMP] = {"TIMESTAMP", "Timestamp packet"},
    [PTM_PKT_EXCEPTION_RET] = {"ERET", "Exception return packet"},
    [PTM_PKT_BAD_SEQUENCE] = {"BAD_SEQUENCE", "Invalid sequence in packet"},
    [PTM_PKT_RESERVED] = {"RESERVED", "Reserved Packet Header"},
};

static const struct words *words_of(ocsd_ptm_pkt_type type)
{
    static const struct words unknown = {"UNKNOWN", "Unknown packet type"};
    return (unsigned)type < sizeof types / sizeof *types && types[type].name ? &types[type] : &unknown;
}

static void add_cycles(struct ct_ocsd_line *line, const ocsd_ptm_pkt *p)
{
    if (p->cc_valid)
        ct_ocsd_line_add(line, "Cycles=%u; ", p->cycle_count);
}

/* Adds the security state and mode; `other` is the word for all modes but Hyp. */
static void add_security(struct ct_ocsd_line *line, const ocsd_ptm_pkt *p, const char *other)
{
    ct_ocsd_line_say(line, p->context.curr_NS ? "NS; " : "S; ");
    ct_ocsd_line_say(line, p->context.curr_Hyp ? "Hyp; " : other);
}

static void add_sync(struct ct_ocsd_line *line, const ocsd_ptm_pkt *p)
{
    ct_ocsd_v7_add_sync(line, p->i_sync_reason, &p->addr);
    add_security(line, p, " ");
    if (p->context.updated_c)
        ct_ocsd_line_add(line, "CtxtID=%08x; ", p->context.ctxtID);
    ct_ocsd_line_add(line, "ISA=%s; ", ct_ocsd_v7_isa_word(p->curr_isa));
    add_cycles(line, p);
}

static void add_branch(struct ct_ocsd_line *line, const ocsd_ptm_pkt *p)
{
    ct_ocsd_v7_add_address(line, &p->addr);
    ct_ocsd_line_say(line, "; ");
    if (p->curr_isa != p->prev_isa)
        ct_ocsd_line_add(line, "ISA=%s; ", ct_ocsd_v7_isa_word(p->curr_isa));
    if (p->context.updated)
        add_security(line, p, "");
    if (p->exception.bits.present)
        ct_ocsd_line_add(line, "Excep=%s [%02x]; ", ct_ocsd_v7_exception_word(p->exception.type),
                         p->exception.number);
    add_cycles(line, p);
}

static void add_atoms(struct ct_ocsd_line *line, const ocsd_ptm_pkt *p)
{
    ct_ocsd_fields_atoms(line, &p->atom);
    ct_ocsd_line_say(line, "; ");
    add_cycles(line, p);
}

static void add_timestamp(struct ct_ocsd_line *line, const ocsd_ptm_pkt *p)
{
    ct_ocsd_v7_add_timestamp(line, p->timestamp, p->ts_update_bits);
    add_cycles(line, p);
}

/* Adds the fields of a packet besides its type. 1.3.3 prints a VMID as a character. */
static void add_payload(struct ct_ocsd_line *line, const ocsd_ptm_pkt *p)
{
    switch (p->type) {
    case PTM_PKT_BAD_SEQUENCE:
        ct_ocsd_line_add(line, "[%s]; ", words_of(p->err_type)->name);
        break;
    case PTM_PKT_I_SYNC:
        add_sync(line, p);
        break;
    case PTM_PKT_BRANCH_ADDRESS:
    case PTM_PKT_WPOINT_UPDATE:
        add_branch(line, p);
        break;
    case PTM_PKT_ATOM:
        add_atoms(line, p);
        break;
    case PTM_PKT_CONTEXT_ID:
        ct_ocsd_line_add(line, "CtxtID=0x%08x; ", p->context.ctxtID);
        break;
    case PTM_PKT_VMID:
        ct_ocsd_line_say(line, "VMID=0x0");
        ct_ocsd_line_put(line, (const char *)&p->context.VMID, 1);
        ct_ocsd_line_say(line, "; ");
        break;
    case PTM_PKT_TIMESTAMP:
        add_timestamp(line, p);
        break;
    default:
        break;
    }
}

size_t ct_ocsd_ptm_text(const void *packet, char *text, size_t size)
{
    const ocsd_ptm_pkt *p = packet;
    struct ct_ocsd_line line = {.text = text, .size = size};
    const struct words *words = words_of(p->type);
    ct_ocsd_line_say(&line, words->name);
    ct_ocsd_line_say(&line, " : ");
    ct_ocsd_line_say(&line, words->words);
    ct_ocsd_line_say(&line, "; ");
    add_payload(&line, p);
    return line.used;
}
