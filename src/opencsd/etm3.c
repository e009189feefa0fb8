/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/etm3.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/v7_config.h"
#include "opencsd/log.h"
#include "opencsd/packet_text.h"

enum {
    ASYNC_SIZE = 6, /* bytes of an alignment packet */
};

static const struct ct_etm3_packet unsynced = {.type = CT_ETM3_NOT_SYNC};

static size_t decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final, void *packet,
                     size_t *count)
{
    return ct_etm3_decode(decoder, data, size, pos, final, packet, 1, count);
}

static bool is_unsynced(const union ct_ocsd_v7_packet *packet)
{
    return packet->etm3.type == CT_ETM3_NOT_SYNC;
}

static bool is_bad(const union ct_ocsd_v7_packet *packet)
{
    return packet->etm3.type == CT_ETM3_BAD_SEQUENCE || packet->etm3.type == CT_ETM3_BAD_TRACEMODE ||
           packet->etm3.type == CT_ETM3_RESERVED;
}

/* Returns whether a packet is an excess zero of an alignment packet. */
static bool is_extra_zero(const struct ct_etm3_packet *p, const uint8_t *bytes)
{
    return p->type == CT_ETM3_BAD_SEQUENCE && p->err == CT_ETM3_A_SYNC && p->size == 1 && !bytes[1];
}

static uint32_t bytes_seen(const union ct_ocsd_v7_packet *packet, const uint8_t *bytes)
{
    return is_extra_zero(&packet->etm3, bytes) ? ASYNC_SIZE : packet->etm3.size;
}

static void log_packet(const struct ct_ocsd_v7 *d, ocsd_err_t code, const char *message)
{
    ct_ocsd_log(d->base.packet_name, OCSD_ERR_SEV_ERROR, code, d->index, d->base.id, message);
}

/* Returns the message of 1.3.3 for a data packet when no data is traced. */
static const char *data_message(uint8_t type)
{
    switch (type) {
    case CT_ETM3_OOO_DATA:
        return "Invalid data trace header (out of order data) - not tracing data values.";
    case CT_ETM3_STORE_FAIL:
        return "Invalid data trace header (store failed) - not tracing data values.";
    case CT_ETM3_OOO_ADDR_PLC:
        return "Invalid data trace header (out of order placeholder) - not tracing data.";
    case CT_ETM3_VAL_NOT_TRACED:
        return "Invalid data trace header (value not traced) - not tracing data.";
    case CT_ETM3_DATA_SUPPRESSED:
        return "Invalid data trace header (data suppressed) - not tracing data.";
    default:
        return "Invalid data trace header (normal data) - not tracing data.";
    }
}

/* Reports what is wrong with a packet, but only for clients that want packets, not elements. Cuts a timestamp
 * to its valid bits. */
static void look(struct ct_ocsd_v7 *d, union ct_ocsd_v7_packet *packet, const uint8_t *bytes)
{
    struct ct_etm3_packet *p = &packet->etm3;
    if (p->type == CT_ETM3_TIMESTAMP)
        p->value &= ((const struct ct_ocsd_etm3 *)d)->timestamp_mask;
    if (!d->base.only_packets)
        return;
    if (p->type == CT_ETM3_P_HDR && (!p->format || (p->format == 1 && !p->natoms)))
        log_packet(d, OCSD_ERR_INVALID_PCKT_HDR, "Invalid P-Header.");
    if (p->type == CT_ETM3_RESERVED)
        log_packet(d, OCSD_ERR_INVALID_PCKT_HDR,
                   (bytes[0] & 0xd3) == 0x10 ? "Packet header reserved encoding"
                                             : "Packet header reserved encoding.");
    if (p->type == CT_ETM3_BAD_TRACEMODE)
        log_packet(d, OCSD_ERR_INVALID_PCKT_HDR, data_message(p->err));
    if (p->type == CT_ETM3_BAD_SEQUENCE && p->err == CT_ETM3_A_SYNC)
        log_packet(d, OCSD_ERR_BAD_PACKET_SEQ,
                   is_extra_zero(p, bytes) ? "A-Sync ?: Extra 0x00 in sequence"
                                           : "A-Sync ? : Unexpected byte in sequence");
}

static const void *convert(struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet, const uint8_t *bytes)
{
    struct ct_ocsd_etm3 *etm3 = (struct ct_ocsd_etm3 *)d;
    ct_ocsd_etm3_convert(etm3, packet ? &packet->etm3 : &unsynced, bytes);
    return &etm3->packet;
}

static void take(struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet)
{
    ct_ocsd_etm3_take((struct ct_ocsd_etm3 *)d, packet ? &packet->etm3 : &unsynced);
}

static void end(struct ct_ocsd_v7 *d)
{
    ct_ocsd_etm3_release((struct ct_ocsd_etm3 *)d);
}

static void init_packet(struct ct_ocsd_etm3 *d)
{
    d->packet = (ocsd_etmv3_pkt){.curr_isa = ocsd_isa_unknown, .prev_isa = ocsd_isa_unknown};
}

static void reset(struct ct_ocsd_v7 *d)
{
    struct ct_ocsd_etm3 *etm3 = (struct ct_ocsd_etm3 *)d;
    ct_etm3_decoder_reset(d->packets);
    etm3->held_count = 0;
    etm3->lost_told = false;
    init_packet(etm3);
}

static void free_packets(struct ct_ocsd_v7 *d)
{
    ct_etm3_decoder_free(d->packets);
}

static const struct ct_ocsd_v7_kind kind = {.text = ct_ocsd_etm3_text,
                                            .decode = decode,
                                            .is_unsynced = is_unsynced,
                                            .is_bad = is_bad,
                                            .bytes_seen = bytes_seen,
                                            .look = look,
                                            .convert = convert,
                                            .take = take,
                                            .end = end,
                                            .reset = reset,
                                            .free = free_packets};

ocsd_err_t ct_ocsd_etm3_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                            struct ct_ocsd_decoder **out)
{
    struct ct_ocsd_etm3 *d = calloc(1, sizeof *d);
    struct ct_etm3_decoder *packets = NULL;
    struct ct_v7_config config;
    (void)create_flags;
    if (!d)
        return OCSD_ERR_MEM;
    /* 1.3.3 relies on the bytes of a timestamp, not on ETMCCER, which perf does not set. */
    struct ct_source wide = *source;
    wide.regs.etmccer |= UINT32_C(1) << 29;
    ct_etm3_decoder_new(NULL, &wide, &packets);
    d->v7.packets = packets;
    init_packet(d);
    if (!ct_ocsd_v7_init(&d->v7, tree, source, &kind) || ct_v7_config_init(NULL, source, &config)) {
        ct_ocsd_v7_free(&d->v7.base);
        return OCSD_ERR_MEM;
    }
    d->cycle_accurate = config.cycle_accurate;
    d->timestamp_mask = ct_mask64(config.ts_64bit ? 64 : 48);
    d->m_profile = config.m_profile;
    d->alt_branch = config.alt_branch;
    d->traces_data = config.data_values || config.data_addresses;
    *out = &d->v7.base;
    return OCSD_OK;
}
