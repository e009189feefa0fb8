/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on address spaces in use. */
#include "soc/internal.h"

uint64_t ct_soc_page_descriptor(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    unsigned level;
    uint64_t at = ct_soc_descriptor(soc, core, pid, va, 3, 0, &level);
    if (at && level == SOC_BLOCK_LEVEL && ct_soc_split(soc, core, pid, va))
        at = ct_soc_descriptor(soc, core, pid, va, 3, 0, &level);
    const int busy = soc->migration.pid == pid && soc->migration.desc_pa == at;
    if (!at || level != 3 || busy || !(*soc_word(soc, at) & PTE_VALID) || *soc_word(soc, at) & PTE_CONTIG)
        return 0;
    return at;
}

int ct_soc_unmap(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    if (!soc_has_core(soc, core) || !soc_has_process(soc, pid))
        return 0;
    const uint64_t at = ct_soc_page_descriptor(soc, core, pid, va);
    if (!at)
        return 0;
    const uint64_t desc = *soc_word(soc, at);
    ct_soc_write_descriptor(soc, core, at, 0);
    ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_VA_LAST, soc_page_of(soc, va), soc->process[pid].asid);
    ct_soc_put_leaf(soc, desc, 3);
    return 1;
}

int ct_soc_migrate_end(struct ct_soc *soc, unsigned core)
{
    if (!soc_has_core(soc, core) || !soc->migration.pid)
        return 0;
    struct ct_soc_migration *m = &soc->migration;
    ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_VA_LAST, m->va, soc->process[m->pid].asid);
    const uint32_t old = soc_pa_frame(soc, m->desc & PTE_ADDR), frame = ct_soc_frames_take(soc, 1, m->va);
    uint64_t desc = m->desc;
    if (frame != UINT32_MAX) {
        ct_soc_copy_frame(soc, core, old, frame);
        desc = (desc & ~PTE_ADDR) | soc_frame_pa(soc, frame);
    }
    ct_soc_write_descriptor(soc, core, m->desc_pa, desc);
    if (frame != UINT32_MAX)
        ct_soc_frame_put(soc, old);
    m->pid = 0;
    return 1;
}

int ct_soc_split(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    unsigned level;
    const uint64_t at = ct_soc_descriptor(soc, core, pid, va, SOC_BLOCK_LEVEL, 0, &level);
    const uint64_t desc = at && level == SOC_BLOCK_LEVEL ? *soc_word(soc, at) : 0;
    if (!(desc & PTE_VALID) || desc & PTE_TABLE)
        return 0;
    const uint32_t table = ct_soc_frames_take(soc, 1, va);
    if (table == UINT32_MAX)
        return 0;
    ct_soc_write_descriptor(soc, core, at, 0);
    ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_VA, va & ~ct_mask64(soc_level_shift(soc, 2)),
               soc->process[pid].asid);
    if (!ct_soc_zero_frame(soc, core, table, 1))
        return 0;
    const uint64_t page = UINT64_C(1) << soc->config.granule;
    for (uint32_t i = 0; i < soc_block_frames(soc); i++)
        ct_soc_write_descriptor(soc, core, soc_frame_pa(soc, table) + i * 8, (desc | PTE_TABLE) + i * page);
    ct_soc_write_descriptor(soc, core, at, soc_frame_pa(soc, table) | PTE_VALID | PTE_TABLE);
    return 1;
}
