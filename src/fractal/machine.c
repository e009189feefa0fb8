/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/machine.h"

#include <stdlib.h>

#include "base/options.h"
#include "base/ctx.h"
#include "base/require.h"

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value ? value : fallback;
}

static int read_options(struct ct_ctx *ctx, const struct ct_fractal_options *options,
                        struct ct_fractal_options *out)
{
    const int rc = ct_options_read(ctx, "ct_fractal_new", options, out, sizeof *out);
    if (rc)
        return rc;
    out->rtlb_sets = or_default(out->rtlb_sets, 512);
    out->rtlb_ways = or_default(out->rtlb_ways, 4);
    out->watermarks = or_default(out->watermarks, 4096);
    out->points = or_default(out->points, 4096);
    out->ring_bytes = or_default(out->ring_bytes, 256 * 1024);
    out->ranges = out->ranges ? out->ranges : 16;
    if (out->rtlb_sets > 65536 || (out->rtlb_sets & (out->rtlb_sets - 1)))
        return ct_fail(ctx, CT_ERR_ARG,
                       "fractal: the reverse TLB cannot have %u sets; use a power of two up to 65536",
                       out->rtlb_sets);
    if (out->rtlb_ways > 16)
        return ct_fail(ctx, CT_ERR_ARG, "fractal: the reverse TLB cannot have %u ways; use at most 16",
                       out->rtlb_ways);
    if (out->watermarks < 64 || out->watermarks > 1u << 20)
        return ct_fail(ctx, CT_ERR_ARG, "fractal: the tracer cannot have %u watermarks; use 64 to 1048576",
                       out->watermarks);
    if (out->points > 1u << 20)
        return ct_fail(ctx, CT_ERR_ARG,
                       "fractal: the tracer cannot have %u observation points; use at most 1048576",
                       out->points);
    if (out->ranges > 256)
        return ct_fail(ctx, CT_ERR_ARG, "fractal: the tracer cannot have %llu ranges; use at most 256",
                       (unsigned long long)out->ranges);
    if (out->ring_bytes < 4096 || out->ring_bytes > 1u << 30)
        return ct_fail(ctx, CT_ERR_ARG, "fractal: the event ring cannot have %u bytes; use 4 KiB to 1 GiB",
                       out->ring_bytes);
    return CT_OK;
}

int ct_fractal_new(struct ct_ctx *ctx, const struct ct_fractal_options *options, struct ct_fractal **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_fractal_options o;
    const int err = read_options(ctx, options, &o);
    if (err)
        return err;
    struct ct_fractal *f = calloc(1, sizeof *f);
    if (!f)
        return ct_fail_nomem(ctx, "fractal");
    f->ctx = ctx;
    /* the most that one message can request: a flush of the reverse TLB, or a new range and all points
     * resolved again */
    const uint32_t queue = o.rtlb_sets * o.rtlb_ways + 2 * o.watermarks + 2 * o.points + 256;
    if (ct_helper_init(&f->helper, queue) || ct_ranges_init(&f->config.ranges, (uint32_t)o.ranges) ||
        ct_stalker_init(&f->stalker, o.watermarks, &f->config.ranges, &f->helper, &f->filter) ||
        ct_rtlb_init(&f->rtlb, o.rtlb_sets, o.rtlb_ways, &f->helper) ||
        ct_points_init(&f->points, o.points, &f->helper, &f->filter) ||
        ct_logger_init(&f->logger, o.ring_bytes)) {
        ct_fractal_free(f);
        return ct_fail_nomem(ctx, "fractal");
    }
    f->unit = CT_FRACTAL_LINE - 1;
    f->config.context = ~UINT64_C(0);
    f->config.geometry = 12 | 39 << 8;
    f->config.latch_at = UINT32_MAX;
    *out = f;
    return CT_OK;
}

void ct_fractal_free(struct ct_fractal *f)
{
    if (!f)
        return;
    ct_helper_free(&f->helper);
    ct_ranges_free(&f->config.ranges);
    ct_stalker_free(&f->stalker);
    ct_rtlb_free(&f->rtlb);
    ct_points_free(&f->points);
    ct_logger_free(&f->logger);
    free(f);
}

size_t ct_fractal_module_bytes(const struct ct_fractal *f, unsigned index, const char **name)
{
    if (!f)
        return 0;
    static const char *const names[] = {"translation stalker", "reverse tlb", "observation points",
                                        "invalidation helper", "logger",      "configuration, filter"};
    const size_t bytes[] = {ct_stalker_bytes(&f->stalker),
                            ct_rtlb_bytes(&f->rtlb),
                            ct_points_bytes(&f->points),
                            sizeof f->helper + f->helper.capacity * sizeof *f->helper.queue,
                            sizeof f->logger + f->logger.bytes,
                            sizeof f->config + sizeof f->filter +
                                f->config.ranges.capacity * sizeof *f->config.ranges.range};
    *name = index < sizeof names / sizeof names[0] ? names[index] : NULL;
    return *name ? bytes[index] : 0;
}

static int inconsistent(struct ct_fractal *f, const char *what, uint64_t value)
{
    f->inconsistent++;
    return ct_fail(f->ctx, CT_ERR_FORMAT, "fractal message at %llu: %s 0x%llx; the message was ignored",
                   (unsigned long long)f->time, what, (unsigned long long)value);
}

/* Refuses a message with a time before that of the last one. */
static int goes_back(struct ct_fractal *f, uint64_t time)
{
    f->inconsistent++;
    return ct_fail(f->ctx, CT_ERR_FORMAT,
                   "fractal message at %llu: the time goes back to %llu; the message was ignored",
                   (unsigned long long)f->time, (unsigned long long)time);
}

/* Handles a DVM message. Virtual addresses belong to the low half (TTBR0). */
static int dvm(struct ct_fractal *f, const struct ct_fractal_message *m)
{
    const int every_asid = m->op == CT_FRACTAL_TLBI_ALL || m->op == CT_FRACTAL_TLBI_VA_ALL ||
                           m->op == CT_FRACTAL_TLBI_VA_ALL_LAST;
    f->dvm++;
    if (!every_asid && m->value != f->config.asid)
        return CT_OK;
    if (m->op == CT_FRACTAL_TLBI_ASID || m->op == CT_FRACTAL_TLBI_ALL)
        ct_fractal_tlbi_all(f);
    else
        ct_fractal_tlbi_va(f, m->addr,
                           m->op != CT_FRACTAL_TLBI_VA_LAST && m->op != CT_FRACTAL_TLBI_VA_ALL_LAST);
    return CT_OK;
}

static int take(struct ct_fractal *f, const struct ct_fractal_message *m)
{
    if (m->time < f->time)
        return goes_back(f, m->time);
    if (m->initiator > 63)
        return inconsistent(f, "initiator above 63:", m->initiator);
    f->time = m->time;
    if (m->op <= CT_FRACTAL_WRITE_BACK && m->addr >> 48)
        return inconsistent(f, "the physical address has more than 48 bits:", m->addr);
    if (m->op == CT_FRACTAL_REG_WRITE)
        return ct_fractal_reg_write(f, (uint32_t)m->addr, 8, m->value);
    if (!ct_config_enabled(&f->config))
        return CT_OK;
    switch (m->op) {
    case CT_FRACTAL_READ_ONCE:
    case CT_FRACTAL_READ_SHARED:
    case CT_FRACTAL_READ_CLEAN:
    case CT_FRACTAL_READ_NOT_SHARED_DIRTY:
    case CT_FRACTAL_READ_UNIQUE:
        ct_listener_read(f, m);
        return CT_OK;
    case CT_FRACTAL_CLEAN_SHARED:
    case CT_FRACTAL_CLEAN_INVALID:
    case CT_FRACTAL_MAKE_INVALID:
    case CT_FRACTAL_WRITE:
        if (ct_address_filter_page(&f->filter, m->addr) & CT_FILTER_TABLE)
            ct_stalker_touch(&f->stalker, m->addr);
        return CT_OK;
    case CT_FRACTAL_TLBI_VA:
    case CT_FRACTAL_TLBI_VA_LAST:
    case CT_FRACTAL_TLBI_VA_ALL:
    case CT_FRACTAL_TLBI_VA_ALL_LAST:
    case CT_FRACTAL_TLBI_ASID:
    case CT_FRACTAL_TLBI_ALL:
        return dvm(f, m);
    case CT_FRACTAL_WRITE_BACK:
    case CT_FRACTAL_ICI_VA:
        return CT_OK;
    case CT_FRACTAL_DATA:
        return inconsistent(f, "the data comes without its line:", m->addr);
    default:
        return inconsistent(f, "unknown operation", m->op);
    }
}

int ct_fractal_take_message(struct ct_fractal *f, const struct ct_fractal_message *m)
{
    CT_REQUIRE_OF(f, m);
    if (f->helper.count)
        return ct_fail(f->ctx, CT_ERR_LIMIT,
                       "fractal: %u commands are waiting, so the message was not taken; fetch them before "
                       "the next message",
                       f->helper.count);
    return take(f, m);
}

size_t ct_fractal_messages(struct ct_fractal *f, const struct ct_fractal_message *m, size_t count,
                           int *status)
{
    int err = CT_OK;
    size_t n = 0;
    while (n < count && !err) {
        if (!f->helper.count && ct_config_enabled(&f->config))
            n += ct_listener_reads(f, m + n, count - n);
        if (n < count && !f->helper.count) {
            err = ct_fractal_take_message(f, &m[n]);
            n += !err;
        }
        if (f->helper.count)
            break;
    }
    if (status)
        *status = err;
    return n;
}

/* Rebuilds the filter from time to time, because bits of pages that are gone stay set. */
static void renew_filter(struct ct_fractal *f)
{
    if (f->filter.added < 8192)
        return;
    ct_address_filter_clear(&f->filter);
    ct_stalker_announce(&f->stalker);
    ct_points_announce(&f->points);
    f->filter.added = 0;
}

int ct_fractal_data(struct ct_fractal *f, uint64_t time, uint64_t pa,
                    const uint64_t line[CT_FRACTAL_LINE_WORDS])
{
    CT_REQUIRE_OF(f, line);
    if (time < f->time)
        return goes_back(f, time);
    f->time = time;
    if (!ct_config_enabled(&f->config))
        return CT_OK;
    struct ct_fractal_mapping maps[CT_MAPPINGS_MAX];
    const int count = ct_stalker_data(&f->stalker, pa, line, maps);
    if (count < 0)
        return inconsistent(f, "this line was not requested:", pa);
    ct_rtlb_refill(&f->rtlb, maps, (unsigned)count);
    for (int i = 0; i < count; i++)
        ct_points_refill(&f->points, &maps[i]);
    renew_filter(f);
    return CT_OK;
}

int ct_fractal_next_command(struct ct_fractal *f, struct ct_fractal_command *out)
{
    if (!f || !out)
        return 0;
    return ct_helper_next(&f->helper, out);
}

size_t ct_fractal_events(struct ct_fractal *f, struct ct_fractal_event *out, size_t max)
{
    if (!f)
        return 0;
    return ct_logger_take(&f->logger, out, max);
}
