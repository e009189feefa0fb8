/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in a saved file: those that are read many at a time, and the same ones line by line. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/cover.h"
#include "support/output.h"
#include "support/seeds.h"

enum {
    LINES = 40,
    LINE_MOST = 128,
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Writes a line as a saved file has it, or one that is read all the same. */
static void make_line(struct rng *rng, char line[LINE_MOST])
{
    static const char *const isas[] = {"", " a32", " t32"};
    const unsigned from_digits = rng_chance(rng, 30) ? 1 + rng_below(rng, 18) : 1;
    const uint64_t from = rng_wide(rng, rng_chance(rng, 60) ? 64 : 32), to = rng_wide(rng, 64);
    const uint64_t count = rng_wide(rng, rng_chance(rng, 60) ? 64 : 30);
    switch (rng_below(rng, 3)) {
    case 0:
        snprintf(line, LINE_MOST, "run %0*" PRIx64 " %" PRIx64 " %" PRIu64 "%s", (int)from_digits, from, to,
                 count, isas[rng_chance(rng, 60) ? rng_below(rng, 3) : 0]);
        break;
    case 1:
        snprintf(line, LINE_MOST, "taken %" PRIx64 " %0*" PRIx64 " %" PRIu64, to, (int)from_digits, from,
                 count);
        break;
    default:
        snprintf(line, LINE_MOST, "not %" PRIx64 " %0*" PRIu64, from, (int)from_digits, count);
    }
}

/* Changes a letter, leaves one out, or puts one in. Never to a line break. */
static void damage(struct rng *rng, char line[LINE_MOST])
{
    const size_t size = strlen(line), at = rng_below(rng, (uint32_t)size);
    static const char letters[] = " 0123456789abcdefgA:/`-\t\x80\xff";
    const char letter = letters[rng_below(rng, sizeof letters - 1)];
    switch (rng_below(rng, 3)) {
    case 0:
        line[at] = letter;
        break;
    case 1:
        memmove(line + at, line + at + 1, size - at);
        break;
    default:
        if (size + 1 < LINE_MOST) {
            memmove(line + at + 1, line + at, size - at + 1);
            line[at] = letter;
        }
    }
}

/* Loads a file of some lines. With `apart` a context stands in front of each, so that it is read alone.
 * Returns what was loaded as it is saved, or nothing where the file was refused. */
static struct output load(char lines[][LINE_MOST], bool apart)
{
    struct output file = {0}, saved = {0};
    struct ct_cover *cover;
    output_line(&file, "coretap-coverage 1\nprogram 0 ffffffff - p");
    for (int i = 0; i < LINES; i++) {
        if (!i || apart)
            output_line(&file, "context 0 0 0 0 0");
        output_line(&file, lines[i]);
    }
    must(ct_cover_new(NULL, &cover) == CT_OK);
    const int rc = ct_analysis_load(ct_cover_analysis(cover), "lines", file.text, file.size);
    must(!rc || rc == CT_ERR_FORMAT);
    must(rc || ct_analysis_save(ct_cover_analysis(cover), output_append, &saved) == CT_OK);
    output_free(&file);
    ct_cover_free(cover);
    return saved;
}

static uint64_t refused;

/* Tells whether a file of one seed is read in both ways alike. `refused` counts those that neither takes. */
static int check(uint64_t seed)
{
    struct rng rng = {seed};
    static char lines[LINES][LINE_MOST];
    for (int i = 0; i < LINES; i++) {
        make_line(&rng, lines[i]);
        if (i && rng_chance(&rng, 20)) /* which adds up */
            memcpy(lines[i], lines[rng_below(&rng, (uint32_t)i)], LINE_MOST);
    }
    if (rng_chance(&rng, 128))
        damage(&rng, lines[rng_below(&rng, LINES)]);
    struct output together = load(lines, false), apart = load(lines, true);
    const bool ok = output_same(&together, &apart);
    refused += !together.size;
    output_free(&together);
    output_free(&apart);
    return ok;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(1, 3000, 200000);
    const int ok = seeds_hold(seeds, 1, check, 1,
                              "counts that are read many at a time are those that are read line by line");
    printf("# %" PRIu64 " files were refused\n", refused);
    return ok ? 0 : 1;
}
