/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/event_columns.h"

void ct_event_columns_add(struct ct_event_columns *c, const struct ct_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ct_event *event = &events[i];
        if (event->type == CT_EVENT_BRANCH && !event->unknown) {
            c->targets[c->count] = event->value;
            c->cycles[c->count++] = event->cycle;
        } else {
            c->marks[c->mark_count++] = (struct ct_event_mark){.event = *event, .before = c->count};
        }
    }
}

struct ct_event_batch ct_event_columns_batch(const struct ct_event_columns *c)
{
    return (struct ct_event_batch){.count = c->count,
                                   .targets = c->targets,
                                   .cycles = c->cycles,
                                   .mark_count = c->mark_count,
                                   .marks = c->marks};
}
