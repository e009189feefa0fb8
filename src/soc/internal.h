/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the simulated cluster. */
#pragma once

#include "base/bytes.h"
#include "base/ctx.h"
#include "soc/soc.h"

/* States of a line in a first-level data cache. */
enum {
    LINE_SHARED,
    LINE_EXCLUSIVE,
    LINE_OWNED,
    LINE_MODIFIED
};

/* The ways of a set are in order of use, latest first. An entry is line << 2 | state; 0: empty, since
 * physical memory starts above line 0. */
struct ct_soc_l1 {
    uint32_t *way;
    uint32_t ways, mask;
};

/* Last-level cache. A line's meta word: cores with a copy in L1D << 8 | flags. `used` has a bit for each way
 * used since all bits of the set were last set; the first way without one is the victim (bit-PLRU). */
#define L2_DIRTY  1u
#define L2_SHARED 2u /* an agent outside the cluster may have a copy: a write needs a message */
#define L2_COPIES 0xff00u
struct ct_soc_l2 {
    uint32_t *tag; /* line; 0: empty */
    uint16_t *meta;
    uint16_t *used;
    uint32_t ways, mask;
};

struct ct_soc_utlb_entry {
    uint64_t page; /* virtual page */
    uint64_t base; /* physical */
    uint32_t generation;
    uint32_t writable;
};
#define UTLB_ENTRIES 16

/* Main TLB. A key is page number << 22 | ASID << 6 | log2 of the page's size, so that one comparison finds a
 * hit; 0: empty. */
struct ct_soc_tlb_entry {
    uint64_t key;
    uint64_t pa; /* of the page; bit 0: writable */
};
#define TLB_WAYS     4
#define TLB_SHIFTS   8
#define TLB_WRITABLE UINT64_C(1)

struct ct_soc_walk_entry {
    uint64_t key, table;
    uint32_t generation;
    uint16_t asid;
};
#define WALK_ENTRIES 64

struct ct_soc_core {
    struct ct_soc_utlb_entry utlb[2][UTLB_ENTRIES]; /* for fetches, for data */
    struct ct_soc_walk_entry walk[WALK_ENTRIES];
    uint64_t *tlb_key, *tlb_pa; /* keys and addresses of the main TLB's entries */
    uint32_t tlb_turn;
    uint32_t tlb_sizes;  /* a bit for each page size that the main TLB may have */
    uint32_t generation; /* of the micro-TLBs */
    uint32_t walk_generation;
    struct ct_soc_l1 l1i, l1d;
    uint64_t cycles;
    uint32_t pid;
};

struct ct_soc_frame {
    uint64_t *table; /* contents of a page table; NULL: no page table */
    uint32_t refs;
};

/* Areas of a process whose pages come from a file or are shared. Later ones have priority. */
struct ct_soc_areas {
    struct ct_soc_area {
        uint64_t lo, hi;
        uint64_t object; /* the shared object; 0: none */
    } * all;
    size_t count, room;
};

struct ct_soc_process {
    uint64_t pgd;
    uint16_t asid;
    uint8_t used;
    uint32_t generation; /* of its ASID */
    struct ct_soc_areas files, shared;
};

/* A page of shared memory that was used. */
struct ct_soc_shared_page {
    uint64_t page; /* of an object */
    uint32_t frame;
};

struct ct_soc_migration {
    uint64_t va, desc_pa, desc;
    uint32_t pid;
};

struct ct_soc {
    struct ct_ctx *ctx;
    struct ct_soc_config config;
    struct ct_soc_hooks hooks;
    struct ct_soc_tap tap[CT_SOC_TAPS];
    unsigned taps;
    struct ct_soc_core core[CT_SOC_CORES];
    struct ct_soc_l2 l2;
    uint64_t now;
    uint64_t rng;
    uint64_t wanted; /* offset in its line of the part that a read at the port asks for first */
    uint64_t open_row[8];
    uint64_t memory_busy; /* time until which writing a log occupies memory */
    uint64_t sink_lines;  /* complete lines of a log that were written */
    uint64_t sink_bytes;  /* further bytes of the log, less than a line */
    uint32_t tlb_sets;
    uint8_t shift[TLB_SHIFTS]; /* log2 of the page sizes with this granule */
    unsigned shifts;
    unsigned top_level;
    /* The current walk. An invalidation that covers it makes it start again. */
    uint64_t walk_va;
    uint16_t walk_asid;
    uint8_t walking, walk_stale;
    struct ct_soc_frame *frame;
    uint32_t next_frame, free_frames;
    uint32_t *freed; /* latest last; entries can be stale */
    uint32_t freed_count;
    struct ct_soc_process *process;
    struct ct_soc_shared_page *shared_page;
    uint32_t shared_pages;
    uint16_t next_asid;
    uint32_t asid_generation;
    struct ct_soc_migration migration;
    uint32_t kernel; /* first frame of the kernel's text and data; 0: not needed yet */
    struct ct_soc_counts counts;
};

#define PROCESSES 1024

static inline int soc_has_core(const struct ct_soc *soc, unsigned core)
{
    return soc && core < soc->config.cores;
}

static inline int soc_has_process(const struct ct_soc *soc, uint32_t pid)
{
    return soc && pid && pid < PROCESSES && soc->process[pid].used;
}

/* Physical memory starts here; frame 0 is its first page. */
#define SOC_BASE UINT64_C(0x40000000)

/* Descriptor bits: VMSAv8-64, and two that the architecture leaves to software. */
#define PTE_VALID  UINT64_C(1)
#define PTE_TABLE  UINT64_C(2)
#define PTE_RO     (UINT64_C(1) << 7)
#define PTE_AF     (UINT64_C(1) << 10)
#define PTE_NG     (UINT64_C(1) << 11)
#define PTE_CONTIG (UINT64_C(1) << 52)
#define PTE_COW    (UINT64_C(1) << 55)
#define PTE_SHARED (UINT64_C(1) << 56)
#define PTE_ADDR   UINT64_C(0xfffffffff000)

static inline uint64_t soc_random(struct ct_soc *soc)
{
    /* xorshift64*, Vigna */
    uint64_t x = soc->rng;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    soc->rng = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

static inline unsigned soc_level_shift(const struct ct_soc *soc, unsigned level)
{
    return soc->config.granule + (3 - level) * (soc->config.granule - 3u);
}

static inline uint64_t soc_frame_pa(const struct ct_soc *soc, uint32_t frame)
{
    return SOC_BASE + ((uint64_t)frame << soc->config.granule);
}

/* Returns the first address of a page. */
static inline uint64_t soc_page_of(const struct ct_soc *soc, uint64_t va)
{
    return va & ~ct_mask64(soc->config.granule);
}

/* The level of tables above the last, whose descriptors may be blocks; and the frames of such a block. */
#define SOC_BLOCK_LEVEL 2

static inline uint32_t soc_block_frames(const struct ct_soc *soc)
{
    return 1u << (soc->config.granule - 3);
}

static inline uint32_t soc_pa_frame(const struct ct_soc *soc, uint64_t pa)
{
    return (uint32_t)((pa - SOC_BASE) >> soc->config.granule);
}

static inline uint64_t *soc_word(const struct ct_soc *soc, uint64_t pa)
{
    uint64_t *table = soc->frame[soc_pa_frame(soc, pa)].table;
    return table + ((pa & ct_mask64(soc->config.granule)) >> 3);
}

/* Sends a message to the port (bus.c). The next ct_soc_drain processes the answers, and the commands in
 * them. */
void ct_soc_message(struct ct_soc *soc, unsigned core, unsigned op, unsigned kind, uint64_t addr,
                    uint64_t value);
void ct_soc_drain(struct ct_soc *soc, unsigned core);
/* Returns the cycles that memory takes to answer a core's miss in the last level. */
unsigned ct_soc_memory_cycles(struct ct_soc *soc, unsigned core, uint64_t pa);

/* Reads a word at the port, past the caches, unless they have it. */
void ct_soc_read_past(struct ct_soc *soc, unsigned core, uint64_t pa);

/* cache.c. None of these functions drains. */
enum {
    USE_FETCH,
    USE_LOAD,
    USE_STORE,
    USE_WALK
};
/* Uses a line in the caches. Returns 1 when no cache of the cluster had it, so that a read went to the
 * port. */
int ct_soc_cache_use(struct ct_soc *soc, unsigned core, uint64_t pa, unsigned use);

/* The same, with a fast path for the line that its set used last, the most frequent case. */
static inline int ct_soc_cache(struct ct_soc *soc, unsigned core, uint64_t pa, unsigned use)
{
    const struct ct_soc_l1 *c = use == USE_FETCH ? &soc->core[core].l1i : &soc->core[core].l1d;
    const uint32_t line = (uint32_t)(pa >> 6);
    uint32_t *latest = c->way + (size_t)(line & c->mask) * c->ways;
    if (*latest >> 2 != line || use == USE_WALK)
        return ct_soc_cache_use(soc, core, pa, use);
    if (use == USE_STORE) {
        if ((*latest & 3) != LINE_MODIFIED && (*latest & 3) != LINE_EXCLUSIVE)
            return ct_soc_cache_use(soc, core, pa, use);
        *latest |= LINE_MODIFIED;
    }
    return 0;
}

void ct_soc_cache_zero(struct ct_soc *soc, unsigned core, uint64_t pa); /* DC ZVA */
void ct_soc_cache_clean_invalidate(struct ct_soc *soc, uint64_t pa);
void ct_soc_cache_share(struct ct_soc *soc, uint64_t pa);
void ct_soc_cache_ici(struct ct_soc *soc, uint64_t pa);
/* Returns the operation at the port for a use. */
unsigned ct_soc_use_op(unsigned use);
int ct_soc_caches_new(struct ct_soc *soc);
void ct_soc_caches_free(struct ct_soc *soc);

/* mmu.c */
enum ct_soc_walk_result {
    WALK_OK,
    WALK_ABSENT,
    WALK_READ_ONLY
};
/* Fills in a micro-TLB entry for va. Returns 0 when there is no translation. */
int ct_soc_utlb_refill(struct ct_soc *soc, unsigned core, uint64_t va, struct ct_soc_utlb_entry *entry);

static inline enum ct_soc_walk_result ct_soc_mmu_translate(struct ct_soc *soc, unsigned core, uint64_t va,
                                                           unsigned use, uint64_t *pa)
{
    struct ct_soc_core *c = &soc->core[core];
    const uint64_t page = va >> soc->config.granule;
    struct ct_soc_utlb_entry *u = &c->utlb[use != USE_FETCH][page % UTLB_ENTRIES];
    if ((u->page != page || u->generation != c->generation) && !ct_soc_utlb_refill(soc, core, va, u))
        return WALK_ABSENT;
    if (use == USE_STORE && !u->writable)
        return WALK_READ_ONLY;
    *pa = u->base + (va - (page << soc->config.granule));
    return WALK_OK;
}

void ct_soc_tlb_flush_va(struct ct_soc *soc, uint64_t va, int asid, int walk_caches); /* asid -1: all */
void ct_soc_tlb_flush_asid(struct ct_soc *soc, int asid);
int ct_soc_tlbs_new(struct ct_soc *soc);
void ct_soc_tlbs_free(struct ct_soc *soc);

/* Handles a fault of the core's process (os.c). 0: the access cannot continue. */
int ct_soc_fault(struct ct_soc *soc, unsigned core, uint64_t va, enum ct_soc_walk_result why);
uint32_t ct_soc_frames_take(struct ct_soc *soc, uint32_t count, uint64_t va); /* aligned; UINT32_MAX: none */
void ct_soc_frame_put(struct ct_soc *soc, uint32_t frame);
/* Returns the physical address of the descriptor of va at `level`, or 0 when there is none. With `make`,
 * missing tables are made. *found becomes its level: a block ends the walk early. */
uint64_t ct_soc_descriptor(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va, unsigned level,
                           int make, unsigned *found);

/* Returns the physical address of the last-level descriptor of a mapped, plain page, or 0. */
uint64_t ct_soc_page_descriptor(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);

void ct_soc_write_descriptor(struct ct_soc *soc, unsigned core, uint64_t pa, uint64_t value);
void ct_soc_dvm(struct ct_soc *soc, unsigned core, unsigned op, uint64_t va, uint16_t asid);
int ct_soc_zero_frame(struct ct_soc *soc, unsigned core, uint32_t frame, int table);
/* Returns the frame of shared memory at va, with one more reference; *bits become the bits of its
 * descriptors. UINT32_MAX: va is not shared, or memory is missing. */
uint32_t ct_soc_shared_frame(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va, uint64_t *bits);
/* Frees the frames that a leaf descriptor of this level maps. TLBs must be flushed before. */
void ct_soc_put_leaf(struct ct_soc *soc, uint64_t desc, unsigned level);
/* Returns how many pages a contiguous group has at the last level. */
unsigned ct_soc_contig_count(const struct ct_soc *soc);
/* Adds an area. Returns 0 when memory is missing. */
int ct_soc_areas_add(struct ct_soc *soc, struct ct_soc_areas *areas, const struct ct_soc_area *area);
int ct_soc_os_new(struct ct_soc *soc);
void ct_soc_os_free(struct ct_soc *soc);
void ct_soc_copy_frame(struct ct_soc *soc, unsigned core, uint32_t from, uint32_t to);
