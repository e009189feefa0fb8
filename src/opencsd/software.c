/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/software.h"

#include <stdlib.h>

#include "opencsd/log.h"
#include "opencsd/packet_out.h"

/* Outputs the pending elements, up to a response other than CONT. */
static ocsd_datapath_resp_t pump(struct ct_ocsd_software *d)
{
    if (!d->base.only_packets && !d->base.attached) {
        ct_ocsd_output_drop(&d->output);
        return ct_ocsd_output_refuse(&d->output);
    }
    ocsd_datapath_resp_t resp = ct_ocsd_output_drain(&d->output);
    if (d->output.lacks_memory)
        return OCSD_RESP_FATAL_SYS_ERR;
    if (!OCSD_DATA_RESP_IS_CONT(resp) || !d->ending)
        return resp;
    d->ending = false;
    ct_ocsd_software_add(d, OCSD_GEN_TRC_ELEM_EO_TRACE)->unsync_eot_info = UNSYNC_EOT;
    return ct_ocsd_output_drain(&d->output);
}

/* Returns whether the decoder resynchronises at an alignment packet after an invalid packet. */
static bool is_forgiven(const struct ct_ocsd_software *d)
{
    return d->kind->unsync && d->base.flags & OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS;
}

/* Makes elements of a packet, or of unsynchronised bytes when `packet` is NULL. */
static ocsd_datapath_resp_t make_elements(struct ct_ocsd_software *d,
                                          const union ct_ocsd_software_packet *packet, bool sound)
{
    if (d->lost)
        ct_ocsd_software_add(d, OCSD_GEN_TRC_ELEM_NO_SYNC)->unsync_eot_info = (unsync_info_t)d->reason;
    d->lost = false;
    if (packet && sound)
        d->kind->take(d, packet);
    const ocsd_datapath_resp_t resp = pump(d);
    if (!sound && d->kind->spoil && d->kind->spoil(d, packet)) { /* the next packet reports it */
        d->lost = true;
        d->reason = UNSYNC_BAD_PACKET;
    }
    return sound || is_forgiven(d) || !OCSD_DATA_RESP_IS_CONT(resp) ? resp : OCSD_RESP_FATAL_INVALID_DATA;
}

/* Passes a packet to the clients that want packets, and makes elements of it. Clients that want elements
 * learn of an invalid packet only by the response, unless the trace continues. */
static ocsd_datapath_resp_t take(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                                 const struct ct_ocsd_software_place *place)
{
    const struct ct_ocsd_complaint complaint = d->kind->complaint(packet, place);
    const bool bad = complaint.code != OCSD_OK;
    const bool goes_on = ct_ocsd_packet_goes_on(&d->base, bad);
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    d->synced = true;
    d->index = place->index;
    if (bad && (d->base.only_packets || is_forgiven(d)))
        ct_ocsd_log(d->base.packet_name, OCSD_ERR_SEV_ERROR, complaint.code, d->index, d->base.id,
                    complaint.message);
    if (bad && d->base.flags & OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS)
        return OCSD_RESP_FATAL_INVALID_DATA;
    if (bad && is_forgiven(d)) {
        d->kind->unsync(d);
        d->synced = false;
    }
    if (ct_ocsd_packets_wanted(&d->base)) {
        const void *converted = d->kind->convert(d, packet, place);
        if (ct_ocsd_packet_is_shown(&d->base, bad))
            ct_ocsd_packet_show(&d->base, d->index, converted, place->bytes, place->size);
        if (goes_on)
            resp = ct_ocsd_packet_give(&d->base, d->index, converted);
    }
    if (OCSD_DATA_RESP_IS_CONT(resp) && goes_on && !d->base.only_packets)
        resp = make_elements(d, packet, !bad);
    return resp;
}

/* Reports once per call that synchronisation is missing. */
static ocsd_datapath_resp_t tell_unsynced(struct ct_ocsd_software *d)
{
    if (d->told)
        return OCSD_RESP_CONT;
    d->told = true;
    d->index = d->call;
    const ocsd_datapath_resp_t resp =
        ct_ocsd_packets_wanted(&d->base)
            ? ct_ocsd_packet_give(&d->base, d->index, d->kind->convert(d, NULL, NULL))
            : OCSD_RESP_CONT;
    return OCSD_DATA_RESP_IS_CONT(resp) && !d->base.only_packets ? make_elements(d, NULL, true) : resp;
}

/* Takes unsynchronised bytes, shown to monitors in groups. A group that does not begin with a zero has the
 * index of the group before it. */
static ocsd_datapath_resp_t take_unsynced(struct ct_ocsd_software *d, ocsd_trc_index_t index,
                                          const uint8_t *bytes, uint32_t size)
{
    const bool is_wanted = ct_ocsd_packets_wanted(&d->base);
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    ocsd_trc_index_t shown = index;
    uint32_t group = size;
    for (uint32_t at = 0; at < size; at += group) {
        if (!bytes[at])
            shown = index + at;
        group = d->kind->unsynced_group(bytes + at, size - at);
        if (is_wanted)
            ct_ocsd_packet_show(&d->base, shown, d->kind->convert(d, NULL, NULL), bytes + at, group);
        if (!at)
            resp = tell_unsynced(d);
    }
    return resp;
}

/* Keeps a packet for the next call. */
static void delay(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                  const struct ct_ocsd_software_place *place)
{
    d->has_delayed = true;
    d->delayed_packet = *packet;
    d->delayed_place = *place;
}

static ocsd_datapath_resp_t take_delayed(struct ct_ocsd_software *d)
{
    d->has_delayed = false;
    return take(d, &d->delayed_packet, &d->delayed_place);
}

static bool is_unsynced(const struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet)
{
    return d->kind->is_unsynced && d->kind->is_unsynced(packet);
}

/* Takes the result of the feed: a packet, or bytes of no packet. */
static ocsd_datapath_resp_t take_fed(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                                     const struct ct_ocsd_fed *fed)
{
    struct ct_ocsd_software_place place = {
        .index = fed->first, .bytes = fed->bytes, .size = (uint32_t)fed->taken};
    if (!fed->have || is_unsynced(d, packet))
        return d->kind->search ? OCSD_RESP_CONT : take_unsynced(d, place.index, place.bytes, place.size);
    if (d->kind->set_place)
        d->kind->set_place(d, packet, &place);
    d->half = place.ends_inside;
    return take(d, packet, &place);
}

/* Searches the bytes of a call for the first alignment packet. 1.3.3 passes the packet on with the next byte
 * when it reported bytes before it. */
static ocsd_datapath_resp_t synchronise(struct ct_ocsd_software *d, const uint8_t *bytes, uint32_t size,
                                        uint32_t *used)
{
    struct ct_ocsd_software_found found;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    d->kind->search(d, d->call, bytes, size, &found);
    *used = found.used;
    if (found.shown && ct_ocsd_packets_wanted(&d->base))
        ct_ocsd_packet_show(&d->base, d->call, d->kind->convert(d, NULL, NULL), bytes,
                            found.shown < size ? found.shown : size);
    if (found.is_told)
        resp = tell_unsynced(d);
    if (!found.is_aligned)
        return resp;
    d->half = found.place.ends_inside;
    if (OCSD_DATA_RESP_IS_CONT(resp) && (!found.is_told || *used < size))
        return take(d, &found.packet, &found.place);
    delay(d, &found.packet, &found.place);
    return resp;
}

/* Keeps the byte inside which the last packet ended for the next packet. */
static void share(struct ct_ocsd_software *d, ocsd_trc_index_t index, const uint8_t *bytes, uint32_t size,
                  uint32_t *used)
{
    if (!d->half)
        return;
    *used += *used < size ? ct_ocsd_feed_share(&d->feed, bytes[*used], index + *used) : 0;
    d->rest = d->feed.indices[0] + 1;
}

static ocsd_datapath_resp_t data(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                 const uint8_t *bytes, uint32_t size, uint32_t *used)
{
    struct ct_ocsd_software *d = (struct ct_ocsd_software *)decoder;
    ocsd_datapath_resp_t resp = d->has_delayed ? take_delayed(d) : OCSD_RESP_CONT;
    d->call = index;
    if (d->half) /* a pause came before it was examined */
        d->rest = index;
    d->told = false;
    *used = 0;
    if (d->kind->search && !d->synced && OCSD_DATA_RESP_IS_CONT(resp)) {
        resp = synchronise(d, bytes, size, used);
        share(d, index, bytes, size, used);
    }
    while ((*used < size || d->half) && OCSD_DATA_RESP_IS_CONT(resp)) {
        union ct_ocsd_software_packet packet;
        struct ct_ocsd_fed fed;
        d->half = false;
        *used += ct_ocsd_feed_next(&d->feed, bytes + *used, size - *used, index + *used, &packet, &fed);
        resp = take_fed(d, &packet, &fed);
        share(d, index, bytes, size, used);
    }
    return d->synced || d->kind->search || !OCSD_DATA_RESP_IS_CONT(resp) ? resp : tell_unsynced(d);
}

static ocsd_datapath_resp_t flush(struct ct_ocsd_decoder *decoder)
{
    const ocsd_datapath_resp_t resp = pump((struct ct_ocsd_software *)decoder);
    ct_ocsd_operation_out(decoder, OCSD_OP_FLUSH);
    return resp;
}

/* Restarts without synchronisation. */
static void lose(struct ct_ocsd_software *d, unsync_info_t reason)
{
    d->lost = true;
    d->synced = false;
    d->reason = (uint8_t)reason;
}

static ocsd_datapath_resp_t reset(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_software *d = (struct ct_ocsd_software *)decoder;
    ct_ocsd_operation_out(decoder, OCSD_OP_RESET);
    d->kind->reset(d);
    ct_ocsd_feed_reset(&d->feed);
    ct_ocsd_output_drop(&d->output);
    d->half = d->ending = d->has_delayed = false;
    lose(d, UNSYNC_RESET_DECODER);
    return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t finish(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_software *d = (struct ct_ocsd_software *)decoder;
    union ct_ocsd_software_packet packet;
    struct ct_ocsd_fed fed;
    const bool begun = !d->half; /* 1.3.3 does not report a packet whose begin was delayed by a pause */
    if (begun && ct_ocsd_feed_finish(&d->feed, &packet, &fed) && !is_unsynced(d, &packet))
        take_fed(d, &packet, &fed);
    d->ending = !d->base.only_packets;
    const ocsd_datapath_resp_t resp = pump(d);
    ct_ocsd_operation_out(decoder, OCSD_OP_EOT);
    return resp;
}

void ct_ocsd_software_free(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_software *d = (struct ct_ocsd_software *)decoder;
    d->kind->free(d);
    ct_ocsd_output_deinit(&d->output);
    free(d);
}

static const struct ct_ocsd_protocol protocol = {
    .data = data, .flush = flush, .reset = reset, .finish = finish, .free = ct_ocsd_software_free};

bool ct_ocsd_software_init(struct ct_ocsd_software *d, const struct ct_ocsd_tree *tree,
                           const struct ct_source *source, const struct ct_ocsd_software_kind *kind)
{
    d->base = (struct ct_ocsd_decoder){
        .protocol = &protocol, .text = kind->text, .tree = tree, .id = source->trace_id};
    d->kind = kind;
    d->feed = (struct ct_ocsd_feed){.decode = kind->decode, .decoder = d->packets};
    lose(d, UNSYNC_INIT_DECODER);
    return ct_ocsd_output_init(&d->output, &d->base) && d->packets;
}
