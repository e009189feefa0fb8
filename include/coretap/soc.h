/* SPDX-License-Identifier: Apache-2.0 */
/* coretap SoC: a simulated cluster with a port to which a FRACTAL (fractal.h) listens. It has cores with TLBs
 * and caches, a shared last-level cache, an operating system that changes page tables, and a port to the
 * fabric. Tags and states are simulated; of contents, only page tables are. The same calls with the same seed
 * give the same run.
 *
 *     struct ct_soc_config config;
 *     ct_soc_defaults(&config);
 *     ct_soc_new(ctx, &config, NULL, &soc);
 *     ct_soc_attach(soc, &tap);
 *     pid = ct_soc_process(soc);
 *     ct_soc_run(soc, 0, pid);
 *     ct_soc_touch(soc, 0, address, CT_SOC_LOAD); */
#ifndef CORETAP_SOC_H
#define CORETAP_SOC_H

#include "coretap/base.h"
#include "coretap/fractal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CT_SOC_CORES 8
#define CT_SOC_TAPS  256 /* maximal number of listeners of a port: as many as an event log can tell apart */

#define CT_SOC_CLOCK_HZ UINT64_C(1300000000) /* clock of a Kria's cores, which the model's cycles count */

enum ct_soc_alloc {
    CT_SOC_ALLOC_SEQUENTIAL,
    CT_SOC_ALLOC_RANDOM,
    CT_SOC_ALLOC_COLOURED, /* frame and virtual page agree in the bits that index the last-level cache */
    CT_SOC_ALLOC_REUSE,    /* what was freed last */
};

/* What is between cluster and memory. */
enum ct_soc_fabric {
    CT_SOC_FABRIC_NONE,
    CT_SOC_FABRIC_COHERENT, /* every miss waits for the fabric's snoop response */
};

/* Where page table walks read descriptors. */
enum ct_soc_walks {
    CT_SOC_WALKS_CACHED, /* in the last-level cache, like a Cortex-A53: a port only sees those that miss
                            there */
    CT_SOC_WALKS_SEEN,   /* at the port, bypassing the caches: it sees each of them */
};

/* Where the tracer's log goes. */
enum ct_soc_sink {
    CT_SOC_SINK_RING,   /* memory inside the fabric (BRAM): no traffic */
    CT_SOC_SINK_MEMORY, /* the cluster's memory, so that misses wait for it */
};

/* The geometry of a cluster. Zero is the default, except for the seed (ct_soc_defaults). */
struct ct_soc_config {
    size_t size; /* sizeof(struct ct_soc_config) */
    uint32_t cores;
    uint32_t l1i_bytes, l1i_ways, l1d_bytes, l1d_ways, l2_bytes, l2_ways;
    uint32_t tlb_entries; /* 4-way set-associative */
    uint32_t frames;      /* physical pages of the granule's size */
    uint32_t asids;       /* address space numbers before a roll-over */
    uint8_t granule, va_bits;
    uint8_t alloc;  /* enum ct_soc_alloc */
    uint8_t fabric; /* enum ct_soc_fabric */
    uint64_t seed;
    uint32_t port_bytes; /* resolution of read addresses at the port: 8 to 64, a line */
    uint32_t walks;      /* enum ct_soc_walks */
    uint32_t sink;       /* enum ct_soc_sink */
    uint32_t pad;        /* 0 */
};

/* A listener of the port. message: `line` is the content when the operation is Data, else NULL. command:
 * returns 1 while there is one. */
struct ct_soc_tap {
    void *user;
    void (*message)(void *user, const struct ct_fractal_message *m, const uint64_t *line);
    int (*command)(void *user, struct ct_fractal_command *out);
};

/* A last-level miss of a process, which a tracer should report. */
struct ct_soc_miss {
    uint64_t time, va, pa; /* of the line, or of the part of it that the port reports (port_bytes) */
    uint32_t pid;
    uint8_t op, core, kind;
};

/* Functions that are called when something happens; each may be NULL. */
struct ct_soc_hooks {
    void *user;
    void (*miss)(void *user, const struct ct_soc_miss *m);
    void (*asid)(void *user, uint32_t pid, uint16_t asid);    /* before the process runs with it */
    void (*context)(void *user, unsigned core, uint32_t pid); /* CT_SOC_IDLE also in the kernel */
};

enum ct_soc_access {
    CT_SOC_FETCH,
    CT_SOC_LOAD,
    CT_SOC_STORE,
};

struct ct_soc_counts {
    uint64_t accesses, l1i_misses, l1d_misses, l2_misses, tlb_misses, walks, write_backs, faults, copies,
        commands;
};

struct ct_soc;

#define CT_SOC_IDLE 0 /* pid of a core that runs nothing */

/* Sets a configuration to that of a Kria KV260. */
CT_API void ct_soc_defaults(struct ct_soc_config *config);

/* Sets a configuration to that of a Kria KV260, changed by a file. The file has lines of "key = value"
 * (docs/fractal.md has the keys), decimal or with 0x; '#' and ';' begin comments. CT_ERR_FORMAT: a line is no
 * setting, or its value is too large; CT_ERR_IO: the file cannot be opened; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_soc_config_load(struct ct_ctx *ctx, const char *path, struct ct_soc_config *config);

/* Makes a cluster; `ctx` and `hooks` may be NULL. CT_ERR_ARG for an impossible geometry, CT_ERR_NOMEM. */
CT_API int ct_soc_new(struct ct_ctx *ctx, const struct ct_soc_config *config,
                      const struct ct_soc_hooks *hooks, struct ct_soc **out);
CT_API void ct_soc_free(struct ct_soc *soc);

/* Attaches a listener, which receives everything from now on. Returns its number. CT_ERR_LIMIT when there are
 * too many, CT_ERR_ARG. */
CT_API int ct_soc_attach(struct ct_soc *soc, const struct ct_soc_tap *tap);

/* Writes a register of the object attached to a tap, in order with the traffic. */
CT_API void ct_soc_reg_write(struct ct_soc *soc, unsigned tap, uint32_t offset, uint64_t value);

/* Returns the clock of a core, and the counts so far. */
CT_API uint64_t ct_soc_cycles(const struct ct_soc *soc, unsigned core);
CT_API const struct ct_soc_counts *ct_soc_counts_of(const struct ct_soc *soc);

/* Makes a core spend cycles without memory accesses. */
CT_API void ct_soc_spend(struct ct_soc *soc, unsigned core, uint64_t cycles);

/* Writes `bytes` bytes of a log to memory, from the fabric. They follow those written before, at the time of
 * the last message of the port. While memory takes a line of 64 bytes, misses of the cores wait, and its open
 * row changes. */
CT_API void ct_soc_sink_write(struct ct_soc *soc, uint64_t bytes);

/* Makes a process with an empty address space. Returns its number; 0 when out of memory. */
CT_API uint32_t ct_soc_process(struct ct_soc *soc);

/* Switches a core to a process, or to CT_SOC_IDLE. */
CT_API void ct_soc_run(struct ct_soc *soc, unsigned core, uint32_t pid);

/* Returns the process that a core runs. */
CT_API uint32_t ct_soc_running(const struct ct_soc *soc, unsigned core);

/* Returns the address of the page tables of a process, and its address space number. */
CT_API uint64_t ct_soc_pgd(const struct ct_soc *soc, uint32_t pid);
CT_API uint16_t ct_soc_asid(const struct ct_soc *soc, uint32_t pid);

/* Marks pages from `lo` to `hi` as read from a file. Their contents come by DMA, bypassing the caches; other
 * pages are zeroed through the caches. Returns 0 when out of memory, or without such a process. */
CT_API int ct_soc_file(struct ct_soc *soc, uint32_t pid, uint64_t lo, uint64_t hi);

/* Makes one access of the core's process, inside one line. Maps absent pages. Returns 0 when it failed: out
 * of memory, or the page is being migrated. */
CT_API int ct_soc_touch(struct ct_soc *soc, unsigned core, uint64_t va, enum ct_soc_access access);

/* Translates an address by the current tables, bypassing all caches. Returns 0 when it is not mapped. */
CT_API int ct_soc_translate(const struct ct_soc *soc, uint32_t pid, uint64_t va, uint64_t *pa);

/* Unmaps a page, also one of a huge page, which is split. Returns 0 when there was none. */
CT_API int ct_soc_unmap(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);

/* Forks a process on a core: its pages become copy-on-write, shared pages stay shared. Returns the child; 0
 * when out of memory, while a page of it moves, or with pages joined by the contiguous hint. */
CT_API uint32_t ct_soc_fork(struct ct_soc *soc, unsigned core, uint32_t pid);

/* Ends a process on a core: invalidates its TLB entries, and frees its memory. */
CT_API void ct_soc_exit(struct ct_soc *soc, unsigned core, uint32_t pid);

/* Moves a page of a process to another virtual address, like mremap; splits a huge page. Returns 0 when there
 * is none, or another page is in the way. */
CT_API int ct_soc_move(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t from, uint64_t to);

/* Maps pages from `lo` to `hi` to a shared object, from its page `object` on: all mappings of the object use
 * the same frames. With `object` 0 pages touched later are private again. Returns 0 when out of memory, or
 * without such a process. */
CT_API int ct_soc_shared(struct ct_soc *soc, uint32_t pid, uint64_t lo, uint64_t hi, uint64_t object);

/* Returns the page of a shared object that a process has at va, touched or not. 0: the memory there is
 * private, or there is no such process. */
CT_API uint64_t ct_soc_object(const struct ct_soc *soc, uint32_t pid, uint64_t va);

/* Maps the block of pages around va as a huge page, of the level above the last. Returns 0 when something is
 * mapped there, or no contiguous memory is free. */
CT_API int ct_soc_map_huge(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);

/* Begins to move a page to another frame: removes its translation. Cores continue with what their TLBs hold
 * until ct_soc_migrate_end, which copies the page. Both return 0 when there is no such page, or none is being
 * moved. */
CT_API int ct_soc_migrate_begin(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
CT_API int ct_soc_migrate_end(struct ct_soc *soc, unsigned core);

/* Interrupts a core by a timer: the kernel runs there for a while, through its caches. */
CT_API void ct_soc_tick(struct ct_soc *soc, unsigned core);

#ifdef __cplusplus
}
#endif
#endif
