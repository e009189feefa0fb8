/* SPDX-License-Identifier: Apache-2.0 */
/* Random streams of ETMv4 and ETE along random programs, without speculation: what coretap's library gives
 * its client is what OpenCSD 1.3.3 gives, call by call: elements, packets, messages, answers, with pauses,
 * flushes and resets. Of sound streams that is all of them. Of damaged ones a few differ, where 1.3.3 reads
 * memory that it has freed, or says of code that is none what its instructions are; these are counted. A64
 * alone is compared: what A32 and T32 instructions are that the architecture leaves open is not the same.
 * CT_SEED sets the first seed, CT_COUNT the number of streams of each kind, CT_LONG=1 the long tier.
 *
 * usage: test_streams OPENCSD CORETAP */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/player.h"
#include "oracle/stream.h"
#include "support/damage.h"

enum {
    HEAD = 12,      /* bytes that are never damaged: the first alignment packet */
    MOST_WORSE = 20 /* one damaged stream in so many may differ */
};

#define RETURN_STACK (UINT32_C(1) << 12) /* TRCCONFIGR.RS */
#define Q_ELEMENTS   (UINT32_C(3) << 15) /* TRCIDR0.QSUPP */

struct text {
    char *data;
    size_t size;
};

static uint32_t read_regions(const struct player *player, uint64_t addr, uint32_t space, uint32_t size,
                             uint8_t *bytes)
{
    const struct stream *s = player->memory;
    (void)space;
    for (unsigned i = 0; i < s->region_count; i++) {
        const struct ocsd_region *r = &s->regions[i];
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

/* Plays a stream through a library. Returns true when the library crashed, which 1.3.3 does of some damage.
 */
static bool play(struct player player, const struct library *library, const struct stream *s,
                 struct text *out)
{
    const struct sigaction ours = {.sa_handler = on_crash};
    struct sigaction before;
    const struct ct_buffer buffer = {.sources = &s->source, .source_count = 1};
    player.library = library;
    player.buffer = &buffer;
    player.memory = s;
    player.read = read_regions;
    player.out = open_memstream(&out->data, &out->size);
    if (!player.out)
        abort();
    sigaction(SIGSEGV, &ours, &before);
    const bool crashed = sigsetjmp(crash, 1) != 0;
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

/* Tells whether a line is an element of 32-bit code. */
static bool is_32_bit(const char *line)
{
    const char *isa = strstr(line, " isa=");
    return *line == 'E' && isa && isa < line + line_length(line) && isa[5] != '2';
}

/* Compares what the libraries gave, up to the first 32-bit code. Returns true when it is the same; else, and
 * with `say`, shows where it is not. */
static bool is_same(const struct text *theirs, const struct text *ours, bool say)
{
    const char *a = theirs->data, *b = ours->data, *before = a;
    while (*a && line_length(a) == line_length(b) && !memcmp(a, b, line_length(a)) && !is_32_bit(a)) {
        before = a;
        a += line_length(a);
        b += line_length(b);
    }
    if ((!*a && !*b) || is_32_bit(a))
        return true;
    if (say)
        printf("#   both    %.*s#   OpenCSD %.*s#   coretap %.*s", (int)line_length(before), before,
               (int)line_length(a), *a ? a : "(end)\n", (int)line_length(b), *b ? b : "(end)\n");
    return false;
}

/* What is played, and how. */
static void fill(struct rng *rng, bool damaged, struct stream *s, struct player *player)
{
    gen_source(rng, GEN_UNSPECULATED, &s->source);
    s->source.regs.idr0 &= ~Q_ELEMENTS;
    if (s->source.protocol == CT_PROTOCOL_ETE || rng_chance(rng, 128))
        s->source.regs.configr &= ~RETURN_STACK;
    do {
        stream_fill_program(rng, s);
    } while (s->region_count &&
             s->regions[0].addr < REGION_SIZE); /* 1.3.3 reads on at 0 behind the last address */
    stream_fill_trace(rng, s);
    if (damaged)
        s->size = HEAD + damage(rng, s->bytes + HEAD, s->size - HEAD, ROOM - HEAD);
    *player = (struct player){
        .single = 1, .chunk = 64 + rng_below(rng, 5000), .severity = 1 + (int)rng_below(rng, 3)};
    player->create_flags = rng_chance(rng, 64) ? ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS : 0;
    player->wait = rng_chance(rng, 128) ? 1 + rng_below(rng, 20) : 0;
    player->flush = rng_chance(rng, 40) ? 1 + rng_below(rng, 5) : 0;
    player->reset = rng_chance(rng, 40) ? 1 + rng_below(rng, 5) : 0;
}

struct counts {
    uint64_t worse, crashes;
};

/* Plays one stream through both. */
static void compare(uint64_t seed, bool damaged, const struct library *theirs, const struct library *ours,
                    struct counts *counts)
{
    static struct stream s;
    struct rng rng = {seed};
    struct player player;
    struct text their_text = {0}, our_text = {0};
    fill(&rng, damaged, &s, &player);
    const bool crashed = play(player, theirs, &s, &their_text);
    const bool broken = play(player, ours, &s, &our_text);
    counts->crashes += crashed;
    if (broken)
        printf("# CT_SEED=%" PRIu64 ": coretap's library crashes\n", seed);
    if (broken || (!crashed && !is_same(&their_text, &our_text, counts->worse < 3))) {
        printf("# … CT_SEED=%" PRIu64 " CT_COUNT=1, wait %u flush %u reset %u\n", seed, player.wait,
               player.flush, player.reset);
        counts->worse++;
    }
    free(their_text.data);
    free(our_text.data);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"sound streams", "damaged streams"};
    struct library theirs, ours;
    if (argc < 3 || library_load(argv[1], &theirs) || library_load(argv[2], &ours))
        return 2;
    const uint64_t first = test_number("CT_SEED", 1);
    const uint64_t count = test_count(300, 10000);
    int failed = 0;
    printf("TAP version 13\n1..2\n");
    for (int damaged = 0; damaged < 2; damaged++) {
        struct counts counts = {0};
        for (uint64_t seed = first; seed < first + count; seed++)
            compare(seed, damaged, &theirs, &ours, &counts);
        const bool bad = counts.worse > (damaged ? count / MOST_WORSE : 0);
        printf("# %" PRIu64 " streams, %" PRIu64 " that differ, %" PRIu64 " of which OpenCSD crashes\n",
               count, counts.worse, counts.crashes);
        printf("%sok %d - %s\n", bad ? "not " : "", damaged + 1, names[damaged]);
        failed |= bad;
    }
    return failed;
}
