/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a PTM packet record to bytes. Encodings: ARM IHI 0035B chapter 4, "Program Flow Trace packets". */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/v7_config.h"
#include "coretap/encode.h"
#include "proto/v7_fields.h"

/* Zeros in the longest alignment packet that a decoder recognises. */
#define MOST_ASYNC_ZEROS 15

/* The state that a decoder keeps between packets. */
struct state {
    uint32_t addr;
    uint8_t isa;
    bool alt_isa; /* T32 addresses are ThumbEE */
    bool hyp;
    uint64_t timestamp;
};

struct ct_ptm_encoder {
    struct ct_ctx *ctx;
    struct ct_v7_config config;
    struct state now;
};

/* A packet that is being made. Nothing is output before all of it is valid. */
struct draft {
    struct ct_ptm_encoder *encoder;
    const struct ct_ptm_packet *packet;
    struct state next;
    uint8_t bytes[CT_PTM_PACKET_MAX];
    unsigned size;
};

static int refuse(const struct draft *d, const char *why)
{
    return ct_fail(d->encoder->ctx, CT_ERR_ARG,
                   "PTM packet of type %u: %s; it was not encoded; correct the packet", d->packet->type, why);
}

static void put(struct draft *d, unsigned byte)
{
    d->bytes[d->size++] = (uint8_t)byte;
}

static void put_le(struct draft *d, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        put(d, value >> 8 * i & 0xff);
}

static int put_header(struct draft *d, unsigned byte)
{
    put(d, byte);
    return CT_OK;
}

static bool is_thumb(unsigned isa)
{
    return isa == CT_V7_T32 || isa == CT_V7_TEE;
}

/* Writes a cycle count: four bits in 5:2 of the first byte, which also contains `others`, and seven in each
 * further byte. */
static void put_cc(struct draft *d, unsigned others)
{
    uint32_t count = d->packet->cc;
    put(d, others | (count & 15) << 2 | (count > 15 ? 0x40u : 0));
    for (count >>= 4; count; count >>= 7)
        put(d, (count & 0x7f) | (count > 0x7f ? 0x80u : 0));
}

static unsigned cc_size(uint32_t count)
{
    unsigned bytes = 1;
    for (count >>= 4; count; count >>= 7)
        bytes++;
    return bytes;
}

/* Checks that the packet has a cycle count exactly if the trace unit traces one. */
static int check_cc(const struct draft *d, bool traced)
{
    bool has = d->packet->flags & CT_PTM_HAS_CC;
    if (has && !traced)
        return refuse(d, "without ETMCR.CycleAccurate, or in a periodic i-sync, there is no cycle count");
    if (!has && traced)
        return refuse(d, "with ETMCR.CycleAccurate it has a cycle count");
    return CT_OK;
}

static int check_hyp(const struct draft *d)
{
    if (d->packet->flags & CT_PTM_HYP && !d->encoder->config.virtualization)
        return refuse(d, "without the virtualization extensions (ETMCCER bit 26) there is no Hyp mode");
    return CT_OK;
}

static int check_address(const struct draft *d)
{
    const struct ct_ptm_packet *p = d->packet;
    if (p->isa > CT_V7_ISA_UNKNOWN || p->value >> 32)
        return refuse(d, "no such instruction set or address");
    if (p->value & ct_mask64(ct_v7_address_shift(p->isa)))
        return refuse(d, "the address is not aligned for its instruction set");
    return CT_OK;
}

static int check_ctxt(const struct draft *d)
{
    if ((uint64_t)d->packet->ctxt >> 8 * d->encoder->config.ctxt_bytes)
        return refuse(d, "the context ID has more bits than ETMCR.ContextIDSize");
    return CT_OK;
}

static int encode_async(struct draft *d)
{
    unsigned zeros = CT_V7_ASYNC_ZEROS;
    if (d->packet->size > zeros + 1)
        zeros = d->packet->size - 1u;
    if (zeros > MOST_ASYNC_ZEROS)
        zeros = MOST_ASYNC_ZEROS;
    while (zeros--)
        put(d, 0);
    put(d, 0x80);
    return CT_OK;
}

/* Encodes an i-sync: address, information byte, cycle count unless it is periodic, context ID. */
static int encode_isync(struct draft *d)
{
    const struct ct_ptm_packet *p = d->packet;
    const struct ct_v7_config *config = &d->encoder->config;
    int err = check_address(d);
    err = err ? err : check_hyp(d);
    err = err ? err : check_ctxt(d);
    err = err ? err : check_cc(d, config->cycle_accurate && p->reason != CT_SYNC_PERIODIC);
    if (err)
        return err;
    if (p->isa != CT_V7_A32 && !is_thumb(p->isa))
        return refuse(d, "an i-sync says A32, T32 or ThumbEE");
    if (p->reason > CT_SYNC_DEBUG_EXIT)
        return refuse(d, "no such reason");
    if (!(p->flags & CT_PTM_HAS_SEC))
        return refuse(d, "an i-sync has the security state");
    if (!(p->flags & CT_PTM_HAS_CTXT) != !config->ctxt_bytes)
        return refuse(d, "an i-sync has a context ID just when ETMCR.ContextIDSize is not 0");
    d->next.addr = (uint32_t)p->value;
    d->next.isa = p->isa;
    d->next.alt_isa = p->isa == CT_V7_TEE;
    d->next.hyp = p->flags & CT_PTM_HYP;
    put(d, 0x08);
    put_le(d, d->next.addr | (is_thumb(p->isa) ? 1u : 0), 4);
    put(d, 1u | (unsigned)p->reason << 5 | (p->flags & CT_PTM_NS ? 8u : 0) | (d->next.alt_isa ? 4u : 0) |
               (d->next.hyp ? 2u : 0));
    /* decoders ignore bit 7 of the first byte; the trace units of the Cortex-A9 and A15 set it here */
    if (p->flags & CT_PTM_HAS_CC)
        put_cc(d, 0x80);
    put_le(d, p->ctxt, config->ctxt_bytes);
    return CT_OK;
}

/* Encodes atoms: below the highest set bit of 6:1, the oldest atom on top, 0 is E. With cycle counts there is
 * one atom, in bit 1. */
static int encode_atoms(struct draft *d)
{
    const struct ct_ptm_packet *p = d->packet;
    unsigned most = d->encoder->config.cycle_accurate ? 1 : 5;
    int err = check_cc(d, d->encoder->config.cycle_accurate);
    if (err)
        return err;
    if (p->natoms < 1 || p->natoms > most || p->atoms >> p->natoms)
        return refuse(d, "it holds 1 to 5 atoms, or one with its cycle count");
    if (d->encoder->config.cycle_accurate) {
        put_cc(d, 0x80 | (p->atoms ? 0 : 2u));
        return CT_OK;
    }
    unsigned bits = 1;
    for (unsigned i = 0; i < p->natoms; i++)
        bits = bits << 1 | !(p->atoms >> i & 1);
    return put_header(d, 0x80 | bits << 1);
}

/* Returns how many low bits of the address fit into so many bytes. */
static unsigned address_reach(unsigned bytes, unsigned isa)
{
    static const uint8_t bits[] = {6, 12, 19, 26};
    return bytes < 5 ? bits[bytes - 1] + ct_v7_address_shift(isa) : 32;
}

/* Returns the minimal number of address bytes, 1 to 5, for the address and its instruction set. Exception
 * information, which distinguishes ThumbEE from T32, cannot follow a single byte. */
static unsigned least_address(const struct draft *d, bool exception)
{
    const struct ct_ptm_packet *p = d->packet;
    const struct state *now = &d->encoder->now;
    bool same = p->isa == now->isa || (exception && is_thumb(p->isa) && is_thumb(now->isa));
    if (!same)
        return 5;
    unsigned bytes = exception ? 2 : 1;
    while (bytes < 5 && ((uint32_t)p->value ^ now->addr) >> address_reach(bytes, p->isa))
        bytes++;
    return bytes;
}

/* Writes an address: six bits, then seven a byte, six in the last of two to four. A fifth byte has the
 * remaining bits and the instruction set. Bit 6 of the last byte: information follows. */
static int put_address(struct draft *d, unsigned bytes, bool info)
{
    static const uint8_t marks[] = {
        [CT_V7_A32] = 0x08, [CT_V7_T32] = 0x10, [CT_V7_TEE] = 0x10, [CT_V7_JAZ] = 0x20};
    unsigned isa = d->packet->isa;
    if (bytes == 5 && isa == CT_V7_ISA_UNKNOWN)
        return refuse(d, "five bytes of address say which instruction set it is");
    if (bytes == 5 && !info && is_thumb(isa) && d->next.alt_isa != (isa == CT_V7_TEE))
        return refuse(d, "a branch changes between T32 and ThumbEE with exception information only");
    uint32_t bits = (uint32_t)d->packet->value >> ct_v7_address_shift(isa);
    unsigned follows = info ? 0x40 : 0;
    put(d, (bits & 0x3f) << 1 | 1 | (bytes > 1 ? 0x80u : 0));
    bits >>= 6;
    for (unsigned i = 1; i < bytes && i < 4; i++, bits >>= 7)
        put(d, i + 1 < bytes ? (bits & 0x7f) | 0x80 : (bits & 0x3f) | follows);
    if (bytes == 5)
        put(d, bits | marks[isa] | follows);
    d->next.addr = (uint32_t)d->packet->value;
    d->next.isa = (uint8_t)isa;
    if (info)
        d->next.alt_isa = isa == CT_V7_TEE;
    return CT_OK;
}

/* Returns the number of address bytes when the packet may have `spare` more than the minimum. */
static unsigned stretch(const struct draft *d, unsigned least, unsigned spare)
{
    unsigned most = d->packet->isa == CT_V7_ISA_UNKNOWN && least < 5 ? 4 : 5;
    return least + spare < most ? least + spare : most;
}

/* Encodes a branch. Its exception information has a second byte for large numbers, and for changes of Hyp
 * mode. */
static int encode_branch(struct draft *d)
{
    const struct ct_ptm_packet *p = d->packet;
    bool counted = d->encoder->config.cycle_accurate, info = p->flags & CT_PTM_HAS_EXC;
    int err = check_address(d);
    err = err ? err : check_hyp(d);
    err = err ? err : check_cc(d, counted);
    if (err)
        return err;
    if (p->exc >> 9 || (!info && p->exc))
        return refuse(d, "no such exception number");
    if (!(p->flags & CT_PTM_HAS_SEC) != !info || (!info && p->flags & (CT_PTM_NS | CT_PTM_HYP)))
        return refuse(d, "the security state and Hyp mode come with an exception, and it with them");
    bool hyp = p->flags & CT_PTM_HYP;
    unsigned infos = !info ? 0 : p->exc > 15 || hyp != d->encoder->now.hyp ? 2 : 1;
    unsigned bytes = least_address(d, info);
    unsigned least = bytes + infos + (counted ? cc_size(p->cc) : 0);
    unsigned wanted = stretch(d, bytes, p->size > least ? p->size - least : 0);
    if (infos == 1 && p->size > least + wanted - bytes)
        infos = 2;
    err = put_address(d, wanted, info);
    if (err)
        return err;
    if (infos) {
        put(d, (p->flags & CT_PTM_NS ? 1u : 0) | (p->exc & 15u) << 1 | (p->isa == CT_V7_TEE ? 0x40u : 0) |
                   (infos > 1 ? 0x80u : 0));
        d->next.hyp = hyp;
    }
    if (infos > 1)
        put(d, (unsigned)p->exc >> 4 | (hyp ? 0x20u : 0));
    if (counted)
        put_cc(d, 0);
    return CT_OK;
}

/* Encodes a waypoint update. Its information byte, after five bytes of address, only says ThumbEE. */
static int encode_waypoint_update(struct draft *d)
{
    const struct ct_ptm_packet *p = d->packet;
    int err = check_address(d);
    err = err ? err : check_cc(d, false);
    if (err)
        return err;
    unsigned least = least_address(d, false);
    unsigned bytes = stretch(d, least, p->size > least + 1 ? p->size - least - 1 : 0);
    bool tee = p->isa == CT_V7_TEE;
    bool info = bytes == 5 && (p->size > 6 || (is_thumb(p->isa) && tee != d->encoder->now.alt_isa));
    put(d, 0x72);
    err = put_address(d, bytes, info);
    if (!err && info)
        put(d, tee ? 0x40 : 0);
    return err;
}

static int encode_ctxt(struct draft *d)
{
    unsigned bytes = d->encoder->config.ctxt_bytes;
    int err = check_ctxt(d);
    if (err)
        return err;
    if (!bytes)
        return refuse(d, "ETMCR.ContextIDSize rules out context IDs");
    put(d, 0x6e);
    put_le(d, d->packet->ctxt, bytes);
    return CT_OK;
}

static int encode_vmid(struct draft *d)
{
    if (!d->encoder->config.virtualization)
        return refuse(d, "without the virtualization extensions (ETMCCER bit 26) there is no VMID");
    if (d->packet->value > 0xff)
        return refuse(d, "a VMID has eight bits");
    put(d, 0x3c);
    put(d, (unsigned)d->packet->value);
    return CT_OK;
}

/* Encodes a timestamp: seven bits a byte, without unchanged upper bytes. The last of nine bytes has eight
 * bits, that of seven six. */
static int encode_timestamp(struct draft *d)
{
    const struct ct_ptm_packet *p = d->packet;
    const struct ct_v7_config *config = &d->encoder->config;
    unsigned most = config->ts_64bit ? 9 : 7, bytes = 1;
    int err = check_cc(d, config->cycle_accurate);
    if (err)
        return err;
    if (!config->ts_64bit && p->value >> 48)
        return refuse(d, "with ETMCCER bit 29 clear a timestamp has 48 bits");
    uint64_t changed = p->value ^ d->encoder->now.timestamp;
    while (bytes < most && changed >> 7 * bytes)
        bytes++;
    unsigned others = 1 + (config->cycle_accurate ? cc_size(p->cc) : 0);
    if (p->size > others + bytes)
        bytes = p->size - others < most ? p->size - others : most;
    put(d, 0x42);
    for (unsigned i = 0; i + 1 < bytes; i++)
        put(d, (unsigned)(p->value >> 7 * i & 0x7f) | 0x80);
    put(d, (unsigned)(p->value >> 7 * (bytes - 1)) & (bytes == 9 ? 0xff : 0x7f));
    if (config->cycle_accurate)
        put_cc(d, 0);
    d->next.timestamp = p->value;
    return CT_OK;
}

static int encode(struct draft *d)
{
    switch ((enum ct_ptm_type)d->packet->type) {
    case CT_PTM_ASYNC:
        return encode_async(d);
    case CT_PTM_ISYNC:
        return encode_isync(d);
    case CT_PTM_ATOM:
        return encode_atoms(d);
    case CT_PTM_BRANCH_ADDRESS:
        return encode_branch(d);
    case CT_PTM_WP_UPDATE:
        return encode_waypoint_update(d);
    case CT_PTM_TRIGGER:
        return put_header(d, 0x0c);
    case CT_PTM_CTXTID:
        return encode_ctxt(d);
    case CT_PTM_VMID:
        return encode_vmid(d);
    case CT_PTM_TIMESTAMP:
        return encode_timestamp(d);
    case CT_PTM_ERET:
        return put_header(d, 0x76);
    case CT_PTM_IGNORE:
        return put_header(d, 0x66);
    case CT_PTM_NOT_SYNC:
    case CT_PTM_INCOMPLETE_EOT:
    case CT_PTM_BAD_SEQUENCE:
    case CT_PTM_RESERVED:
    case CT_PTM_TYPE_COUNT:
        break;
    }
    return refuse(d, "it stands for damage or for nothing");
}

int ct_ptm_encode_packet(struct ct_ptm_encoder *encoder, const struct ct_ptm_packet *packet, uint8_t *out,
                         size_t cap, size_t *len)
{
    CT_REQUIRE_OF(encoder, packet, out, len);
    struct draft d = {.encoder = encoder, .packet = packet, .next = encoder->now};
    *len = 0;
    int err = encode(&d);
    if (err)
        return err;
    if (d.size > cap)
        return ct_fail(encoder->ctx, CT_ERR_LIMIT,
                       "PTM packet of type %u: it has %u bytes, but there is room for %zu; it was not "
                       "encoded; give it more room",
                       packet->type, d.size, cap);
    memcpy(out, d.bytes, d.size);
    *len = d.size;
    encoder->now = d.next;
    return CT_OK;
}

int ct_ptm_encoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_ptm_encoder **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_v7_config config;
    int err = ct_v7_config_init(ctx, source, &config);
    if (err)
        return err;
    if (source->protocol != CT_PROTOCOL_PTM)
        return ct_fail(
            ctx, CT_ERR_ARG,
            "source %s: its protocol is %s, not ptm; no encoder was made; use the encoder of its protocol",
            source->name, ct_protocol_name((enum ct_protocol)source->protocol));
    struct ct_ptm_encoder *encoder = calloc(1, sizeof(*encoder));
    if (!encoder)
        return ct_fail_nomem(ctx, "PTM encoder");
    encoder->ctx = ctx;
    encoder->config = config;
    encoder->now = (struct state){.isa = CT_V7_ISA_UNKNOWN};
    *out = encoder;
    return CT_OK;
}

void ct_ptm_encoder_free(struct ct_ptm_encoder *encoder)
{
    free(encoder);
}
