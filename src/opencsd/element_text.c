/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/element_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "opencsd/layout.h"
#include "opencsd/line.h"
#include "opencsd/log.h"
#include "opencsd/packet_text.h"
#include "opencsd/software_text.h"

enum {
    TEXT_SIZE = 512, /* longest text of an element */
};

/* word of a table, or "" for a number beyond it */
#define WORD(words, number) ((unsigned)(number) < sizeof(words) / sizeof *(words) ? (words)[number] : "")

static const char *const names[] = {
    [OCSD_GEN_TRC_ELEM_UNKNOWN] = "UNKNOWN",
    [OCSD_GEN_TRC_ELEM_NO_SYNC] = "NO_SYNC",
    [OCSD_GEN_TRC_ELEM_TRACE_ON] = "TRACE_ON",
    [OCSD_GEN_TRC_ELEM_EO_TRACE] = "EO_TRACE",
    [OCSD_GEN_TRC_ELEM_PE_CONTEXT] = "PE_CONTEXT",
    [OCSD_GEN_TRC_ELEM_INSTR_RANGE] = "INSTR_RANGE",
    [OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH] = "I_RANGE_NOPATH",
    [OCSD_GEN_TRC_ELEM_ADDR_NACC] = "ADDR_NACC",
    [OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN] = "ADDR_UNKNOWN",
    [OCSD_GEN_TRC_ELEM_EXCEPTION] = "EXCEPTION",
    [OCSD_GEN_TRC_ELEM_EXCEPTION_RET] = "EXCEPTION_RET",
    [OCSD_GEN_TRC_ELEM_TIMESTAMP] = "TIMESTAMP",
    [OCSD_GEN_TRC_ELEM_CYCLE_COUNT] = "CYCLE_COUNT",
    [OCSD_GEN_TRC_ELEM_EVENT] = "EVENT",
    [OCSD_GEN_TRC_ELEM_SWTRACE] = "SWTRACE",
    [OCSD_GEN_TRC_ELEM_SYNC_MARKER] = "SYNC_MARKER",
    [OCSD_GEN_TRC_ELEM_MEMTRANS] = "MEMTRANS",
    [OCSD_GEN_TRC_ELEM_CUSTOM] = "CUSTOM",
    [CT_OCSD_ITMTRACE] = "ITMTRACE",
    [CT_OCSD_INSTRUMENTATION] = "INSTRUMENTATION",
};

static const char *isa_word(ocsd_isa isa)
{
    static const char *const words[] = {"A32", "T32", "A64", "TEE", "Jaz", "Cst", "Unk"};
    return WORD(words, isa);
}

static void add_reason(struct ct_ocsd_line *line, unsync_info_t reason)
{
    static const char *const words[] = {
        [UNSYNC_UNKNOWN] = " [undefined]",
        [UNSYNC_INIT_DECODER] = " [init-decoder]",
        [UNSYNC_RESET_DECODER] = " [reset-decoder]",
        [UNSYNC_OVERFLOW] = " [overflow]",
        [UNSYNC_DISCARD] = " [discard]",
        [UNSYNC_BAD_PACKET] = " [bad-packet]",
        [UNSYNC_EOT] = " [end-of-trace]",
        [CT_OCSD_BAD_IMAGE] = " [bad-program-image]",
    };
    ct_ocsd_line_say(line, WORD(words, reason));
}

static void add_trace_on(struct ct_ocsd_line *line, trace_on_reason_t reason)
{
    static const char *const words[] = {" [begin or filter]", " [overflow]", " [debug restart]"};
    ct_ocsd_line_say(line, WORD(words, reason));
}

static void add_space(struct ct_ocsd_line *line, uint32_t space)
{
    ct_ocsd_line_add(line, "; Memspace [0x%x:", space);
    ct_ocsd_line_space(line, space);
    ct_ocsd_line_say(line, "]");
}

static void add_context(struct ct_ocsd_line *line, const ocsd_generic_trace_elem *e)
{
    static const char *const worlds[] = {"S", "N", "Root", "Realm"};
    const ocsd_pe_context *c = &e->context;
    ct_ocsd_line_add(line, "(ISA=%s) ", isa_word(e->isa));
    if (c->el_valid)
        ct_ocsd_line_add(line, "EL%d", (int)c->exception_level);
    ct_ocsd_line_add(line, "%s; %s-bit; ", WORD(worlds, c->security_level), c->bits64 ? "64" : "32");
    if (c->vmid_valid)
        ct_ocsd_line_add(line, "VMID=0x%x; ", c->vmid);
    if (c->ctxt_id_valid)
        ct_ocsd_line_add(line, "CTXTID=0x%x; ", c->context_id);
}

static void add_range(struct ct_ocsd_line *line, const ocsd_generic_trace_elem *e)
{
    static const char *const types[] = {"--- ", "BR  ", "iBR ", "ISB ", "DSB.DMB", "WFI.WFE", "TSTART"};
    static const char *const subtypes[] = {"", "b+link ", "A64:ret ", "A64:eret ", "V7:impl ret"};
    ct_ocsd_line_add(line, "exec range=0x%" PRIx64 ":[0x%" PRIx64 "] num_i(%u) last_sz(%u) (ISA=%s) %s %s%s",
                     e->st_addr, e->en_addr, e->num_instr_range, e->last_instr_sz, isa_word(e->isa),
                     e->last_instr_exec ? "E" : "N", WORD(types, e->last_i_type),
                     WORD(subtypes, e->last_i_subtype));
    if (e->last_instr_cond)
        ct_ocsd_line_say(line, " <cond>");
}

static void add_exception(struct ct_ocsd_line *line, const ocsd_generic_trace_elem *e)
{
    if (e->excep_ret_addr)
        ct_ocsd_line_add(line, "pref ret addr:0x%" PRIx64 "%s; ", e->en_addr,
                         e->excep_ret_addr_br_tgt ? " [addr also prev br tgt]" : "");
    ct_ocsd_line_add(line, "excep num (0x%02x) ", e->exception_number);
}

static void add_event(struct ct_ocsd_line *line, const trace_event_t *event)
{
    if (event->ev_type == EVENT_TRIGGER)
        ct_ocsd_line_say(line, " Trigger; ");
    if (event->ev_type == EVENT_NUMBERED)
        ct_ocsd_line_add(line, " Numbered:%d; ", event->ev_number);
}

static void add_transaction(struct ct_ocsd_line *line, trace_memtrans_t what)
{
    static const char *const words[] = {"Init", "Start", "Commit", "Fail"};
    ct_ocsd_line_say(line, WORD(words, what));
}

/* Adds the fields of an element's type. */
static void add_payload(struct ct_ocsd_line *line, const ocsd_generic_trace_elem *e)
{
    switch ((int)e->elem_type) {
    case OCSD_GEN_TRC_ELEM_NO_SYNC:
    case OCSD_GEN_TRC_ELEM_EO_TRACE:
        add_reason(line, e->unsync_eot_info);
        break;
    case OCSD_GEN_TRC_ELEM_TRACE_ON:
        add_trace_on(line, e->trace_on_reason);
        break;
    case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        add_context(line, e);
        break;
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        add_range(line, e);
        break;
    case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
        ct_ocsd_line_add(line, "first 0x%" PRIx64 ":[next 0x%" PRIx64 "] num_i(%u) ", e->st_addr, e->en_addr,
                         e->num_instr_range);
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        ct_ocsd_line_add(line, " 0x%" PRIx64, e->st_addr);
        if (ct_ocsd_version() >= CT_OCSD_LATE_VERSION)
            add_space(line, e->exception_number);
        ct_ocsd_line_say(line, " ");
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        add_exception(line, e);
        break;
    case OCSD_GEN_TRC_ELEM_TIMESTAMP:
        ct_ocsd_line_add(line, " [ TS=0x%012" PRIx64 "]; ", e->timestamp);
        break;
    case OCSD_GEN_TRC_ELEM_EVENT:
        add_event(line, &e->trace_event);
        break;
    case OCSD_GEN_TRC_ELEM_SYNC_MARKER:
        ct_ocsd_line_add(line, " [Timestamp marker(0x%08x)]", e->sync_marker.value);
        break;
    case OCSD_GEN_TRC_ELEM_SWTRACE:
        ct_ocsd_software_text(line, e);
        break;
    case CT_OCSD_ITMTRACE:
        ct_ocsd_itm_element_text(line, e);
        break;
    case CT_OCSD_INSTRUMENTATION:
        ct_ocsd_line_add(line, "EL%u; 0x%016" PRIx64, e->exception_number, e->timestamp);
        break;
    case OCSD_GEN_TRC_ELEM_MEMTRANS:
        add_transaction(line, e->mem_trans);
        break;
    default:
        break;
    }
}

/* Writes the text of an element, cut to `size` bytes. */
static void write_element(const ocsd_generic_trace_elem *e, char *text, size_t size)
{
    struct ct_ocsd_line line = {.text = text, .size = size};
    if ((unsigned)e->elem_type >= sizeof names / sizeof *names || !names[e->elem_type]) {
        ct_ocsd_line_say(&line, "OCSD_GEN_TRC_ELEM??: index out of range.");
        return;
    }
    ct_ocsd_line_add(&line, "OCSD_GEN_TRC_ELEM_%s(", names[e->elem_type]);
    add_payload(&line, e);
    if (e->has_cc)
        ct_ocsd_line_add(&line, " [CC=%u]; ", e->cycle_count);
    ct_ocsd_line_say(&line, ")");
}

void ct_ocsd_element_print(ocsd_trc_index_t index, uint8_t id, const ocsd_generic_trace_elem *element)
{
    char text[TEXT_SIZE];
    char line[TEXT_SIZE + 64];
    write_element(element, text, sizeof text);
    snprintf(line, sizeof line, "Idx:%" OCSD_TRC_IDX_STR "; ID:%x; %s\n", index, id, text);
    ct_ocsd_print(line);
}

ocsd_err_t ocsd_gen_elem_str(const ocsd_generic_trace_elem *p_pkt, char *buffer, const int buffer_size)
{
    if (!p_pkt || !buffer || buffer_size < 2)
        return OCSD_ERR_INVALID_PARAM_VAL;
    buffer[0] = 0;
    ocsd_generic_trace_elem room;
    write_element(ct_ocsd_own_element(p_pkt, &room), buffer, (size_t)buffer_size);
    return OCSD_OK;
}

void ocsd_gen_elem_init(ocsd_generic_trace_elem *p_pkt, const ocsd_gen_trc_elem_t elem_type)
{
    if (!p_pkt)
        return;
    p_pkt->elem_type = elem_type;
    p_pkt->flag_bits = 0;
    if (ct_ocsd_layout_is_late())
        ((struct ct_ocsd_late_element *)p_pkt)->extended_data = NULL;
    else
        p_pkt->ptr_extended_data = NULL;
}
