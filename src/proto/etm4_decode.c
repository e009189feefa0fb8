/* SPDX-License-Identifier: Apache-2.0 */
/* The packet decoder of ETMv4 and ETE: from bytes to packets, one flat switch on the form of the header. */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/etm4_config.h"
#include "base/require.h"
#include "proto/etm4_finish.h"

int ct_etm4_decoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm4_decoder **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_etm4_config config;
    int rc = ct_etm4_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_etm4_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return ct_fail_nomem(ctx, "ETMv4 packet decoder");
    d->config = config;
    d->packet_max = CT_ETM4_PACKET_MAX;
    ct_etm4_headers_init(&config, d->headers);
    ct_etm4_decoder_reset(d);
    *out = d;
    return CT_OK;
}

void ct_etm4_decoder_free(struct ct_etm4_decoder *d)
{
    free(d);
}

void ct_etm4_decoder_reset(struct ct_etm4_decoder *d)
{
    if (!d)
        return;
    ct_etm4_history_init(d, 0);
    d->timestamp = 0;
    d->cc_threshold = 0;
    d->sf = d->info_seen = d->synced = false;
    d->run.size = 0;
}

/* Reads a packet with an extension header: async (IHI 0064H 6.4.2), discard and overflow (6.4.8, 6.4.9). */
static void extension(struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    uint8_t which = ct_cursor_u8(c);
    if (c->cut)
        return;
    if (which == 3) {
        packet->type = CT_ETM4_DISCARD;
    } else if (which == 5) {
        packet->type = CT_ETM4_OVERFLOW;
    } else if (which != 0) {
        ct_etm4_set_bad(packet, CT_ETM4_BAD_SEQUENCE);
    } else {
        packet->type = CT_ETM4_ASYNC;
        for (int zeros = 2; zeros < CT_ETM4_ASYNC_SIZE; zeros++) {
            uint8_t byte = ct_cursor_u8(c);
            if (c->cut || (byte == 0x80 && zeros == CT_ETM4_ASYNC_ZEROS))
                return;
            if (byte != 0 || zeros == CT_ETM4_ASYNC_ZEROS) {
                ct_etm4_set_bad(packet, CT_ETM4_BAD_SEQUENCE);
                return;
            }
        }
    }
}

/* Reads a trace info packet (IHI 0064H 6.4.4). PLCTL says which sections follow: INFO, KEY, SPEC, CYCT and,
 * on an ETE, the window. */
static void trace_info(struct ct_etm4_decoder *d, struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    uint8_t plctl = ct_cursor_u8(c);
    if (plctl & 0x80)
        ct_etm4_cont(c, 0);
    uint32_t info = plctl & 1 ? ct_etm4_cont(c, 5) : 0;
    if (plctl & 2)
        ct_etm4_cont(c, 0); /* P0 key: data trace only */
    uint32_t spec = plctl & 4 ? ct_etm4_cont(c, 5) : 0;
    uint32_t threshold = plctl & 8 ? ct_etm4_cont(c, 5) : 0;
    if (plctl & 16)
        ct_etm4_cont(c, 0);
    if (c->cut)
        return;
    ct_etm4_finish_trace_info(d, packet, plctl, info, spec, threshold);
}

/* Reads a timestamp packet (IHI 0064H 6.4.11). */
static void timestamp(struct ct_etm4_decoder *d, struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    unsigned bits;
    uint64_t value = ct_cursor_timestamp(c, true, &bits);
    uint32_t count = packet->header & 1 ? ct_etm4_cont(c, 3) : 0;
    if (c->cut)
        return;
    ct_etm4_finish_timestamp(d, packet, value, bits, count);
}

static void context(struct ct_etm4_decoder *d, struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    ct_etm4_context(c, &d->config, packet);
    if (!c->cut)
        d->sf = packet->flags & CT_ETM4_SF;
}

/* Reads an address packet (IHI 0064H 6.4.12). The context of a combined packet takes effect after its
 * address. */
static void address(struct ct_etm4_decoder *d, struct ct_cursor *c, struct ct_etm4_packet *packet,
                    const struct ct_etm4_header *header)
{
    struct ct_etm4_address now = d->history[0];
    bool with_context = false;
    switch (header->form) {
    case CT_ETM4_FORM_ADDR_SHORT:
        ct_etm4_address_short(c, header->is, &now);
        break;
    case CT_ETM4_FORM_ADDR_CTXT_32:
        with_context = true;
        ct_etm4_address_32(c, header->is, d->sf, &now);
        break;
    case CT_ETM4_FORM_ADDR_32:
        ct_etm4_address_32(c, header->is, d->sf, &now);
        break;
    case CT_ETM4_FORM_ADDR_CTXT_64:
        with_context = true;
        ct_etm4_address_64(c, header->is, &now);
        break;
    default:
        ct_etm4_address_64(c, header->is, &now);
        break;
    }
    if (with_context)
        context(d, c, packet);
    if (!c->cut)
        ct_etm4_finish_address(d, packet, &now);
}

/* Reads a Q packet (IHI 0064H 6.4.15). The low four bits of its header give the forms of an address and of a
 * count. */
static void q(struct ct_etm4_decoder *d, struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    struct ct_etm4_address now = d->history[0];
    unsigned form = packet->header & 15;
    bool has_address = true;
    switch (form) {
    case 0x0:
    case 0x1:
    case 0x2:
        now = d->history[form];
        packet->idx = (uint8_t)form;
        packet->flags |= CT_ETM4_MATCH;
        break;
    case 0x5:
    case 0x6:
        ct_etm4_address_short(c, form == 0x6, &now);
        break;
    case 0xa:
    case 0xb:
        ct_etm4_address_32(c, form == 0xb, d->sf, &now);
        break;
    default:
        has_address = false;
        break;
    }
    if (form != 0xf) {
        packet->count = ct_etm4_cont(c, 5);
        packet->flags |= CT_ETM4_HAS_COUNT;
    }
    if (c->cut || !has_address)
        return;
    packet->flags |= CT_ETM4_HAS_ADDR;
    ct_etm4_finish_address(d, packet, &now);
}

/* Reads a cycle count of format 1 (IHI 0064H 6.4.10), whose fields have any size. Those of formats 2 and 3
 * are small and relative to the threshold. */
static void cycle_count_f1(struct ct_etm4_decoder *d, struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    if (!d->config.comm_opt) {
        packet->count2 = ct_etm4_cont(c, 5);
        packet->flags |= CT_ETM4_HAS_COMMIT;
    }
    if (!(packet->header & 1)) {
        packet->count = d->cc_threshold + ct_etm4_cont(c, 3);
        packet->flags |= CT_ETM4_HAS_COUNT;
    }
}

/* Reads an exception packet (IHI 0064H 6.4.7). */
static void exception(struct ct_etm4_decoder *d, struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    uint8_t first = ct_cursor_u8(c);
    bool two = first & 0x80 || ct_etm4_exception_alone(d, first >> 1 & 0x1f);
    uint8_t second = two ? ct_cursor_u8(c) : 0;
    if (!c->cut)
        ct_etm4_finish_exception(d, packet, first, second);
}

static void ite(struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    packet->el_sec = ct_cursor_u8(c) & 3;
    packet->value = ct_cursor_le(c, 8);
}

/* Reads one or two keys with their results. The first byte has the result in bits 3:0 and the key from bit
 * 4. */
static void conditional_result_f1(struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    packet->value = ct_etm4_cont(c, 5);
    bool two = (packet->header & 0xfc) != 0x6c;
    if (two)
        packet->value |= (uint64_t)ct_etm4_cont(c, 5) << 32;
}

/* Decodes the packet at c->p into *packet, whose pos, type and header are set. On `cut` the decoder does not
 * change. */
static void decode_one(struct ct_etm4_decoder *d, struct ct_cursor *c, struct ct_etm4_packet *packet)
{
    const struct ct_etm4_header *header = &d->headers[*c->p++];
    switch (header->form) {
    case CT_ETM4_FORM_ADDR_SHORT ... CT_ETM4_FORM_ADDR_CTXT_64:
        address(d, c, packet, header);
        break;
    case CT_ETM4_FORM_CCNT_F1:
        cycle_count_f1(d, c, packet);
        break;
    case CT_ETM4_FORM_CCNT_F2:
        ct_etm4_finish_count_f2(d, packet, ct_cursor_u8(c));
        break;
    case CT_ETM4_FORM_CONTEXT:
        if (packet->header & 1)
            context(d, c, packet);
        break;
    case CT_ETM4_FORM_TIMESTAMP:
        timestamp(d, c, packet);
        break;
    case CT_ETM4_FORM_EXCEPTION:
        exception(d, c, packet);
        break;
    case CT_ETM4_FORM_COUNT:
        packet->count2 = ct_etm4_cont(c, 5);
        break;
    case CT_ETM4_FORM_EXTENSION:
        extension(c, packet);
        break;
    case CT_ETM4_FORM_TRACE_INFO:
        trace_info(d, c, packet);
        break;
    case CT_ETM4_FORM_Q:
        q(d, c, packet);
        break;
    case CT_ETM4_FORM_ITE:
        ite(c, packet);
        break;
    case CT_ETM4_FORM_COND_KEY:
        packet->value = ct_etm4_cont(c, 5);
        break;
    case CT_ETM4_FORM_COND_BYTE:
        packet->value = ct_cursor_u8(c);
        break;
    case CT_ETM4_FORM_COND_RES1:
        conditional_result_f1(c, packet);
        break;
    default:
        ct_etm4_finish_header(d, packet, header);
        break;
    }
}

/* Adds `bytes` at `pos` to the run without synchronisation, and makes a packet of the run when it has ended.
 * Returns the number of packets, 0 or 1. */
static size_t tell_run(struct ct_etm4_decoder *d, size_t bytes, uint64_t pos, int over,
                       struct ct_etm4_packet *packet)
{
    if (!ct_unsynced_add(&d->run, bytes, pos, over))
        return 0;
    *packet = (struct ct_etm4_packet){
        .pos = d->run.pos, .type = CT_ETM4_NOT_SYNC, .value = ct_unsynced_end(&d->run)};
    return 1;
}

size_t ct_etm4_decode(struct ct_etm4_decoder *d, const uint8_t *data, size_t size, uint64_t pos, int final,
                      struct ct_etm4_packet *packets, size_t cap, size_t *count)
{
    if (ct_no_batch(d, data, size, packets, cap, count))
        return 0;
    size_t at = 0;
    size_t n = 0;
    while (n < cap && at < size) {
        if (!d->synced) {
            size_t bytes = ct_unsynced_find(data + at, size - at, CT_ETM4_ASYNC_ZEROS, final, &d->synced);
            n += tell_run(d, bytes, pos + at, d->synced, &packets[n]);
            at += bytes;
            if (!d->synced)
                break;
            continue;
        }
        size_t left = size - at < d->packet_max ? size - at : d->packet_max;
        struct ct_etm4_packet *packet = &packets[n];
        struct ct_cursor c = {.p = data + at, .end = data + at + left};
        *packet =
            (struct ct_etm4_packet){.pos = pos + at, .type = d->headers[data[at]].type, .header = data[at]};
        decode_one(d, &c, packet);
        if (c.cut) {
            if (!final && left < d->packet_max)
                break;
            ct_etm4_finish_cut(packet, left, left < d->packet_max);
            c.p = c.end;
        }
        packet->size = (uint8_t)(c.p - (data + at));
        at = (size_t)(c.p - data);
        n++;
    }
    if (final && at == size && n < cap && !d->synced)
        n += tell_run(d, 0, pos + at, 1, &packets[n]);
    *count = n;
    return at;
}
