/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system: frames, processes, faults. It runs on the core that called it; its accesses to page
 * tables go through that core's caches. */
#include "soc/internal.h"

#include <stdlib.h>

static void free_areas(struct ct_soc_process *p)
{
    free(p->files.all);
    free(p->shared.all);
}

int ct_soc_os_new(struct ct_soc *soc)
{
    const uint32_t n = soc->config.frames;
    soc->frame = calloc(n, sizeof *soc->frame);
    soc->freed = malloc(n * sizeof *soc->freed);
    soc->process = calloc(PROCESSES, sizeof *soc->process);
    soc->free_frames = n;
    soc->next_asid = 1;
    soc->asid_generation = 1;
    return soc->frame && soc->freed && soc->process ? CT_OK : CT_ERR_NOMEM;
}

void ct_soc_os_free(struct ct_soc *soc)
{
    for (uint32_t i = 0; soc->frame && i < soc->config.frames; i++)
        free(soc->frame[i].table);
    free(soc->frame);
    free(soc->freed);
    for (uint32_t pid = 0; soc->process && pid < PROCESSES; pid++)
        free_areas(&soc->process[pid]);
    free(soc->process);
    free(soc->shared_page);
}

/* ---- frames ---- */

static int run_is_free(const struct ct_soc *soc, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (soc->frame[first + i].refs)
            return 0;
    return 1;
}

static uint32_t find_frame(struct ct_soc *soc, uint64_t va)
{
    const uint32_t n = soc->config.frames;
    /* number of page colours: pages in one way of the last level */
    const uint32_t way = soc->config.l2_bytes / soc->config.l2_ways >> soc->config.granule,
                   colours = way ? way : 1;
    uint32_t at = soc->next_frame, step = 1;
    if (soc->config.alloc == CT_SOC_ALLOC_REUSE) {
        while (soc->freed_count) {
            const uint32_t f = soc->freed[--soc->freed_count];
            if (!soc->frame[f].refs)
                return f;
        }
    } else if (soc->config.alloc == CT_SOC_ALLOC_RANDOM) {
        at = (uint32_t)(soc_random(soc) % n);
    } else if (soc->config.alloc == CT_SOC_ALLOC_COLOURED) {
        at = at - at % colours + (uint32_t)(va >> soc->config.granule) % colours;
        step = colours;
    }
    for (uint32_t tries = 0; tries < n; tries++, at += step) {
        at = at >= n ? at % n : at;
        if (!soc->frame[at].refs) {
            soc->next_frame = at;
            return at;
        }
        if (step > 1 && tries == n / step)
            step = 1; /* no free frame of that colour */
    }
    return UINT32_MAX;
}

uint32_t ct_soc_frames_take(struct ct_soc *soc, uint32_t count, uint64_t va)
{
    if (soc->free_frames < count)
        return UINT32_MAX;
    uint32_t first = UINT32_MAX;
    if (count == 1) {
        first = find_frame(soc, va);
    } else {
        for (uint32_t f = 0; f + count <= soc->config.frames && first == UINT32_MAX; f += count)
            if (run_is_free(soc, f, count))
                first = f;
    }
    for (uint32_t i = 0; first != UINT32_MAX && i < count; i++)
        soc->frame[first + i].refs = 1;
    soc->free_frames -= first != UINT32_MAX ? count : 0;
    return first;
}

void ct_soc_frame_put(struct ct_soc *soc, uint32_t frame)
{
    struct ct_soc_frame *f = &soc->frame[frame];
    if (--f->refs)
        return;
    free(f->table);
    f->table = NULL;
    soc->free_frames++;
    if (soc->freed_count == soc->config.frames)
        soc->freed_count = 0; /* drop stale entries; the scan still finds the frames */
    soc->freed[soc->freed_count++] = frame;
}

/* Zeroes a frame as DC ZVA does. Of a large one only the first 64 lines are written. 0: no memory for a
 * table. */
int ct_soc_zero_frame(struct ct_soc *soc, unsigned core, uint32_t frame, int table)
{
    const uint64_t pa = soc_frame_pa(soc, frame);
    for (uint64_t line = 0; line < 64; line++) {
        ct_soc_cache_zero(soc, core, pa + line * 64);
        soc->core[core].cycles += 2;
        ct_soc_drain(soc, core);
    }
    if (!table)
        return 1;
    soc->frame[frame].table = calloc(1, (size_t)1 << soc->config.granule);
    if (!soc->frame[frame].table)
        ct_note_nomem(soc->ctx);
    return soc->frame[frame].table != NULL;
}

/* Copies a frame through the caches: every line of a 4 KB page, the first 64 of a larger one. */
void ct_soc_copy_frame(struct ct_soc *soc, unsigned core, uint32_t from, uint32_t to)
{
    for (uint64_t line = 0; line < 64; line++) {
        ct_soc_cache(soc, core, soc_frame_pa(soc, from) + line * 64, USE_LOAD);
        ct_soc_drain(soc, core);
        ct_soc_cache(soc, core, soc_frame_pa(soc, to) + line * 64, USE_STORE);
        ct_soc_drain(soc, core);
    }
}

/* ---- page tables ---- */

void ct_soc_write_descriptor(struct ct_soc *soc, unsigned core, uint64_t pa, uint64_t value)
{
    ct_soc_cache(soc, core, pa, USE_STORE);
    *soc_word(soc, pa) = value;
    ct_soc_drain(soc, core);
}

static uint64_t read_descriptor(struct ct_soc *soc, unsigned core, uint64_t pa)
{
    ct_soc_cache(soc, core, pa, USE_LOAD);
    ct_soc_drain(soc, core);
    return *soc_word(soc, pa);
}

uint64_t ct_soc_descriptor(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va, unsigned level,
                           int make, unsigned *found)
{
    uint64_t table = soc->process[pid].pgd;
    for (unsigned l = soc->top_level;; l++) {
        const unsigned shift = soc_level_shift(soc, l);
        const uint64_t entries = l == soc->top_level ? ct_mask64(soc->config.va_bits - shift)
                                                     : ct_mask64(soc->config.granule - 3u);
        const uint64_t pa = table + (va >> shift & entries) * 8;
        *found = l;
        if (l == level)
            return pa;
        uint64_t desc = read_descriptor(soc, core, pa);
        if (desc & PTE_VALID && !(desc & PTE_TABLE))
            return pa;
        if (!(desc & PTE_VALID)) {
            const uint32_t frame = make ? ct_soc_frames_take(soc, 1, va) : UINT32_MAX;
            if (frame == UINT32_MAX)
                return 0;
            if (!ct_soc_zero_frame(soc, core, frame, 1))
                return 0;
            desc = soc_frame_pa(soc, frame) | PTE_VALID | PTE_TABLE;
            ct_soc_write_descriptor(soc, core, pa, desc);
        }
        table = desc & PTE_ADDR;
    }
}

void ct_soc_dvm(struct ct_soc *soc, unsigned core, unsigned op, uint64_t va, uint16_t asid)
{
    if (op == CT_FRACTAL_TLBI_ASID)
        ct_soc_tlb_flush_asid(soc, asid);
    else if (op == CT_FRACTAL_TLBI_ALL)
        ct_soc_tlb_flush_asid(soc, -1);
    else
        ct_soc_tlb_flush_va(soc, va, asid, op != CT_FRACTAL_TLBI_VA_LAST);
    ct_soc_message(soc, core, op, CT_FRACTAL_KIND_UNKNOWN, op == CT_FRACTAL_TLBI_ASID ? 0 : va, asid);
    ct_soc_drain(soc, core);
}

void ct_soc_put_leaf(struct ct_soc *soc, uint64_t desc, unsigned level)
{
    const uint32_t first = soc_pa_frame(soc, desc & PTE_ADDR);
    const uint32_t count = 1u << (soc_level_shift(soc, level) - soc->config.granule);
    for (uint32_t i = 0; i < count; i++)
        ct_soc_frame_put(soc, first + i);
}

unsigned ct_soc_contig_count(const struct ct_soc *soc)
{
    return 1u << (soc->shift[1] - soc->shift[0]);
}

/* ---- processes ---- */

uint32_t ct_soc_process(struct ct_soc *soc)
{
    if (!soc)
        return 0;
    uint32_t pid = 1;
    while (pid < PROCESSES && soc->process[pid].used)
        pid++;
    const uint32_t frame = pid < PROCESSES ? ct_soc_frames_take(soc, 1, 0) : UINT32_MAX;
    if (frame == UINT32_MAX)
        return 0;
    if (!ct_soc_zero_frame(soc, 0, frame, 1))
        return 0;
    soc->process[pid] = (struct ct_soc_process){.pgd = soc_frame_pa(soc, frame), .used = 1};
    return pid;
}

static void free_tables(struct ct_soc *soc, unsigned core, uint64_t table, unsigned level, int clear)
{
    const uint64_t entries = UINT64_C(1) << (soc->config.granule - 3);
    for (uint64_t i = 0; i < entries; i++) {
        const uint64_t pa = table + i * 8, desc = *soc_word(soc, pa);
        if (!(desc & PTE_VALID))
            continue;
        const int below = level < 3 && desc & PTE_TABLE;
        if (below)
            free_tables(soc, core, desc & PTE_ADDR, level + 1, clear);
        if (clear && !below)
            ct_soc_write_descriptor(soc, core, pa, 0);
        if (clear)
            continue;
        if (below)
            ct_soc_frame_put(soc, soc_pa_frame(soc, desc));
        else
            ct_soc_put_leaf(soc, desc, level);
    }
}

/* Ends a process. Its descriptors stay until the TLBs are flushed, then everything is freed, like exit_mmap
 * for an address space that no core uses. */
void ct_soc_exit(struct ct_soc *soc, unsigned core, uint32_t pid)
{
    if (!soc_has_core(soc, core) || !soc_has_process(soc, pid))
        return;
    struct ct_soc_process *p = &soc->process[pid];
    for (unsigned i = 0; i < soc->config.cores; i++)
        if (soc->core[i].pid == pid)
            ct_soc_run(soc, i, CT_SOC_IDLE);
    if (soc->migration.pid == pid)
        ct_soc_migrate_end(soc, core);
    ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_ASID, 0, p->asid);
    free_tables(soc, core, p->pgd, soc->top_level, 0);
    ct_soc_frame_put(soc, soc_pa_frame(soc, p->pgd));
    free_areas(p);
    *p = (struct ct_soc_process){0};
}

/* Handles running out of address space IDs: running processes keep theirs, others get a new one when they run
 * again, and each core flushes its own TLBs, without a message (arm64's flush_context). */
void ct_soc_asid_rollover(struct ct_soc *soc)
{
    soc->asid_generation++;
    soc->next_asid = 1;
    for (unsigned i = 0; i < soc->config.cores; i++)
        soc->process[soc->core[i].pid].generation = soc->asid_generation;
    ct_soc_tlb_flush_asid(soc, -1);
}

/* Returns whether the ID belongs to a process that ran at the last roll-over. */
static int asid_is_kept(const struct ct_soc *soc, uint16_t asid)
{
    for (uint32_t pid = 1; pid < PROCESSES; pid++) {
        const struct ct_soc_process *p = &soc->process[pid];
        if (p->used && p->generation == soc->asid_generation && p->asid == asid)
            return 1;
    }
    return 0;
}

static void give_asid(struct ct_soc *soc, uint32_t pid)
{
    struct ct_soc_process *p = &soc->process[pid];
    if (p->generation == soc->asid_generation && p->asid)
        return;
    if (soc->next_asid >= soc->config.asids)
        ct_soc_asid_rollover(soc);
    while (asid_is_kept(soc, soc->next_asid))
        soc->next_asid++;
    p->asid = soc->next_asid++;
    p->generation = soc->asid_generation;
    if (soc->hooks.asid)
        soc->hooks.asid(soc->hooks.user, pid, p->asid);
}

void ct_soc_run(struct ct_soc *soc, unsigned core, uint32_t pid)
{
    if (!soc_has_core(soc, core) || (pid != CT_SOC_IDLE && !soc_has_process(soc, pid)))
        return;
    struct ct_soc_core *c = &soc->core[core];
    if (c->pid == pid)
        return;
    c->pid = CT_SOC_IDLE;
    if (pid != CT_SOC_IDLE)
        give_asid(soc, pid);
    c->pid = pid;
    c->generation++;
    if (soc->hooks.context)
        soc->hooks.context(soc->hooks.user, core, pid);
}

uint32_t ct_soc_running(const struct ct_soc *soc, unsigned core)
{
    if (!soc_has_core(soc, core))
        return CT_SOC_IDLE;
    return soc->core[core].pid;
}

uint64_t ct_soc_pgd(const struct ct_soc *soc, uint32_t pid)
{
    if (!soc_has_process(soc, pid))
        return 0;
    return soc->process[pid].pgd;
}

uint16_t ct_soc_asid(const struct ct_soc *soc, uint32_t pid)
{
    if (!soc_has_process(soc, pid))
        return 0;
    return soc->process[pid].asid;
}

/* ---- ticks ---- */

#define KERNEL_BYTES (512u * 1024)
#define TICK_PIECES  8  /* places in the kernel that a tick executes */
#define TICK_LINES   32 /* cache lines that a tick fetches in each place: 16 KiB in all */

void ct_soc_tick(struct ct_soc *soc, unsigned core)
{
    if (!soc_has_core(soc, core))
        return;
    if (!soc->kernel) {
        const uint32_t frames = KERNEL_BYTES >> soc->config.granule,
                       first = ct_soc_frames_take(soc, frames, 0);
        if (first == UINT32_MAX)
            return;
        soc->kernel = first;
    }
    const uint64_t base = soc_frame_pa(soc, soc->kernel);
    if (soc->hooks.context)
        soc->hooks.context(soc->hooks.user, core, CT_SOC_IDLE);
    for (unsigned piece = 0; piece < TICK_PIECES; piece++) {
        const uint64_t at = soc_random(soc) % (KERNEL_BYTES / 64 - TICK_LINES) * 64;
        for (unsigned line = 0; line < TICK_LINES; line++) {
            ct_soc_cache(soc, core, base + at + line * 64, USE_FETCH);
            ct_soc_drain(soc, core);
            if (line % 4 == 0) {
                ct_soc_cache(soc, core, base + (at * 7 + line * 64) % KERNEL_BYTES, USE_LOAD);
                ct_soc_drain(soc, core);
            }
            soc->core[core].cycles += 12;
        }
    }
    if (soc->hooks.context)
        soc->hooks.context(soc->hooks.user, core, soc->core[core].pid);
}

/* ---- faults ---- */

int ct_soc_file(struct ct_soc *soc, uint32_t pid, uint64_t lo, uint64_t hi)
{
    if (!soc_has_process(soc, pid))
        return 0;
    const struct ct_soc_areas *files = &soc->process[pid].files;
    for (size_t i = 0; i < files->count; i++)
        if (lo >= files->all[i].lo && hi <= files->all[i].hi)
            return 1; /* in case a program maps a file repeatedly */
    return ct_soc_areas_add(soc, &soc->process[pid].files, &(struct ct_soc_area){.lo = lo, .hi = hi});
}

static int from_file(const struct ct_soc_process *p, uint64_t va)
{
    for (size_t i = 0; i < p->files.count; i++)
        if (va >= p->files.all[i].lo && va < p->files.all[i].hi)
            return 1;
    return 0;
}

static int bring_in(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    unsigned level;
    const uint64_t at = ct_soc_descriptor(soc, core, pid, va, 3, 1, &level);
    if (!at)
        return 0;
    const uint64_t desc = *soc_word(soc, at);
    if (desc & PTE_VALID) { /* its access flag was cleared */
        ct_soc_write_descriptor(soc, core, at, desc | PTE_AF);
        return 1;
    }
    uint64_t bits = 0;
    uint32_t frame = ct_soc_shared_frame(soc, core, pid, va, &bits);
    if (frame == UINT32_MAX && !bits) {
        frame = ct_soc_frames_take(soc, 1, va);
        if (frame != UINT32_MAX && !from_file(&soc->process[pid], va))
            (void)ct_soc_zero_frame(soc, core, frame, 0);
    }
    if (frame == UINT32_MAX)
        return 0;
    ct_soc_write_descriptor(soc, core, at,
                            soc_frame_pa(soc, frame) | bits | PTE_VALID | PTE_TABLE | PTE_AF | PTE_NG);
    return 1;
}

/* Gives a process its own copy of a page, or write access to the last copy. The address changes by
 * break-before-make (D8.14.1). */
static int copy_on_write(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va)
{
    unsigned level;
    const uint64_t at = ct_soc_descriptor(soc, core, pid, va, 3, 0, &level);
    if (!at)
        return 0;
    if (level < 3)
        return ct_soc_split(soc, core, pid, va);
    const uint64_t desc = *soc_word(soc, at), page = va & ~ct_mask64(soc->config.granule);
    if (!(desc & PTE_COW))
        return 0;
    const uint16_t asid = soc->process[pid].asid;
    const uint32_t old = soc_pa_frame(soc, desc & PTE_ADDR);
    if (soc->frame[old].refs == 1) {
        ct_soc_write_descriptor(soc, core, at, desc & ~(PTE_RO | PTE_COW));
        ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_VA_LAST, page, asid);
        return 1;
    }
    const uint32_t frame = ct_soc_frames_take(soc, 1, va);
    if (frame == UINT32_MAX)
        return 0;
    soc->counts.copies++;
    ct_soc_copy_frame(soc, core, old, frame);
    ct_soc_write_descriptor(soc, core, at, 0);
    ct_soc_dvm(soc, core, CT_FRACTAL_TLBI_VA_LAST, page, asid);
    ct_soc_write_descriptor(soc, core, at,
                            (desc & ~(PTE_ADDR | PTE_RO | PTE_COW)) | soc_frame_pa(soc, frame));
    ct_soc_frame_put(soc, old);
    return 1;
}

int ct_soc_fault(struct ct_soc *soc, unsigned core, uint64_t va, enum ct_soc_walk_result why)
{
    const uint32_t pid = soc->core[core].pid;
    const struct ct_soc_migration *m = &soc->migration;
    if (pid == CT_SOC_IDLE)
        return 0;
    if (m->pid == pid && (m->va ^ va) >> soc->config.granule == 0)
        return 0; /* the page is being moved: the program waits */
    soc->counts.faults++;
    soc->core[core].cycles += ct_soc_latency.fault;
    if (soc->hooks.context)
        soc->hooks.context(soc->hooks.user, core, CT_SOC_IDLE); /* the kernel runs next */
    const int done = why == WALK_READ_ONLY ? copy_on_write(soc, core, pid, va) : bring_in(soc, core, pid, va);
    if (soc->hooks.context)
        soc->hooks.context(soc->hooks.user, core, pid);
    return done;
}
