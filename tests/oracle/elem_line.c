/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/elem_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "coretap/elem.h"

void lines_free(struct lines *lines)
{
    free(lines->text);
    *lines = (struct lines){0};
}

static void add(struct lines *lines, const char *text, size_t size)
{
    if (lines->size + size + 1 > lines->room) {
        lines->room = 2 * (lines->size + size) + 65536;
        lines->text = realloc(lines->text, lines->room);
        if (!lines->text)
            abort();
    }
    memcpy(lines->text + lines->size, text, size);
    lines->size += size;
    lines->text[lines->size] = 0;
}

static void addf(struct lines *lines, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void addf(struct lines *lines, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    add(lines, text, (size_t)n);
}

static const char *isa_name(ocsd_isa isa)
{
    static const char *const names[] = {"a32", "t32", "a64", "tee", "jaz", "cst", "unk"};
    return names[isa];
}

static const char *reason_name(unsync_info_t reason)
{
    static const char *const names[] = {"undefined", "init_decoder", "reset_decoder", "overflow",
                                        "discard",   "bad_packet",   "end_of_trace"};
    return names[reason];
}

static void add_context(struct lines *lines, const ocsd_generic_trace_elem *e)
{
    static const char *const worlds[] = {"s", "ns", "root", "realm"};
    addf(lines, " pe_context isa=%s", isa_name(e->isa));
    if (e->context.el_valid)
        addf(lines, " el=%d", e->context.exception_level);
    addf(lines, " sec=%s bits=%s", worlds[e->context.security_level], e->context.bits64 ? "64" : "32");
    if (e->context.ctxt_id_valid)
        addf(lines, " ctxt=%x", e->context.context_id);
    if (e->context.vmid_valid)
        addf(lines, " vmid=%x", e->context.vmid);
}

static void add_range(struct lines *lines, const ocsd_generic_trace_elem *e)
{
    static const char *const types[] = {"other", "br", "ibr", "isb", "dsb_dmb", "wfi_wfe", "tstart"};
    static const char *const subs[] = {"none", "link", "ret", "eret", "v7_ret"};
    addf(lines,
         " instr_range start=%" PRIx64 " end=%" PRIx64
         " n=%u last_sz=%u isa=%s exec=%c type=%s sub=%s cond=%u",
         e->st_addr, e->en_addr, e->num_instr_range, e->last_instr_sz, isa_name(e->isa),
         e->last_instr_exec ? 'E' : 'N', types[e->last_i_type], subs[e->last_i_subtype], e->last_instr_cond);
}

static void add_exception(struct lines *lines, const ocsd_generic_trace_elem *e)
{
    addf(lines, " exception exc=%x", e->exception_number);
    if (e->excep_ret_addr)
        addf(lines, " ret=%" PRIx64, e->en_addr);
    if (e->excep_ret_addr && e->excep_ret_addr_br_tgt)
        addf(lines, " brtgt=1");
}

static void add_element(struct lines *lines, const ocsd_generic_trace_elem *e)
{
    static const char *const ons[] = {"begin_or_filter", "overflow", "debug_restart"};
    static const char *const trans[] = {"init", "start", "commit", "fail"};
    switch (e->elem_type) {
    case OCSD_GEN_TRC_ELEM_NO_SYNC:
        addf(lines, " no_sync reason=%s", reason_name(e->unsync_eot_info));
        break;
    case OCSD_GEN_TRC_ELEM_TRACE_ON:
        addf(lines, " trace_on reason=%s", ons[e->trace_on_reason]);
        break;
    case OCSD_GEN_TRC_ELEM_EO_TRACE:
        addf(lines, " eo_trace reason=%s", reason_name(e->unsync_eot_info));
        break;
    case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        add_context(lines, e);
        break;
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        add_range(lines, e);
        break;
    case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
        addf(lines, " i_range_nopath start=%" PRIx64 " next=%" PRIx64 " n=%u", e->st_addr, e->en_addr,
             e->num_instr_range);
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        addf(lines, " addr_nacc addr=%" PRIx64, e->st_addr);
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN:
        addf(lines, " addr_unknown");
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        add_exception(lines, e);
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION_RET:
        addf(lines, " exception_ret");
        break;
    case OCSD_GEN_TRC_ELEM_TIMESTAMP:
        addf(lines, " timestamp ts=%" PRIx64, e->timestamp);
        break;
    case OCSD_GEN_TRC_ELEM_CYCLE_COUNT:
        addf(lines, " cycle_count");
        break;
    case OCSD_GEN_TRC_ELEM_EVENT:
        addf(lines, " event num=%u", e->trace_event.ev_number);
        break;
    case OCSD_GEN_TRC_ELEM_SYNC_MARKER:
        addf(lines, " sync_marker type=ts value=%x", e->sync_marker.value);
        break;
    case OCSD_GEN_TRC_ELEM_MEMTRANS:
        addf(lines, " mem_trans type=%s", trans[e->mem_trans]);
        break;
    default:
        addf(lines, " unknown");
        break;
    }
    if (e->has_cc)
        addf(lines, " cc=%u", e->cycle_count);
}

void lines_of_ocsd(struct lines *lines, const struct ocsd *ocsd, const uint32_t *origin)
{
    lines->size = 0;
    for (size_t i = 0; i < ocsd->elem_count; i++) {
        addf(lines, "%u %02x", origin[ocsd->elems[i].index], LINE_ID);
        add_element(lines, &ocsd->elems[i].elem);
        add(lines, "\n", 1);
    }
}

/* Adds the lines of an element without the memory space of a failed access, which OpenCSD 1.3.3 does not
 * report. */
static void list(struct lines *lines, struct ct_element_lister *lister, const struct ct_flow *flow)
{
    struct ct_text *text = lister->text;
    text->used = 0;
    if (flow)
        ct_list_flow(lister, flow);
    else
        ct_list_flow_end(lister);
    if (flow && flow->kind == CT_FLOW_NO_ACCESS && !flow->unlisted) {
        text->data[text->used] = 0;
        text->used = (size_t)(strstr(text->data, " space=") - text->data);
    }
    add(lines, text->data, text->used);
}

enum {
    BATCH = 256
};

static void walk(struct lines *lines, struct ct_element_lister *lister, struct ct_walk *walk,
                 const struct ct_elem *elems, size_t count, uint64_t end)
{
    struct ct_flow flow[BATCH];
    for (size_t taken = 0, n = 0; taken < count;) {
        taken += ct_walk_run(walk, elems + taken, count - taken, end, flow, BATCH, &n);
        for (size_t i = 0; i < n; i++)
            list(lines, lister, &flow[i]);
    }
}

static void resolve(struct lines *lines, struct ct_element_lister *lister, struct ct_etm4_resolver *resolver,
                    struct ct_walk *walker, const struct ct_etm4_packet *packets, size_t count, uint64_t end)
{
    struct ct_elem elems[BATCH];
    for (size_t taken = 0, n = BATCH; taken < count || n > BATCH - CT_RESOLVE_MIN;) {
        taken += ct_etm4_resolve(resolver, packets + taken, count - taken, 1, elems, BATCH, &n);
        walk(lines, lister, walker, elems, n, end);
    }
}

int lines_of_coretap(struct lines *lines, const struct ct_source *source, const struct ocsd_region *regions,
                     unsigned region_count, const uint8_t *bytes, size_t size)
{
    static struct ct_text text;
    struct ct_element_lister lister = {.text = &text, .id = LINE_ID};
    struct ct_memory *memory = NULL;
    struct ct_etm4_decoder *decoder = NULL;
    struct ct_etm4_resolver *resolver = NULL;
    struct ct_walk *walker = NULL;
    struct ct_walk_options options = {.size = sizeof(options)};
    struct ct_etm4_packet *packets = malloc((size + 1) * sizeof(*packets));
    size_t count = 0;
    int err = !packets;
    lines->size = 0;
    err = err || ct_memory_new(NULL, &memory);
    for (unsigned i = 0; i < region_count && !err; i++)
        err =
            ct_memory_add_bytes(memory, regions[i].bytes, regions[i].size, regions[i].addr, regions[i].space);
    err = err || ct_etm4_decoder_new(NULL, source, &decoder) ||
          ct_etm4_resolver_new(NULL, source, &resolver) ||
          ct_walk_new(NULL, source, memory, &options, &walker);
    if (!err) {
        ct_etm4_decode(decoder, bytes, size, 0, 1, packets, size + 1, &count);
        resolve(lines, &lister, resolver, walker, packets, count, size);
        list(lines, &lister, NULL);
    }
    ct_walk_free(walker);
    ct_etm4_resolver_free(resolver);
    ct_etm4_decoder_free(decoder);
    ct_memory_free(memory);
    free(packets);
    return err;
}
