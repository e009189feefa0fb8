/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of an ITM and the DWT that uses it. */
#include "record/software_writer.h"

#include <string.h>

#include "coretap/encode.h"

/* Timestamp bits in the first global timestamp packet, and in both packets if the second is short (DDI 0403E
 * D4.2.5). */
#define LOW_BITS   26
#define SHORT_BITS 48

/* Discriminators of the DWT's data trace (DDI 0403E, table D4-5): add twice the comparator. */
#define DWT_PC      8u
#define DWT_ADDRESS 9u
#define DWT_READ    16u
#define DWT_WRITE   17u

/* Offsets of registers, and bits of ITM_TCR (DDI 0403E C1.7). */
#define TER    0xe00u
#define TCR    0xe80u
#define ITMENA 1u
#define TXENA  8u

void ct_itm_writer_init(struct ct_itm_writer *w)
{
    w->tcr = ITMENA | TXENA;
    memset(w->ter, 0xff, sizeof w->ter);
}

static int put(struct ct_itm_writer *w, struct ct_itm_packet packet)
{
    uint8_t bytes[CT_ITM_PACKET_MAX];
    size_t size;
    const int rc = ct_itm_encode_packet(w->out.ctx, &packet, bytes, sizeof bytes, &size);
    if (rc)
        return rc;
    w->since += size;
    return w->out.write(w->out.user, bytes, size);
}

/* Returns the number of timestamp bits in the first packet, up to the highest bit that changed. */
static unsigned low_bits(uint64_t clock, uint64_t before)
{
    unsigned bits = 7;
    while (bits < 21 && clock >> bits != before >> bits)
        bits += 7;
    return clock >> bits == before >> bits ? bits : LOW_BITS;
}

/* Writes the time of the previous packet. */
static int put_time(struct ct_itm_writer *w, uint64_t clock)
{
    const bool whole = !w->begun || clock >> LOW_BITS != w->clock >> LOW_BITS;
    const uint64_t high = clock >> LOW_BITS;
    const unsigned bits = whole ? LOW_BITS : low_bits(clock, w->clock);
    w->clock = clock;
    w->begun = true;
    int rc = put(w, (struct ct_itm_packet){.type = CT_ITM_GTS_1,
                                           .value = clock & ((UINT64_C(1) << bits) - 1),
                                           .size = (uint16_t)(1 + (bits + 6) / 7),
                                           .flags = whole ? CT_ITM_WRAP : 0});
    if (!rc && whole)
        rc = put(w, (struct ct_itm_packet){.type = CT_ITM_GTS_2,
                                           .value = high & ((UINT64_C(1) << (64 - LOW_BITS)) - 1),
                                           .size = clock >> SHORT_BITS ? 7 : 5});
    return rc;
}

/* Writes `bytes` bytes of a stimulus port or of the DWT; four for each half of eight. */
static int put_data(struct ct_itm_writer *w, enum ct_itm_type type, unsigned source, uint64_t data,
                    unsigned bytes)
{
    const uint64_t mask = bytes >= 4 ? UINT32_MAX : (UINT64_C(1) << 8 * bytes) - 1;
    return put(w, (struct ct_itm_packet){.type = (uint8_t)type,
                                         .source = (uint8_t)source,
                                         .bits = (uint8_t)(bytes >= 4 ? 32 : 8 * bytes),
                                         .value = data & mask});
}

/* Writes a store to a stimulus port. Eight bytes are a store to this port and one to the next. */
static int put_port(struct ct_itm_writer *w, const struct ct_software_access *a)
{
    int rc = CT_OK;
    for (unsigned done = 0; done < a->bytes && !rc; done += 4) {
        const unsigned port = (unsigned)((a->addr + done) / 4) % (CT_SOFTWARE_PORTS_SIZE / 4);
        if (port >> 5 != w->page)
            rc = put(w, (struct ct_itm_packet){.type = CT_ITM_EXTENSION, .bits = 3, .value = port >> 5});
        w->page = (uint8_t)(port >> 5);
        if (!rc)
            rc = put_data(w, CT_ITM_SWIT, port & 31, a->data >> 8 * done, a->bytes);
    }
    return rc;
}

/* Writes an access to watched memory: PC, address, data (DDI 0403E D4.3.4). */
static int put_watched(struct ct_itm_writer *w, const struct ct_software_access *a)
{
    const unsigned twice = 2u * a->comparator;
    int rc = CT_OK;
    for (unsigned done = 0; done < a->bytes && !rc; done += 4) {
        rc = put_data(w, CT_ITM_DWT, DWT_PC + twice, a->pc, 4);
        if (!rc)
            rc = put_data(w, CT_ITM_DWT, DWT_ADDRESS + twice, a->addr + done, 2);
        if (!rc)
            rc = put_data(w, CT_ITM_DWT, (a->store ? DWT_WRITE : DWT_READ) + twice, a->data >> 8 * done,
                          a->bytes);
    }
    return rc;
}

/* Writes an alignment packet if one is due. */
static int put_sync(struct ct_itm_writer *w)
{
    if (w->begun && (!w->out.sync_period || w->since < w->out.sync_period))
        return CT_OK;
    w->since = 0;
    w->begun = false;
    w->page = 0xff; /* unknown to a reader that begins here */
    return put(w, (struct ct_itm_packet){.type = CT_ITM_ASYNC});
}

/* Takes over a register that the program has set. Others than these change nothing. */
static void set_register(struct ct_itm_writer *w, const struct ct_software_access *a)
{
    if (a->addr == TCR && a->bytes == 4)
        w->tcr = (uint32_t)a->data;
    else if (a->addr >= TER && a->addr < TER + sizeof w->ter && a->bytes == 4)
        w->ter[(a->addr - TER) / 4] = (uint32_t)a->data;
}

/* Returns whether the ITM traces the access. */
static bool is_enabled(const struct ct_itm_writer *w, const struct ct_software_access *a)
{
    const unsigned port = (unsigned)(a->addr / 4) % (CT_SOFTWARE_PORTS_SIZE / 4);
    const bool on = a->kind == CT_SOFTWARE_PORT ? w->ter[port / 32] >> port % 32 & 1 : w->tcr & TXENA;
    return on && w->tcr & ITMENA;
}

int ct_itm_writer_put(struct ct_itm_writer *w, const struct ct_software_access *a)
{
    if (a->kind == CT_SOFTWARE_PORT && a->addr >= CT_SOFTWARE_PORTS_SIZE) {
        set_register(w, a);
        return CT_OK;
    }
    if (!is_enabled(w, a)) {
        w->disabled++;
        return CT_OK;
    }
    int rc = put_sync(w);
    if (!rc)
        rc = a->kind == CT_SOFTWARE_PORT ? put_port(w, a) : put_watched(w, a);
    return rc ? rc : put_time(w, a->clock);
}
