/* SPDX-License-Identifier: Apache-2.0 */
/* Milestones of a run: places that it has to reach, each with an optional deadline. */

#include "live/fractal.h"
#include "base/c_locale.h"
#include "base/require.h"
#include "live/progress.h"

int ct_live_add_milestone(struct ct_live *l, const char *place, double deadline)
{
    uint16_t number;
    CT_REQUIRE_OF(l, place);
    if (l->working)
        return ct_live_refuse(l, __func__);
    if (!l->options.log)
        return ct_fail(l->ctx, CT_ERR_ARG,
                       "milestone %s: the input is not a FRACTAL log, so it has no "
                       "milestones; set options.log",
                       place);
    if (l->milestone_count == LIVE_MILESTONES)
        return ct_fail(l->ctx, CT_ERR_LIMIT,
                       "milestone %s: the run already has %d milestones, which is the "
                       "limit; it is not added",
                       place, LIVE_MILESTONES);
    const int rc = ct_live_place_known(l, place, &number);
    if (rc)
        return rc;
    ct_live_switch(l, number, true);
    l->milestones[l->milestone_count++] =
        (struct ct_live_milestone){.place = number, .deadline = deadline > 0 ? deadline : 0};
    return CT_OK;
}

void ct_live_milestone_hit(struct ct_live *l, uint16_t place, uint64_t cycle)
{
    for (struct ct_live_milestone *m = l->milestones; m < l->milestones + l->milestone_count; m++)
        if (m->place == place && !m->hits++)
            m->first = cycle;
}

/* State of a milestone. */
enum state {
    WAITING,
    REACHED,
    LATE,   /* reached after its deadline */
    MISSED, /* not reached, and the deadline has passed */
};

static const char *const words[] = {"waiting", "reached", "late", "missed"};

/* Returns the state of a milestone; *at is when it was reached, in seconds. */
static enum state look(const struct ct_live *l, const struct ct_live_milestone *m, double *at)
{
    uint64_t clock = 0;
    if (l->streams[0])
        ct_fractal_watch_time(l->streams[0]->log, &clock);
    *at = m->hits && clock ? (double)m->first / (double)clock : 0;
    if (m->hits)
        return m->deadline > 0 && *at > m->deadline ? LATE : REACHED;
    return m->deadline > 0 && ct_live_log_time(l) > m->deadline ? MISSED : WAITING;
}

size_t ct_live_milestones_late(const struct ct_live *l)
{
    size_t late = 0;
    double at;
    for (size_t i = 0; i < l->milestone_count; i++)
        late += look(l, &l->milestones[i], &at) >= LATE;
    return late;
}

void ct_live_put_progress(struct ct_live *l, struct ct_json *j)
{
    size_t reached = 0;
    double at;
    if (!l->milestone_count)
        return;
    const double now = ct_live_log_time(l);
    for (size_t i = 0; i < l->milestone_count; i++)
        reached += l->milestones[i].hits != 0;
    ct_json_object(j, "progress");
    ct_json_real(j, "now_ms", 1e3 * now);
    ct_json_number(j, "reached", reached);
    ct_json_array(j, "milestones");
    for (size_t i = 0; i < l->milestone_count; i++) {
        const struct ct_live_milestone *m = &l->milestones[i];
        const enum state state = look(l, m, &at);
        ct_json_object(j, NULL);
        ct_json_text(j, "place", l->places[m->place].text);
        ct_json_text(j, "state", words[state]);
        ct_json_number(j, "hits", m->hits);
        if (m->hits)
            ct_json_real(j, "at_ms", 1e3 * at);
        if (m->deadline > 0) {
            ct_json_real(j, "deadline_ms", 1e3 * m->deadline);
            ct_json_real(j, "left_ms", 1e3 * (m->deadline - (m->hits ? at : now)));
        }
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
    ct_json_object_end(j);
}

int ct_live_progress_write(struct ct_live *l, ct_write_fn *write, void *user)
{
    CT_C_LOCALE;
    struct ct_live_text text = {0};
    CT_REQUIRE_OF(l, write);
    ct_live_say_progress(l, &text);
    return ct_live_text_give(&text, l->ctx, "milestones", write, user);
}

void ct_live_say_progress(const struct ct_live *l, struct ct_live_text *out)
{
    double at;
    for (size_t i = 0; i < l->milestone_count; i++) {
        const struct ct_live_milestone *m = &l->milestones[i];
        const enum state state = look(l, m, &at);
        ct_live_text_print(out, "milestone ");
        ct_live_text_put(out, l->places[m->place].text);
        ct_live_text_print(out, ": %s", words[state]);
        if (state == REACHED || state == LATE)
            ct_live_text_print(out, " at %.4f ms", 1e3 * at);
        if (m->deadline > 0)
            ct_live_text_print(out, ", deadline %.4f ms", 1e3 * m->deadline);
        ct_live_text_print(out, "\n");
    }
}
