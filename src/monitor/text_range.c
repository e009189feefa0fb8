/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a trace whose time is a range (docs/tessla-language.md A.9). Their events are merged by time: each
 * line that is read takes the earliest pending event. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/text_in.h"

#include "base/room.h"

/* most lines that may wait behind a range */
enum {
    RANGES_MOST = 1 << 20
};

void ct_mon_text_ranges_free(struct ct_mon_text_reader *r)
{
    for (size_t i = 0; i < r->nranges; i++) {
        free(r->ranges[i].variable);
        free(r->ranges[i].value);
    }
    free(r->ranges);
    r->ranges = NULL;
    r->nranges = 0;
}

/* Orders the heap: the earliest event is on top; for equal times, the one of the earlier line. */
static bool before(const struct ct_mon_text_range *a, const struct ct_mon_text_range *b)
{
    return a->next != b->next ? a->next < b->next : a->line < b->line;
}

static void swap(struct ct_mon_text_range *a, struct ct_mon_text_range *b)
{
    const struct ct_mon_text_range x = *a;
    *a = *b;
    *b = x;
}

static void sift_up(struct ct_mon_text_range *heap, size_t i)
{
    for (; i && before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct ct_mon_text_range *heap, size_t count)
{
    for (size_t i = 0, child = 1; child < count; i = child, child = 2 * i + 1) {
        if (child + 1 < count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &heap[i]))
            return;
        swap(&heap[i], &heap[child]);
    }
}

/* Stores a line. Takes ownership of `variable`, even on failure. */
static int keep(struct ct_monitor *m, struct ct_mon_text_range range, char *variable, const char *p,
                const char *end)
{
    struct ct_mon_text_reader *r = m->reader;
    char *value = strndup(p, (size_t)(end - p));
    const bool fits = value && CT_MAKE_ROOM(r->ranges, r->ranges_cap, r->nranges + 1);
    if (!fits || r->nranges == RANGES_MOST) {
        free(value);
        free(variable);
        return fits
                   ? ct_mon_run_fail(m, CT_ERR_LIMIT,
                                     "trace: more than a million lines wait for an earlier range of times, "
                                     "which is the limit; write lines and ranges in the order of their times")
                   : ct_fail_nomem(m->ctx, "trace");
    }
    range.line = r->line;
    range.value = value;
    range.variable = variable;
    r->ranges[r->nranges] = range;
    sift_up(r->ranges, r->nranges++);
    return CT_OK;
}

static bool accept(const char **p, const char *end, const char *word)
{
    const size_t n = strlen(word);
    *p = ct_mon_text_skip(*p, end);
    if ((size_t)(end - *p) < n || memcmp(*p, word, n) != 0)
        return false;
    *p = ct_mon_text_skip(*p + n, end);
    return true;
}

/* Reads the bounds "< VAR" or "<= VAR < 9" after the first time. Returns NULL, or what was expected
 * instead. */
static const char *bounds(const char **p, const char *end, struct ct_mon_text_range *range, char **variable)
{
    if (!accept(p, end, "<=") && accept(p, end, "<") &&
        __builtin_add_overflow(range->next, (int64_t)1, &range->next))
        return "a time of at most 2^63-1";
    const char *name = *p;
    *p = ct_mon_text_name_end(name, end);
    if (*p == name || (*name >= '0' && *name <= '9'))
        return "the name of the time in a range";
    *variable = strndup(name, (size_t)(*p - name));
    range->last = -1;
    const bool closed = accept(p, end, "<=");
    if (!closed && !accept(p, end, "<"))
        return NULL;
    const char *behind = ct_mon_text_time(*p, end, &range->last);
    if (!behind)
        return "the end time of the range";
    *p = behind;
    range->last -= !closed;
    range->step = range->last < range->next ? 0 : 1; /* step 0 marks an empty range */
    return NULL;
}

/* Reads "..", "..9" or ",3..9" after the first time. Returns NULL, or what was expected instead. */
static const char *steps(const char **p, const char *end, struct ct_mon_text_range *range, int64_t *step)
{
    int64_t second;
    if (accept(p, end, ",")) {
        const char *behind = ct_mon_text_time(*p, end, &second);
        if (!behind)
            return "the second time of a range";
        *p = behind;
        *step = second - range->next;
    }
    if (!accept(p, end, ".."))
        return "':' or '..' or '<' after the time, which is an Int without a unit";
    range->last = -1;
    if (*p == end || **p == ':')
        return NULL;
    const char *behind = ct_mon_text_time(*p, end, &range->last);
    if (!behind)
        return "the end time of the range";
    *p = behind;
    range->step = range->last < range->next ? 0 : 1;
    return NULL;
}

int ct_mon_text_range_line(struct ct_monitor *m, int64_t first, const char *p, const char *end)
{
    struct ct_mon_text_range range = {.next = first, .step = 1, .last = first};
    int64_t step = 1;
    char *variable = NULL;
    const char *expected = *p == '<' ? bounds(&p, end, &range, &variable) : steps(&p, end, &range, &step);
    const bool empty = range.step == 0;
    if (!expected && !accept(&p, end, ":"))
        expected = "':' after the range";
    const char *name = p;
    p = ct_mon_text_name_end(name, end);
    if (!expected && p == name)
        expected = "the name of a stream";
    if (!expected && step > 0 && (range.last >= 0 || empty || m->reader->limit != UINT64_MAX)) {
        const int32_t input = ct_mon_text_find_input(m, name, (size_t)(p - name));
        if (input < 0 || empty) {
            free(variable);
            return CT_OK;
        }
        if (!variable && !(variable = strdup("t")))
            return ct_fail_nomem(m->ctx, "trace");
        range.step = step;
        range.input = (uint32_t)input;
        return keep(m, range, variable, p, end);
    }
    free(variable);
    if (expected)
        return ct_mon_text_fail_syntax(m, expected);
    if (step > 0)
        return ct_mon_text_fail_at(m, "this range has no end; limit the number of events with --abort-at");
    char text[80];
    snprintf(text, sizeof text, "Non-positive step in time stamp range: %lld", (long long)step);
    return ct_mon_text_fail_at(m, text);
}

int ct_mon_text_range_plain(struct ct_monitor *m, int64_t time, uint32_t input, const char *p,
                            const char *end)
{
    return keep(m, (struct ct_mon_text_range){.next = time, .step = 1, .last = time, .input = input}, NULL, p,
                end);
}

int ct_mon_text_range_next(struct ct_monitor *m)
{
    struct ct_mon_text_reader *r = m->reader;
    if (!r->nranges)
        return CT_OK;
    struct ct_mon_text_range *range = &r->ranges[0];
    const uint64_t line = r->line;
    r->line = range->line; /* for messages */
    const int code = ct_mon_text_event(m, range->next, range->input, range->value,
                                       range->value + strlen(range->value), range->variable);
    r->line = line;
    const bool over = __builtin_add_overflow(range->next, range->step, &range->next) ||
                      (range->last >= 0 && range->next > range->last);
    if (over) {
        free(range->variable);
        free(range->value);
        *range = r->ranges[--r->nranges];
    }
    sift_down(r->ranges, r->nranges);
    return code;
}
