/* SPDX-License-Identifier: Apache-2.0 */
/* The packet decoder of PTM: from bytes to packets. ARM IHI 0035B chapter 4, "Program Flow Trace packets". */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/v7_config.h"
#include "coretap/packet_ptm.h"
#include "proto/v7_fields.h"
#include "proto/v7_seam.h"
#include "proto/unsynced.h"

/* An alignment packet after other trace has at most so many extra zeros; further ones go to the run without
 * synchronisation, in groups of so many plus one (docs/listing.md). */
#define SURPLUS_ZEROS 10

/* Zeros at the end of a row that may continue: they may be the start of an alignment packet. */
#define HELD_ZEROS (CT_V7_ASYNC_ZEROS + SURPLUS_ZEROS)

struct ct_ptm_decoder {
    struct ct_v7_config config;
    /* The contents of the trace unit's compression registers. */
    uint32_t addr;
    uint8_t addr_valid; /* low bits known */
    uint8_t isa;
    bool alt_isa; /* T32 addresses are ThumbEE */
    bool ns, hyp;
    uint64_t timestamp;
    bool synced;
    /* A run of bytes without synchronisation that is not a packet yet. */
    struct ct_unsynced run;
};

int ct_ptm_decoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_ptm_decoder **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_v7_config config;
    int rc = ct_v7_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_ptm_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return ct_fail_nomem(ctx, "PTM packet decoder");
    d->config = config;
    ct_ptm_decoder_reset(d);
    *out = d;
    return CT_OK;
}

void ct_ptm_decoder_free(struct ct_ptm_decoder *d)
{
    free(d);
}

void ct_ptm_decoder_reset(struct ct_ptm_decoder *d)
{
    if (!d)
        return;
    *d = (struct ct_ptm_decoder){.config = d->config, .isa = CT_V7_ISA_UNKNOWN};
}

static uint8_t header_type(uint8_t header)
{
    if (header & 1)
        return CT_PTM_BRANCH_ADDRESS;
    if (header & 0x80)
        return CT_PTM_ATOM;
    switch (header) {
    case 0x00:
        return CT_PTM_ASYNC;
    case 0x08:
        return CT_PTM_ISYNC;
    case 0x0c:
        return CT_PTM_TRIGGER;
    case 0x3c:
        return CT_PTM_VMID;
    case 0x42:
    case 0x46:
        return CT_PTM_TIMESTAMP;
    case 0x66:
        return CT_PTM_IGNORE;
    case 0x6e:
        return CT_PTM_CTXTID;
    case 0x72:
        return CT_PTM_WP_UPDATE;
    case 0x76:
        return CT_PTM_ERET;
    default:
        return CT_PTM_RESERVED;
    }
}

static void set_isa(struct ct_ptm_decoder *d, struct ct_ptm_packet *packet, uint8_t isa)
{
    if (isa != d->isa)
        packet->flags |= CT_PTM_ISA_CHANGED;
    d->isa = packet->isa = isa;
}

static void set_cc(struct ct_ptm_packet *packet, uint32_t cc)
{
    packet->cc = cc;
    packet->flags |= CT_PTM_HAS_CC;
}

/* Reads a cycle count: four bits in 5:2 of its first byte and, when bit 6 is set, seven bits in each further
 * byte. */
static uint32_t cycle_count(struct ct_cursor *c, uint8_t first)
{
    uint32_t count = first >> 2 & 15u;
    if (!(first & 0x40))
        return count;
    for (unsigned shift = 4; shift < 32; shift += 7) {
        uint8_t byte = ct_cursor_u8(c);
        count |= (uint32_t)(byte & 0x7fu) << shift;
        if (!(byte & 0x80))
            break;
    }
    return count;
}

/* Reads an alignment packet while synchronised. It includes the byte that interrupts it. */
static void async(struct ct_cursor *c, struct ct_ptm_packet *packet)
{
    unsigned zeros = 1;
    for (;;) {
        uint8_t byte = ct_cursor_u8(c);
        if (c->cut)
            return;
        if (byte == 0 && ++zeros <= HELD_ZEROS)
            continue;
        if (byte == 0x80 && zeros >= CT_V7_ASYNC_ZEROS)
            return;
        packet->err = packet->type;
        packet->type = CT_PTM_BAD_SEQUENCE;
        return;
    }
}

/* Reads an i-sync: address, information byte, cycle count unless it is periodic, context ID. */
static void isync(struct ct_ptm_decoder *d, struct ct_cursor *c, struct ct_ptm_packet *packet)
{
    uint32_t addr = ct_cursor_le32(c, 4);
    uint8_t info = ct_cursor_u8(c);
    packet->reason = info >> 5 & 3;
    packet->flags |= CT_PTM_HAS_SEC;
    if (packet->reason != CT_SYNC_PERIODIC && d->config.cycle_accurate)
        set_cc(packet, cycle_count(c, ct_cursor_u8(c)));
    if (d->config.ctxt_bytes) {
        packet->ctxt = ct_cursor_le32(c, d->config.ctxt_bytes);
        packet->flags |= CT_PTM_HAS_CTXT;
    }
    if (c->cut)
        return;
    d->alt_isa = info & 4;
    uint8_t isa = CT_V7_A32;
    if (addr & 1)
        isa = d->alt_isa ? CT_V7_TEE : CT_V7_T32;
    set_isa(d, packet, isa);
    d->ns = info & 8;
    d->hyp = info & 2;
    d->addr = addr & ~UINT32_C(1);
    d->addr_valid = 32;
    packet->value = d->addr;
    packet->valid = 32;
    packet->flags |= (uint8_t)((d->ns ? CT_PTM_NS : 0) | (d->hyp ? CT_PTM_HYP : 0));
}

/* Reads atoms. They are below the highest set bit of 6:1, the oldest on top; 0 is E. With cycle counts there
 * is one atom, in bit 1, and its count. */
static void atom(struct ct_ptm_decoder *d, struct ct_cursor *c, uint8_t header, struct ct_ptm_packet *packet)
{
    if (d->config.cycle_accurate) {
        packet->natoms = 1;
        packet->atoms = !(header & 2);
        set_cc(packet, cycle_count(c, header));
        return;
    }
    unsigned bits = header >> 1 & 0x3fu;
    unsigned count = 1;
    while (bits >> (count + 1))
        count++;
    packet->natoms = (uint8_t)count;
    for (unsigned i = 0; i < count; i++)
        if (!(bits >> (count - 1 - i) & 1))
            packet->atoms |= (uint8_t)(1u << i);
}

/* The address bytes of a branch or waypoint packet. */
struct address {
    uint32_t bits;  /* as transmitted, from bit 1 of the first byte on */
    unsigned count; /* number of bits */
    bool full;      /* five bytes, with the instruction set in the last */
    uint8_t last;   /* the fifth byte */
    bool has_info;  /* exception information bytes follow */
};

/* Reads address bits: six, then seven a byte. Bit 6 of the last of two to four bytes, or of the fifth, says
 * that exception information follows. */
static struct address address_bytes(struct ct_cursor *c, uint8_t first)
{
    struct address a = {.bits = first >> 1 & 0x3fu, .count = 6};
    uint8_t byte = first;
    for (unsigned i = 1; byte & 0x80 && i < 4; i++) {
        byte = ct_cursor_u8(c);
        unsigned count = byte & 0x80 ? 7 : 6;
        a.bits |= (byte & ((1u << count) - 1)) << a.count;
        a.count += count;
        a.has_info = !(byte & 0x80) && byte & 0x40;
    }
    if (byte & 0x80) {
        a.full = true;
        a.last = ct_cursor_u8(c);
        a.has_info = a.last & 0x40;
    }
    return a;
}

static uint8_t address_isa(const struct ct_ptm_decoder *d, const struct address *a)
{
    bool thumb = d->isa == CT_V7_T32 || d->isa == CT_V7_TEE;
    if (!a->full && !(a->has_info && thumb))
        return d->isa;
    if (a->full && a->last & 0x20)
        return CT_V7_JAZ;
    if (!a->full || a->last & 0x10)
        return d->alt_isa ? CT_V7_TEE : CT_V7_T32;
    return CT_V7_A32;
}

/* Merges the bits of a packet into the address. A fifth byte completes the 32 bits. */
static void set_address(struct ct_ptm_decoder *d, struct ct_ptm_packet *packet, const struct address *a)
{
    unsigned shift = ct_v7_address_shift(packet->isa);
    uint64_t bits = a->bits;
    unsigned count = a->count;
    if (a->full) {
        bits |= (uint64_t)(a->last & 0x1fu) << count;
        count = 32 - shift;
    }
    uint32_t mask = (uint32_t)(ct_mask64(count) << shift);
    uint32_t low = (UINT32_C(1) << shift) - 1;
    d->addr = (d->addr & ~mask & ~low) | ((uint32_t)(bits << shift) & mask);
    if (count + shift > d->addr_valid)
        d->addr_valid = (uint8_t)(count + shift);
    packet->value = d->addr;
    packet->valid = d->addr_valid;
}

static void waypoint_update(struct ct_ptm_decoder *d, struct ct_cursor *c, struct ct_ptm_packet *packet)
{
    struct address a = address_bytes(c, ct_cursor_u8(c));
    a.has_info = a.has_info && a.full;
    uint8_t info = a.has_info ? ct_cursor_u8(c) : 0;
    if (c->cut)
        return;
    if (a.has_info)
        d->alt_isa = info & 0x40;
    set_isa(d, packet, address_isa(d, &a));
    set_address(d, packet, &a);
}

static void branch(struct ct_ptm_decoder *d, struct ct_cursor *c, uint8_t header,
                   struct ct_ptm_packet *packet)
{
    struct address a = address_bytes(c, header);
    uint8_t info[2] = {0, 0};
    if (a.has_info) {
        info[0] = ct_cursor_u8(c);
        if (info[0] & 0x80)
            info[1] = ct_cursor_u8(c);
    }
    if (d->config.cycle_accurate)
        set_cc(packet, cycle_count(c, ct_cursor_u8(c)));
    if (c->cut)
        return;
    if (a.has_info) {
        d->alt_isa = info[0] & 0x40;
        d->ns = info[0] & 1;
        if (info[0] & 0x80)
            d->hyp = info[1] & 0x20;
        packet->exc = (uint16_t)((info[0] >> 1 & 15u) | (info[1] & 0x1fu) << 4);
        packet->flags |=
            (uint8_t)(CT_PTM_HAS_SEC | CT_PTM_HAS_EXC | (d->ns ? CT_PTM_NS : 0) | (d->hyp ? CT_PTM_HYP : 0));
    }
    set_isa(d, packet, address_isa(d, &a));
    set_address(d, packet, &a);
}

static void timestamp(struct ct_ptm_decoder *d, struct ct_cursor *c, struct ct_ptm_packet *packet)
{
    unsigned bits;
    uint64_t value = ct_cursor_timestamp(c, d->config.ts_64bit, &bits);
    if (d->config.cycle_accurate)
        set_cc(packet, cycle_count(c, ct_cursor_u8(c)));
    if (c->cut)
        return;
    d->timestamp = (d->timestamp & ~ct_mask64(bits)) | value;
    packet->value = d->timestamp;
    packet->valid = (uint8_t)bits;
}

/* Decodes the packet at c->p into *packet, whose pos and type are set. On `cut` the decoder does not
 * change. */
static void decode_one(struct ct_ptm_decoder *d, struct ct_cursor *c, struct ct_ptm_packet *packet)
{
    uint8_t header = *c->p++;
    switch (packet->type) {
    case CT_PTM_ASYNC:
        async(c, packet);
        break;
    case CT_PTM_ISYNC:
        isync(d, c, packet);
        break;
    case CT_PTM_ATOM:
        atom(d, c, header, packet);
        break;
    case CT_PTM_BRANCH_ADDRESS:
        branch(d, c, header, packet);
        break;
    case CT_PTM_WP_UPDATE:
        waypoint_update(d, c, packet);
        break;
    case CT_PTM_CTXTID:
        packet->ctxt = ct_cursor_le32(c, d->config.ctxt_bytes);
        break;
    case CT_PTM_VMID:
        packet->value = ct_cursor_u8(c);
        break;
    case CT_PTM_TIMESTAMP:
        timestamp(d, c, packet);
        break;
    default: /* only the header */
        break;
    }
}

/* Searches bytes without synchronisation for an alignment packet. Returns the number of bytes in the run.
 * Zeros at the end are held back, because an alignment packet may begin with them. */
static size_t unsynced_bytes(struct ct_ptm_decoder *d, const uint8_t *data, size_t size, int final)
{
    size_t zeros = 0; /* in the row that ends at `at` */
    for (size_t at = 0; at < size; at++) {
        if (data[at] == 0) {
            zeros++;
            continue;
        }
        if (data[at] == 0x80 && zeros >= CT_V7_ASYNC_ZEROS) {
            d->synced = true;
            return at - (CT_V7_ASYNC_ZEROS + (zeros - CT_V7_ASYNC_ZEROS) % (SURPLUS_ZEROS + 1));
        }
        zeros = 0;
    }
    if (final)
        return size;
    /* Whole groups of a long row are extra whatever follows: they are released, the rest of the row stays. */
    size_t held = zeros;
    if (zeros > HELD_ZEROS)
        held = CT_V7_ASYNC_ZEROS + (zeros - CT_V7_ASYNC_ZEROS) % (SURPLUS_ZEROS + 1);
    return size - held;
}

static size_t tell_run(struct ct_ptm_decoder *d, size_t bytes, uint64_t pos, int over,
                       struct ct_ptm_packet *packet)
{
    if (!ct_unsynced_add(&d->run, bytes, pos, over))
        return 0;
    *packet =
        (struct ct_ptm_packet){.pos = d->run.pos, .type = CT_PTM_NOT_SYNC, .value = ct_unsynced_end(&d->run)};
    return 1;
}

size_t ct_ptm_decode(struct ct_ptm_decoder *d, const uint8_t *data, size_t size, uint64_t pos, int final,
                     struct ct_ptm_packet *packets, size_t cap, size_t *count)
{
    if (ct_no_batch(d, data, size, packets, cap, count))
        return 0;
    size_t at = 0;
    size_t n = 0;
    while (n < cap && at < size) {
        if (!d->synced) {
            size_t bytes = unsynced_bytes(d, data + at, size - at, final);
            n += tell_run(d, bytes, pos + at, d->synced, &packets[n]);
            at += bytes;
            if (!d->synced)
                break;
            continue;
        }
        struct ct_ptm_packet *packet = &packets[n];
        struct ct_cursor c = {.p = data + at, .end = data + size};
        *packet = (struct ct_ptm_packet){.pos = pos + at, .type = header_type(data[at])};
        decode_one(d, &c, packet);
        if (c.cut && !final)
            break;
        if (c.cut)
            *packet =
                (struct ct_ptm_packet){.pos = pos + at, .type = CT_PTM_INCOMPLETE_EOT, .err = packet->type};
        packet->size = (uint8_t)(c.p - (data + at));
        at += packet->size;
        n++;
    }
    if (final && at == size && n < cap && !d->synced)
        n += tell_run(d, 0, pos + at, 1, &packets[n]);
    *count = n;
    return at;
}

void ct_ptm_decoder_seam(const void *decoder, struct ct_seam *seam)
{
    const struct ct_ptm_decoder *d = decoder;
    ct_seam_put(seam, (uint64_t)d->addr << 32 | (uint64_t)d->addr_valid << 8 | d->isa);
    ct_seam_put(seam, (uint64_t)d->alt_isa << 3 | (uint64_t)d->ns << 2 | (uint64_t)d->hyp << 1 | d->synced);
    ct_seam_put(seam, d->timestamp);
    ct_seam_put(seam, d->run.size);
}
