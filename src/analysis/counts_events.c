/* SPDX-License-Identifier: Apache-2.0 */
/* Counts events by type, and software trace by port. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/counts.h"
#include "base/addr_map.h"
#include "base/ctx.h"
#include "base/room.h"
#include "coretap/event.h"

struct stream {
    struct ct_counts_stream stream; /* must be the first member */
    uint64_t types[CT_EVENT_TEXT];
    struct ct_addr_map ports; /* maps a port to its index in the arrays below */
    struct port {
        uint64_t port, count;
    } * all;
    size_t count;
};

static int add_port(const struct ct_counts *c, struct stream *s, uint64_t port)
{
    uint32_t number = ct_addr_map_get(&s->ports, port);
    if (number == CT_ADDR_NONE) {
        number = (uint32_t)s->count;
        if (!CT_PUSH_ROOM(s->all, s->count) || ct_addr_map_put(&s->ports, port, number))
            return ct_fail_nomem(c->analysis.ctx, "events");
        s->all[s->count++] = (struct port){.port = port};
    }
    s->all[number].count++;
    return CT_OK;
}

static int take(struct ct_counts *c, struct ct_counts_stream *stream, const struct ct_analysis_batch *batch)
{
    struct stream *s = (struct stream *)stream;
    int rc = CT_OK;
    s->types[CT_EVENT_BRANCH] += batch->events->count;
    for (size_t i = 0; i < batch->events->mark_count && !rc; i++) {
        const struct ct_event *event = &batch->events->marks[i].event;
        if (event->type < CT_EVENT_TEXT)
            s->types[event->type]++;
        if (event->type == CT_EVENT_SW)
            rc = add_port(c, s, event->extra);
    }
    return rc;
}

static int end(struct ct_counts *c, struct ct_counts_stream *stream)
{
    static const char *const names[CT_EVENT_TEXT] = {
        "branch",   "start", "hardware",  "exception",    "exception-return", "context", "timestamp",
        "trace-on", "gap",   "no-access", "unknown-path", "transaction",      "marker",  "software",
        "end",      "port",  "dwt",
    };
    const struct stream *s = (const struct stream *)stream;
    int rc = CT_OK;
    for (size_t i = 0; i < CT_EVENT_TEXT && !rc; i++)
        rc = s->types[i] ? ct_counts_add(c, names[i], s->types[i]) : CT_OK;
    for (size_t i = 0; i < s->count && !rc; i++) {
        char name[64] = "port unknown";
        if (s->all[i].port != CT_SW_PORT_UNKNOWN)
            snprintf(name, sizeof name, "port %" PRIx64 ":%" PRIx64, s->all[i].port >> 16,
                     s->all[i].port & 0xffff);
        rc = ct_counts_add(c, name, s->all[i].count);
    }
    return rc;
}

static void free_stream(struct ct_counts_stream *stream)
{
    struct stream *s = (struct stream *)stream;
    ct_addr_map_free(&s->ports);
    free(s->all);
}

static const struct ct_counts_way way = {sizeof(struct stream), take, NULL, end, free_stream};

static const struct ct_analysis_kind kind =
    CT_COUNTS_KIND("events", "coretap merge --kind events", CT_INPUT_EVENTS);

const struct ct_analysis_kind *ct_event_counts_kind(void)
{
    return &kind;
}

int ct_event_counts_new(struct ct_ctx *ctx, struct ct_counts **out)
{
    return ct_counts_new(ctx, &kind, &way, out);
}
