/* SPDX-License-Identifier: Apache-2.0 */
/* Compares packets and elements of random PTM and ETMv3 streams, sound and damaged, with those of OpenCSD,
 * line by line of the listing. Also compares elements of PTM streams of a simulated core, whose return stack
 * fills. CT_SEED sets the first seed, CT_COUNT the number of streams of each kind, CT_LONG=1 the long
 * tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/code_gen.h"
#include "support/damage.h"
#include "support/ptm_core.h"
#include "support/ptm_stream.h"
#include "support/v7_gen.h"
#include "oracle/v7/v7_code.h"
#include "oracle/v7/v7_ocsd.h"
#include "oracle/v7/v7_patch.h"

enum {
    PACKETS = 400,
    ROOM = V7_ROOM - 8,
    CODE = 4096,
};

struct stream {
    struct ct_source source;
    int elems;
    int thumb; /* 1: T32 code */
    struct v7_region region;
    uint8_t code[CODE];
    uint8_t bytes[ROOM + 8];
    size_t size;
};

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
        s->source.regs.etmcr &= ~UINT32_C(12); /* OpenCSD makes no elements with data trace */
    }
    s->region = (struct v7_region){place.addr, CODE, s->code};
    s->size = v7_gen(rng, &s->source, &place, 1 + rng_below(rng, PACKETS), s->bytes);
    if (rng_chance(rng, 64))
        s->size = 6 + damage(rng, s->bytes + 6, s->size - 6, ROOM - 6);
    struct v7_trace trace = {&s->source, elems, s->thumb, s->bytes, s->size};
    v7_patch(&trace);
    s->size = trace.size;
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

/* Returns whether the lines are equal, up to where OpenCSD gave up: it ends at an empty return stack. */
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

/* Checks a stream of a simulated core. It is sound, so OpenCSD must not give up. */
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
        int core; /* 1: streams of a simulated core */
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
