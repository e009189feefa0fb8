/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the runs of a program at conditional branches that were not taken. A joined run goes from the target
 * of a branch to the next taken branch, as between two entries of a branch stack, because perf2bolt counts
 * fall-through between blocks only inside of runs. The executions of each instruction and branch stay the
 * same. Counts do not tell which run continued behind a branch, so the runs that end at the branch continue
 * in the order of their list. */
#include "base/search.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

struct joining {
    const struct ct_profile_view *view;
    struct ct_cover_item *runs; /* the first `start_count` are sorted by address; joined runs follow */
    size_t start_count, count;
    size_t *first; /* by run: head of the list of runs that end where it begins */
    size_t *next;  /* by run: next one in such a list */
};

static int by_start(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = ((const struct ct_cover_item *)b)->from;
    return ct_order(x, y);
}

/* Returns how often the branch at `addr` was not taken. */
static uint64_t not_taken(const struct ct_profile_view *view, uint64_t addr)
{
    size_t low = 0;
    for (size_t high = view->item_count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const struct ct_cover_item *item = &view->items[middle];
        if (item->kind < CT_COVER_NOT || item->from < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < view->item_count && view->items[low].from == addr ? view->items[low].count : 0;
}

/* Puts a run into the list of those that end where another run begins. The other run begins at index `from`
 * or later. */
static void put(struct joining *j, size_t run, size_t from)
{
    const struct ct_cover_item *rest = j->runs + from;
    const struct ct_cover_item *at =
        bsearch(&j->runs[run].to, rest, j->start_count - from, sizeof *rest, by_start);
    while (at && at > rest && at[-1].from == at->from)
        at--;
    if (!at)
        return;
    j->next[run] = j->first[at - j->runs];
    j->first[at - j->runs] = run;
}

/* Continues `count` executions of the run `before` in `behind`, which then begin where `before` does. When
 * `behind` has more executions, makes a new run: in the slot of `before` when nothing is left of it, else at
 * the end. */
static void pass(struct joining *j, size_t before, size_t behind, uint64_t count, size_t end)
{
    struct ct_cover_item *runs = j->runs;
    struct ct_cover_item joined = runs[behind];
    joined.from = runs[before].from;
    joined.count = count;
    runs[before].count -= count;
    if (runs[behind].count == count) {
        runs[behind] = joined;
        return;
    }
    runs[behind].count -= count;
    const size_t made = runs[before].count ? j->count++ : before;
    runs[made] = joined;
    put(j, made, end);
}

/* Joins the runs [begin, end), which begin at one address, to those that end there. */
static void join_at(struct joining *j, size_t begin, size_t end)
{
    size_t before = j->first[begin];
    uint64_t left = before == NONE ? 0 : not_taken(j->view, ct_profile_last(j->view, &j->runs[before]));
    for (size_t behind = begin; behind < end && before != NONE && left;) {
        const uint64_t ends = j->runs[before].count;
        const uint64_t begins = j->runs[behind].count;
        const uint64_t fewer = ends < begins ? ends : begins;
        const uint64_t count = left < fewer ? left : fewer;
        const size_t next = j->next[before];
        pass(j, before, behind, count, end);
        left -= count;
        before = count == ends ? next : before;
        behind += count == begins ? 1 : 0;
    }
    for (size_t i = begin; i < end; i++)
        put(j, i, end);
}

/* Copies the runs and joins them. There is room for one more run at each address, because among the runs
 * joined there only the last leaves a remainder of both runs. CT_ERR_NOMEM. */
static int join(struct joining *j)
{
    const size_t room = 2 * j->start_count + 1;
    j->runs = calloc(room, sizeof *j->runs);
    j->first = malloc(room * sizeof *j->first);
    j->next = malloc(room * sizeof *j->next);
    if (!j->runs || !j->first || !j->next)
        return CT_ERR_NOMEM;
    memcpy(j->runs, j->view->items, j->start_count * sizeof *j->runs);
    for (size_t i = 0; i < room; i++)
        j->first[i] = j->next[i] = NONE;
    for (size_t begin = 0, end = 0; begin < j->start_count; begin = end) {
        while (end < j->start_count && j->view->items[end].from == j->view->items[begin].from)
            end++;
        join_at(j, begin, end);
    }
    return CT_OK;
}

int ct_profile_join(const struct ct_profile_view *view, struct ct_cover_item **runs, size_t *count)
{
    struct joining j = {.view = view};
    while (j.count < view->item_count && view->items[j.count].kind == CT_COVER_RUN)
        j.count++;
    j.start_count = j.count;
    const int rc = join(&j);
    *count = 0;
    for (size_t i = 0; !rc && i < j.count; i++)
        if (j.runs[i].count)
            j.runs[(*count)++] = j.runs[i];
    free(j.first);
    free(j.next);
    if (rc)
        free(j.runs);
    *runs = rc ? NULL : j.runs;
    return rc;
}
