/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of an STM. The address of a store gives its channel and its type of packet. */
#include "record/software_writer.h"

#include "coretap/encode.h"

#define CHANNEL_BYTES 256u
#define NO_MASTER     UINT16_MAX

int ct_stm_writer_init(struct ct_stm_writer *w, const struct ct_source *source)
{
    return ct_stm_encoder_new(w->out.ctx, source, &w->encoder);
}

void ct_stm_writer_end(struct ct_stm_writer *w)
{
    ct_stm_encoder_free(w->encoder);
}

static int put(struct ct_stm_writer *w, const struct ct_stm_packet *packet)
{
    uint8_t bytes[CT_STM_PACKET_MAX];
    size_t size;
    const int rc = ct_stm_encode_packet(w->encoder, packet, bytes, sizeof bytes, &size);
    if (rc || !size)
        return rc;
    w->since += size;
    return w->out.write(w->out.user, bytes, size);
}

static int put_value(struct ct_stm_writer *w, enum ct_stm_type type, uint64_t value)
{
    return put(w, &(struct ct_stm_packet){.type = (uint8_t)type, .value = value});
}

int ct_stm_writer_fill(struct ct_stm_writer *w)
{
    return ct_stm_encoder_holds(w->encoder) ? put_value(w, CT_STM_NULL, 0) : CT_OK;
}

/* Writes alignment and version packets if they are due. A reader that begins there waits for a master. */
static int put_sync(struct ct_stm_writer *w)
{
    if (w->begun && (!w->out.sync_period || w->since < w->out.sync_period))
        return CT_OK;
    w->since = 0;
    w->begun = true;
    w->master = NO_MASTER;
    const int rc = put_value(w, CT_STM_ASYNC, 0);
    return rc ? rc : put_value(w, CT_STM_VERSION, CT_STM_VERSION_NATURAL);
}

/* Writes master and channel if they differ from the last. A master packet sets the channel to 0; a channel
 * packet of 8 bits keeps the upper bits. */
static int put_place(struct ct_stm_writer *w, uint16_t master, uint16_t channel)
{
    int rc = CT_OK;
    if (master != w->master) {
        rc = put_value(w, CT_STM_M8, master);
        w->channel = 0;
    }
    if (!rc && channel != w->channel)
        rc = channel >> 8 == w->channel >> 8 ? put_value(w, CT_STM_C8, channel & 0xffu)
                                             : put_value(w, CT_STM_C16, channel);
    w->master = master;
    w->channel = channel;
    return rc;
}

/* Finds the packet for a store to an offset in a channel (IHI 0054, the address decoding of stimulus ports).
 * Returns false when a store there writes nothing. */
static bool packet_at(unsigned offset, unsigned bytes, struct ct_stm_packet *packet)
{
    static const uint8_t data[] = {CT_STM_D8, CT_STM_D16, CT_STM_D32, CT_STM_D64};
    const unsigned kind = offset & 0x7f; /* the upper half is for invariant timing */
    const bool timed = !(kind & 8);
    if (kind >= 0x20 && kind < 0x60)
        return false;
    *packet = (struct ct_stm_packet){.type = kind >= 0x70 ? CT_STM_TRIG : CT_STM_FLAG};
    if (kind < 0x20)
        packet->type = data[bytes == 8 ? 3 : bytes / 2];
    packet->flags = (uint8_t)((kind < 0x10 ? CT_STM_MARKER : 0) | (timed ? CT_STM_HAS_TS : 0));
    return true;
}

int ct_stm_writer_put(struct ct_stm_writer *w, const struct ct_software_access *a)
{
    struct ct_stm_packet packet;
    if (!packet_at((unsigned)(a->addr % CHANNEL_BYTES) & ~7u, a->bytes, &packet))
        return CT_OK;
    int rc = put_sync(w);
    if (!rc)
        rc = put_place(w, a->core, (uint16_t)(a->addr / CHANNEL_BYTES));
    if (packet.type != CT_STM_FLAG)
        packet.value = packet.type == CT_STM_TRIG ? a->data & 0xff : a->data;
    packet.ts = packet.flags & CT_STM_HAS_TS ? a->clock : 0;
    return rc ? rc : put(w, &packet);
}
