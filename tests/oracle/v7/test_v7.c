/* SPDX-License-Identifier: Apache-2.0 */
/* Oracle: packets and elements of random PTM and ETMv3 streams, sound and damaged, are those of OpenCSD, line
 * by line of the listing; so are the elements of PTM streams of what a core runs, whose return stack fills.
 * CT_SEED sets the first seed, CT_COUNT the number of streams of each kind, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/code_gen.h"
#include "support/damage.h"
#include "support/ptm_core.h"
#include "support/ptm_stream.h"
#include "support/v7_gen.h"
#include "coretap/packet_etm3.h"
#include "coretap/packet_ptm.h"
#include "oracle/v7/v7_code.h"
#include "oracle/v7/v7_ocsd.h"

enum {
    PACKETS = 400,
    ROOM = (PACKETS + 4) * 24,
    CODE = 4096,
};

struct stream {
    struct ct_source source;
    int elems;
    int thumb; /* the code is T32 */
    struct v7_region region;
    uint8_t code[CODE];
    uint8_t bytes[ROOM + 8];
    size_t size;
};

/* What 1.3.3 does otherwise is taken out of the bytes, packet by packet; a change may change what follows.
 *   i-sync, ThumbEE bit: branch packets behind it see the one of the branch packets before it
 *   i-sync with a load or store in progress (IHI 0014Q 7.6): its address is not always read
 *   exception information of PTM branches: the security state is not taken over, and number 0, which is no
 *   exception (IHI 0035B 4.5.4), makes one
 *   timestamps of ETMv3: it goes on behind the last byte when bit 7 of that is set
 *   P-headers of no format or without an atom in format 1: it counts cycles that are not there
 *   branches of ETMv3 with bit 7 of the fifth byte set, in the alternative encoding, which does not have that
 *   branches of ETMv3 with a whole address and no instruction set: it takes no address from them
 *   packets cut by the end of the trace: it makes elements of what the one before left in the same places
 *   exception entry of ETMv3: it makes an exception element without a number of it
 *   instructions cancelled by a branch: it takes them back only when there is just one since the last
 *   packet of another kind
 * Where elements are compared all addresses are of the instruction set that the code is of, as the two
 * decoders need not agree on what is no code. True when something was changed. */
static uint8_t *exception_byte(struct stream *s, uint64_t pos)
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

/* The last of the bytes of a whole address. */
static int patch_fifth_byte(const struct stream *s, uint8_t *byte)
{
    if (!s->elems)
        return 0;
    return s->thumb ? patch_bits(byte, 0xb0, 0x10) : patch_bits(byte, 0xb8, 0x08);
}

/* The information byte and the first byte of the address of an i-sync. */
static int patch_sync_isa(const struct stream *s, uint8_t *info, uint8_t *addr)
{
    if (!s->elems)
        return 0;
    int changed = s->thumb ? patch_bits(addr, 1, 1) : patch_bits(addr, 3, 0);
    return patch_bits(info, 0x04, 0) |
           (s->source.protocol == CT_PROTOCOL_ETM3 ? patch_bits(info, 0x10, 0) : 0) | changed;
}

static int patch_etm3(struct stream *s)
{
    static struct ct_etm3_packet packets[ROOM + 8];
    struct ct_etm3_decoder *decoder;
    size_t count;
    int changed = 0;
    unsigned alt = 0;
    ct_etm3_decoder_new(NULL, &s->source, &decoder);
    ct_etm3_decode(decoder, s->bytes, s->size, 0, 1, packets, ROOM + 8, &count);
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
        if (p->type == CT_ETM3_BRANCH_ADDRESS && s->source.regs.etmidr >> 20 & 1 && p->size >= 5 &&
            exception_byte(s, p->pos) == &s->bytes[p->pos + 5])
            changed |= patch_bits(&s->bytes[p->pos + 4], 0x80, 0);
        if (p->type != CT_ETM3_I_SYNC && p->type != CT_ETM3_I_SYNC_CYCLE)
            continue;
        unsigned at = 1;
        while (p->type == CT_ETM3_I_SYNC_CYCLE && at < 5 && s->bytes[p->pos + at] & 0x80)
            at++;
        at += p->type == CT_ETM3_I_SYNC_CYCLE;
        at += (unsigned[]){0, 1, 2, 4}[s->source.regs.etmcr >> 14 & 3];
        if (p->pos + at + 1 >= s->size) /* cut before there */
            continue;
        changed |= patch_bits(&s->bytes[p->pos + at], 0x84, alt);
        changed |= patch_sync_isa(s, &s->bytes[p->pos + at], &s->bytes[p->pos + at + 1]);
    }
    return changed;
}

static int patch_ptm(struct stream *s)
{
    static struct ct_ptm_packet packets[ROOM + 8];
    struct ct_ptm_decoder *decoder;
    size_t count;
    int changed = 0;
    unsigned ns = 0, alt = 0;
    ct_ptm_decoder_new(NULL, &s->source, &decoder);
    ct_ptm_decode(decoder, s->bytes, s->size, 0, 1, packets, ROOM + 8, &count);
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

static void fill(struct rng *rng, enum ct_protocol protocol, int elems, struct stream *s)
{
    struct v7_place place = {.thumb = (int)rng_below(rng, 2)};
    s->elems = elems;
    s->thumb = place.thumb;
    s->source = v7_gen_source(rng, protocol);
    if (elems) {
        place.addr = (uint32_t)rng_wide(rng, 31) & ~UINT32_C(0xffff);
        place.size = CODE;
        code_fill(rng, place.thumb ? CT_ISA_T32 : CT_ISA_A32, s->code, CODE);
        v7_drop_blx(s->code, CODE, place.thumb);
        if (place.thumb)
            v7_drop_odd_loads(s->code, CODE);
        s->source.regs.etmcr &= ~UINT32_C(12); /* OpenCSD makes no elements where data is traced */
    }
    s->region = (struct v7_region){place.addr, CODE, s->code};
    s->size = v7_gen(rng, &s->source, &place, 1 + rng_below(rng, PACKETS), s->bytes);
    if (rng_chance(rng, 64))
        s->size = 6 + damage(rng, s->bytes + 6, s->size - 6, ROOM - 6);
    while (protocol == CT_PROTOCOL_PTM ? patch_ptm(s) : patch_etm3(s))
        continue;
}

static size_t line_length(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? (size_t)(end - text) + 1 : strlen(text);
}

static void show(const char *whose, const char *line)
{
    printf("#   %-7s %.*s\n", whose, *line ? (int)line_length(line) - 1 : 5, *line ? line : "(end)");
}

/* Lines are equal, up to where OpenCSD gave up: of a return stack that is empty it makes an error. */
static int same(const struct ct_source *source, const uint8_t *bytes, size_t size,
                const struct v7_lines *ours, const struct v7_lines *theirs, int gave_up)
{
    const char *a = ours->text, *b = theirs->text, *before[8] = {a, a, a, a, a, a, a, a};
    while (*a && *b && line_length(a) == line_length(b) && !memcmp(a, b, line_length(a))) {
        memmove(before, before + 1, sizeof before - sizeof *before);
        before[7] = a;
        b += line_length(b);
        a += line_length(a);
    }
    if (!*b && (!*a || gave_up))
        return 1;
    uint64_t at = strtoull(*a ? a : b, NULL, 10);
    printf("# etmcr %x etmccer %x etmidr %x profile %u; at %" PRIu64 ":", source->regs.etmcr,
           source->regs.etmccer, source->regs.etmidr, source->arch.profile, at);
    for (size_t i = at < 8 ? 0 : at - 8; i < at + 16 && i < size; i++)
        printf("%s%02x", i == at ? " | " : " ", bytes[i]);
    printf("\n");
    for (unsigned i = 0; i < 8; i++)
        show("both", before[i]);
    for (int i = 0; i < 3; i++, a += line_length(a))
        show("coretap", a);
    for (int i = 0; i < 3; i++, b += line_length(b))
        show("OpenCSD", b);
    return 0;
}

static uint64_t give_ups, line_count, return_count;

static void count_lines(const struct v7_lines *theirs)
{
    for (const char *c = theirs->text; c < theirs->text + theirs->size; c++)
        line_count += *c == '\n';
}

/* What a core ran: sound, so OpenCSD does not give up. */
static int check_core(struct rng *rng)
{
    static struct ptm_core core;
    static struct v7_lines ours, theirs;
    static uint8_t bytes[PTM_CORE_ROOM];
    size_t size;
    ptm_core_init(rng, &core);
    v7_drop_odd_loads(core.code[1], PTM_CORE_CODE);
    core.returns[0] = core.returns[1] = 0;
    ptm_core_run(&core);
    if (ptm_encode(rng, &core.source, core.elems, core.count, bytes, PTM_CORE_ROOM, &size))
        return 0;
    struct v7_region regions[2] = {{core.base[0], PTM_CORE_CODE, core.code[0]},
                                   {core.base[1], PTM_CORE_CODE, core.code[1]}};
    int err = v7_coretap_elems(&ours, &core.source, regions, 2, bytes, size);
    int gave_up = v7_ocsd_elems(&theirs, &core.source, regions, 2, bytes, size);
    count_lines(&theirs);
    return_count += core.returns[0] + core.returns[1];
    give_ups += (unsigned)(gave_up != 0);
    return !err && !gave_up && same(&core.source, bytes, size, &ours, &theirs, 0);
}

static int check(struct rng *rng, enum ct_protocol protocol, int elems)
{
    static struct stream s;
    static struct v7_lines ours, theirs;
    fill(rng, protocol, elems, &s);
    int err = elems ? v7_coretap_elems(&ours, &s.source, &s.region, 1, s.bytes, s.size)
                    : v7_coretap_packets(&ours, &s.source, s.bytes, s.size);
    if (err)
        printf("# coretap does not take the configuration\n");
    int gave_up = elems ? v7_ocsd_elems(&theirs, &s.source, &s.region, 1, s.bytes, s.size)
                        : v7_ocsd_packets(&theirs, &s.source, s.bytes, s.size);
    give_ups += (unsigned)(gave_up != 0);
    count_lines(&theirs);
    v7_add(&ours, "%s", "");
    v7_add(&theirs, "%s", "");
    return !err && same(&s.source, s.bytes, s.size, &ours, &theirs, gave_up);
}

int main(void)
{
    static const struct {
        enum ct_protocol protocol;
        int elems;
        int core; /* what a core runs */
        const char *what;
    } tests[] = {
        {CT_PROTOCOL_PTM, 0, 0, "packets of PTM"},
        {CT_PROTOCOL_PTM, 1, 0, "elements of PTM"},
        {CT_PROTOCOL_ETM3, 0, 0, "packets of ETMv3"},
        {CT_PROTOCOL_ETM3, 1, 0, "elements of ETMv3"},
        {CT_PROTOCOL_PTM, 1, 1, "elements of PTM, along what a core runs"},
    };
    uint64_t first = test_number("CT_SEED", 1);
    uint64_t count = test_count(500, 50000);
    uint64_t only = test_number("CT_ONLY", 0);
    int failed = 0;
    printf("TAP version 13\n1..5\n# CT_SEED=%" PRIu64 " CT_COUNT=%" PRIu64 "\n", first, count);
    for (unsigned t = 0; t < 5; t++) {
        uint64_t seed = first;
        int ok = 1;
        for (; seed < first + count && ok && (!only || only == t + 1); seed++) {
            struct rng rng = {seed};
            ok = tests[t].core ? check_core(&rng) : check(&rng, tests[t].protocol, tests[t].elems);
        }
        printf("%sok %u - %s", ok ? "" : "not ", t + 1, tests[t].what);
        printf(ok ? "\n" : " # CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed - 1);
        printf("# %" PRIu64 " lines, %" PRIu64 " returns from the return stack; OpenCSD gave up in %" PRIu64
               " streams\n",
               line_count, return_count, give_ups);
        give_ups = line_count = return_count = 0;
        failed |= !ok;
    }
    return failed;
}
