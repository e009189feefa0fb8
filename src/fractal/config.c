/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration port: the register block. */
#include "fractal/machine.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/require.h"

#define VERSION 2

#define RO32(NAME, text)                                                                                     \
    {                                                                                                        \
#NAME, text, CT_FRACTAL_REG_##NAME, 4, 0                                                             \
    }
#define RW32(NAME, text)                                                                                     \
    {                                                                                                        \
#NAME, text, CT_FRACTAL_REG_##NAME, 4, 1                                                             \
    }
#define RO64(NAME, text)                                                                                     \
    {                                                                                                        \
#NAME, text, CT_FRACTAL_REG_##NAME, 8, 0                                                             \
    }
#define RW64(NAME, text)                                                                                     \
    {                                                                                                        \
#NAME, text, CT_FRACTAL_REG_##NAME, 8, 1                                                             \
    }

static const struct ct_fractal_reg_info reg[] = {
    RO32(ID, "0x43544652"),
    RO32(VERSION, "version of this block: 2"),
    RW32(CTRL,
         "bit 0 enable (0 to 1 starts anew); 2:1 mode (0 passive, 1 points, 2 active); 3 log points only; "
         "4 interrupt on full"),
    RO32(STATUS, "bit 0 ring full, events dropped; 1 lost: a point or watermark had no place; 2 interrupt"),
    RW64(PGD, "physical address of the target's top-level table; in force when enabled"),
    RW32(ASID, "bits 15:0 address space of the target; may change while enabled"),
    RW32(GEOM,
         "bits 7:0 log2 of the granule (12, 14, 16); 15:8 bits of a virtual address; 23:16 log2 of the bytes "
         "that addresses of the port tell apart (3 to 6; 0: a line); in force when enabled"),
    RW64(RANGE_LO, "first virtual address of a range; in force with the commit or a command"),
    RW64(RANGE_HI, "first virtual address after the range; in force with the commit or a command"),
    RW32(RANGE_COMMIT, "a write makes this range the only one; may come while enabled"),
    RW32(TARGET, "bits 7:0 number that events carry"),
    RW64(CONTEXT, "initiators that run the target, one bit each; all ones when nobody says"),
    RW64(POINT_VA, "virtual address for the next point command"),
    RW32(POINT_CMD, "write 1 add, 2 remove, 3 remove all"),
    RO32(POINT_COUNT, "points set"),
    RO32(POINT_ID, "number of the point that was added last"),
    RW32(RANGE_CMD, "write 1 add the range, 2 remove it, 3 remove all; may come while enabled"),
    RO32(RANGE_COUNT, "bits 15:0 ranges in force; 31:16 most that can be"),
    RW32(LOG_FIELDS,
         "fields of a record: 0 time, 1 va, 2 pa, 3 point, 4 op, 5 initiator, 6 kind, 7 flags, 8 target; "
         "a write empties the ring"),
    RO32(LOG_LEVEL, "records in the ring"),
    RO32(RTLB_GEOM, "bits 23:0 sets; 31:24 ways"),
    RO32(RTLB_USED, "entries of the reverse TLB in use"),
    RO64(SNOOPS, "reads seen"),
    RO64(EVENTS, "events made"),
    RO64(DROPPED, "events that found the ring full"),
    RO64(WALKS, "lines of the target's tables seen read or written"),
    RO64(REFILLS, "mappings taken into the reverse TLB"),
    RO64(EVICTIONS, "mappings put out of it for want of place"),
    RO64(DVM, "translation invalidations seen"),
    RO64(COMMANDS, "commands issued"),
    RO64(POINT_HITS, "snoops of observed lines"),
    RO64(INCONSISTENT, "messages that could not be, and were ignored"),
};
#define REGS (sizeof reg / sizeof reg[0])

int ct_fractal_reg_describe(unsigned index, struct ct_fractal_reg_info *out)
{
    CT_REQUIRE(NULL, out);
    if (index >= REGS)
        return CT_ERR_NOT_FOUND;
    *out = reg[index];
    return CT_OK;
}

static const struct ct_fractal_reg_info *find(uint32_t offset)
{
    for (size_t i = 0; i < REGS; i++)
        if (offset == reg[i].offset || (reg[i].bytes == 8 && offset == reg[i].offset + 4u))
            return &reg[i];
    return NULL;
}

static uint32_t status(const struct ct_fractal *f)
{
    uint32_t s = f->logger.full ? CT_FRACTAL_STATUS_FULL : 0;
    if (f->config.lost || f->stalker.lost || f->helper.overflow)
        s |= CT_FRACTAL_STATUS_LOST;
    if (f->logger.full && f->config.control & CT_FRACTAL_CTRL_IRQ_FULL)
        s |= CT_FRACTAL_STATUS_IRQ;
    return s;
}

static uint64_t value_of(const struct ct_fractal *f, uint32_t offset)
{
    const struct ct_config *c = &f->config;
    switch (offset) {
    case CT_FRACTAL_REG_ID:
        return 0x43544652;
    case CT_FRACTAL_REG_VERSION:
        return VERSION;
    case CT_FRACTAL_REG_CTRL:
        return c->control;
    case CT_FRACTAL_REG_STATUS:
        return status(f);
    case CT_FRACTAL_REG_PGD:
        return c->pgd;
    case CT_FRACTAL_REG_ASID:
        return c->asid;
    case CT_FRACTAL_REG_GEOM:
        return c->geometry;
    case CT_FRACTAL_REG_RANGE_LO:
        return c->new_lo;
    case CT_FRACTAL_REG_RANGE_HI:
        return c->new_hi;
    case CT_FRACTAL_REG_TARGET:
        return c->target;
    case CT_FRACTAL_REG_CONTEXT:
        return c->context;
    case CT_FRACTAL_REG_POINT_VA:
        return c->point_va;
    case CT_FRACTAL_REG_POINT_COUNT:
        return f->points.count;
    case CT_FRACTAL_REG_POINT_ID:
        return c->point_id;
    case CT_FRACTAL_REG_RANGE_COUNT:
        return c->ranges.count | c->ranges.capacity << 16;
    case CT_FRACTAL_REG_LOG_FIELDS:
        return f->logger.fields;
    case CT_FRACTAL_REG_LOG_LEVEL:
        return f->logger.count;
    case CT_FRACTAL_REG_RTLB_GEOM:
        return f->rtlb.sets | f->rtlb.ways << 24;
    case CT_FRACTAL_REG_RTLB_USED:
        return f->rtlb.used + f->rtlb.stashed;
    case CT_FRACTAL_REG_SNOOPS:
        return f->snoops;
    case CT_FRACTAL_REG_EVENTS:
        return f->logger.events;
    case CT_FRACTAL_REG_DROPPED:
        return f->logger.dropped;
    case CT_FRACTAL_REG_WALKS:
        return f->stalker.walks;
    case CT_FRACTAL_REG_REFILLS:
        return f->rtlb.refills;
    case CT_FRACTAL_REG_EVICTIONS:
        return f->rtlb.evictions;
    case CT_FRACTAL_REG_DVM:
        return f->dvm;
    case CT_FRACTAL_REG_COMMANDS:
        return f->helper.issued;
    case CT_FRACTAL_REG_POINT_HITS:
        return f->points.hits;
    case CT_FRACTAL_REG_INCONSISTENT:
        return f->inconsistent;
    default:
        return 0; /* command registers read as 0 */
    }
}

int ct_fractal_reg_read(const struct ct_fractal *f, uint32_t offset, unsigned bytes, uint64_t *value)
{
    CT_REQUIRE_OF(f, value);
    const struct ct_fractal_reg_info *r = find(offset);
    if (!r || (bytes != 4 && bytes != 8) || (bytes == 8 && offset != r->offset))
        return ct_fail(
            f->ctx, CT_ERR_ARG,
            "fractal register 0x%x: there is no register of %u bytes at this offset; nothing was read",
            offset, bytes);
    const uint64_t whole = value_of(f, r->offset);
    *value = bytes == 8 ? whole : (offset == r->offset ? whole : whole >> 32) & 0xffffffff;
    return CT_OK;
}

/* Starts following a target of which nothing is known yet. None of its translations may stay in a TLB. */
static int start(struct ct_fractal *f)
{
    struct ct_config *c = &f->config;
    const unsigned mode = ct_config_mode(c), granule = c->geometry & 0xff, va_bits = c->geometry >> 8 & 0xff,
                   unit = c->geometry >> 16 ? c->geometry >> 16 : 6;
    const int track = mode != CT_FRACTAL_PASSIVE;
    ct_helper_reset(&f->helper);
    ct_rtlb_reset(&f->rtlb);
    ct_points_forget(&f->points, 0, 1);
    f->rtlb.active = mode == CT_FRACTAL_ACTIVE;
    f->points.active = (uint8_t)track;
    f->stalker.track = (uint8_t)track;
    f->helper.asid = c->asid;
    f->unit = ct_mask64(unit);
    if (unit < 3 || unit > 6 || !ct_stalker_start(&f->stalker, c->pgd, granule, va_bits)) {
        c->control &= ~CT_FRACTAL_CTRL_ENABLE;
        return ct_fail(f->ctx, CT_ERR_CONFIG,
                       "fractal GEOM 0x%x: a granule of 2^%u with %u address bits and a resolution of 2^%u "
                       "bytes is not supported; the tracer was not enabled",
                       c->geometry, granule, va_bits, unit);
    }
    if (track)
        ct_helper_tlbi_asid(&f->helper);
    return CT_OK;
}

static int write_control(struct ct_fractal *f, uint32_t value)
{
    if ((value >> 1 & 3) > CT_FRACTAL_ACTIVE)
        return ct_fail(f->ctx, CT_ERR_CONFIG,
                       "fractal CTRL: mode 3 does not exist; the register is unchanged; use mode 0 to 2");
    const uint32_t before = f->config.control, of_start = CT_FRACTAL_CTRL_ENABLE | CT_FRACTAL_CTRL_MODE(3);
    f->config.control = value & 31;
    if (value & CT_FRACTAL_CTRL_ENABLE && (before & of_start) != (value & of_start))
        return start(f);
    return CT_OK;
}

/* Tells the stalker that the ranges changed. It drops what it knows of the old ones, so that new walks become
 * visible. */
static int ranges_changed(struct ct_fractal *f)
{
    if (ct_config_enabled(&f->config))
        ct_stalker_ranges_changed(&f->stalker);
    return CT_OK;
}

static int bad_range(const struct ct_fractal *f, int err, const char *what)
{
    return ct_fail(f->ctx, err, "fractal range 0x%llx..0x%llx: %s; the ranges are unchanged",
                   (unsigned long long)f->config.new_lo, (unsigned long long)f->config.new_hi, what);
}

/* Makes the written range the only one. */
static int commit_range(struct ct_fractal *f)
{
    struct ct_config *c = &f->config;
    struct ct_range other;
    if (c->new_lo > c->new_hi || c->new_hi > UINT64_C(1) << 48)
        return bad_range(f, CT_ERR_CONFIG, "it ends before it begins, or beyond 2^48");
    c->ranges.count = 0;
    if (c->new_lo < c->new_hi)
        (void)ct_ranges_add(&c->ranges, c->new_lo, c->new_hi, &other);
    return ranges_changed(f);
}

/* Adds the written range to those in force. */
static int add_range(struct ct_fractal *f)
{
    struct ct_config *c = &f->config;
    struct ct_range other;
    char what[96];
    if (c->new_lo >= c->new_hi || c->new_hi > UINT64_C(1) << 48)
        return bad_range(f, CT_ERR_CONFIG, "it is empty or ends beyond 2^48");
    const int err = ct_ranges_add(&c->ranges, c->new_lo, c->new_hi, &other);
    if (err == CT_ERR_CONFIG)
        snprintf(what, sizeof what, "it overlaps 0x%llx..0x%llx", (unsigned long long)other.lo,
                 (unsigned long long)other.hi);
    else
        snprintf(what, sizeof what, "all %u range registers are in use", c->ranges.capacity);
    return err ? bad_range(f, err, what) : ranges_changed(f);
}

static int range_command(struct ct_fractal *f, uint64_t command)
{
    struct ct_config *c = &f->config;
    switch (command) {
    case CT_FRACTAL_RANGE_ADD:
        return add_range(f);
    case CT_FRACTAL_RANGE_REMOVE:
        return ct_ranges_remove(&c->ranges, c->new_lo, c->new_hi)
                   ? bad_range(f, CT_ERR_NOT_FOUND, "it is not one of the current ranges")
                   : ranges_changed(f);
    case CT_FRACTAL_RANGE_CLEAR:
        c->ranges.count = 0;
        return ranges_changed(f);
    default:
        return ct_fail(f->ctx, CT_ERR_CONFIG, "fractal RANGE_CMD: %llu is not a command; nothing was done",
                       (unsigned long long)command);
    }
}

/* Adds a point. If only the cores know the translation of its page, makes the next walk to it visible;
 * otherwise the watchdog would not learn the physical address. */
static int add_point(struct ct_fractal *f, uint64_t va)
{
    const struct ct_point *point = ct_points_add(&f->points, va);
    if (!point) {
        f->config.lost = 1;
        return ct_fail(f->ctx, CT_ERR_LIMIT,
                       "fractal point 0x%llx: all %u point registers are in use; the point was not set; "
                       "remove another point first",
                       (unsigned long long)va, f->points.capacity);
    }
    f->config.point_id = point->id;
    if (!ct_config_enabled(&f->config))
        return CT_OK;
    const struct ct_fractal_mapping *m = ct_rtlb_find_va(&f->rtlb, va);
    if (m) {
        ct_points_refill(&f->points, m);
    } else if (f->stalker.track) {
        ct_stalker_expose(&f->stalker, va);
        ct_helper_tlbi(&f->helper, va, 1, 0);
    }
    return CT_OK;
}

static int point_command(struct ct_fractal *f, uint64_t command)
{
    switch (command) {
    case CT_FRACTAL_POINT_ADD:
        return add_point(f, f->config.point_va);
    case CT_FRACTAL_POINT_REMOVE:
        if (!ct_points_remove(&f->points, f->config.point_va))
            return ct_fail(f->ctx, CT_ERR_NOT_FOUND,
                           "fractal point 0x%llx: this point is not set; nothing was removed",
                           (unsigned long long)f->config.point_va);
        return CT_OK;
    case CT_FRACTAL_POINT_CLEAR:
        ct_points_clear(&f->points);
        return CT_OK;
    default:
        return ct_fail(f->ctx, CT_ERR_CONFIG, "fractal POINT_CMD: %llu is not a command; nothing was done",
                       (unsigned long long)command);
    }
}

/* Handles a change of the target's ASID. No TLB has entries under the new ASID, and no message will report
 * that those under the old one are gone. */
static void change_asid(struct ct_fractal *f, uint16_t asid)
{
    f->config.asid = f->helper.asid = asid;
    if (!ct_config_enabled(&f->config))
        return;
    ct_fractal_tlbi_all(f);
    if (f->stalker.track)
        ct_helper_tlbi_asid(&f->helper);
}

static int write_whole(struct ct_fractal *f, uint32_t offset, uint64_t value)
{
    struct ct_config *c = &f->config;
    switch (offset) {
    case CT_FRACTAL_REG_CTRL:
        return write_control(f, (uint32_t)value);
    case CT_FRACTAL_REG_PGD:
        if (value >> 48 || value & 63)
            return ct_fail(f->ctx, CT_ERR_CONFIG,
                           "fractal PGD 0x%llx: a translation table must be below 2^48 and aligned to a "
                           "cache line; the register is unchanged",
                           (unsigned long long)value);
        c->pgd = value;
        return CT_OK;
    case CT_FRACTAL_REG_ASID:
        change_asid(f, (uint16_t)value);
        return CT_OK;
    case CT_FRACTAL_REG_GEOM:
        c->geometry = (uint32_t)value & 0xffffff;
        return CT_OK;
    case CT_FRACTAL_REG_RANGE_LO:
        c->new_lo = value;
        return CT_OK;
    case CT_FRACTAL_REG_RANGE_HI:
        c->new_hi = value;
        return CT_OK;
    case CT_FRACTAL_REG_RANGE_COMMIT:
        return commit_range(f);
    case CT_FRACTAL_REG_RANGE_CMD:
        return range_command(f, value);
    case CT_FRACTAL_REG_TARGET:
        c->target = (uint8_t)value;
        return CT_OK;
    case CT_FRACTAL_REG_CONTEXT:
        c->context = value;
        return CT_OK;
    case CT_FRACTAL_REG_POINT_VA:
        c->point_va = value & ct_mask64(48);
        return CT_OK;
    case CT_FRACTAL_REG_POINT_CMD:
        return point_command(f, value);
    default: /* LOG_FIELDS, the last writable register */
        if (!(value & CT_FRACTAL_FIELD_ALL))
            return ct_fail(f->ctx, CT_ERR_CONFIG,
                           "fractal LOG_FIELDS 0x%llx: this selects no field; the register is unchanged",
                           (unsigned long long)value);
        ct_logger_fields(&f->logger, (uint32_t)value & CT_FRACTAL_FIELD_ALL);
        return CT_OK;
    }
}

int ct_fractal_reg_write(struct ct_fractal *f, uint32_t offset, unsigned bytes, uint64_t value)
{
    CT_REQUIRE(NULL, f);
    const struct ct_fractal_reg_info *r = find(offset);
    if (!r || (bytes != 4 && bytes != 8) || (bytes == 8 && offset != r->offset))
        return ct_fail(
            f->ctx, CT_ERR_ARG,
            "fractal register 0x%x: there is no register of %u bytes at this offset; nothing was written",
            offset, bytes);
    if (!r->writable)
        return ct_fail(f->ctx, CT_ERR_CONFIG,
                       "fractal register %s: the register is read-only; nothing was written", r->name);
    if (bytes == 8 || r->bytes == 4)
        return write_whole(f, r->offset, value);
    if (offset == r->offset) {
        f->config.latch = value & 0xffffffff;
        f->config.latch_at = offset;
        return CT_OK;
    }
    const uint64_t low =
        f->config.latch_at == r->offset ? f->config.latch : value_of(f, r->offset) & 0xffffffff;
    f->config.latch_at = UINT32_MAX;
    return write_whole(f, r->offset, value << 32 | low);
}
