/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a decoder follows behind the end of memory, when the client's answers to reads before the end
 * have bytes of behind it, as perf's have those of a file behind its mapping. OpenCSD 1.3.3 keeps some of its
 * answers; coretap's library executes the same instructions, in random jumps around the end. CT_SEED sets the
 * first seed, CT_COUNT the number of traces, CT_LONG=1 the long tier.
 *
 * usage: test_behind OPENCSD CORETAP */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/input.h"
#include "opencsd/player.h"
#include "support/rng.h"

enum {
    BASE = 0x10000,
    END = 0x20000,  /* reads from here on have no answer */
    BEHIND = 0x100, /* bytes after the end that other answers have */
    FAR = 24,       /* places that are not near the end, more than OpenCSD has answers */
    FAR_STEP = 0x200,
    WORDS = (END + BEHIND - BASE) / 4,
    ROOM = 8192,
};

struct trace {
    uint32_t words[WORDS]; /* the program: NOPs, and branches to the next instruction */
    uint8_t bytes[ROOM];
    size_t size;
};

static uint32_t read_over(const struct player *player, uint64_t addr, uint32_t space, uint32_t size,
                          uint8_t *bytes)
{
    const struct trace *t = player->memory;
    (void)space;
    if (addr < BASE || addr >= END)
        return 0;
    const uint64_t left = END + BEHIND - addr;
    const uint32_t n = left < size ? (uint32_t)left : size;
    memcpy(bytes, (const uint8_t *)t->words + (addr - BASE), n);
    return n;
}

static void put(struct trace *t, const void *bytes, size_t size)
{
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

/* Adds an address packet with these header bytes. */
static void put_address(struct trace *t, const char *header, uint64_t addr)
{
    const uint8_t fields[] = {addr >> 2 & 0x7f, addr >> 9 & 0x7f, (uint8_t)(addr >> 16), 0, 0, 0, 0, 0};
    put(t, header, strlen(header));
    put(t, fields, sizeof fields);
}

/* Returns a random address, mostly near the end of memory. */
static uint64_t place(struct rng *rng)
{
    if (rng_chance(rng, 96))
        return BASE + FAR_STEP * rng_below(rng, FAR) + 4 * rng_below(rng, 64);
    return END - 2 * BEHIND + 4 * rng_below(rng, 3 * BEHIND / 4);
}

/* Adds a jump with some atoms, perhaps a context or an exception. */
static void put_jump(struct rng *rng, struct trace *t)
{
    const bool has_context = rng_chance(rng, 8);
    put_address(t, has_context ? "\x85" : "\x9d", place(rng));
    if (has_context)
        put(t, "\x31", 1);
    for (unsigned n = 1 + rng_below(rng, 6); n; n--)
        put(t, rng_chance(rng, 200) ? "\xf7" : "\xf6", 1);
    if (rng_chance(rng, 16))
        put_address(t, "\x06\x03\x9d", END - BEHIND + 4 * rng_below(rng, BEHIND / 2));
}

static void fill(struct rng *rng, struct trace *t)
{
    static const uint8_t begin[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 1, 0};
    static const unsigned steps[] = {3, 5, 8, 13, 40, 70, 1000};
    const unsigned step = steps[rng_below(rng, sizeof steps / sizeof *steps)];
    for (unsigned i = 0; i < WORDS; i++)
        t->words[i] = i % step == step - 1 ? 0x54000020 : 0xd503201f;
    t->size = 0;
    put(t, begin, sizeof begin);
    put_address(t, "\x85", place(rng));
    put(t, "\x31\xf7", 2);
    for (unsigned n = 1 + rng_below(rng, 80); n; n--)
        put_jump(rng, t);
}

/* Returns what a client gets. The caller frees it. */
static char *play(struct player player, const struct library *library)
{
    char *text = NULL;
    size_t size;
    player.library = library;
    player.out = open_memstream(&text, &size);
    if (!player.out)
        abort();
    const struct trace *t = player.memory;
    player_play(&player, t->bytes, t->size);
    fclose(player.out);
    return text;
}

static bool check(uint64_t seed, const struct library *theirs, const struct library *ours)
{
    static struct trace t;
    static const struct ct_source source = {.name = "core",
                                            .protocol = CT_PROTOCOL_ETM4,
                                            .trace_id = 0x10,
                                            .arch = {.major = 8, .profile = CT_PROFILE_A},
                                            .regs = {.idr0 = 0x28000ea1,
                                                     .idr1 = 0x4100f433,
                                                     .idr2 = 0x488,
                                                     .devarch = 0x47705a13,
                                                     .configr = 0xc1,
                                                     .traceidr = 0x10}};
    static const struct ct_buffer buffer = {.sources = &source, .source_count = 1};
    struct rng rng = {seed};
    fill(&rng, &t);
    const struct player player = {.buffer = &buffer,
                                  .single = 1,
                                  .chunk = 1 + rng_below(&rng, 300),
                                  .severity = 1,
                                  .memory = &t,
                                  .read = read_over};
    char *wanted = play(player, theirs), *got = play(player, ours);
    const bool same = !strcmp(wanted, got);
    free(wanted);
    free(got);
    return same;
}

int main(int argc, char **argv)
{
    struct library theirs, ours;
    if (argc < 3 || library_load(argv[1], &theirs) || library_load(argv[2], &ours))
        return 2;
    const uint64_t first = test_number("CT_SEED", 1), count = test_count(300, 10000);
    unsigned differ = 0;
    printf("TAP version 13\n1..1\n");
    for (uint64_t seed = first; seed < first + count; seed++)
        if (!check(seed, &theirs, &ours) && differ++ < 3)
            printf("# CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed);
    printf("# %" PRIu64 " traces, %u that differ\n%sok 1 - code behind the end of memory\n", count, differ,
           differ ? "not " : "");
    return differ != 0;
}
