/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster's port to interconnect, memory and fabric. */
#include "soc/internal.h"

#include "base/require.h"

/* Cycles of a Cortex-A53 at 1.3 GHz with DDR4: issue, L2 and the two memory latencies come from the core's
 * manual and from public measurements. The fabric answers a snoop at 100 MHz while memory works; only the
 * time beyond the memory's counts. A burst is a line at 19.2 GB/s, the bandwidth of the board's memory. */
const struct ct_soc_latency ct_soc_latency = {
    .issue = 1,
    .l2 = 13,
    .row_hit = 130,
    .row_miss = 180,
    .snoop = 12,
    .command = 40,
    .tlbi = 60,
    .fault = 900,
    .burst = 5,
};

static void advance(struct ct_soc *soc, unsigned core)
{
    if (soc->core[core].cycles > soc->now)
        soc->now = soc->core[core].cycles;
}

void ct_soc_message(struct ct_soc *soc, unsigned core, unsigned op, unsigned kind, uint64_t addr,
                    uint64_t value)
{
    if (!soc->taps)
        return;
    advance(soc, core);
    const struct ct_fractal_message m = {.time = soc->now,
                                         .addr = addr,
                                         .value = value,
                                         .op = (uint8_t)op,
                                         .initiator = (uint8_t)core,
                                         .kind = (uint8_t)kind};
    for (unsigned t = 0; t < soc->taps; t++)
        soc->tap[t].message(soc->tap[t].user, &m, NULL);
}

static void deliver(struct ct_soc *soc, unsigned t, uint64_t pa)
{
    static const uint64_t nothing[CT_FRACTAL_LINE_WORDS];
    const uint64_t end = soc_frame_pa(soc, soc->config.frames);
    const int table = pa >= SOC_BASE && pa < end && soc->frame[soc_pa_frame(soc, pa)].table;
    const struct ct_fractal_message m = {
        .time = soc->now, .addr = pa, .op = CT_FRACTAL_DATA, .initiator = 63, .kind = CT_FRACTAL_KIND_DATA};
    soc->tap[t].message(soc->tap[t].user, &m, table ? soc_word(soc, pa) : nothing);
}

static void carry_out(struct ct_soc *soc, unsigned t, const struct ct_fractal_command *c)
{
    soc->counts.commands++;
    switch (c->kind) {
    case CT_FRACTAL_CMD_READ:
        ct_soc_cache_share(soc, c->pa);
        deliver(soc, t, c->pa);
        break;
    case CT_FRACTAL_CMD_PEEK:
        deliver(soc, t, c->pa);
        break;
    case CT_FRACTAL_CMD_CLEAN:
        ct_soc_cache_clean_invalidate(soc, c->pa);
        break;
    case CT_FRACTAL_CMD_ICI:
        ct_soc_cache_ici(soc, c->pa);
        break;
    case CT_FRACTAL_CMD_TLBI_VA:
        ct_soc_tlb_flush_va(soc, c->va, c->asid, 0);
        break;
    case CT_FRACTAL_CMD_TLBI_ASID:
        ct_soc_tlb_flush_asid(soc, c->asid);
        break;
    default:
        break;
    }
}

/* Executes the commands of all taps. The core whose transaction caused them waits: its snoop response is held
 * back. */
void ct_soc_drain(struct ct_soc *soc, unsigned core)
{
    struct ct_fractal_command c;
    for (unsigned t = 0; t < soc->taps; t++) {
        while (soc->tap[t].command && soc->tap[t].command(soc->tap[t].user, &c)) {
            soc->core[core].cycles += ct_soc_latency.command;
            carry_out(soc, t, &c);
        }
    }
}

/* Opens the row of an address in its bank. Returns 1 when it was open already. */
static int open_row(struct ct_soc *soc, uint64_t pa)
{
    const uint64_t row = pa >> 13;
    uint64_t *open = &soc->open_row[row & 7];
    const int was_open = *open == row;
    *open = row;
    return was_open;
}

unsigned ct_soc_memory_cycles(struct ct_soc *soc, unsigned core, uint64_t pa)
{
    const uint64_t now = soc->core[core].cycles;
    unsigned cycles = soc->memory_busy > now ? (unsigned)(soc->memory_busy - now) : 0;
    cycles += open_row(soc, pa) ? ct_soc_latency.row_hit : ct_soc_latency.row_miss;
    if (soc->config.fabric != CT_SOC_FABRIC_NONE)
        cycles += ct_soc_latency.snoop;
    return cycles;
}

void ct_soc_sink_write(struct ct_soc *soc, uint64_t bytes)
{
    if (!soc)
        return;
    for (soc->sink_bytes += bytes; soc->sink_bytes >= CT_FRACTAL_LINE; soc->sink_bytes -= CT_FRACTAL_LINE) {
        const uint64_t pa = soc_frame_pa(soc, soc->config.frames) + soc->sink_lines++ * CT_FRACTAL_LINE;
        const unsigned opening = open_row(soc, pa) ? 0 : ct_soc_latency.row_miss - ct_soc_latency.row_hit;
        const uint64_t from = soc->memory_busy > soc->now ? soc->memory_busy : soc->now;
        soc->memory_busy = from + opening + ct_soc_latency.burst;
    }
}

void ct_soc_read_past(struct ct_soc *soc, unsigned core, uint64_t pa)
{
    soc->core[core].cycles += ct_soc_memory_cycles(soc, core, pa);
    ct_soc_message(soc, core, CT_FRACTAL_READ_ONCE, CT_FRACTAL_KIND_DATA,
                   pa & ~(uint64_t)(soc->config.port_bytes - 1), 0);
}

int ct_soc_attach(struct ct_soc *soc, const struct ct_soc_tap *tap)
{
    CT_REQUIRE_OF(soc, tap, tap->message);
    if (soc->taps == CT_SOC_TAPS)
        return CT_ERR_LIMIT;
    soc->tap[soc->taps] = *tap;
    return (int)soc->taps++;
}

void ct_soc_reg_write(struct ct_soc *soc, unsigned tap, uint32_t offset, uint64_t value)
{
    if (!soc || tap >= soc->taps)
        return;
    const struct ct_fractal_message m = {
        .time = soc->now, .addr = offset, .value = value, .op = CT_FRACTAL_REG_WRITE, .initiator = 0};
    soc->tap[tap].message(soc->tap[tap].user, &m, NULL);
    ct_soc_drain(soc, 0);
}
