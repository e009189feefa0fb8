/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of programs to the operating system: children, huge pages, memory that is shared or moves. */
#include "soc/internal.h"

#include "base/room.h"

#include <stdbool.h>

/* ---- fork ---- */

static int fork_table(struct ct_soc *soc, unsigned core, uint64_t table, unsigned level, uint32_t child,
                      uint64_t va)
{
    const uint64_t entries = UINT64_C(1) << (soc->config.granule - 3);
    for (uint64_t i = 0; i < entries; i++) {
        const uint64_t pa = table + i * 8;
        uint64_t desc = *soc_word(soc, pa);
        const uint64_t at_va = va + (i << soc_level_shift(soc, level));
        if (!(desc & PTE_VALID))
            continue;
        if (level < 3 && desc & PTE_TABLE) {
            if (!fork_table(soc, core, desc & PTE_ADDR, level + 1, child, at_va))
                return 0;
            continue;
        }
        unsigned found;
        const uint64_t copy = ct_soc_descriptor(soc, core, child, at_va, level, 1, &found);
        if (!copy)
            return 0;
        if (!(desc & PTE_SHARED) && !(desc & PTE_COW)) {
            desc |= PTE_RO | PTE_COW;
            ct_soc_write_descriptor(soc, core, pa, desc);
        }
        const uint32_t first = soc_pa_frame(soc, desc & PTE_ADDR);
        const uint32_t count = 1u << (soc_level_shift(soc, level) - soc->config.granule);
        for (uint32_t f = 0; f < count; f++)
            soc->frame[first + f].refs++;
        ct_soc_write_descriptor(soc, core, copy, desc);
    }
    return 1;
}

/* This model's fork does not support contiguous groups, or pages that are being moved. */
static int can_fork(const struct ct_soc *soc, uint64_t table, unsigned level)
{
    const uint64_t entries = UINT64_C(1) << (soc->config.granule - 3);
    for (uint64_t i = 0; i < entries; i++) {
        const uint64_t desc = *soc_word(soc, table + i * 8);
        if (!(desc & PTE_VALID))
            continue;
        if (level < 3 && desc & PTE_TABLE ? !can_fork(soc, desc & PTE_ADDR, level + 1)
                                          : !!(desc & PTE_CONTIG))
            return 0;
    }
    return 1;
}

static int copy_areas(struct ct_soc *soc, const struct ct_soc_areas *from, struct ct_soc_areas *to)
{
    int done = 1;
    for (size_t i = 0; i < from->count && done; i++)
        done = ct_soc_areas_add(soc, to, &from->all[i]);
    return done;
}

uint32_t ct_soc_fork(struct ct_soc *soc, unsigned core, uint32_t pid)
{
    if (!soc_has_core(soc, core) || !soc_has_process(soc, pid) || soc->migration.pid == pid ||
        !can_fork(soc, soc->process[pid].pgd, soc->top_level))
        return 0;
    const uint32_t child = ct_soc_process(soc);
    if (!child)
        return 0;
    const int noted = copy_areas(soc, &soc->process[pid].files, &soc->process[child].files) &&
                      copy_areas(soc, &soc->process[pid].shared, &soc->process[child].shared);
    const int done = noted && fork_table(soc, core, soc->process[pid].pgd, soc->top_level, child, 0);
    ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_ASID, 0, soc->process[pid].asid);
    if (done)
        return child;
    ct_soc_exit(soc, core, child);
    return 0;
}

/* ---- pages that move ---- */

int ct_soc_migrate_begin(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    if (!soc_has_core(soc, core) || !soc_has_process(soc, pid) || soc->migration.pid)
        return 0;
    const uint64_t at = ct_soc_page_descriptor(soc, core, pid, va);
    if (!at || soc->frame[soc_pa_frame(soc, *soc_word(soc, at) & PTE_ADDR)].refs != 1)
        return 0;
    soc->migration = (struct ct_soc_migration){
        .va = soc_page_of(soc, va), .desc_pa = at, .desc = *soc_word(soc, at), .pid = pid};
    ct_soc_write_descriptor(soc, core, at, 0);
    return 1;
}

/* ---- huge pages ---- */

int ct_soc_map_huge(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    unsigned level;
    if (!soc_has_core(soc, core) || !soc_has_process(soc, pid))
        return 0;
    const uint64_t at = ct_soc_descriptor(soc, core, pid, va, SOC_BLOCK_LEVEL, 1, &level);
    if (!at || level != SOC_BLOCK_LEVEL || *soc_word(soc, at) & PTE_VALID)
        return 0;
    const uint32_t first = ct_soc_frames_take(soc, soc_block_frames(soc), va);
    if (first == UINT32_MAX)
        return 0;
    ct_soc_write_descriptor(soc, core, at, soc_frame_pa(soc, first) | PTE_VALID | PTE_AF | PTE_NG);
    return 1;
}

int ct_soc_move(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t from, uint64_t to)
{
    unsigned level;
    if (!soc_has_core(soc, core) || !soc_has_process(soc, pid) ||
        soc_page_of(soc, from) == soc_page_of(soc, to))
        return 0;
    const uint64_t old = ct_soc_page_descriptor(soc, core, pid, from);
    const uint64_t here = old ? ct_soc_descriptor(soc, core, pid, to, 3, 1, &level) : 0;
    if (!here || level != 3 || *soc_word(soc, here) & PTE_VALID)
        return 0;
    const uint64_t desc = *soc_word(soc, old);
    ct_soc_write_descriptor(soc, core, old, 0);
    ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_VA_LAST, soc_page_of(soc, from), soc->process[pid].asid);
    ct_soc_write_descriptor(soc, core, here, desc);
    return 1;
}

/* ---- areas ---- */

int ct_soc_areas_add(struct ct_soc *soc, struct ct_soc_areas *areas, const struct ct_soc_area *area)
{
    if (!CT_MAKE_ROOM(areas->all, areas->room, areas->count + 1)) {
        ct_note_nomem(soc->ctx);
        return 0;
    }
    areas->all[areas->count++] = *area;
    return 1;
}

/* ---- shared memory ---- */

int ct_soc_shared(struct ct_soc *soc, uint32_t pid, uint64_t lo, uint64_t hi, uint64_t object)
{
    if (!soc_has_process(soc, pid))
        return 0;
    struct ct_soc_areas *shared = &soc->process[pid].shared;
    bool matters = object != 0; /* private memory matters only where it replaces shared memory */
    for (size_t i = 0; i < shared->count && !matters; i++)
        matters = lo < shared->all[i].hi && hi > shared->all[i].lo;
    const struct ct_soc_area area = {.lo = lo, .hi = hi, .object = object};
    return !matters || ct_soc_areas_add(soc, shared, &area);
}

/* Finds the page of an object that the process has at va; later areas have priority. Returns 0 when va is not
 * shared. */
static int object_page(const struct ct_soc *soc, const struct ct_soc_process *p, uint64_t va, uint64_t *page)
{
    for (size_t i = p->shared.count; i--;) {
        const struct ct_soc_area *area = &p->shared.all[i];
        if (va < area->lo || va >= area->hi)
            continue;
        *page = area->object + ((va - area->lo) >> soc->config.granule);
        return area->object != 0;
    }
    return 0;
}

uint64_t ct_soc_object(const struct ct_soc *soc, uint32_t pid, uint64_t va)
{
    uint64_t page;
    return soc_has_process(soc, pid) && object_page(soc, &soc->process[pid], va, &page) ? page : 0;
}

uint32_t ct_soc_shared_frame(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va, uint64_t *bits)
{
    uint64_t page;
    if (!object_page(soc, &soc->process[pid], va, &page))
        return UINT32_MAX;
    *bits = PTE_SHARED;
    for (uint32_t i = 0; i < soc->shared_pages; i++)
        if (soc->shared_page[i].page == page) {
            soc->frame[soc->shared_page[i].frame].refs++;
            return soc->shared_page[i].frame;
        }
    if (!CT_PUSH_ROOM(soc->shared_page, soc->shared_pages)) {
        ct_note_nomem(soc->ctx);
        return UINT32_MAX;
    }
    const uint32_t frame = ct_soc_frames_take(soc, 1, va);
    if (frame == UINT32_MAX)
        return frame;
    (void)ct_soc_zero_frame(soc, core, frame, 0);
    soc->frame[frame].refs++; /* the reference of the object, which outlives its mappings */
    soc->shared_page[soc->shared_pages++] = (struct ct_soc_shared_page){page, frame};
    return frame;
}
