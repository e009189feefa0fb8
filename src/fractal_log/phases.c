/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how often a program repeated its work, from the times when its functions miss. */
#include "fractal_log/report.h"

/* Returns whether phases follow each other at about the same distance, as in repeated work. Functions that
 * run only at begin and end have no such phases. */
static bool regular(const unsigned *start, unsigned count)
{
    unsigned least = REPORT_BINS, most = 0;
    for (unsigned i = 1; i < count; i++) {
        const unsigned distance = start[i] - start[i - 1];
        least = distance < least ? distance : least;
        most = distance > most ? distance : most;
    }
    return count > 1 && most * 2 <= least * 3 && most <= REPORT_BINS * 6 / 10;
}

/* Finds the phases of a name: groups of bins with events, separated by more than half of its longest pause.
 * Returns 0 when it has no long pause, or no rhythm. */
static unsigned phases(const struct ct_fractal_by_name *n, unsigned *start, unsigned most)
{
    unsigned longest = 0, count = 0;
    int last = -1;
    for (int b = 0; b < REPORT_BINS; b++) {
        if (!(n->bin[b / 8] >> b % 8 & 1))
            continue;
        if (last >= 0 && (unsigned)(b - last) > longest)
            longest = (unsigned)(b - last);
        last = b;
    }
    if (longest < REPORT_BINS / 100)
        return 0;
    last = -1;
    for (int b = 0; b < REPORT_BINS; b++) {
        if (!(n->bin[b / 8] >> b % 8 & 1))
            continue;
        if ((last < 0 || (unsigned)(b - last) * 2 > longest) && count < most)
            start[count++] = (unsigned)b;
        last = b;
    }
    return regular(start, count) ? count : 0;
}

/* Lets each function vote for its number of phases; of equals the higher number wins. The runs begin where
 * the first function that voted for it begins its phases. */
void ct_fractal_report_find_runs(struct ct_fractal_report *r)
{
    enum {
        MOST = 64
    };
    unsigned votes[MOST + 1] = {0}, start[MOST];
    size_t count;
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    for (size_t i = 0; i < r->name_count; i++)
        if (r->by_name[i].events && all[i].kind == CT_FRACTAL_FUNCTION)
            votes[phases(&r->by_name[i], start, MOST)]++;
    unsigned best = 0;
    for (unsigned n = 2; n <= MOST; n++)
        if (votes[n] && votes[n] >= (best ? votes[best] : 1))
            best = n;
    unsigned first = REPORT_BINS;
    for (size_t i = 0; best && i < r->name_count; i++) {
        if (!r->by_name[i].events || all[i].kind != CT_FRACTAL_FUNCTION ||
            phases(&r->by_name[i], start, MOST) != best || start[0] >= first)
            continue;
        first = start[0];
        for (unsigned n = 0; n < best; n++)
            r->run_start[n] = r->start + ct_fractal_part(r->end - r->start, start[n], REPORT_BINS);
    }
    r->runs = best;
}
