/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that encoded PTM packets decode to the same packets, however the bytes are cut, and encode to the
 * same bytes again. CT_SEED sets the first seed, CT_COUNT the number of packets, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/pieces.h"
#include "support/ptm_stream.h"
#include "support/seeds.h"
#include "coretap/encode.h"
#include "coretap/packet_ptm.h"

enum {
    STREAM = 400,
    MOST = 2 * STREAM,
    ROOM = STREAM * CT_PTM_PACKET_MAX
};

/* The stream under test. */
static struct {
    struct ct_source source;
    struct ct_ptm_packet packets[STREAM];
    uint8_t bytes[ROOM];
    unsigned count;
    size_t size;
} s;

/* A generator, with the state of the stream that encoder and decoder keep. */
struct gen {
    struct rng *rng;
    int counted, wide, virtualization;
    unsigned ctxt_bytes;
    uint32_t addr;
    unsigned addr_valid, isa;
    int alt_isa, hyp;
    uint64_t timestamp;
};

static struct gen gen_of(struct rng *rng, const struct ct_source *source)
{
    static const unsigned sizes[] = {0, 1, 2, 4};
    return (struct gen){.rng = rng,
                        .counted = source->regs.etmcr >> 12 & 1,
                        .wide = source->regs.etmccer >> 29 & 1,
                        .virtualization = source->regs.etmccer >> 26 & 1,
                        .ctxt_bytes = sizes[source->regs.etmcr >> 14 & 3],
                        .isa = CT_V7_ISA_UNKNOWN};
}

static unsigned shift_of(unsigned isa)
{
    return isa == CT_V7_A32 ? 2 : isa == CT_V7_JAZ ? 0 : 1;
}

/* Makes a random cycle count and returns its size in bytes. */
static unsigned some_cc(struct gen *g, struct ct_ptm_packet *p)
{
    if (!g->counted)
        return 0;
    p->flags |= CT_PTM_HAS_CC;
    p->cc = (uint32_t)rng_wide(g->rng, 32);
    unsigned bytes = 1;
    for (uint64_t left = p->cc >> 4; left; left >>= 7)
        bytes++;
    return bytes;
}

static uint32_t some_ctxt(struct gen *g)
{
    return (uint32_t)(rng_next(g->rng) & ((UINT64_C(1) << 8 * g->ctxt_bytes) - 1));
}

static void say_isa(struct gen *g, struct ct_ptm_packet *p, unsigned isa)
{
    p->isa = (uint8_t)isa;
    p->flags |= isa != g->isa ? CT_PTM_ISA_CHANGED : 0;
    g->isa = isa;
}

/* Sets an address of `bytes` bytes. The bits that they do not reach keep their values. */
static void say_address(struct gen *g, struct ct_ptm_packet *p, unsigned bytes)
{
    static const unsigned reach[] = {0, 6, 12, 19, 26};
    unsigned shift = shift_of(p->isa), bits = bytes < 5 ? reach[bytes] + shift : 32;
    uint32_t low = (uint32_t)((UINT64_C(1) << bits) - 1), fresh = (uint32_t)rng_next(g->rng);
    g->addr = ((g->addr & ~low) | (fresh & low)) >> shift << shift;
    if (bits > g->addr_valid)
        g->addr_valid = bits;
    p->value = g->addr;
    p->valid = (uint8_t)g->addr_valid;
}

static unsigned some_security(struct gen *g)
{
    unsigned flags = rng_below(g->rng, 2) ? CT_PTM_HAS_SEC | CT_PTM_NS : CT_PTM_HAS_SEC;
    g->hyp = g->virtualization && rng_chance(g->rng, 64);
    return flags | (g->hyp ? CT_PTM_HYP : 0);
}

static void gen_isync(struct gen *g, struct ct_ptm_packet *p)
{
    static const unsigned isas[] = {CT_V7_A32, CT_V7_T32, CT_V7_TEE};
    p->reason = (uint8_t)rng_below(g->rng, 4);
    unsigned cc = p->reason != CT_SYNC_PERIODIC ? some_cc(g, p) : 0;
    p->flags |= (uint8_t)(some_security(g) | (g->ctxt_bytes ? CT_PTM_HAS_CTXT : 0));
    p->ctxt = some_ctxt(g);
    say_isa(g, p, isas[rng_below(g->rng, 3)]);
    g->alt_isa = p->isa == CT_V7_TEE;
    say_address(g, p, 5);
    p->size = (uint8_t)(6 + cc + g->ctxt_bytes);
}

/* Chooses instruction set and size of an address, with or without an information byte after it that says
 * ThumbEE. Returns the size in bytes. */
static unsigned some_address(struct gen *g, struct ct_ptm_packet *p, int info, int info_when_short)
{
    unsigned bytes = 1 + rng_below(g->rng, 5), isa = g->isa;
    if (info && bytes == 1)
        bytes = 2;
    if (info && !info_when_short)
        bytes = 5;
    int thumb = isa == CT_V7_T32 || isa == CT_V7_TEE;
    if (bytes == 5) {
        isa = rng_below(g->rng, 4);
        thumb = isa == CT_V7_T32 || isa == CT_V7_TEE;
        if (thumb && !info)
            isa = g->alt_isa ? CT_V7_TEE : CT_V7_T32;
    } else if (info && thumb) {
        isa = rng_below(g->rng, 2) ? CT_V7_TEE : CT_V7_T32;
    }
    if (info)
        g->alt_isa = isa == CT_V7_TEE;
    say_isa(g, p, isa);
    say_address(g, p, bytes);
    return bytes;
}

static void gen_branch(struct gen *g, struct ct_ptm_packet *p)
{
    int exception = rng_chance(g->rng, 80), hyp = g->hyp;
    unsigned cc = some_cc(g, p), infos = 0;
    unsigned bytes = some_address(g, p, exception, 1);
    if (exception) {
        p->exc = (uint16_t)rng_wide(g->rng, 9);
        p->flags |= (uint8_t)(some_security(g) | CT_PTM_HAS_EXC);
        infos = p->exc > 15 || g->hyp != hyp || (bytes == 5 && rng_below(g->rng, 2)) ? 2 : 1;
    }
    p->size = (uint8_t)(bytes + infos + cc);
}

static void gen_waypoint(struct gen *g, struct ct_ptm_packet *p)
{
    int info = rng_chance(g->rng, 64);
    p->size = (uint8_t)(1 + some_address(g, p, info, 0) + (unsigned)info);
}

static void gen_timestamp(struct gen *g, struct ct_ptm_packet *p)
{
    unsigned most = g->wide ? 9 : 7, bytes = 1 + rng_below(g->rng, most);
    unsigned bits = bytes < most ? 7 * bytes : g->wide ? 64 : 48;
    uint64_t low = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
    g->timestamp = (g->timestamp & ~low) | (rng_next(g->rng) & low);
    p->value = g->timestamp;
    p->valid = (uint8_t)bits;
    p->size = (uint8_t)(1 + bytes + some_cc(g, p));
}

static void gen_atoms(struct gen *g, struct ct_ptm_packet *p)
{
    unsigned cc = some_cc(g, p);
    p->natoms = (uint8_t)(g->counted ? 1 : 1 + rng_below(g->rng, 5));
    p->atoms = (uint8_t)rng_below(g->rng, 1u << p->natoms);
    p->size = (uint8_t)(g->counted ? cc : 1);
}

/* Makes a valid packet of `type` as the decoder returns it, except for its position. Returns whether there is
 * one. */
static int gen_packet(struct gen *g, unsigned type, struct ct_ptm_packet *p)
{
    *p = (struct ct_ptm_packet){.type = (uint8_t)type, .size = 1};
    switch (type) {
    case CT_PTM_ASYNC:
        p->size = (uint8_t)(6 + rng_below(g->rng, 11));
        return 1;
    case CT_PTM_ISYNC:
        gen_isync(g, p);
        return 1;
    case CT_PTM_ATOM:
        gen_atoms(g, p);
        return 1;
    case CT_PTM_BRANCH_ADDRESS:
        gen_branch(g, p);
        return 1;
    case CT_PTM_WP_UPDATE:
        gen_waypoint(g, p);
        return 1;
    case CT_PTM_CTXTID:
        p->ctxt = some_ctxt(g);
        p->size = (uint8_t)(1 + g->ctxt_bytes);
        return g->ctxt_bytes != 0;
    case CT_PTM_VMID:
        p->value = rng_below(g->rng, 256);
        p->size = 2;
        return g->virtualization;
    case CT_PTM_TIMESTAMP:
        gen_timestamp(g, p);
        return 1;
    case CT_PTM_TRIGGER:
    case CT_PTM_ERET:
    case CT_PTM_IGNORE:
        return 1;
    default:
        return 0;
    }
}

/* Makes the stream of a seed. Returns whether all its packets could be encoded. */
static int fill(uint64_t seed)
{
    struct rng rng = {seed};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_ptm_encoder *encoder;
    s.source = ptm_source(&rng);
    s.count = 0;
    s.size = 0;
    struct gen gen = gen_of(&rng, &s.source);
    if (ct_ptm_encoder_new(ctx, &s.source, &encoder))
        return 0;
    int ok = 1;
    while (s.count < STREAM && ok) {
        struct ct_ptm_packet *p = &s.packets[s.count];
        size_t len;
        if (!gen_packet(&gen, s.count ? rng_below(&rng, CT_PTM_TYPE_COUNT) : CT_PTM_ASYNC, p))
            continue;
        if (ct_ptm_encode_packet(encoder, p, s.bytes + s.size, ROOM - s.size, &len)) {
            printf("# packet %u was refused: %s\n", s.count, ct_ctx_error(ctx));
            ok = 0;
        }
        p->pos = s.size;
        s.size += len;
        s.count++;
    }
    ct_ptm_encoder_free(encoder);
    ct_ctx_free(ctx);
    return ok;
}

static int compare(unsigned i, struct ct_ptm_packet want, struct ct_ptm_packet have)
{
    if (!memcmp(&want, &have, sizeof(want)))
        return 1;
    printf("# packet %u: type %u became %u, value %" PRIx64 "/%" PRIx64
           " cc %u/%u exc %u/%u flags %x/%x isa %u/%u valid %u/%u size %u/%u\n",
           i, want.type, have.type, want.value, have.value, want.cc, have.cc, want.exc, have.exc, want.flags,
           have.flags, want.isa, have.isa, want.valid, have.valid, want.size, have.size);
    return 0;
}

/* Decodes the stream in pieces of random size, or at once if `cuts` is NULL, and compares all members. */
static int check_decode(struct rng *cuts)
{
    static struct ct_ptm_packet got[MOST];
    const size_t count = pieces_decode(&ct_ptm_ops, &s.source, s.bytes, s.size, cuts, (uint8_t *)got, MOST);
    int ok = 1;
    for (unsigned i = 0; i < s.count && i < count && ok; i++)
        ok = compare(i, s.packets[i], got[i]);
    if (count != s.count)
        printf("# %u packets in %zu bytes went in, %zu came out\n", s.count, s.size, count);
    return ok && count == s.count;
}

static int check_whole(uint64_t seed)
{
    return fill(seed) && check_decode(NULL);
}

static int check_cut(uint64_t seed)
{
    struct rng cuts = {seed};
    return fill(seed) && check_decode(&cuts);
}

/* Checks that packets decoded from bytes encode to those bytes. */
static int check_again(uint64_t seed)
{
    struct ct_ptm_decoder *decoder;
    struct ct_ptm_encoder *encoder;
    struct ct_ptm_packet got[STREAM];
    size_t count, len, at = 0;
    int ok = fill(seed);
    if (ct_ptm_decoder_new(NULL, &s.source, &decoder) || ct_ptm_encoder_new(NULL, &s.source, &encoder))
        return 0;
    ct_ptm_decode(decoder, s.bytes, s.size, 0, 1, got, STREAM, &count);
    for (size_t i = 0; i < count && ok; i++) {
        uint8_t again[CT_PTM_PACKET_MAX];
        ok = !ct_ptm_encode_packet(encoder, &got[i], again, sizeof(again), &len) && len == got[i].size &&
             !memcmp(again, s.bytes + at, len);
        if (!ok)
            printf("# packet %zu, type %u: other bytes than before\n", i, got[i].type);
        at += len;
    }
    ct_ptm_decoder_free(decoder);
    ct_ptm_encoder_free(encoder);
    return ok && at == s.size;
}

/* Returns whether a packet is a waypoint update to A32 or Jazelle with an information byte. It ends ThumbEE
 * for later T32 addresses, and only the size of the record shows it. */
static int has_silent_info(const struct ct_ptm_packet *p)
{
    return p->type == CT_PTM_WP_UPDATE && p->size == 7 && (p->isa == CT_V7_A32 || p->isa == CT_V7_JAZ);
}

/* Checks that the shortest encoding is not longer and means the same. */
static int check_shortest(uint64_t seed)
{
    static uint8_t brief[ROOM];
    struct ct_ptm_encoder *encoder;
    struct ct_ptm_decoder *decoder;
    struct ct_ptm_packet got[STREAM + 1];
    size_t len, count, size = 0;
    int ok = fill(seed);
    if (ct_ptm_decoder_new(NULL, &s.source, &decoder) || ct_ptm_encoder_new(NULL, &s.source, &encoder))
        return 0;
    for (unsigned i = 0; i < s.count && ok; i++) {
        struct ct_ptm_packet p = s.packets[i];
        if (!has_silent_info(&p))
            p.size = 0;
        ok = !ct_ptm_encode_packet(encoder, &p, brief + size, ROOM - size, &len) && len <= s.packets[i].size;
        if (!ok)
            printf("# packet %u, type %u: refused or longer without its size\n", i, p.type);
        size += len;
    }
    ct_ptm_decode(decoder, brief, size, 0, 1, got, STREAM + 1, &count);
    ok = ok && count == s.count;
    for (unsigned i = 0; i < s.count && ok; i++) {
        struct ct_ptm_packet want = s.packets[i];
        want.pos = got[i].pos;
        want.size = got[i].size;
        want.valid = got[i].valid;
        ok = compare(i, want, got[i]);
    }
    ct_ptm_decoder_free(decoder);
    ct_ptm_encoder_free(encoder);
    return ok;
}

/* Checks that a packet that is impossible in the configuration or state is refused, writes nothing and leaves
 * the state. */
static int check_refusals(void)
{
    enum {
        COUNTED = 1u << 12,
        CONTEXT = 1u << 14, /* context IDs of one byte */
        VIRTUAL = 1u << 26,
        SEC = CT_PTM_HAS_SEC
    };
    static const struct {
        const char *what;
        uint32_t etmcr, etmccer;
        struct ct_ptm_packet packet;
    } cases[] = {
        {"damage", 0, 0, {.type = CT_PTM_BAD_SEQUENCE}},
        {"no such type", 0, 0, {.type = 200}},
        {"six atoms", 0, 0, {.type = CT_PTM_ATOM, .natoms = 6}},
        {"no atom", 0, 0, {.type = CT_PTM_ATOM}},
        {"two atoms counted", COUNTED, 0, {.type = CT_PTM_ATOM, .natoms = 2, .flags = CT_PTM_HAS_CC}},
        {"atom with a count", 0, 0, {.type = CT_PTM_ATOM, .natoms = 1, .flags = CT_PTM_HAS_CC}},
        {"atom without a count", COUNTED, 0, {.type = CT_PTM_ATOM, .natoms = 1}},
        {"context ID", 0, 0, {.type = CT_PTM_CTXTID}},
        {"wide context ID", CONTEXT, 0, {.type = CT_PTM_CTXTID, .ctxt = 256}},
        {"VMID", 0, 0, {.type = CT_PTM_VMID}},
        {"wide VMID", 0, VIRTUAL, {.type = CT_PTM_VMID, .value = 256}},
        {"wide timestamp", 0, 0, {.type = CT_PTM_TIMESTAMP, .value = UINT64_C(1) << 48}},
        {"timestamp without a count", COUNTED, 0, {.type = CT_PTM_TIMESTAMP}},
        {"i-sync in Jazelle", 0, 0, {.type = CT_PTM_ISYNC, .flags = SEC, .isa = CT_V7_JAZ}},
        {"i-sync off its alignment", 0, 0, {.type = CT_PTM_ISYNC, .flags = SEC, .value = 2}},
        {"i-sync without security", 0, 0, {.type = CT_PTM_ISYNC}},
        {"i-sync without a context ID", CONTEXT, 0, {.type = CT_PTM_ISYNC, .flags = SEC}},
        {"i-sync in Hyp mode", 0, 0, {.type = CT_PTM_ISYNC, .flags = SEC | CT_PTM_HYP}},
        {"periodic i-sync with a count", COUNTED, 0, {.type = CT_PTM_ISYNC, .flags = SEC | CT_PTM_HAS_CC}},
        {"first i-sync without a count",
         COUNTED,
         0,
         {.type = CT_PTM_ISYNC, .flags = SEC, .reason = CT_SYNC_TRACE_ENABLE}},
        {"address of 33 bits", 0, 0, {.type = CT_PTM_BRANCH_ADDRESS, .value = UINT64_C(1) << 32}},
        {"branch without a count", COUNTED, 0, {.type = CT_PTM_BRANCH_ADDRESS}},
        {"waypoint with a count", COUNTED, 0, {.type = CT_PTM_WP_UPDATE, .flags = CT_PTM_HAS_CC}},
        {"security without an exception", 0, 0, {.type = CT_PTM_BRANCH_ADDRESS, .flags = SEC}},
        {"ThumbEE without an exception", 0, 0, {.type = CT_PTM_BRANCH_ADDRESS, .isa = CT_V7_TEE}},
        {"far address, no instruction set",
         0,
         0,
         {.type = CT_PTM_BRANCH_ADDRESS, .isa = CT_V7_ISA_UNKNOWN, .value = 1u << 31}},
        {"exception of ten bits",
         0,
         0,
         {.type = CT_PTM_BRANCH_ADDRESS, .flags = SEC | CT_PTM_HAS_EXC, .exc = 512}},
    };
    /* One byte from a new encoder. If anything of a refused packet were left, it would be longer or
     * refused. */
    static const struct ct_ptm_packet after = {
        .type = CT_PTM_BRANCH_ADDRESS, .value = 0x10, .isa = CT_V7_ISA_UNKNOWN};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ct_source source = {.name = "case", .protocol = CT_PROTOCOL_PTM};
        struct ct_ptm_encoder *encoder;
        uint8_t bytes[CT_PTM_PACKET_MAX] = {0xaa}, fresh[CT_PTM_PACKET_MAX];
        size_t len, fresh_len;
        source.regs.etmcr = cases[i].etmcr;
        source.regs.etmccer = cases[i].etmccer;
        struct ct_ptm_packet next = after;
        if (source.regs.etmcr & COUNTED)
            next.flags = CT_PTM_HAS_CC;
        if (ct_ptm_encoder_new(NULL, &source, &encoder))
            return 0;
        int ok = ct_ptm_encode_packet(encoder, &cases[i].packet, bytes, sizeof(bytes), &len) == CT_ERR_ARG &&
                 len == 0 && bytes[0] == 0xaa;
        ok = ok && ct_ptm_encode_packet(encoder, &next, bytes, 0, &len) == CT_ERR_LIMIT && len == 0;
        ok = ok && !ct_ptm_encode_packet(encoder, &next, bytes, sizeof(bytes), &len);
        ct_ptm_encoder_free(encoder);
        if (ct_ptm_encoder_new(NULL, &source, &encoder))
            return 0;
        ok = ok && !ct_ptm_encode_packet(encoder, &next, fresh, sizeof(fresh), &fresh_len) &&
             len == fresh_len && !memcmp(bytes, fresh, len);
        ct_ptm_encoder_free(encoder);
        if (!ok) {
            printf("# %s: encoded, or something is left of it\nnot ok 5 - refusals\n", cases[i].what);
            return 0;
        }
    }
    printf("ok 5 - what cannot be said is refused\n");
    return 1;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(5, 200000, 20000000);
    int ok = seeds_hold(seeds, STREAM, check_whole, 1, "decode(encode(packets)) == packets");
    ok &= seeds_hold(seeds, STREAM, check_cut, 2, "cutting the bytes anywhere changes nothing");
    ok &= seeds_hold(seeds, STREAM, check_again, 3, "encode(decode(bytes)) == bytes");
    ok &= seeds_hold(seeds, STREAM, check_shortest, 4, "the shortest encoding says the same");
    ok &= check_refusals();
    return ok ? 0 : 1;
}
