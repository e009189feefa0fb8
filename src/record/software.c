/* SPDX-License-Identifier: Apache-2.0 */
#include "record/software.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "record/software_writer.h"

#define HELD 8192u /* accesses that are sorted at once; then the older half of them is written */

struct held {
    struct ct_software_access access;
    uint64_t number; /* in order of arrival */
};

struct ct_software {
    struct held held[HELD];
    unsigned count;
    uint64_t taken;
    uint64_t clock; /* of the last written access */
    bool is_stm;
    struct ct_itm_writer itm;
    struct ct_stm_writer stm;
};

int ct_software_new(struct ct_ctx *ctx, const struct ct_software_options *options, struct ct_software **out)
{
    const struct ct_software_out to = {
        .ctx = ctx, .sync_period = options->sync_period, .write = options->write, .user = options->user};
    struct ct_software *made = calloc(1, sizeof *made);
    *out = made;
    if (!made)
        return ct_fail_nomem(ctx, "software trace");
    made->is_stm = options->source->protocol == CT_PROTOCOL_STM;
    made->itm.out = made->stm.out = to;
    ct_itm_writer_init(&made->itm);
    return made->is_stm ? ct_stm_writer_init(&made->stm, options->source) : CT_OK;
}

void ct_software_free(struct ct_software *software)
{
    if (software)
        ct_stm_writer_end(&software->stm);
    free(software);
}

void ct_software_source(enum ct_protocol protocol, uint8_t trace_id, struct ct_source *source)
{
    *source = (struct ct_source){.name = protocol == CT_PROTOCOL_STM ? "STM" : "ITM",
                                 .protocol = (uint8_t)protocol,
                                 .trace_id = trace_id};
    /* EN, TSEN, SYNCEN; TRACEID (IHI 0054 3.3.7) */
    source->regs.stmtcsr = protocol == CT_PROTOCOL_STM ? 0x07u | (uint32_t)trace_id << 16 : 0;
    /* ITMENA, SYNCENA, TXENA; GTSFREQ: a timestamp behind each packet; TraceBusID (DDI 0403E C1.7.6) */
    source->regs.itmtcr = protocol == CT_PROTOCOL_ITM ? 0x0du | 3u << 10 | (uint32_t)trace_id << 16 : 0;
}

static int put_access(struct ct_software *s, struct ct_software_access *a)
{
    if (a->clock < s->clock)
        a->clock = s->clock;
    s->clock = a->clock;
    return s->is_stm ? ct_stm_writer_put(&s->stm, a) : ct_itm_writer_put(&s->itm, a);
}

static int by_clock(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->access.clock != y->access.clock)
        return x->access.clock < y->access.clock ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Writes the oldest `count` held accesses. */
static int put_oldest(struct ct_software *s, unsigned count)
{
    int rc = CT_OK;
    qsort(s->held, s->count, sizeof *s->held, by_clock);
    for (unsigned i = 0; i < count && !rc; i++)
        rc = put_access(s, &s->held[i].access);
    memmove(s->held, s->held + count, (s->count - count) * sizeof *s->held);
    s->count -= count;
    return rc;
}

int ct_software_take(struct ct_software *s, const struct ct_software_access *access)
{
    const int rc = s->count == HELD ? put_oldest(s, HELD / 2) : CT_OK;
    s->held[s->count++] = (struct held){*access, s->taken++};
    return rc;
}

int ct_software_flush(struct ct_software *s)
{
    const int rc = put_oldest(s, s->count);
    return rc || !s->is_stm ? rc : ct_stm_writer_fill(&s->stm);
}

uint64_t ct_software_disabled(const struct ct_software *s)
{
    return s->itm.disabled;
}

int ct_software_restart(struct ct_software *s)
{
    const int rc = ct_software_flush(s);
    s->itm.begun = s->stm.begun = false;
    return rc;
}
