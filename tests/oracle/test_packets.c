/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the packets of random streams, sound and damaged, with those of OpenCSD, member by member. CT_SEED
 * sets the first seed, CT_COUNT the number of packets, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "support/damage.h"
#include "support/etm4_gen.h"
#include "oracle/ocsd.h"
#include "oracle/patch.h"

enum {
    STREAM = 2000,
    ROOM = STREAM * 24,
    HEAD = 14 /* bytes that are never damaged: alignment, context */
};

/* A known difference of OpenCSD 1.3.3. `fix` undoes exactly that difference in `theirs` and returns whether
 * it was there; each case is counted and printed. */
struct past {
    const struct ct_source *source;
    const uint8_t *bytes; /* of the packet */
    int info;             /* 1: after a trace info */
};

struct known {
    const char *what;
    int (*fix)(const struct past *past, const struct ct_etm4_packet *ours, struct ct_etm4_packet *theirs);
    uint64_t count;
};

static int commopt_f2(const struct past *past, const struct ct_etm4_packet *ours,
                      struct ct_etm4_packet *theirs)
{
    if (!(past->source->regs.idr0 >> 29 & 1) || theirs->type != CT_ETM4_CCNT_F2 ||
        !(theirs->flags & CT_ETM4_HAS_COMMIT))
        return 0;
    (void)ours;
    theirs->flags &= (uint16_t)~CT_ETM4_HAS_COMMIT;
    theirs->count2 = 0;
    return 1;
}

static int f2_bit(const struct past *past, const struct ct_etm4_packet *ours, struct ct_etm4_packet *theirs)
{
    if (theirs->type != CT_ETM4_CCNT_F2 || ours->type != CT_ETM4_CCNT_F2 ||
        !((past->bytes[0] ^ past->bytes[1]) & 1))
        return 0;
    uint32_t base = past->bytes[1] & 1 ? past->source->regs.idr8 - 15 : 1;
    if (theirs->count2 != base + (past->bytes[1] >> 4))
        return 0;
    theirs->count2 = ours->count2;
    return 1;
}

/* Addresses and SF before the first trace info come from uninitialised memory in 1.3.3 and differ from run to
 * run. Only the bits that both know are compared. */
static int early_address(const struct past *past, const struct ct_etm4_packet *ours,
                         struct ct_etm4_packet *theirs)
{
    uint64_t unknown = ~ct_mask64(ours->valid < theirs->valid ? ours->valid : theirs->valid);
    if (past->info || (ours->valid == theirs->valid && !((ours->value ^ theirs->value) & unknown)))
        return 0;
    theirs->value = (theirs->value & ~unknown) | (ours->value & unknown);
    theirs->valid = ours->valid;
    return 1;
}

static uint64_t surplus_count;
static struct patches patches;

/* Moves zeros before the eleven of the first alignment packet from that packet to the run before it, as
 * docs/listing.md says. 1.3.3 counts them to the packet. */
static void surplus_zeros(struct ocsd *ocsd)
{
    struct ct_etm4_packet *p = ocsd->packets;
    size_t i = ocsd->packet_count && p[0].type == CT_ETM4_NOT_SYNC;
    if (i >= ocsd->packet_count || p[i].type != CT_ETM4_ASYNC || p[i].size <= 12)
        return;
    unsigned surplus = p[i].size - 12u;
    p[i].pos += surplus;
    p[i].size = 12;
    surplus_count++;
    if (i) {
        p[0].value += surplus;
        return;
    }
    if (ocsd->packet_count == ocsd->packet_room)
        abort();
    memmove(p + 1, p, ocsd->packet_count++ * sizeof(*p));
    p[0] = (struct ct_etm4_packet){.pos = 0, .type = CT_ETM4_NOT_SYNC, .value = surplus};
}

static struct known known[] = {
    {"TRCIDR0.COMMOPT 1: a cycle count of format 2 has no commits (IHI 0064H 6.4.7), 1.3.3 gives it some",
     commopt_f2, 0},
    {"cycle count of format 2: whether commits count from MAXSPEC is in the header (IHI 0064H 6.4.7), "
     "1.3.3 looks at bit 0 of the byte behind it",
     f2_bit, 0},
    {"before the first trace info: address history and SF are not initialised in 1.3.3", early_address, 0},
    {NULL, NULL, 0},
};

static struct ct_etm4_packet essence(struct ct_etm4_packet p)
{
    p.flags &=
        (uint16_t) ~(CT_ETM4_FIRST_INFO | CT_ETM4_TSTATE | CT_ETM4_HAS_SPEC); /* it keeps only the values */
    p.header = 0;
    if (p.type == CT_ETM4_TRACE_INFO && !(p.flags & CT_ETM4_HAS_CCTHR))
        p.count = 0; /* not shown */
    if (p.type >= CT_ETM4_COND_I_F1 && p.type <= CT_ETM4_COND_RES_F4)
        p.value = 0;
    if (p.type == CT_ETM4_CCNT_F1)
        p.flags &= (uint16_t)~CT_ETM4_HAS_COUNT;
    else if (p.type == CT_ETM4_CCNT_F2 || p.type == CT_ETM4_CCNT_F3)
        p.flags &= (uint16_t)~CT_ETM4_HAS_COUNT;
    if (p.type == CT_ETM4_PE_RESET || p.type == CT_ETM4_TRANS_FAIL)
        p.info = p.idx = 0, p.flags = 0;
    return p;
}

static void show(const char *whose, const struct ct_etm4_packet *p)
{
    printf("#   %-7s at %" PRIu64 " size %u type %u err %u value %" PRIx64
           " valid %u is %u idx %u count %u,%u atoms %u:%x "
           "flags %x info %x el_sec %x ctxt %x vmid %x\n",
           whose, p->pos, p->size, p->type, p->err, p->value, p->valid, p->is, p->idx, p->count, p->count2,
           p->natoms, p->atoms, p->flags, p->info, p->el_sec, p->ctxt, p->vmid);
}

static int same(const struct past *past, const struct ct_etm4_packet *ours,
                const struct ct_etm4_packet *theirs)
{
    struct ct_etm4_packet a = essence(*ours), b = essence(*theirs);
    for (struct known *k = known; k->what && memcmp(&a, &b, sizeof(a)); k++)
        k->count += (unsigned)k->fix(past, &a, &b);
    return !memcmp(&a, &b, sizeof(a));
}

struct stream {
    struct ct_source source;
    uint8_t bytes[ROOM];
    size_t size;
};

/* Makes a random stream. Half of the streams are damaged after their first alignment packet: before
 * synchronisation 1.3.3 lists a broken alignment sequence, while docs/listing.md counts it to the run. */
static void fill(struct rng *rng, struct stream *s)
{
    struct ct_etm4_encoder *encoder;
    struct gen gen;
    gen_source(rng, GEN_ANY, &s->source);
    gen_init(&gen, rng, &s->source);
    ct_etm4_encoder_new(NULL, &s->source, &encoder);
    s->size = 0;
    for (unsigned count = 0; count < STREAM; count++) {
        struct ct_etm4_packet p;
        size_t len;
        while (!gen_packet(&gen, count ? rng_below(rng, CT_ETM4_TYPE_COUNT) : CT_ETM4_ASYNC, &p))
            continue;
        if (count == 1) { /* sets SF, which 1.3.3 does not initialise */
            p = (struct ct_etm4_packet){.type = CT_ETM4_CTXT, .flags = CT_ETM4_HAS_CONTEXT};
            gen_init(&gen, rng, &s->source);
        }
        if (!ct_etm4_encode_packet(encoder, &p, s->bytes + s->size, ROOM - s->size, &len))
            s->size += len;
    }
    ct_etm4_encoder_free(encoder);
    if (rng_chance(rng, 24)) /* no packets at all */
        for (size_t i = HEAD; i < s->size; i++)
            s->bytes[i] = (uint8_t)rng_next(rng);
    else if (rng_chance(rng, 128))
        s->size = HEAD + damage(rng, s->bytes + HEAD, s->size - HEAD, ROOM - HEAD);
    if (rng_chance(rng, 32)) { /* the trace begins in the middle */
        size_t n = 1 + rng_below(rng, 40);
        s->size = s->size + n < ROOM ? s->size : ROOM - n;
        memmove(s->bytes + n, s->bytes, s->size);
        s->size += n;
        for (size_t i = 0; i < n; i++)
            s->bytes[i] = (uint8_t)rng_next(rng);
    }
}

static size_t decode(struct ct_etm4_decoder *decoder, const struct stream *s, struct ct_etm4_packet *got)
{
    size_t count;
    ct_etm4_decoder_reset(decoder);
    ct_etm4_decode(decoder, s->bytes, s->size, 0, 1, got, ROOM, &count);
    return count;
}

static int compare(struct stream *s, struct ocsd *ocsd, uint64_t *packets)
{
    static struct ct_etm4_packet got[ROOM];
    struct ct_etm4_decoder *decoder;
    if (ct_etm4_decoder_new(NULL, &s->source, &decoder))
        return 0;
    size_t count = decode(decoder, s, got);
    patch_stream(&patches, 1u << PATCH_CONTEXT_SIZE | 1u << PATCH_LONG_FIELD, &s->source, s->bytes, got,
                 count);
    count = decode(decoder, s, got);
    ct_etm4_decoder_free(decoder);
    if (ocsd_run_packets(ocsd, &s->source, s->bytes, s->size)) {
        printf("# OpenCSD did not take the configuration\n");
        return 0;
    }
    *packets += count;
    surplus_zeros(ocsd);
    struct past past = {.source = &s->source};
    for (size_t i = 0; i < count && i < ocsd->packet_count; i++) {
        past.bytes = s->bytes + got[i].pos;
        past.info |= got[i].type == CT_ETM4_TRACE_INFO;
        if (!same(&past, &got[i], &ocsd->packets[i])) {
            const struct ct_source_regs *r = &s->source.regs;
            printf("# packet %zu; protocol %u profile %u configr %x idr0 %x idr1 %x idr2 %x idr8 %x devarch "
                   "%x; bytes",
                   i, s->source.protocol, s->source.arch.profile, r->configr, r->idr0, r->idr1, r->idr2,
                   r->idr8, r->devarch);
            for (unsigned k = 0; k < 16 && got[i].pos + k < s->size; k++)
                printf(" %02x", s->bytes[got[i].pos + k]);
            printf("\n");
            for (size_t k = i < 8 ? 0 : i - 8; k < i; k++)
                show("before", &got[k]);
            show("coretap", &got[i]);
            show("OpenCSD", &ocsd->packets[i]);
            return 0;
        }
    }
    if (count != ocsd->packet_count)
        printf("# %zu packets, OpenCSD has %zu\n", count, ocsd->packet_count);
    return count == ocsd->packet_count;
}

int main(void)
{
    static struct stream s;
    struct ocsd ocsd = {0};
    uint64_t seed = test_number("CT_SEED", 1), done = 0;
    uint64_t packets = test_count(100000, 10000000);
    int ok = 1;
    printf("TAP version 13\n1..1\n# CT_SEED=%" PRIu64 " CT_COUNT=%" PRIu64 "\n", seed, packets);
    for (; done < packets && ok; seed++) {
        struct rng rng = {seed};
        fill(&rng, &s);
        ok = compare(&s, &ocsd, &done);
    }
    for (struct known *k = known; k->what; k++)
        printf("# %" PRIu64 " times: %s\n", k->count, k->what);
    printf("# %" PRIu64 " times: zeros before the first alignment packet, counted to it by 1.3.3\n",
           surplus_count);
    patch_report(&patches);
    printf("# %" PRIu64 " packets\n", done);
    printf("%sok 1 - packets are OpenCSD's", ok ? "" : "not ");
    printf(ok ? "\n" : " # CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed - 1);
    ocsd_free(&ocsd);
    return ok ? 0 : 1;
}
