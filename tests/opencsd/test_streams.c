/* SPDX-License-Identifier: Apache-2.0 */
/* Random streams of ETMv4 and ETE along random programs, sound and damaged: what coretap's library gives its
 * client is what OpenCSD gives, call by call. CT_SEED sets the first seed, CT_COUNT the number of streams.
 *
 * usage: test_streams OPENCSD CORETAP */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "opencsd/player.h"
#include "support/code_gen.h"
#include "support/damage.h"
#include "support/etm4_gen.h"

enum {
    STREAM = 300, /* packets */
    ROOM = STREAM * 24,
    HEAD = 12,
    REGIONS = 6,
    REGION_SIZE = 4096,
};

struct region {
    uint64_t addr;
    uint32_t size;
    uint32_t space;
    const uint8_t *bytes;
};
#define ocsd_region region

struct stream {
    struct ct_source source;
    uint8_t code[REGIONS][REGION_SIZE];
    struct ocsd_region regions[REGIONS];
    struct gen_region gen_regions[REGIONS];
    uint16_t waypoints[REGIONS][REGION_SIZE / 2];
    unsigned region_count;
    uint8_t bytes[ROOM];
    size_t size;
};

static unsigned find_waypoints(const struct ocsd_region *r, enum ct_isa isa, const struct ct_arch *arch,
                               uint16_t *out)
{
    struct ct_insn insn = {.size = 4};
    unsigned n = 0;
    for (uint32_t at = 0; at + 4 <= r->size; at += insn.size) {
        uint32_t word = ct_load32(r->bytes + at);
        if (isa == CT_ISA_A64)
            ct_insn_decode_a64(word, r->addr + at, arch, &insn);
        else if (isa == CT_ISA_A32)
            ct_insn_decode_a32(word, r->addr + at, arch, &insn);
        else
            ct_insn_decode_t32(word << 16 | word >> 16, r->addr + at, arch, &insn);
        if (insn.type == CT_INSN_BR || insn.type == CT_INSN_IBR || insn.type == CT_INSN_ISB)
            out[n++] = (uint16_t)at;
    }
    return n;
}

/* Code of one state (64-bit or 32-bit) in some places, near each other and not. */
static void fill_program(struct rng *rng, struct stream *s)
{
    int ete = s->source.protocol ==
              CT_PROTOCOL_ETE; /* mostly A64: a source address cannot change the instruction set */
    int sf = s->source.arch.profile == CT_PROFILE_A && (ete || rng_chance(rng, 150));
    int m = s->source.arch.profile == CT_PROFILE_M;
    uint64_t base = sf ? rng_wide(rng, 48) : rng_wide(rng, 31);
    int thumb = !sf && (m || rng_chance(rng, 128)); /* one instruction set: code of another one is noise */
    s->region_count = rng_below(rng, REGIONS + 1);
    base = (base & ~UINT64_C(0xffff)) | 0x10000;
    for (unsigned i = 0; i < s->region_count; i++) {
        enum ct_isa isa = sf ? CT_ISA_A64 : thumb ? CT_ISA_T32 : CT_ISA_A32;
        uint32_t size = REGION_SIZE - (rng_below(rng, 2) ? 4 * rng_below(rng, 900) : 0);
        uint32_t space = rng_chance(rng, 40) ? CT_SPACE_EL1N | CT_SPACE_EL2N : 0x1f;
        code_fill(rng, isa, s->code[i], size);
        s->regions[i] = (struct ocsd_region){base, size, space, s->code[i]};
        s->gen_regions[i] = (struct gen_region){
            .addr = base,
            .size = size,
            .is = (uint8_t)thumb,
            .sf = (uint8_t)sf,
            .waypoints = s->waypoints[i],
            .waypoint_count = find_waypoints(&s->regions[i], isa, &s->source.arch, s->waypoints[i]),
        };
        base += rng_chance(rng, 128) ? REGION_SIZE : 0x10000u * (1 + rng_below(rng, 4));
    }
}

static void fill_trace(struct rng *rng, struct stream *s)
{
    struct ct_etm4_encoder *encoder;
    struct ct_etm4_packet packets[4];
    struct gen gen;
    size_t len;
    gen_init(&gen, rng, &s->source);
    gen.regions = s->gen_regions;
    gen.region_count = s->region_count;
    ct_etm4_encoder_new(NULL, &s->source, &encoder);
    s->size = 0;
    for (unsigned count = 0; count < STREAM;) {
        unsigned n = count ? gen_sensible(&gen, packets) : gen_prologue(&gen, packets);
        for (unsigned i = 0; i < n; i++, count++)
            if (!ct_etm4_encode_packet(encoder, &packets[i], s->bytes + s->size, ROOM - s->size, &len))
                s->size += len;
    }
    ct_etm4_encoder_free(encoder);
}

static uint32_t read_regions(const struct player *player, uint64_t addr, uint32_t space, uint32_t size,
                             uint8_t *bytes)
{
    const struct stream *s = player->memory;
    (void)space;
    for (unsigned i = 0; i < s->region_count; i++) {
        const struct region *r = &s->regions[i];
        if (addr < r->addr || addr - r->addr >= r->size)
            continue;
        const uint64_t left = r->size - (addr - r->addr);
        const uint32_t n = left < size ? (uint32_t)left : size;
        memcpy(bytes, r->bytes + (addr - r->addr), n);
        return n;
    }
    return 0;
}

static sigjmp_buf crash;
static void on_crash(int signal)
{
    siglongjmp(crash, signal);
}

struct text {
    char *data;
    size_t size;
};

static int play(struct player player, const struct library *library, const struct stream *s, struct text *out)
{
    const struct sigaction ours = {.sa_handler = on_crash};
    struct sigaction before;
    const struct ct_buffer buffer = {.sources = &s->source, .source_count = 1};
    player.library = library;
    player.buffer = &buffer;
    player.memory = s;
    player.read = read_regions;
    player.out = open_memstream(&out->data, &out->size);
    sigaction(SIGSEGV, &ours, &before);
    volatile int crashed = sigsetjmp(crash, 1) != 0;
    if (!crashed)
        player_play(&player, s->bytes, s->size);
    sigaction(SIGSEGV, &before, NULL);
    fclose(player.out);
    return crashed;
}

static size_t line_length(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? (size_t)(end - text) + 1 : strlen(text);
}

static int compare(const struct text *a, const struct text *b, const char *names)
{
    const char *x = a->data, *y = b->data;
    const char *before[6] = {x, x, x, x, x, x};
    while (*x && line_length(x) == line_length(y) && !memcmp(x, y, line_length(x))) {
        if (*x == 'E' && (strstr(x, " isa=0") || strstr(x, " isa=1 ")) &&
            ((strstr(x, " isa=0") && strstr(x, " isa=0") < x + line_length(x)) ||
             (strstr(x, " isa=1 ") && strstr(x, " isa=1 ") < x + line_length(x))) &&
            getenv("A64"))
            return 1;
        memmove(before, before + 1, 5 * sizeof *before);
        before[5] = x;
        x += line_length(x);
        y += line_length(y);
    }
    if (!*x && !*y)
        return 1;
    for (int i = 0; i < 6; i++)
        printf("#   both    %.*s", (int)line_length(before[i]), before[i]);
    for (int i = 0; i < 5; i++, x += line_length(x))
        printf("#   OpenCSD %.*s", (int)line_length(x), x);
    for (int i = 0; i < 5; i++, y += line_length(y))
        printf("#   coretap %.*s", (int)line_length(y), y);
    (void)names;
    return 0;
}

int main(int argc, char **argv)
{
    static struct stream s;
    struct library theirs, ours;
    if (argc < 3 || library_load(argv[1], &theirs) || library_load(argv[2], &ours))
        return 2;
    const uint64_t first = getenv("CT_SEED") ? strtoull(getenv("CT_SEED"), NULL, 0) : 1;
    const uint64_t count = getenv("CT_COUNT") ? strtoull(getenv("CT_COUNT"), NULL, 0) : 200;
    const char *mode = getenv("MODE") ? getenv("MODE") : "";
    uint64_t crashes = 0, bad = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct rng rng = {seed};
        gen_source(&rng,
                   strchr(mode, 's') && rng_chance(&rng, 128) ? GEN_DECODABLE
                   : strchr(mode, (int)65)                    ? GEN_ANY
                                                              : GEN_UNSPECULATED,
                   &s.source);
        if (!strchr(mode, 'r'))
            s.source.regs.configr &= ~(1u << 12);
        if (s.source.regs.idr8)
            s.source.regs.configr &= ~(1u << 12);
        s.source.regs.idr0 &= ~(3u << 15);
        fill_program(&rng, &s);
        fill_trace(&rng, &s);
        if (strchr(mode, 100) && rng_chance(&rng, 128))
            s.size = HEAD + damage(&rng, s.bytes + HEAD, s.size - HEAD, ROOM - HEAD);
        struct player player = {.single = 1, .chunk = 1 + rng_below(&rng, 5000), .severity = 3};
        if (rng_chance(&rng, 60))
            player.chunk = 1 + rng_below(&rng, 60);
        if (rng_chance(&rng, 128))
            player.wait = 1 + rng_below(&rng, 20);
        if (rng_chance(&rng, 40))
            player.flush = 1 + rng_below(&rng, 5);
        if (rng_chance(&rng, 40)) {
            player.reset = 1 + rng_below(&rng, 5);
            player.chunk += 50;
        }
        if (strchr(mode, 'p'))
            player.as_packets = 1;
        struct text a = {0}, b = {0};
        int ca = play(player, &theirs, &s, &a), cb = play(player, &ours, &s, &b);
        if (getenv("ALL"))
            printf("--- OpenCSD\n%s--- coretap\n%s", a.data, b.data);
        if (cb) {
            printf("# seed %" PRIu64 ": coretap crashes\n", seed);
            bad++;
        }
        crashes += ca;
        if (!ca && !cb && !compare(&a, &b, "")) {
            const struct ct_source_regs *r = &s.source.regs;
            printf("# seed %" PRIu64 " protocol %u profile %u configr %x idr0 %x idr1 %x idr2 %x idr8 %x "
                   "chunk %u wait %u flush %u reset %u\n",
                   seed, s.source.protocol, s.source.arch.profile, r->configr, r->idr0, r->idr1, r->idr2,
                   r->idr8, player.chunk, player.wait, player.flush, player.reset);
            if (getenv("DUMP")) {
                unsigned long at = 0;
                const char *x = a.data, *y = b.data;
                while (*x && line_length(x) == line_length(y) && !memcmp(x, y, line_length(x))) {
                    if (*x == 'E')
                        at = strtoul(x + 2, NULL, 10);
                    x += line_length(x);
                    y += line_length(y);
                }
                struct text c = {0};
                struct player q = player;
                q.as_packets = 1;
                q.chunk = 100000;
                q.reset = q.flush = 0;
                play(q, &theirs, &s, &c);
                for (x = c.data; *x; x += line_length(x)) {
                    const char *i = strstr(x, "Idx:");
                    unsigned long n = i && i < x + line_length(x) ? strtoul(i + 4, NULL, 10) : 0;
                    if (n && n + 60 > at && n < at + (getenv("WIDE") ? 5000 : 40))
                        printf("#  %.*s", (int)line_length(x), x);
                }
            }
            for (const char *en = a.data; getenv("OPC") && (en = strstr(en, " isa=0 st=")); en++) {
                const char *q = strstr(en, " en=");
                uint64_t at = strtoull(q + 4, NULL, 16) - 4;
                uint8_t w[4];
                struct player pp = {.memory = &s};
                const char *ty = strstr(en, " type=");
                if (read_regions(&pp, at, 0, 4, w) == 4)
                    printf("#op %08x %.8s\n", ct_load32(w), ty);
            }
            bad++;
            if (bad >= (getenv("BAD") ? strtoull(getenv("BAD"), 0, 0) : 3))
                break;
        }
        free(a.data);
        free(b.data);
    }
    printf("%s # %" PRIu64 " crashes of OpenCSD, bad %" PRIu64 "\n", bad ? "not ok" : "ok", crashes, bad);
    return bad != 0;
}
