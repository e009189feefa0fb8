/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cluster: cores with TLBs and caches, a shared last-level cache, an operating system
 * that changes page tables, and a port to the fabric. Tags and states are simulated, contents only of
 * page tables. Every run of the same calls with the same seed is the same. */
#ifndef CT_SOC_H
#define CT_SOC_H

#include "base/ctx.h"
#include "coretap/fractal.h"

#define CT_SOC_CORES 8
#define CT_SOC_TAPS  8

enum ct_soc_alloc {
    CT_SOC_ALLOC_SEQUENTIAL,
    CT_SOC_ALLOC_RANDOM,
    CT_SOC_ALLOC_COLOURED, /* frame and virtual page agree in the bits that index the last-level cache */
    CT_SOC_ALLOC_REUSE,    /* what was freed last */
};

/* What stands between cluster and memory. */
enum ct_soc_fabric {
    CT_SOC_FABRIC_NONE,
    CT_SOC_FABRIC_COHERENT, /* every miss waits for the fabric's snoop response */
};

/* Zero takes the default, that of a Kria KV260: see ct_soc_defaults. */
struct ct_soc_config {
    uint32_t cores;
    uint32_t l1i_bytes, l1i_ways, l1d_bytes, l1d_ways, l2_bytes, l2_ways;
    uint32_t tlb_entries; /* of 4 ways */
    uint32_t frames;      /* physical pages of the granule's size */
    uint32_t asids;       /* address space numbers before a roll-over */
    uint8_t granule, va_bits;
    uint8_t alloc;  /* enum ct_soc_alloc */
    uint8_t fabric; /* enum ct_soc_fabric */
    uint64_t seed;
};
void ct_soc_defaults(struct ct_soc_config *config);

/* Cycles of the cores' clock. docs/fractal.md says where the numbers come from. */
struct ct_soc_latency {
    uint16_t issue, l2, row_hit, row_miss, snoop, command, tlbi, fault;
};
extern const struct ct_soc_latency ct_soc_latency;

/* A listener of the port. message: `line` is the content when the operation is Data, else NULL.
 * command: 1 while there is one. */
struct ct_soc_tap {
    void *user;
    void (*message)(void *user, const struct ct_fractal_message *m, const uint64_t *line);
    int (*command)(void *user, struct ct_fractal_command *out);
};

/* A last-level miss of a process: what a tracer should have seen. */
struct ct_soc_miss {
    uint64_t time, va, pa; /* of the line */
    uint32_t pid;
    uint8_t op, core, kind;
};

/* Whoever has to know what happens; each function may be NULL. */
struct ct_soc_hooks {
    void *user;
    void (*miss)(void *user, const struct ct_soc_miss *m);
    void (*asid)(void *user, uint32_t pid, uint16_t asid);    /* before the process runs with it */
    void (*context)(void *user, unsigned core, uint32_t pid); /* CT_SOC_IDLE in the kernel too */
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

int ct_soc_new(struct ct_ctx *ctx, const struct ct_soc_config *config, const struct ct_soc_hooks *hooks,
               struct ct_soc **out);
void ct_soc_free(struct ct_soc *soc);
/* Taps hear everything from now on. Returns the tap's number, -1 when there is no place. */
int ct_soc_attach(struct ct_soc *soc, const struct ct_soc_tap *tap);
/* A configuration write by software: goes to one tap, in order with the traffic. */
void ct_soc_reg_write(struct ct_soc *soc, unsigned tap, uint32_t offset, uint64_t value);

uint64_t ct_soc_cycles(const struct ct_soc *soc, unsigned core);
const struct ct_soc_counts *ct_soc_counts(const struct ct_soc *soc);
/* The core does something that touches no memory. */
void ct_soc_spend(struct ct_soc *soc, unsigned core, uint64_t cycles);

/* ---- processes ---- */

#define CT_SOC_IDLE 0 /* pid of a core that runs nothing */

/* A process with an empty address space, or 0 without memory for it. */
uint32_t ct_soc_process(struct ct_soc *soc);
void ct_soc_exit(struct ct_soc *soc, unsigned core, uint32_t pid);
void ct_soc_run(struct ct_soc *soc, unsigned core, uint32_t pid);
uint32_t ct_soc_running(const struct ct_soc *soc, unsigned core);
uint64_t ct_soc_pgd(const struct ct_soc *soc, uint32_t pid);
uint16_t ct_soc_asid(const struct ct_soc *soc, uint32_t pid);

/* Pages from lo to hi come from a file: by DMA, past the caches, where others are zeroed through them.
 * 0 when there is no place for one more such area. */
int ct_soc_file(struct ct_soc *soc, uint32_t pid, uint64_t lo, uint64_t hi);

/* One access of the core's process, inside one line. Absent pages are brought in. 0 when it could not
 * be done: no memory, or the page is being migrated. */
int ct_soc_access(struct ct_soc *soc, unsigned core, uint64_t va, enum ct_soc_access access);

/* Translation by the tables as they are, past every cache. 0: none. */
int ct_soc_translate(const struct ct_soc *soc, uint32_t pid, uint64_t va, uint64_t *pa);

/* 1 when the last-level cache holds the line. */
int ct_soc_cached(const struct ct_soc *soc, uint64_t pa);

/* A timer interrupt: the kernel runs for a while on the core, through its caches. */
void ct_soc_tick(struct ct_soc *soc, unsigned core);

/* ---- what an operating system does; 0 when it does not apply ---- */

int ct_soc_unmap(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
/* Maps the page of `from` a second time at `to`. */
int ct_soc_alias(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t from, uint32_t to_pid,
                 uint64_t to);
/* Copies the address space; pages become copy-on-write. Returns the child. */
uint32_t ct_soc_fork(struct ct_soc *soc, unsigned core, uint32_t pid);
/* Moves a page. Between begin and end cores go on with what their TLBs hold. */
int ct_soc_migrate_begin(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
int ct_soc_migrate_end(struct ct_soc *soc, unsigned core);
/* A block of the level above the last: maps one, splits one into pages, joins pages into one. */
int ct_soc_map_huge(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
int ct_soc_split(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
int ct_soc_merge(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
/* A group of pages with the contiguous hint. */
int ct_soc_map_contiguous(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
/* Frees the last-level table of va with all its pages. */
int ct_soc_reclaim_table(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
/* Pages age: clears the access flag without telling the TLBs, as Linux does. */
int ct_soc_age(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
void ct_soc_asid_rollover(struct ct_soc *soc);

#endif
