/* SPDX-License-Identifier: Apache-2.0 */
/* Making a cluster, and accesses, the hot path. */
#include "soc/internal.h"

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"

#include <stdlib.h>

void ct_soc_defaults(struct ct_soc_config *c)
{
    const struct ct_soc_config kv260 = {
        .size = sizeof kv260,
        .cores = 4,
        .l1i_bytes = 32 * 1024,
        .l1i_ways = 2,
        .l1d_bytes = 32 * 1024,
        .l1d_ways = 4,
        .l2_bytes = 1024 * 1024,
        .l2_ways = 16,
        .tlb_entries = 512,
        .frames = 1u << 18,
        .asids = 256,
        .granule = 12,
        .va_bits = 48,
        .seed = 1,
        .port_bytes = CT_FRACTAL_LINE,
    };
    if (c)
        *c = kv260;
}

static int power_of_two(uint32_t x)
{
    return x && !(x & (x - 1));
}

#define MOST_CACHE (64u << 20) /* most bytes of a cache: the simulation keeps a state for each line */
#define MOST_TLB   65536u      /* most entries */

/* Returns whether the number of sets of a cache is a power of two, with at most `most` ways. */
static int is_cache(uint32_t bytes, uint32_t ways, uint32_t most)
{
    return ways && ways <= most && bytes <= MOST_CACHE && power_of_two(bytes / CT_FRACTAL_LINE / ways);
}

#define L1_WAYS 1024
#define L2_WAYS 16 /* one bit each in struct ct_soc_l2 */

/* Checks a configuration. It comes from a program or a test, so an impossible one is misuse. */
static int check(struct ct_ctx *ctx, const struct ct_soc_config *c)
{
    const struct {
        int holds;
        const char *rule;
    } rules[] = {
        {c->cores && c->cores <= CT_SOC_CORES, "cores must be 1 to 8"},
        {is_cache(c->l1i_bytes, c->l1i_ways, L1_WAYS),
         "l1i_bytes must be at most 64 MiB, and l1i_bytes / 64 / l1i_ways a power of two"},
        {is_cache(c->l1d_bytes, c->l1d_ways, L1_WAYS),
         "l1d_bytes must be at most 64 MiB, and l1d_bytes / 64 / l1d_ways a power of two"},
        {is_cache(c->l2_bytes, c->l2_ways, L2_WAYS), "l2_bytes must be at most 64 MiB, l2_bytes / 64 / "
                                                     "l2_ways a power of two, and l2_ways at most 16"},
        {power_of_two(c->tlb_entries / 4) && c->tlb_entries <= MOST_TLB,
         "tlb_entries must be at most 65536, and tlb_entries / 4 a power of two"},
        {c->granule == 12 || c->granule == 14 || c->granule == 16, "granule must be 12, 14 or 16"},
        {c->va_bits >= 25 && c->va_bits <= 48, "va_bits must be 25 to 48"},
        {c->frames >= 64 && c->granule <= 16 &&
             (uint64_t)c->frames << c->granule <= (UINT64_C(1) << 36) - SOC_BASE,
         "frames must be at least 64, and their memory at most 63 GiB"},
        {c->asids >= c->cores + 2 && c->asids <= UINT16_MAX, "asids must be cores + 2 to 65535"},
        {c->alloc <= CT_SOC_ALLOC_REUSE, "alloc must be 0 to 3"},
        {c->walks <= CT_SOC_WALKS_SEEN, "walks must be 0 or 1"},
        {c->sink <= CT_SOC_SINK_MEMORY, "sink must be 0 or 1"},
        {power_of_two(c->port_bytes) && c->port_bytes >= 8 && c->port_bytes <= CT_FRACTAL_LINE,
         "port_bytes must be 8, 16, 32 or 64"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!rules[i].holds)
            return ct_fail(ctx, CT_ERR_ARG, "simulated cluster: %s; it is not built; correct the settings",
                           rules[i].rule);
    return CT_OK;
}

int ct_soc_new(struct ct_ctx *ctx, const struct ct_soc_config *config, const struct ct_soc_hooks *hooks,
               struct ct_soc **out)
{
    struct ct_soc_config mine;
    CT_REQUIRE_OUT(ctx, out);
    int err = ct_options_read(ctx, __func__, config, &mine, sizeof mine);
    ct_soc_config_fill(&mine);
    if (!err)
        err = check(ctx, &mine);
    if (err)
        return err;
    struct ct_soc *soc = calloc(1, sizeof *soc);
    if (!soc)
        return ct_fail_nomem(ctx, "simulated cluster");
    soc->ctx = ctx;
    soc->config = mine;
    if (hooks)
        soc->hooks = *hooks;
    soc->rng = (mine.seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (ct_soc_caches_new(soc) || ct_soc_tlbs_new(soc) || ct_soc_os_new(soc)) {
        ct_soc_free(soc);
        return ct_fail_nomem(ctx, "simulated cluster");
    }
    *out = soc;
    return CT_OK;
}

void ct_soc_free(struct ct_soc *soc)
{
    if (!soc)
        return;
    ct_soc_os_free(soc);
    ct_soc_tlbs_free(soc);
    ct_soc_caches_free(soc);
    free(soc);
}

uint64_t ct_soc_cycles(const struct ct_soc *soc, unsigned core)
{
    if (!soc_has_core(soc, core))
        return 0;
    return soc->core[core].cycles;
}

const struct ct_soc_counts *ct_soc_counts_of(const struct ct_soc *soc)
{
    if (!soc)
        return NULL;
    return &soc->counts;
}

void ct_soc_spend(struct ct_soc *soc, unsigned core, uint64_t cycles)
{
    if (!soc_has_core(soc, core))
        return;
    soc->core[core].cycles += cycles;
}

static void report_miss(struct ct_soc *soc, unsigned core, uint64_t va, uint64_t pa, unsigned use)
{
    if (!soc->hooks.miss)
        return;
    const struct ct_soc_miss m = {.time = soc->now,
                                  .va = va & ~(uint64_t)(soc->config.port_bytes - 1),
                                  .pa = pa & ~(uint64_t)(soc->config.port_bytes - 1),
                                  .pid = soc->core[core].pid,
                                  .op = (uint8_t)ct_soc_use_op(use),
                                  .core = (uint8_t)core,
                                  .kind = use == USE_FETCH ? CT_FRACTAL_KIND_INSN : CT_FRACTAL_KIND_DATA};
    soc->hooks.miss(soc->hooks.user, &m);
}

/* Most faults in one access: absent, copy-on-write, split. */
#define FAULTS_MAX 6

int ct_soc_touch(struct ct_soc *soc, unsigned core, uint64_t va, enum ct_soc_access access)
{
    uint64_t pa = 0;
    if (!soc_has_core(soc, core) || soc->core[core].pid == CT_SOC_IDLE)
        return 0;
    soc->counts.accesses++;
    soc->core[core].cycles += ct_soc_latency.issue;
    for (unsigned n = 0;; n++) {
        const enum ct_soc_walk_result r = ct_soc_mmu_translate(soc, core, va, access, &pa);
        if (r == WALK_OK)
            break;
        if (n == FAULTS_MAX || !ct_soc_fault(soc, core, va, r))
            return 0;
    }
    if (ct_soc_cache(soc, core, pa, access)) {
        report_miss(soc, core, va, pa, access);
        ct_soc_drain(soc, core);
    }
    return 1;
}
