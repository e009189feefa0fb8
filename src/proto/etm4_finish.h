/* SPDX-License-Identifier: Apache-2.0 */
/* Interprets the fields of an ETMv4/ETE packet once all are read, and updates the decoder. Shared by the
 * packet decoder and the byte-wise one. */
#pragma once

#include "base/bytes.h"
#include "proto/etm4_state.h"

/* Number of zero bytes in an alignment packet, before its 0x80. */
#define CT_ETM4_ASYNC_ZEROS 11
#define CT_ETM4_ASYNC_SIZE  (CT_ETM4_ASYNC_ZEROS + 1)

/* Sets the address history to zeros, of which `valid` bits count as known. */
static inline void ct_etm4_history_init(struct ct_etm4_decoder *d, uint8_t valid)
{
    for (int i = 0; i < 3; i++)
        d->history[i] = (struct ct_etm4_address){.valid = valid, .size = 64};
}

static inline void ct_etm4_history_push(struct ct_etm4_decoder *d, const struct ct_etm4_address *address)
{
    d->history[2] = d->history[1];
    d->history[1] = d->history[0];
    d->history[0] = *address;
}

/* Records the address of a packet. Every address packet, including source addresses and matches, advances the
 * history. */
static inline void ct_etm4_finish_address(struct ct_etm4_decoder *d, struct ct_etm4_packet *packet,
                                          const struct ct_etm4_address *address)
{
    struct ct_etm4_address now = *address; /* a copy, because it may be in the history that is shifted */
    ct_etm4_history_push(d, &now);
    packet->value = now.value;
    packet->valid = now.valid < now.size ? now.valid : 64;
    packet->is = now.is;
}

static inline void ct_etm4_set_bad(struct ct_etm4_packet *packet, uint8_t type)
{
    packet->err = packet->type;
    packet->type = type;
}

static inline void ct_etm4_finish_trace_info(struct ct_etm4_decoder *d, struct ct_etm4_packet *packet,
                                             uint8_t plctl, uint32_t info, uint32_t spec, uint32_t threshold)
{
    packet->info = (uint8_t)info;
    packet->count = threshold;
    packet->count2 = spec;
    packet->flags = (uint16_t)((info & 1 ? CT_ETM4_HAS_CCTHR : 0) | (plctl & 4 ? CT_ETM4_HAS_SPEC : 0) |
                               (info & 0x40 ? CT_ETM4_TSTATE : 0) | (d->info_seen ? 0 : CT_ETM4_FIRST_INFO));
    d->info_seen = true;
    d->cc_threshold = threshold;
    d->timestamp = 0;
    ct_etm4_history_init(d, 64);
}

/* Replaces the low `bits` bits of the timestamp by `value`, and records the packet's count. */
static inline void ct_etm4_finish_timestamp(struct ct_etm4_decoder *d, struct ct_etm4_packet *packet,
                                            uint64_t value, unsigned bits, uint32_t count)
{
    d->timestamp = (d->timestamp & ~ct_mask64(bits)) | value;
    packet->value = d->timestamp;
    if (packet->header & 1) {
        packet->count = count & (uint32_t)ct_mask64(d->config.cc_bits);
        packet->flags |= CT_ETM4_HAS_COUNT;
    }
}

static inline void ct_etm4_finish_count_f2(const struct ct_etm4_decoder *d, struct ct_etm4_packet *packet,
                                           uint8_t byte)
{
    packet->count = d->cc_threshold + (byte & 15u);
    packet->flags |= CT_ETM4_HAS_COUNT;
    if (!d->config.comm_opt) {
        uint32_t base = packet->header & 1 ? d->config.max_spec - 15 : 1;
        packet->count2 = base + (byte >> 4);
        packet->flags |= CT_ETM4_HAS_COMMIT;
    }
}

static inline void ct_etm4_finish_count_f3(const struct ct_etm4_decoder *d, struct ct_etm4_packet *packet)
{
    packet->count = d->cc_threshold + (packet->header & 3u);
    packet->flags |= CT_ETM4_HAS_COUNT;
    if (!d->config.comm_opt) {
        packet->count2 = (packet->header >> 2 & 3u) + 1;
        packet->flags |= CT_ETM4_HAS_COMMIT;
    }
}

/* Returns whether an exception of this type is a separate kind of packet: types 0 and 0x18 on an ETE, always
 * with both bytes. */
static inline bool ct_etm4_exception_alone(const struct ct_etm4_decoder *d, unsigned number)
{
    return d->config.ete && (number == 0 || number == 0x18);
}

/* Interprets the fields of an exception packet (IHI 0064H 6.4.7). `second` is used when bit 7 of `first` is
 * set. */
static inline void ct_etm4_finish_exception(struct ct_etm4_decoder *d, struct ct_etm4_packet *packet,
                                            uint8_t first, uint8_t second)
{
    unsigned number = first >> 1 & 0x1f;
    if (first & 0x80) {
        number |= (second & 0x1fu) << 5;
        if (second & 0x20)
            packet->flags |= CT_ETM4_FAULT_PENDING;
    }
    packet->info = (uint16_t)number;
    packet->idx = (uint8_t)((first >> 5 & 2) | (first & 1));
    if (ct_etm4_exception_alone(d, number)) {
        packet->type = number ? CT_ETM4_TRANS_FAIL : CT_ETM4_PE_RESET;
        ct_etm4_history_push(d, &(struct ct_etm4_address){.valid = 64, .size = 64});
    }
}

/* Interprets a mispredict or a cancel of format 2 or 3, with its atoms (IHI 0064H 6.4.16 to 6.4.18). */
static inline void ct_etm4_finish_speculation(struct ct_etm4_packet *packet)
{
    if (packet->type == CT_ETM4_CANCEL_F3) {
        packet->count2 = (packet->header >> 1 & 3u) + 2;
        packet->natoms = packet->header & 1;
        packet->atoms = packet->natoms;
        return;
    }
    static const uint8_t natoms[4] = {0, 1, 2, 1};
    static const uint8_t atoms[4] = {0, 1, 3, 0};
    packet->natoms = natoms[packet->header & 3];
    packet->atoms = atoms[packet->header & 3];
    packet->count2 = packet->type == CT_ETM4_CANCEL_F2;
}

/* Interprets a packet that consists of its header. */
static inline void ct_etm4_finish_header(struct ct_etm4_decoder *d, struct ct_etm4_packet *packet,
                                         const struct ct_etm4_header *header)
{
    switch (header->form) {
    case CT_ETM4_FORM_ATOM:
        packet->atoms = header->atoms;
        packet->natoms = header->natoms;
        break;
    case CT_ETM4_FORM_ADDR_MATCH:
        packet->idx = packet->header & 3;
        ct_etm4_finish_address(d, packet, &d->history[packet->idx]);
        break;
    case CT_ETM4_FORM_CCNT_F3:
        ct_etm4_finish_count_f3(d, packet);
        break;
    case CT_ETM4_FORM_EVENT:
        packet->info = packet->header & 15;
        break;
    case CT_ETM4_FORM_SPEC:
        ct_etm4_finish_speculation(packet);
        break;
    case CT_ETM4_FORM_CFG:
        ct_etm4_set_bad(packet, CT_ETM4_RESERVED_CFG);
        break;
    default: /* PLAIN; RESERVED: an undefined packet */
        break;
    }
}

/* Makes the packet that stands for one of which only `size` bytes could be read: the trace `ends` in it, or
 * it is longer than a packet can be. */
static inline void ct_etm4_finish_cut(struct ct_etm4_packet *packet, size_t size, bool ends)
{
    *packet = (struct ct_etm4_packet){.pos = packet->pos,
                                      .header = packet->header,
                                      .err = packet->type,
                                      .size = (uint8_t)size,
                                      .type = ends ? CT_ETM4_INCOMPLETE_EOT : CT_ETM4_BAD_SEQUENCE};
}
