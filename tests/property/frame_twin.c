/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that each implementation for this processor reads random frames like the plain reference: same
 * bytes, offsets, marks and statistics. Depends only on src/frame, so that it can be compiled for other
 * processors. CT_SEED sets the first seed, CT_COUNT the number of rounds. */
#include <inttypes.h>
#include <stdio.h>

#include "support/rng.h"
#include "support/demux_result.h"

enum {
    FRAMES = 900,
    SIZE = 16 * FRAMES
};

/* Makes random frames and returns their size. ID bytes are frequent, rare or absent; IDs are those of a few
 * sources or any, and may look like half of a synchronisation word. */
static size_t make_frames(struct rng *rng, uint8_t *bytes)
{
    unsigned ids_of_256 = 1u << rng_below(rng, 9);
    unsigned sources = rng_chance(rng, 200) ? 1 + rng_below(rng, 5) : 128;
    size_t size = SIZE - rng_below(rng, 40);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)rng_next(rng);
        if (i % 2)
            continue;
        bytes[i] &= 0xfe;
        if (rng_chance(rng, ids_of_256))
            bytes[i] = (uint8_t)(rng_below(rng, sources) << 1 | 1);
    }
    for (unsigned n = rng_below(rng, 6); n; n--) {
        size_t at = rng_below(rng, (uint32_t)size - 16);
        for (size_t i = 0; i < (n & 1 ? 4 : 16); i++)
            bytes[at + i] = "\xff\xff\xff\x7f"[i % 4];
    }
    return size;
}

static const char *check(uint64_t seed)
{
    const struct ct_frame_ops *ops;
    static uint8_t bytes[SIZE];
    struct rng rng = {seed};
    size_t size = make_frames(&rng, bytes);
    struct demux_how how = {.framing = (uint8_t)(CT_FRAMING_FRAMES + rng_below(&rng, 3)),
                            .plain = 1,
                            .leave_out = rng_below(&rng, 5)};
    if (how.framing != CT_FRAMING_FRAMES)
        memcpy(bytes, "\xff\xff\xff\x7f", 4);
    struct demux_result plain, fast;
    demux_all(&plain, &how, bytes, size);
    const char *difference = NULL;
    how.plain = 0;
    for (unsigned i = 0; (ops = ct_frame_ops_at(i / 2)) && !difference; i++) {
        how.ops = ops;
        how.seed = i % 2 ? 1 + rng_below(&rng, 1000) : 0;
        demux_all(&fast, &how, bytes, size);
        difference = demux_difference(&plain, &fast);
        demux_result_free(&fast);
    }
    demux_result_free(&plain);
    return difference;
}

int main(void)
{
    uint64_t seed = test_number("CT_SEED", 1), count = test_count(200, 20000);
    const char *difference = NULL;
    for (uint64_t i = 0; i < count && !difference; i++) {
        difference = check(seed + i);
        if (difference)
            printf("# CT_SEED=%" PRIu64 " CT_COUNT=1: %s differ\n", seed + i, difference);
    }
    printf("1..1\n%sok 1 - rows of frames as the plain reference takes them (%s)\n", difference ? "not " : "",
           ct_frame_ops_at(0)->name);
    return difference != NULL;
}
