/* SPDX-License-Identifier: Apache-2.0 */
/* The packet decoder of ETMv3: from bytes to packets. ARM IHI 0014Q chapter 7, "Trace port protocol
 * ETMv3". */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/v7_config.h"
#include "proto/etm3_fields.h"
#include "proto/v7_fields.h"
#include "proto/v7_seam.h"
#include "proto/unsynced.h"

#define ASYNC_SIZE (CT_V7_ASYNC_ZEROS + 1)

struct ct_etm3_decoder {
    uint8_t types[256]; /* by header: enum ct_etm3_type, with this configuration */
    struct ct_etm3_state state;
    bool synced;
    /* A run of bytes without synchronisation that is not a packet yet. */
    struct ct_unsynced run;
};

/* Returns the type that a header announces (IHI 0014Q 7.3, table of packet headers). */
static uint8_t header_type(unsigned header)
{
    if (header & 1)
        return CT_ETM3_BRANCH_ADDRESS;
    if (header & 0x80)
        return CT_ETM3_P_HDR;
    switch (header) {
    case 0x00:
        return CT_ETM3_A_SYNC;
    case 0x04:
        return CT_ETM3_CYCLE_COUNT;
    case 0x08:
        return CT_ETM3_I_SYNC;
    case 0x0c:
        return CT_ETM3_TRIGGER;
    case 0x3c:
        return CT_ETM3_VMID;
    case 0x42:
    case 0x46:
        return CT_ETM3_TIMESTAMP;
    case 0x50:
        return CT_ETM3_STORE_FAIL;
    case 0x62:
        return CT_ETM3_DATA_SUPPRESSED;
    case 0x66:
        return CT_ETM3_IGNORE;
    case 0x6a:
    case 0x7a:
        return CT_ETM3_VAL_NOT_TRACED;
    case 0x6e:
        return CT_ETM3_CONTEXT_ID;
    case 0x70:
        return CT_ETM3_I_SYNC_CYCLE;
    case 0x76:
        return CT_ETM3_EXCEPTION_EXIT;
    case 0x7e:
        return CT_ETM3_EXCEPTION_ENTRY;
    default:
        break;
    }
    if ((header & 0x93) == 0x00)
        return CT_ETM3_OOO_DATA; /* 0TT0SS00; TT 0 are the headers above */
    if ((header & 0xd3) == 0x50)
        return CT_ETM3_OOO_ADDR_PLC; /* 01A1TT00 */
    if ((header & 0xd3) == 0x02)
        return CT_ETM3_NORM_DATA; /* 00A0SS10 */
    return CT_ETM3_RESERVED;
}

int ct_etm3_decoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm3_decoder **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_v7_config config;
    int rc = ct_v7_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_etm3_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return ct_fail_nomem(ctx, "ETMv3 packet decoder");
    d->state.config = config;
    for (unsigned header = 0; header < 256; header++)
        d->types[header] = header_type(header);
    ct_etm3_decoder_reset(d);
    *out = d;
    return CT_OK;
}

void ct_etm3_decoder_free(struct ct_etm3_decoder *d)
{
    free(d);
}

void ct_etm3_decoder_reset(struct ct_etm3_decoder *d)
{
    if (!d)
        return;
    d->state = (struct ct_etm3_state){.config = d->state.config, .isa = CT_V7_ISA_UNKNOWN};
    d->synced = false;
    d->run.size = 0;
}

/* Reads an alignment packet while synchronised. Extra zeros are bad packets of one byte each. Too few zeros
 * are one bad packet, and the byte that ends them is the next header. */
static void a_sync(struct ct_cursor *c, struct ct_etm3_packet *packet)
{
    unsigned zeros = 1;
    while (zeros <= CT_V7_ASYNC_ZEROS) {
        uint8_t byte = ct_cursor_u8(c);
        if (c->cut)
            return;
        if (byte == 0x80 && zeros == CT_V7_ASYNC_ZEROS)
            return;
        if (byte != 0)
            break;
        zeros++;
    }
    packet->err = packet->type;
    packet->type = CT_ETM3_BAD_SEQUENCE;
    c->p -= zeros > CT_V7_ASYNC_ZEROS ? CT_V7_ASYNC_ZEROS : 1;
}

/* Returns whether the packet is possible. A data packet is not when data is not traced: its length is then
 * unknown, so only its header is consumed. */
static bool data_mode(const struct ct_v7_config *config, uint8_t type)
{
    switch (type) {
    case CT_ETM3_OOO_DATA:
        return config->data_values;
    case CT_ETM3_NORM_DATA:
    case CT_ETM3_OOO_ADDR_PLC:
    case CT_ETM3_VAL_NOT_TRACED:
    case CT_ETM3_STORE_FAIL:
    case CT_ETM3_DATA_SUPPRESSED:
        return config->data_values || config->data_addresses;
    default:
        return true;
    }
}

/* Decodes the packet at c->p into *packet, whose pos and type are set. On `cut` the decoder does not
 * change. */
static void decode_one(struct ct_etm3_state *s, struct ct_cursor *c, struct ct_etm3_packet *packet)
{
    uint8_t header = *c->p++;
    if (!data_mode(&s->config, packet->type)) {
        packet->err = packet->type;
        packet->type = CT_ETM3_BAD_TRACEMODE;
        return;
    }
    switch (packet->type) {
    case CT_ETM3_A_SYNC:
        a_sync(c, packet);
        break;
    case CT_ETM3_I_SYNC:
    case CT_ETM3_I_SYNC_CYCLE:
        ct_etm3_i_sync(s, c, packet);
        break;
    case CT_ETM3_P_HDR:
        ct_etm3_p_header(s, header, packet);
        break;
    case CT_ETM3_BRANCH_ADDRESS:
        ct_etm3_branch(s, c, header, packet);
        break;
    case CT_ETM3_CYCLE_COUNT:
        packet->cc = ct_v7_cont(c);
        break;
    case CT_ETM3_CONTEXT_ID:
        ct_etm3_context_id(s, c, packet);
        break;
    case CT_ETM3_VMID:
        ct_etm3_vmid(s, c, packet);
        break;
    case CT_ETM3_TIMESTAMP:
        ct_etm3_timestamp(s, c, packet);
        break;
    case CT_ETM3_NORM_DATA:
    case CT_ETM3_OOO_DATA:
    case CT_ETM3_OOO_ADDR_PLC:
    case CT_ETM3_VAL_NOT_TRACED:
        ct_etm3_data(s, c, header, packet);
        break;
    default: /* only the header */
        break;
    }
}

/* Adds `bytes` at `pos` to the run without synchronisation, and makes a packet of the run when it has ended.
 * Returns the number of packets, 0 or 1. */
static size_t tell_run(struct ct_etm3_decoder *d, size_t bytes, uint64_t pos, int over,
                       struct ct_etm3_packet *packet)
{
    if (!ct_unsynced_add(&d->run, bytes, pos, over))
        return 0;
    *packet = (struct ct_etm3_packet){
        .pos = d->run.pos, .type = CT_ETM3_NOT_SYNC, .value = ct_unsynced_end(&d->run)};
    return 1;
}

/* Makes the packet that stands for a cut one: the trace ends in it, or it is longer than a packet can be. */
static void end_cut_packet(const struct ct_etm3_state *s, size_t size, uint8_t type,
                           struct ct_etm3_packet *packet)
{
    *packet = (struct ct_etm3_packet){.pos = packet->pos, .type = type};
    if (size < CT_ETM3_PACKET_MAX) {
        ct_etm3_cut(s, packet);
    } else {
        packet->err = type;
        packet->type = CT_ETM3_BAD_SEQUENCE;
    }
}

size_t ct_etm3_decode(struct ct_etm3_decoder *d, const uint8_t *data, size_t size, uint64_t pos, int final,
                      struct ct_etm3_packet *packets, size_t cap, size_t *count)
{
    if (ct_no_batch(d, data, size, packets, cap, count))
        return 0;
    size_t at = 0;
    size_t n = 0;
    while (n < cap && at < size) {
        if (!d->synced) {
            size_t bytes = ct_unsynced_find(data + at, size - at, CT_V7_ASYNC_ZEROS, final, &d->synced);
            n += tell_run(d, bytes, pos + at, d->synced, &packets[n]);
            at += bytes;
            if (!d->synced)
                break;
            continue;
        }
        size_t left = size - at < CT_ETM3_PACKET_MAX ? size - at : CT_ETM3_PACKET_MAX;
        struct ct_etm3_packet *packet = &packets[n];
        struct ct_cursor c = {.p = data + at, .end = data + at + left};
        *packet = (struct ct_etm3_packet){.pos = pos + at, .type = d->types[data[at]]};
        decode_one(&d->state, &c, packet);
        if (c.cut) {
            if (!final && left < CT_ETM3_PACKET_MAX)
                break;
            end_cut_packet(&d->state, left, d->types[data[at]], packet);
            c.p = c.end;
        }
        packet->size = (uint8_t)(c.p - (data + at));
        at += packet->size;
        n++;
    }
    if (final && at == size && n < cap && !d->synced)
        n += tell_run(d, 0, pos + at, 1, &packets[n]);
    *count = n;
    return at;
}

void ct_etm3_decoder_seam(const void *decoder, struct ct_seam *seam)
{
    const struct ct_etm3_decoder *d = decoder;
    const struct ct_etm3_state *s = &d->state;
    ct_seam_put(seam, (uint64_t)s->addr << 32 | s->data_addr);
    ct_seam_put(seam, (uint64_t)s->addr_valid << 24 | (uint64_t)s->data_addr_valid << 16 |
                          (uint64_t)s->isa << 8 | s->reason);
    ct_seam_put(seam, (uint64_t)s->alt_isa << 4 | (uint64_t)s->big_endian << 3 | (uint64_t)s->ns << 2 |
                          (uint64_t)s->hyp << 1 | d->synced);
    ct_seam_put(seam, (uint64_t)s->ctxt << 32 | s->vmid);
    ct_seam_put(seam, s->timestamp);
    ct_seam_put(seam, d->run.size);
}
