/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/v7.h"

#include <stdlib.h>
#include <string.h>

#include "base/v7_config.h"
#include "opencsd/line.h"
#include "opencsd/log.h"
#include "opencsd/packet_out.h"

/* Logs why decoding ends. Returns the response. */
static ocsd_datapath_resp_t give_up(struct ct_ocsd_v7 *d)
{
    const struct ct_ocsd_failure failure = d->failure;
    d->failure = (struct ct_ocsd_failure){0};
    ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, failure.code,
                failure.has_place ? d->index : OCSD_BAD_TRC_INDEX,
                failure.has_place ? d->base.id : OCSD_BAD_CS_SRC_ID, failure.message);
    return failure.answer;
}

/* Outputs the pending elements, up to a response other than CONT. */
static ocsd_datapath_resp_t pump(struct ct_ocsd_v7 *d)
{
    struct ct_ocsd_output *output = &d->path.output;
    ocsd_datapath_resp_t resp = ct_ocsd_output_drain(output);
    if (output->lacks_memory)
        return OCSD_RESP_FATAL_SYS_ERR;
    if (!OCSD_DATA_RESP_IS_CONT(resp))
        return resp;
    if (d->failure.answer)
        return give_up(d);
    if (!d->ending)
        return resp;
    d->ending = false;
    if (d->kind->end)
        d->kind->end(d);
    ct_ocsd_v7_add(d, OCSD_GEN_TRC_ELEM_EO_TRACE)->unsync_eot_info = UNSYNC_EOT;
    return ct_ocsd_output_drain(output);
}

/* Does the same, but refuses if nothing takes elements. */
static ocsd_datapath_resp_t pump_if_ready(struct ct_ocsd_v7 *d)
{
    return ct_ocsd_output_lacks(&d->path.output) ? ct_ocsd_output_refuse(&d->path.output) : pump(d);
}

/* Makes elements of a packet, unless only packets are wanted. */
static ocsd_datapath_resp_t make_elements(struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet)
{
    if (d->base.only_packets)
        return OCSD_RESP_CONT;
    if (ct_ocsd_output_lacks(&d->path.output))
        return ct_ocsd_output_refuse(&d->path.output);
    ct_ocsd_v7_tell_loss(d);
    d->refused_isa = false;
    d->kind->take(d, packet);
    const ocsd_datapath_resp_t resp = pump(d);
    return resp == OCSD_RESP_CONT && d->refused_isa ? OCSD_RESP_WARN_CONT : resp;
}

/* Updates the bytes cut off by resets after bytes of no packet: a zero followed by another byte clears
 * them. */
static void pass_cut(struct ct_ocsd_v7_cut *cut, ocsd_trc_index_t index, const uint8_t *bytes, uint32_t size)
{
    bool zero = false;
    cut->index = index + size;
    for (uint32_t i = 0; i < size; i++) {
        if (zero && bytes[i])
            cut->size = 0;
        zero = !bytes[i];
    }
}

/* Reports bytes of no packet to the receivers of packets. */
static ocsd_datapath_resp_t show_unsynced(struct ct_ocsd_v7 *d, ocsd_trc_index_t index, const uint8_t *bytes,
                                          uint32_t size)
{
    const void *converted = d->kind->convert(d, NULL, bytes);
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    d->index = index;
    if (d->cut.size)
        pass_cut(&d->cut, index, bytes, size);
    ct_ocsd_packet_show(&d->base, index, converted, bytes, size);
    if (!d->unsynced_told || !d->kind->unsynced_group)
        resp = ct_ocsd_packet_give(&d->base, index, converted);
    if (!d->unsynced_told && OCSD_DATA_RESP_IS_CONT(resp))
        resp = make_elements(d, NULL);
    d->unsynced_told = true;
    return resp;
}

/* Ends the run of bytes that belong to no packet. */
static ocsd_datapath_resp_t end_run(struct ct_ocsd_v7 *d)
{
    const uint8_t size = d->run.size;
    d->run.size = 0;
    return size ? show_unsynced(d, d->run.index, d->run.bytes, size) : OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t add_to_run(struct ct_ocsd_v7 *d, ocsd_trc_index_t index, uint8_t byte)
{
    struct ct_ocsd_v7_run *run = &d->run;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    if (run->size && !byte && run->bytes[run->size - 1])
        resp = end_run(d);
    if (!run->size)
        run->index = index;
    run->bytes[run->size++] = byte;
    return run->size == CT_OCSD_V7_RUN ? end_run(d) : resp;
}

/* Ends the run at the end of a call, unless it continues in the next call. */
static ocsd_datapath_resp_t pause_run(struct ct_ocsd_v7 *d)
{
    struct ct_ocsd_v7_run *run = &d->run;
    run->waits = run->size > 1 && !run->bytes[run->size - 2] && !d->feed.size;
    return run->waits ? OCSD_RESP_CONT : end_run(d);
}

/* Passes a packet to the clients that want packets, and makes elements of it. */
static ocsd_datapath_resp_t take(struct ct_ocsd_v7 *d, union ct_ocsd_v7_packet *packet,
                                 const struct ct_ocsd_fed *fed)
{
    const ocsd_trc_index_t index = d->index;
    end_run(d);
    d->index = index;
    const bool bad = d->kind->is_bad && d->kind->is_bad(packet);
    const bool goes_on = ct_ocsd_packet_goes_on(&d->base, bad);
    d->unsynced_told = false;
    d->cut.size = 0;
    d->kind->look(d, packet, fed->bytes);
    if (ct_ocsd_packets_wanted(&d->base)) {
        const void *converted = d->kind->convert(d, packet, fed->bytes);
        if (ct_ocsd_packet_is_shown(&d->base, bad))
            ct_ocsd_packet_show(&d->base, d->index, converted, fed->bytes, (uint32_t)fed->taken);
        const ocsd_datapath_resp_t resp =
            goes_on ? ct_ocsd_packet_give(&d->base, d->index, converted) : OCSD_RESP_CONT;
        if (!OCSD_DATA_RESP_IS_CONT(resp))
            return resp;
    }
    return goes_on ? make_elements(d, packet) : OCSD_RESP_CONT;
}

/* Takes bytes that belong to no packet, in groups or as a run. */
static ocsd_datapath_resp_t take_unsynced(struct ct_ocsd_v7 *d, const struct ct_ocsd_fed *fed)
{
    const uint32_t size = (uint32_t)fed->taken;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    uint32_t group = 1;
    for (uint32_t at = 0; at < size && OCSD_DATA_RESP_IS_CONT(resp); at += group) {
        if (!d->kind->unsynced_group) {
            resp = add_to_run(d, fed->first + at, fed->bytes[at]);
            continue;
        }
        group = d->kind->unsynced_group(fed->bytes + at, size - at);
        resp = show_unsynced(d, fed->first + at, fed->bytes + at, group);
    }
    return resp;
}

/* Takes the result of the feed: a packet, or bytes of no packet. */
static ocsd_datapath_resp_t take_fed(struct ct_ocsd_v7 *d, union ct_ocsd_v7_packet *packet,
                                     const struct ct_ocsd_fed *fed)
{
    if (fed->have || fed->taken)
        d->index = fed->first;
    if (fed->have && !d->kind->is_unsynced(packet))
        return take(d, packet, fed);
    return fed->taken ? take_unsynced(d, fed) : OCSD_RESP_CONT;
}

/* Returns how many of `size` bytes from `index` on count as used when a packet ends decoding, including bytes
 * after the packet that had to be examined. */
static uint32_t used_at_end(const struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet,
                            const struct ct_ocsd_fed *fed, ocsd_trc_index_t index, uint32_t used,
                            uint32_t size)
{
    if (!fed->have || !d->kind->bytes_seen)
        return used;
    const uint32_t seen = (uint32_t)(fed->first + d->kind->bytes_seen(packet, fed->bytes) - index);
    return seen <= used ? used : seen < size ? seen : size;
}

static ocsd_datapath_resp_t data(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                 const uint8_t *bytes, uint32_t size, uint32_t *used)
{
    struct ct_ocsd_v7 *d = (struct ct_ocsd_v7 *)decoder;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    if (d->run.waits)
        d->run.index = index;
    for (*used = 0; *used < size && OCSD_DATA_RESP_IS_CONT(resp);) {
        union ct_ocsd_v7_packet packet;
        struct ct_ocsd_fed fed;
        *used += ct_ocsd_feed_next(&d->feed, bytes + *used, size - *used, index + *used, &packet, &fed);
        if (fed.have || fed.taken) /* otherwise the earlier response stays */
            resp = take_fed(d, &packet, &fed);
        if (OCSD_DATA_RESP_IS_FATAL(resp))
            *used = used_at_end(d, &packet, &fed, index, *used, size);
    }
    const ocsd_datapath_resp_t paused = OCSD_DATA_RESP_IS_CONT(resp) ? pause_run(d) : OCSD_RESP_CONT;
    return paused ? paused : resp;
}

static ocsd_datapath_resp_t flush(struct ct_ocsd_decoder *decoder)
{
    const ocsd_datapath_resp_t resp = pump_if_ready((struct ct_ocsd_v7 *)decoder);
    ct_ocsd_operation_out(decoder, OCSD_OP_FLUSH);
    return resp;
}

/* Appends bytes of an incomplete packet. */
static void keep_cut(struct ct_ocsd_v7 *d, const uint8_t *bytes, uint32_t size, ocsd_trc_index_t index)
{
    struct ct_ocsd_v7_cut *cut = &d->cut;
    const uint32_t room = CT_OCSD_FEED_ROOM - cut->size;
    const uint32_t n = size < room ? size : room;
    if (!size)
        return;
    cut->index = index;
    memcpy(cut->bytes + cut->size, bytes, n);
    cut->size += n;
}

static ocsd_datapath_resp_t reset(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_v7 *d = (struct ct_ocsd_v7 *)decoder;
    d->kind->reset(d);
    if (d->kind->cut)
        keep_cut(d, d->feed.bytes, d->feed.size, d->feed.indices[0]);
    ct_ocsd_feed_reset(&d->feed);
    ct_ocsd_output_drop(&d->path.output);
    d->ending = d->unsynced_told = false;
    d->run = (struct ct_ocsd_v7_run){0};
    d->failure = (struct ct_ocsd_failure){0};
    d->path.output.blank.context = (ocsd_pe_context){0};
    ct_ocsd_v7_lose(d, UNSYNC_RESET_DECODER);
    const ocsd_datapath_resp_t resp = pump_if_ready(d);
    ct_ocsd_operation_out(decoder, OCSD_OP_RESET);
    return resp;
}

/* Ends the stream: outputs an incomplete packet, including what resets before it cut off. */
static void finish_feed(struct ct_ocsd_v7 *d, union ct_ocsd_v7_packet *packet, struct ct_ocsd_fed *fed)
{
    ct_ocsd_feed_finish(&d->feed, packet, fed);
    if (!d->kind->cut || (fed->have && !d->kind->is_unsynced(packet) && !d->cut.size))
        return;
    keep_cut(d, fed->bytes, (uint32_t)fed->taken, fed->first);
    *packet = *d->kind->cut;
    *fed = (struct ct_ocsd_fed){
        .have = d->cut.size, .first = d->cut.index, .taken = d->cut.size, .bytes = d->cut.bytes};
}

static ocsd_datapath_resp_t finish(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_v7 *d = (struct ct_ocsd_v7 *)decoder;
    union ct_ocsd_v7_packet packet;
    struct ct_ocsd_fed fed;
    finish_feed(d, &packet, &fed);
    ocsd_datapath_resp_t resp = take_fed(d, &packet, &fed);
    if (OCSD_DATA_RESP_IS_CONT(resp))
        resp = end_run(d);
    d->ending = !d->base.only_packets;
    if (resp != OCSD_RESP_FATAL_NOT_INIT)
        resp = pump_if_ready(d);
    ct_ocsd_operation_out(decoder, OCSD_OP_EOT);
    return resp;
}

void ct_ocsd_v7_free(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_v7 *d = (struct ct_ocsd_v7 *)decoder;
    d->kind->free(d);
    ct_ocsd_code_free(d->path.code);
    ct_ocsd_output_deinit(&d->path.output);
    free(d);
}

static const struct ct_ocsd_protocol protocol = {
    .data = data, .flush = flush, .reset = reset, .finish = finish, .free = ct_ocsd_v7_free};

bool ct_ocsd_v7_init(struct ct_ocsd_v7 *d, const struct ct_ocsd_tree *tree, const struct ct_source *source,
                     const struct ct_ocsd_v7_kind *kind)
{
    struct ct_v7_config config;
    d->base = (struct ct_ocsd_decoder){
        .protocol = &protocol, .text = kind->text, .tree = tree, .id = source->trace_id};
    d->kind = kind;
    ct_ocsd_v7_lose(d, UNSYNC_INIT_DECODER);
    if (ct_v7_config_init(NULL, source, &config))
        return false;
    d->path.returns.enabled = config.return_stack;
    d->path.code = ct_ocsd_code_new(
        &d->base, &(const struct ct_ocsd_core){source->arch, .dsb_waypoint = config.dsb_waypoint});
    d->feed = (struct ct_ocsd_feed){.decode = kind->decode, .decoder = d->packets};
    return ct_ocsd_output_init(&d->path.output, &d->base) && d->path.code && d->packets;
}

void ct_ocsd_v7_lose(struct ct_ocsd_v7 *d, unsync_info_t reason)
{
    d->state = CT_OCSD_V7_NO_SYNC;
    d->reason = (uint8_t)reason;
    d->path.need_address = true;
    ct_ocsd_return_flush(&d->path.returns);
}

void ct_ocsd_v7_tell_loss(struct ct_ocsd_v7 *d)
{
    if (d->state != CT_OCSD_V7_NO_SYNC)
        return;
    ct_ocsd_v7_add(d, OCSD_GEN_TRC_ELEM_NO_SYNC)->unsync_eot_info = (unsync_info_t)d->reason;
    d->state = CT_OCSD_V7_WAIT_SYNC;
}

ocsd_generic_trace_elem *ct_ocsd_v7_add_trace_on(struct ct_ocsd_v7 *d, unsigned reason)
{
    static const trace_on_reason_t reasons[] = {
        [CT_SYNC_PERIODIC] = TRACE_ON_NORMAL,
        [CT_SYNC_TRACE_ENABLE] = TRACE_ON_NORMAL,
        [CT_SYNC_OVERFLOW] = TRACE_ON_OVERFLOW,
        [CT_SYNC_DEBUG_EXIT] = TRACE_ON_EX_DEBUG,
    };
    ocsd_generic_trace_elem *e = ct_ocsd_v7_add(d, OCSD_GEN_TRC_ELEM_TRACE_ON);
    e->trace_on_reason = reasons[reason & 3];
    return e;
}

void ct_ocsd_v7_set_code_context(struct ct_ocsd_v7 *d)
{
    const ocsd_pe_context *c = &d->path.output.blank.context;
    ct_ocsd_code_set_context(d->path.code, (uint64_t)c->vmid << 32 | c->context_id,
                             c->security_level == ocsd_sec_secure ? OCSD_MEM_SPACE_S : OCSD_MEM_SPACE_N);
}

uint8_t ct_ocsd_v7_isa(uint8_t isa)
{
    static const uint8_t isas[] = {
        [CT_V7_A32] = CT_ISA_A32,
        [CT_V7_T32] = CT_ISA_T32,
        [CT_V7_TEE] = CT_ISA_TEE,
        [CT_V7_JAZ] = CT_ISA_JAZ,
        [CT_V7_ISA_UNKNOWN] = CT_ISA_UNKNOWN,
    };
    return isas[isa];
}

ocsd_isa ct_ocsd_v7_ocsd_isa(uint8_t isa)
{
    return ct_ocsd_isas[ct_ocsd_v7_isa(isa)];
}

bool ct_ocsd_v7_is_foreign(const struct ct_ocsd_v7 *d)
{
    return d->path.isa > CT_ISA_T32 && ct_ocsd_code_is_there(d->path.code, d->path.addr);
}

void ct_ocsd_v7_refuse_isa(struct ct_ocsd_v7 *d, const char *packet)
{
    char text[96];
    struct ct_ocsd_line line = {.text = text, .size = sizeof text};
    d->refused_isa = true;
    ct_ocsd_line_add(&line, "Warning: unsupported instruction set processing %s packet.", packet);
    ct_ocsd_log(d->base.name, OCSD_ERR_SEV_WARN, OCSD_ERR_UNSUPPORTED_ISA, d->index, d->base.id, text);
    d->path.need_address = true;
}
