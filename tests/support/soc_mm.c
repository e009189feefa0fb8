/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_mm.h"

#include "soc/internal.h"

int soc_mm_alias(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t from, uint32_t to_pid, uint64_t to)
{
    unsigned level;
    const uint64_t at = ct_soc_page_descriptor(soc, core, pid, from);
    if (!at || *soc_word(soc, at) & PTE_COW ||
        (soc->migration.pid == to_pid && soc->migration.va == soc_page_of(soc, to)))
        return 0;
    const uint64_t here = ct_soc_descriptor(soc, core, to_pid, to, 3, 1, &level);
    if (!here || level != 3 || *soc_word(soc, here) & PTE_VALID)
        return 0;
    const uint64_t desc = *soc_word(soc, at) | PTE_SHARED | PTE_AF;
    if (desc != *soc_word(soc, at))
        ct_soc_write_descriptor(soc, core, at, desc);
    soc->frame[soc_pa_frame(soc, desc & PTE_ADDR)].refs++;
    ct_soc_write_descriptor(soc, core, here, desc);
    return 1;
}

/* Returns the table under the block-level descriptor of `va`, or 0 when there is none or something in it is
 * on its way. */
static uint64_t last_table(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va, uint64_t *at)
{
    unsigned level;
    *at = ct_soc_descriptor(soc, core, pid, va, SOC_BLOCK_LEVEL, 0, &level);
    const uint64_t desc = *at && level == SOC_BLOCK_LEVEL ? *soc_word(soc, *at) : 0;
    if ((desc & (PTE_VALID | PTE_TABLE)) != (PTE_VALID | PTE_TABLE))
        return 0;
    if (soc->migration.pid == pid && (soc->migration.va ^ va) >> soc_level_shift(soc, 2) == 0)
        return 0;
    return desc & PTE_ADDR;
}

static void free_pages(struct ct_soc *soc, uint64_t table)
{
    for (uint32_t i = 0; i < soc_block_frames(soc); i++) {
        const uint64_t desc = *soc_word(soc, table + i * 8);
        if (desc & PTE_VALID)
            ct_soc_put_leaf(soc, desc, 3);
    }
    ct_soc_frame_put(soc, soc_pa_frame(soc, table));
}

/* Merges like khugepaged: unlinks the table, invalidates the TLBs, copies, links the block. */
int soc_mm_merge(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    uint64_t at;
    const uint64_t table = last_table(soc, core, pid, va, &at);
    for (uint32_t i = 0; table && i < soc_block_frames(soc); i++)
        if (*soc_word(soc, table + i * 8) & (PTE_SHARED | PTE_COW | PTE_CONTIG))
            return 0;
    const uint32_t first = table ? ct_soc_frames_take(soc, soc_block_frames(soc), va) : UINT32_MAX;
    if (first == UINT32_MAX)
        return 0;
    ct_soc_write_descriptor(soc, core, at, 0);
    ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_ASID, 0, soc->process[pid].asid);
    for (uint32_t i = 0, copied = 0; i < soc_block_frames(soc) && copied < 4; i++) {
        const uint64_t desc = *soc_word(soc, table + i * 8);
        if (desc & PTE_VALID) {
            ct_soc_copy_frame(soc, core, soc_pa_frame(soc, desc & PTE_ADDR), first + i);
            copied++; /* a few pages stand for all */
        }
    }
    free_pages(soc, table);
    ct_soc_write_descriptor(soc, core, at, soc_frame_pa(soc, first) | PTE_VALID | PTE_AF | PTE_NG);
    return 1;
}

int soc_mm_map_contiguous(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    unsigned level;
    const uint32_t count = ct_soc_contig_count(soc);
    const uint64_t base = va & ~ct_mask64(soc->shift[1]), page = UINT64_C(1) << soc->config.granule;
    const uint64_t at = ct_soc_descriptor(soc, core, pid, base, 3, 1, &level);
    for (uint32_t i = 0; at && level == 3 && i < count; i++)
        if (*soc_word(soc, at + i * 8) & PTE_VALID ||
            (soc->migration.pid == pid && soc->migration.desc_pa == at + i * 8))
            return 0;
    const uint32_t first = at && level == 3 ? ct_soc_frames_take(soc, count, va) : UINT32_MAX;
    if (first == UINT32_MAX)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        ct_soc_write_descriptor(soc, core, at + i * 8,
                                (soc_frame_pa(soc, first) + i * page) | PTE_VALID | PTE_TABLE | PTE_AF |
                                    PTE_NG | PTE_CONTIG);
    return 1;
}

int soc_mm_reclaim_table(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    uint64_t at;
    const uint64_t table = last_table(soc, core, pid, va, &at);
    if (!table)
        return 0;
    const uint16_t asid = soc->process[pid].asid;
    ct_soc_write_descriptor(soc, core, at, 0);
    ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_VA, va & ~ct_mask64(soc_level_shift(soc, 2)), asid);
    const uint64_t first = va & ~ct_mask64(soc_level_shift(soc, 2));
    for (uint32_t i = 0; i < soc_block_frames(soc); i++)
        if (*soc_word(soc, table + i * 8) & PTE_VALID)
            ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_VA_LAST, first + ((uint64_t)i << soc->config.granule),
                       asid);
    free_pages(soc, table);
    return 1;
}

int soc_mm_age(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    const uint64_t at = ct_soc_page_descriptor(soc, core, pid, va);
    if (!at)
        return 0;
    ct_soc_write_descriptor(soc, core, at, *soc_word(soc, at) & ~PTE_AF);
    return 1;
}
