/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/packet_text.h"

#include "opencsd/fields_text.h"
#include "opencsd/layout.h"

enum {
    COMMIT_WIN_MV = 0x09, /* a packet with another name in later versions of OpenCSD */
};

#define WORDS(name, words)                                                                                   \
    {                                                                                                        \
        name " : " words, sizeof(name) - 1, sizeof(name " : " words) - 1                                     \
    }

/* names and words by ocsd_etmv4_i_pkt_type, in the spelling of 1.3.3 */
static const struct words {
    const char *text; /* name and words */
    uint8_t name_size, size;
} types[] = {
    [ETM4_PKT_I_EXTENSION] = WORDS("I_EXTENSION", "Extension packet header."),
    [ETM4_PKT_I_TRACE_INFO] = WORDS("I_TRACE_INFO", "Trace Info."),
    [ETM4_PKT_I_TIMESTAMP] = WORDS("I_TIMESTAMP", "Timestamp."),
    [ETM4_PKT_I_TRACE_ON] = WORDS("I_TRACE_ON", "Trace On."),
    [ETM4_PKT_I_FUNC_RET] = WORDS("I_FUNC_RET", "V8M - function return."),
    [ETM4_PKT_I_EXCEPT] = WORDS("I_EXCEPT", "Exception."),
    [ETM4_PKT_I_EXCEPT_RTN] = WORDS("I_EXCEPT_RTN", "Exception Return."),
    [COMMIT_WIN_MV] = WORDS("I_COMMIT_WIN_MV", "Commit window move."),
    [ETE_PKT_I_TRANS_ST] = WORDS("I_TRANS_ST", "Transaction Start."),
    [ETE_PKT_I_TRANS_COMMIT] = WORDS("I_TRANS_COMMIT", "Transaction Commit."),
    [ETM4_PKT_I_CCNT_F2] = WORDS("I_CCNT_F2", "Cycle Count format 2."),
    [ETM4_PKT_I_CCNT_F1] = WORDS("I_CCNT_F1", "Cycle Count format 1."),
    [ETM4_PKT_I_CCNT_F3] = WORDS("I_CCNT_F3", "Cycle Count format 3."),
    [ETM4_PKT_I_NUM_DS_MKR] = WORDS("I_NUM_DS_MKR", "Data Synchronisation Marker - Numbered."),
    [ETM4_PKT_I_UNNUM_DS_MKR] = WORDS("I_UNNUM_DS_MKR", "Data Synchronisation Marker - Unnumbered."),
    [ETM4_PKT_I_COMMIT] = WORDS("I_COMMIT", "Commit"),
    [ETM4_PKT_I_CANCEL_F1] = WORDS("I_CANCEL_F1", "Cancel Format 1."),
    [ETM4_PKT_I_CANCEL_F1_MISPRED] = WORDS("I_CANCEL_F1_MISPRED", "Cancel Format 1 + Mispredict."),
    [ETM4_PKT_I_MISPREDICT] = WORDS("I_MISPREDICT", "Mispredict."),
    [ETM4_PKT_I_CANCEL_F2] = WORDS("I_CANCEL_F2", "Cancel Format 2."),
    [ETM4_PKT_I_CANCEL_F3] = WORDS("I_CANCEL_F3", "Cancel Format 3."),
    [ETM4_PKT_I_COND_I_F2] = WORDS("I_COND_I_F2", "Conditional Instruction, format 2."),
    [ETM4_PKT_I_COND_FLUSH] = WORDS("I_COND_FLUSH", "Conditional Flush."),
    [ETM4_PKT_I_COND_RES_F4] = WORDS("I_COND_RES_F4", "Conditional Result, format 4."),
    [ETM4_PKT_I_COND_RES_F2] = WORDS("I_COND_RES_F2", "Conditional Result, format 2."),
    [ETM4_PKT_I_COND_RES_F3] = WORDS("I_COND_RES_F3", "Conditional Result, format 3."),
    [ETM4_PKT_I_COND_RES_F1] = WORDS("I_COND_RES_F1", "Conditional Result, format 1."),
    [ETM4_PKT_I_COND_I_F1] = WORDS("I_COND_I_F1", "Conditional Instruction, format 1."),
    [ETM4_PKT_I_COND_I_F3] = WORDS("I_COND_I_F3", "Conditional Instruction, format 3."),
    [ETM4_PKT_I_IGNORE] = WORDS("I_IGNORE", "Ignore."),
    [ETM4_PKT_I_EVENT] = WORDS("I_EVENT", "Trace Event."),
    [ETM4_PKT_I_CTXT] = WORDS("I_CTXT", "Context Packet."),
    [ETM4_PKT_I_ADDR_CTXT_L_32IS0] = WORDS("I_ADDR_CTXT_L_32IS0", "Address & Context, Long, 32 bit, IS0."),
    [ETM4_PKT_I_ADDR_CTXT_L_32IS1] = WORDS("I_ADDR_CTXT_L_32IS1", "Address & Context, Long, 32 bit, IS0."),
    [ETM4_PKT_I_ADDR_CTXT_L_64IS0] = WORDS("I_ADDR_CTXT_L_64IS0", "Address & Context, Long, 64 bit, IS0."),
    [ETM4_PKT_I_ADDR_CTXT_L_64IS1] = WORDS("I_ADDR_CTXT_L_64IS1", "Address & Context, Long, 64 bit, IS1."),
    [ETE_PKT_I_TS_MARKER] = WORDS("I_TS_MARKER", "Timestamp Marker"),
    [ETM4_PKT_I_ADDR_MATCH] = WORDS("I_ADDR_MATCH", "Exact Address Match."),
    [ETM4_PKT_I_ADDR_S_IS0] = WORDS("I_ADDR_S_IS0", "Address, Short, IS0."),
    [ETM4_PKT_I_ADDR_S_IS1] = WORDS("I_ADDR_S_IS1", "Address, Short, IS1."),
    [ETM4_PKT_I_ADDR_L_32IS0] = WORDS("I_ADDR_L_32IS0", "Address, Long, 32 bit, IS0."),
    [ETM4_PKT_I_ADDR_L_32IS1] = WORDS("I_ADDR_L_32IS1", "Address, Long, 32 bit, IS1."),
    [ETM4_PKT_I_ADDR_L_64IS0] = WORDS("I_ADDR_L_64IS0", "Address, Long, 64 bit, IS0."),
    [ETM4_PKT_I_ADDR_L_64IS1] = WORDS("I_ADDR_L_64IS1", "Address, Long, 64 bit, IS1."),
    [ETM4_PKT_I_Q] = WORDS("I_Q", "Q Packet."),
    [ETE_PKT_I_SRC_ADDR_MATCH] = WORDS("I_SRC_ADDR_MATCH", "Exact Source Address Match."),
    [ETE_PKT_I_SRC_ADDR_S_IS0] = WORDS("I_SRC_ADDR_S_IS0", "Source Address, Short, IS0."),
    [ETE_PKT_I_SRC_ADDR_S_IS1] = WORDS("I_SRC_ADDR_S_IS1", "Source Address, Short, IS1."),
    [ETE_PKT_I_SRC_ADDR_L_32IS0] = WORDS("I_SCR_ADDR_L_32IS0", "Source Address, Long, 32 bit, IS0."),
    [ETE_PKT_I_SRC_ADDR_L_32IS1] = WORDS("I_SRC_ADDR_L_32IS1", "Source Address, Long, 32 bit, IS1."),
    [ETE_PKT_I_SRC_ADDR_L_64IS0] = WORDS("I_SRC_ADDR_L_64IS0", "Source Address, Long, 64 bit, IS0."),
    [ETE_PKT_I_SRC_ADDR_L_64IS1] = WORDS("I_SRC_ADDR_L_64IS1", "Source Address, Long, 64 bit, IS1."),
    [ETM4_PKT_I_ATOM_F6] = WORDS("I_ATOM_F6", "Atom format 6."),
    [ETM4_PKT_I_ATOM_F5] = WORDS("I_ATOM_F5", "Atom format 5."),
    [ETM4_PKT_I_ATOM_F2] = WORDS("I_ATOM_F2", "Atom format 2."),
    [ETM4_PKT_I_ATOM_F4] = WORDS("I_ATOM_F4", "Atom format 4."),
    [ETM4_PKT_I_ATOM_F1] = WORDS("I_ATOM_F1", "Atom format 1."),
    [ETM4_PKT_I_ATOM_F3] = WORDS("I_ATOM_F3", "Atom format 3."),
    [ETM4_PKT_I_ASYNC] = WORDS("I_ASYNC", "Alignment Synchronisation."),
    [ETM4_PKT_I_DISCARD] = WORDS("I_DISCARD", "Discard."),
    [ETM4_PKT_I_OVERFLOW] = WORDS("I_OVERFLOW", "Overflow."),
    [ETM4_PKT_I_NOTSYNC] = WORDS("I_NOT_SYNC", "I Stream not synchronised"),
    [ETM4_PKT_I_INCOMPLETE_EOT] = WORDS("I_INCOMPLETE_EOT", "Incomplete packet at end of trace."),
    [ETM4_PKT_I_NO_ERR_TYPE] = WORDS("I_NO_ERR_TYPE", "No Error Type."),
    [ETM4_PKT_I_BAD_SEQUENCE] = WORDS("I_BAD_SEQUENCE", "Invalid Sequence in packet."),
    [ETM4_PKT_I_BAD_TRACEMODE] = WORDS("I_BAD_TRACEMODE", "Invalid Packet for trace mode."),
    [ETM4_PKT_I_RESERVED] = WORDS("I_RESERVED", "Reserved Packet Header"),
    [ETM4_PKT_I_RESERVED_CFG] = WORDS("I_RESERVED_CFG", "Reserved header for current configuration."),
    [ETE_PKT_I_PE_RESET] = WORDS("I_PE_RESET", "PE Reset."),
    [ETE_PKT_I_TRANS_FAIL] = WORDS("I_TRANS_FAIL", "Transaction Fail."),
};

static const char *const exceptions[] = {
    "PE Reset",   "Debug Halt", "Call",     "Trap",     "System Error", "Reserved",
    "Inst Debug", "Data Debug", "Reserved", "Reserved", "Alignment",    "Inst Fault",
    "Data Fault", "Reserved",   "IRQ",      "FIQ",
};

static const char *const exceptions_m[] = {
    "Reserved", "PE Reset", "NMI",      "HardFault", "MemManage",   "BusFault",     "UsageFault",
    "Reserved", "Reserved", "Reserved", "Reserved",  "SVC",         "DebugMonitor", "Reserved",
    "PendSV",   "SysTick",  "IRQ0",     "IRQ1",      "IRQ2",        "IRQ3",         "IRQ4",
    "IRQ5",     "IRQ6",     "IRQ7",     "DebugHalt", "LazyFP Push", "Lockup",
};

/* interrupts of the M profile with numbers of ten bits */
enum {
    FIRST_IRQ = 0x208,
    LAST_IRQ = 0x3ef,
    IRQ_BASE = 0x200,
};

static bool is_late(void)
{
    return ct_ocsd_version() >= CT_OCSD_LATE_VERSION;
}

static const struct words *words_of(ocsd_etmv4_i_pkt_type type)
{
    /* 1.3.3 prints IS0 */
    static const struct words is1 = WORDS("I_ADDR_CTXT_L_32IS1", "Address & Context, Long, 32 bit, IS1.");
    static const struct words unknown = WORDS("I_UNKNOWN", "Unknown Packet Header");
    if (type == ETM4_PKT_I_ADDR_CTXT_L_32IS1 && is_late())
        return &is1;
    return (unsigned)type < sizeof types / sizeof *types && types[type].text ? &types[type] : &unknown;
}

/* Adds an address and, for a partial one, the bits that its packet contains. */
static void add_address(struct ct_ocsd_line *line, const ocsd_pkt_vaddr *addr)
{
    ct_ocsd_fields_address(line, addr);
    if (addr->pkt_bits < 32)
        ct_ocsd_fields_address_bits(line, addr);
}

/* Returns the word of a security state. 1.3.3 does not know the newer states. */
static const char *security_word(const etmv4_context_t *context)
{
    if (context->NSE && is_late())
        return context->NS ? "Realm" : "Root";
    return context->NS ? "NS" : "S";
}

static void add_context(struct ct_ocsd_line *line, const etmv4_context_t *context)
{
    if (!context->updated) {
        ct_ocsd_line_say(line, "Ctxt: Same");
        return;
    }
    ct_ocsd_line_add(line, "Ctxt: %sEL%u, %s; ", context->SF ? "AArch64," : "AArch32, ", context->EL,
                     security_word(context));
    if (context->updated_c)
        ct_ocsd_line_add(line, "CID=0x%08x; ", context->ctxtID);
    if (context->updated_v)
        ct_ocsd_line_add(line, "VMID=0x%04x; ", context->VMID);
}

static void add_exception(struct ct_ocsd_line *line, const ocsd_etmv4_i_pkt *p)
{
    const unsigned number = p->exception_info.exceptionType;
    const char *name = "Reserved";
    if (!p->exception_info.m_type && number < sizeof exceptions / sizeof *exceptions)
        name = exceptions[number];
    if (p->exception_info.m_type && number < sizeof exceptions_m / sizeof *exceptions_m)
        name = exceptions_m[number];
    if (p->exception_info.m_type && number >= FIRST_IRQ && number <= LAST_IRQ)
        ct_ocsd_line_add(line, " IRQ%u;", number - IRQ_BASE);
    else
        ct_ocsd_line_add(line, " %s;", name);
    if (p->exception_info.m_fault_pending)
        ct_ocsd_line_say(line, " Fault Pending;");
    if (p->exception_info.addr_interp == 1)
        ct_ocsd_line_say(line, " Ret Addr Follows;");
    if (p->exception_info.addr_interp == 2)
        ct_ocsd_line_say(line, " Ret Addr Follows, Match Prev;");
}

static void add_cancel(struct ct_ocsd_line *line, const ocsd_etmv4_i_pkt *p)
{
    if (p->atom.num) {
        ct_ocsd_line_say(line, "Atom: ");
        ct_ocsd_fields_atoms(line, &p->atom);
        ct_ocsd_line_say(line, ", ");
    }
    if (p->type != ETM4_PKT_I_MISPREDICT)
        ct_ocsd_line_add(line, "Cancel(%u)", p->type == ETM4_PKT_I_CANCEL_F2 ? 1 : p->cancel_elements);
    if (p->type != ETM4_PKT_I_CANCEL_F1)
        ct_ocsd_line_add(line, "%sMispredict", p->type == ETM4_PKT_I_MISPREDICT ? "" : ", ");
}

static void add_trace_info(struct ct_ocsd_line *line, const ocsd_etmv4_i_pkt *p)
{
    ct_ocsd_line_add(line, "INFO=0x%x { CC.%u", p->trace_info.val, p->trace_info.bits.cc_enabled);
    if (p->protocol_version >> 4 >= ETE_ARCH_VERSION)
        ct_ocsd_line_add(line, ", TSTATE.%u", p->trace_info.bits.in_trans_state);
    ct_ocsd_line_say(line, " }");
    if (p->trace_info.bits.cc_enabled)
        ct_ocsd_line_add(line, "; CC_THRESHOLD=0x%x", p->cc_threshold);
}

static void add_q(struct ct_ocsd_line *line, const ocsd_etmv4_i_pkt *p)
{
    if (p->Q_pkt.count_present)
        ct_ocsd_line_add(line, "Count(%u)", p->Q_pkt.q_count);
    else
        ct_ocsd_line_say(line, "Count(Unknown)");
    if (p->Q_pkt.addr_match)
        ct_ocsd_line_add(line, "; [%u]", p->addr_exact_match_idx);
    if (p->Q_pkt.addr_match || p->Q_pkt.addr_present) {
        ct_ocsd_line_say(line, "; ");
        add_address(line, &p->v_addr);
    }
}

static void add_number(struct ct_ocsd_line *line, const char *before, uint64_t number)
{
    ct_ocsd_line_say(line, before);
    ct_ocsd_line_hex(line, number, 1, "0123456789abcdef");
}

static void add_timestamp(struct ct_ocsd_line *line, const ocsd_etmv4_i_pkt *p)
{
    add_number(line, "; Updated val = 0x", p->ts.timestamp);
    if (p->pkt_valid.bits.cc_valid)
        add_number(line, "; CC=0x", p->cycle_count);
}

/* Adds the fields of a packet besides its type. */
static void add_payload(struct ct_ocsd_line *line, const ocsd_etmv4_i_pkt *p)
{
    switch (p->type) {
    case ETM4_PKT_I_BAD_SEQUENCE:
    case ETM4_PKT_I_INCOMPLETE_EOT:
    case ETM4_PKT_I_RESERVED_CFG:
        ct_ocsd_line_say(line, "[");
        ct_ocsd_line_put(line, words_of(p->err_type)->text, words_of(p->err_type)->name_size);
        ct_ocsd_line_say(line, "]");
        break;
    case ETM4_PKT_I_ADDR_CTXT_L_32IS0:
    case ETM4_PKT_I_ADDR_CTXT_L_32IS1:
    case ETM4_PKT_I_ADDR_CTXT_L_64IS0:
    case ETM4_PKT_I_ADDR_CTXT_L_64IS1:
        ct_ocsd_line_say(line, "; ");
        add_address(line, &p->v_addr);
        ct_ocsd_line_say(line, "; ");
        add_context(line, &p->context);
        break;
    case ETM4_PKT_I_CTXT:
        ct_ocsd_line_say(line, "; ");
        add_context(line, &p->context);
        break;
    case ETM4_PKT_I_ADDR_L_32IS0:
    case ETM4_PKT_I_ADDR_L_32IS1:
    case ETM4_PKT_I_ADDR_L_64IS0:
    case ETM4_PKT_I_ADDR_L_64IS1:
    case ETE_PKT_I_SRC_ADDR_L_32IS0:
    case ETE_PKT_I_SRC_ADDR_L_32IS1:
    case ETE_PKT_I_SRC_ADDR_L_64IS0:
    case ETE_PKT_I_SRC_ADDR_L_64IS1:
        ct_ocsd_line_say(line, "; ");
        add_address(line, &p->v_addr);
        ct_ocsd_line_say(line, "; ");
        break;
    case ETM4_PKT_I_ADDR_S_IS0:
    case ETM4_PKT_I_ADDR_S_IS1:
    case ETE_PKT_I_SRC_ADDR_S_IS0:
    case ETE_PKT_I_SRC_ADDR_S_IS1:
        ct_ocsd_line_say(line, "; ");
        add_address(line, &p->v_addr);
        break;
    case ETM4_PKT_I_ADDR_MATCH:
    case ETE_PKT_I_SRC_ADDR_MATCH:
        ct_ocsd_line_add(line, ", [%u]; ", p->addr_exact_match_idx);
        add_address(line, &p->v_addr);
        ct_ocsd_line_say(line, "; ");
        break;
    case ETM4_PKT_I_ATOM_F1:
    case ETM4_PKT_I_ATOM_F2:
    case ETM4_PKT_I_ATOM_F3:
    case ETM4_PKT_I_ATOM_F4:
    case ETM4_PKT_I_ATOM_F5:
    case ETM4_PKT_I_ATOM_F6:
        ct_ocsd_line_say(line, "; ");
        ct_ocsd_fields_atoms(line, &p->atom);
        break;
    case ETM4_PKT_I_CCNT_F1:
    case ETM4_PKT_I_CCNT_F2:
    case ETM4_PKT_I_CCNT_F3:
        add_number(line, "; Count=0x", p->cycle_count);
        break;
    case ETM4_PKT_I_COMMIT:
        ct_ocsd_line_add(line, "; Commit(%u)", p->commit_elements);
        break;
    case ETM4_PKT_I_CANCEL_F1:
    case ETM4_PKT_I_CANCEL_F1_MISPRED:
    case ETM4_PKT_I_CANCEL_F2:
    case ETM4_PKT_I_CANCEL_F3:
    case ETM4_PKT_I_MISPREDICT:
        ct_ocsd_line_say(line, "; ");
        add_cancel(line, p);
        break;
    case ETM4_PKT_I_TIMESTAMP:
        add_timestamp(line, p);
        break;
    case ETM4_PKT_I_TRACE_INFO:
        ct_ocsd_line_say(line, "; ");
        add_trace_info(line, p);
        break;
    case ETM4_PKT_I_EXCEPT:
        ct_ocsd_line_say(line, "; ");
        add_exception(line, p);
        break;
    case ETM4_PKT_I_Q:
        ct_ocsd_line_say(line, "; ");
        add_q(line, p);
        break;
    default:
        break;
    }
}

size_t ct_ocsd_etm4_text(const void *p, char *text, size_t size)
{
    const ocsd_etmv4_i_pkt *packet = p;
    struct ct_ocsd_line line = {.text = text, .size = size};
    const struct words *words = words_of(packet->type);
    ct_ocsd_line_put(&line, words->text, words->size);
    add_payload(&line, packet);
    return line.used;
}
