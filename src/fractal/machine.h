/* SPDX-License-Identifier: Apache-2.0 */
/* The complete tracer: its modules, and the state of the configuration port. */
#pragma once

#include "base/ctx.h"
#include "fractal/helper.h"
#include "fractal/logger.h"
#include "fractal/points.h"
#include "fractal/ranges.h"
#include "fractal/rtlb.h"
#include "fractal/stalker.h"

struct ct_config {
    uint64_t pgd;            /* in force */
    struct ct_ranges ranges; /* in force */
    uint64_t new_lo, new_hi; /* written; takes effect at the commit or a command */
    uint64_t context;
    uint64_t point_va;
    uint32_t point_id; /* id of the line added last */
    uint64_t latch;    /* low half of a 64-bit register whose high half has not been written */
    uint32_t latch_at;
    uint32_t geometry;
    uint32_t control;
    uint16_t asid;
    uint8_t target;
    uint8_t lost;
};

struct ct_fractal {
    struct ct_ctx *ctx;
    struct ct_helper helper;
    struct ct_stalker stalker;
    struct ct_rtlb rtlb;
    struct ct_points points;
    struct ct_logger logger;
    struct ct_config config;
    struct ct_address_filter filter; /* pages of tables and of points */
    uint64_t time;
    uint64_t unit; /* granularity of addresses at the port in bytes, minus 1; 63 for a line */
    uint64_t snoops, dvm, inconsistent;
};

/* Handles one read at the port (Snoop Listener). */
void ct_listener_read(struct ct_fractal *f, const struct ct_fractal_message *m);
/* Handles consecutive reads quickly. Stops at the first message that is malformed or not a read, and when a
 * command is pending. Returns how many were taken. */
size_t ct_listener_reads(struct ct_fractal *f, const struct ct_fractal_message *m, size_t count);

/* Drop the translation of va, or all translations, as the cores were told to. `walk_caches`: unlinked tables
 * are dropped, too. */
void ct_fractal_tlbi_va(struct ct_fractal *f, uint64_t va, int walk_caches);
void ct_fractal_tlbi_all(struct ct_fractal *f);

static inline int ct_config_enabled(const struct ct_config *c)
{
    return c->control & CT_FRACTAL_CTRL_ENABLE;
}

static inline unsigned ct_config_mode(const struct ct_config *c)
{
    return c->control >> 1 & 3;
}
