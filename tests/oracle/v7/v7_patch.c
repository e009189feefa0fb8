/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/v7/v7_patch.h"

#include "coretap/packet_etm3.h"
#include "coretap/packet_ptm.h"

/* Removes from the bytes, packet by packet, what 1.3.3 handles differently; a change may alter what follows.
 * Returns 1 when something was changed. Differences:
 *   i-sync, ThumbEE bit: later branch packets use the bit of earlier branch packets
 *   i-sync with a load or store in progress (IHI 0014Q 7.6): the address is not always read
 *   exception information of PTM branches: the security state is ignored, and number 0, which is no exception
 *   (IHI 0035B 4.5.4), makes one
 *   timestamps of ETMv3: read past the last byte when bit 7 of that byte is set
 *   P-headers of no format, or of format 1 without an atom: cycles are counted that are not there
 *   branches of ETMv3 with bit 7 of the fifth byte set, in the alternative encoding, which has no such bit
 *   branches of ETMv3 with a whole address and no instruction set: the address is ignored
 *   packets cut off by the end of the trace: elements are made of what an earlier packet left in memory
 *   exception entry of ETMv3: an exception element without a number is made
 *   instructions cancelled by a branch: cancelled only when there is just one since another kind of packet
 *
 * When elements are compared, all addresses get the instruction set of the code, because the two decoders
 * need not agree about words that are no code. */
static uint8_t *exception_byte(struct v7_trace *s, uint64_t pos)
{
    unsigned at = 0;
    while (at < 4 && s->bytes[pos + at] & 0x80)
        at++;
    return &s->bytes[pos + at + 1];
}

static int patch_bits(uint8_t *byte, unsigned mask, unsigned value)
{
    int changed = (*byte & mask) != value;
    *byte = (uint8_t)((*byte & ~mask) | value);
    return changed;
}

/* Patches the last byte of a whole address. */
static int patch_fifth_byte(const struct v7_trace *s, uint8_t *byte)
{
    if (!s->elems)
        return 0;
    return s->thumb ? patch_bits(byte, 0xb0, 0x10) : patch_bits(byte, 0xb8, 0x08);
}

/* Patches the information byte and the first address byte of an i-sync. */
static int patch_sync_isa(const struct v7_trace *s, uint8_t *info, uint8_t *addr)
{
    if (!s->elems)
        return 0;
    int changed = s->thumb ? patch_bits(addr, 1, 1) : patch_bits(addr, 3, 0);
    return patch_bits(info, 0x04, 0) |
           (s->source->protocol == CT_PROTOCOL_ETM3 ? patch_bits(info, 0x10, 0) : 0) | changed;
}

static int patch_etm3(struct v7_trace *s)
{
    static struct ct_etm3_packet packets[V7_ROOM];
    struct ct_etm3_decoder *decoder;
    size_t count;
    int changed = 0;
    unsigned alt = 0;
    ct_etm3_decoder_new(NULL, s->source, &decoder);
    ct_etm3_decode(decoder, s->bytes, s->size, 0, 1, packets, V7_ROOM, &count);
    ct_etm3_decoder_free(decoder);
    if (s->elems && count && packets[count - 1].flags & CT_ETM3_CUT)
        s->size = packets[--count].pos;
    for (size_t i = 0; i < count && !changed; i++) {
        const struct ct_etm3_packet *p = &packets[i];
        if (p->type == CT_ETM3_BRANCH_ADDRESS && p->flags & CT_ETM3_HAS_SEC && s->elems)
            changed = patch_bits(exception_byte(s, p->pos), 0x60, 0);
        if (p->type == CT_ETM3_BRANCH_ADDRESS && p->size >= 5 && !(p->flags & CT_ETM3_CUT) &&
            exception_byte(s, p->pos) == &s->bytes[p->pos + 5])
            changed |= patch_fifth_byte(s, &s->bytes[p->pos + 4]);
        if (p->type == CT_ETM3_BRANCH_ADDRESS && p->flags & CT_ETM3_HAS_SEC)
            alt = *exception_byte(s, p->pos) & 0x40 ? 4 : 0;
        uint8_t *last = &s->bytes[p->pos + p->size - 1];
        if (p->type == CT_ETM3_BAD_SEQUENCE && p->err == CT_ETM3_BRANCH_ADDRESS &&
            p->size < CT_ETM3_PACKET_MAX)
            changed |= patch_bits(&s->bytes[p->pos + 4], 8, 8);
        if (p->type == CT_ETM3_EXCEPTION_ENTRY && s->elems)
            changed |= patch_bits(last, 0xff, 0x66);
        if (p->type == CT_ETM3_TIMESTAMP && !(p->flags & CT_ETM3_CUT))
            changed |= patch_bits(last, 0x80, 0);
        if (p->type == CT_ETM3_P_HDR && !p->format)
            changed |= patch_bits(last, 0x20, 0);
        if (p->type == CT_ETM3_P_HDR && p->format == 1 && !p->natoms)
            changed |= patch_bits(last, 4, 4);
        if (p->type == CT_ETM3_BRANCH_ADDRESS && s->source->regs.etmidr >> 20 & 1 && p->size >= 5 &&
            exception_byte(s, p->pos) == &s->bytes[p->pos + 5])
            changed |= patch_bits(&s->bytes[p->pos + 4], 0x80, 0);
        if (p->type != CT_ETM3_I_SYNC && p->type != CT_ETM3_I_SYNC_CYCLE)
            continue;
        unsigned at = 1;
        while (p->type == CT_ETM3_I_SYNC_CYCLE && at < 5 && s->bytes[p->pos + at] & 0x80)
            at++;
        at += p->type == CT_ETM3_I_SYNC_CYCLE;
        at += (unsigned[]){0, 1, 2, 4}[s->source->regs.etmcr >> 14 & 3];
        if (p->pos + at + 1 >= s->size) /* cut off before that byte */
            continue;
        changed |= patch_bits(&s->bytes[p->pos + at], 0x84, alt);
        changed |= patch_sync_isa(s, &s->bytes[p->pos + at], &s->bytes[p->pos + at + 1]);
    }
    return changed;
}

static int patch_ptm(struct v7_trace *s)
{
    static struct ct_ptm_packet packets[V7_ROOM];
    struct ct_ptm_decoder *decoder;
    size_t count;
    int changed = 0;
    unsigned ns = 0, alt = 0;
    ct_ptm_decoder_new(NULL, s->source, &decoder);
    ct_ptm_decode(decoder, s->bytes, s->size, 0, 1, packets, V7_ROOM, &count);
    ct_ptm_decoder_free(decoder);
    for (size_t i = 0; i < count && !changed; i++) {
        const struct ct_ptm_packet *p = &packets[i];
        unsigned wp = p->type == CT_PTM_WP_UPDATE;
        if ((wp || p->type == CT_PTM_BRANCH_ADDRESS) &&
            exception_byte(s, p->pos + wp) == &s->bytes[p->pos + wp + 5])
            changed = patch_fifth_byte(s, &s->bytes[p->pos + wp + 4]);
        if (wp && p->size == 7 && s->elems)
            changed |= patch_bits(&s->bytes[p->pos + 6], 0x40, 0);
        if (wp && p->size == 7)
            alt = s->bytes[p->pos + 6] & 0x40 ? 4 : 0;
        if (p->type == CT_PTM_ISYNC) {
            changed |= patch_bits(&s->bytes[p->pos + 5], 4, alt);
            changed |= patch_sync_isa(s, &s->bytes[p->pos + 5], &s->bytes[p->pos + 1]);
            ns = p->flags & CT_PTM_NS;
        } else if (p->flags & CT_PTM_HAS_EXC) {
            uint8_t *info = exception_byte(s, p->pos);
            changed |= patch_bits(info, s->elems ? 0x41 : 1, ns ? 1 : 0);
            if (s->elems && !p->exc)
                changed |= patch_bits(info, 2, 2);
            alt = *info & 0x40 ? 4 : 0;
        }
    }
    return changed;
}

void v7_patch(struct v7_trace *trace)
{
    while (trace->source->protocol == CT_PROTOCOL_PTM ? patch_ptm(trace) : patch_etm3(trace))
        continue;
}
