/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how often a program repeated its work, from the times when its functions miss. */
#include "fractal_log/report.h"

#define PHASES_MAX 64   /* most phases of a function */
#define VOTES_MAX  1000 /* most functions that are asked */

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

/* What a function says about the runs. */
struct vote {
    unsigned count;  /* number of its phases */
    unsigned period; /* mean distance of their starts */
};

/* Returns how many votes agree with one of them, on the number and, within an eighth, on the distance. */
static unsigned supporters(const struct vote *votes, unsigned count, const struct vote *of)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        found += votes[i].count == of->count && votes[i].period * 8 <= of->period * 9 &&
                 votes[i].period * 8 >= of->period * 7;
    return found;
}

/* Returns the vote that most others support; of equals the one with more runs. NULL unless it has a companion
 * and three quarters of the votes, and its runs are most of the log: functions of a program that does its
 * work once have phases, too, but no common rhythm. */
static const struct vote *elected(const struct vote *votes, unsigned count)
{
    const struct vote *best = NULL;
    unsigned most = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned n = supporters(votes, count, &votes[i]);
        if (n < most || (n == most && best && votes[i].count <= best->count))
            continue;
        most = n;
        best = &votes[i];
    }
    return most > 1 && most * 4 >= count * 3 && best->count * best->period * 2 >= REPORT_BINS ? best : NULL;
}

/* Finds the phases of a name of the log. Returns 0 unless it is a function with a rhythm. */
static unsigned phases_of(const struct ct_fractal_report *r, size_t name, unsigned start[PHASES_MAX])
{
    size_t count;
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    return r->by_name[name].events && all[name].kind == CT_FRACTAL_FUNCTION
               ? phases(&r->by_name[name], start, PHASES_MAX)
               : 0;
}

/* Lets each function vote for its number of phases. The runs begin where the first function that votes for
 * the elected number begins its phases. */
void ct_fractal_report_find_runs(struct ct_fractal_report *r)
{
    struct vote votes[VOTES_MAX];
    unsigned start[PHASES_MAX], count = 0, first = REPORT_BINS;
    for (size_t i = 0; i < r->name_count && count < VOTES_MAX; i++) {
        const unsigned n = phases_of(r, i, start);
        if (n)
            votes[count++] = (struct vote){n, (start[n - 1] - start[0]) / (n - 1)};
    }
    const struct vote *best = elected(votes, count);
    for (size_t i = 0; best && i < r->name_count; i++) {
        if (phases_of(r, i, start) != best->count || start[0] >= first)
            continue;
        first = start[0];
        for (unsigned n = 0; n < best->count; n++)
            r->run_start[n] = r->start + ct_fractal_part(r->end - r->start, start[n], REPORT_BINS);
    }
    r->runs = best ? best->count : 0;
}
