/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU plugin: writes the path of a program, block by block, into memory shared with coretap record.
 *
 *   qemu-aarch64 -plugin trace_plugin.so,fd=N[,each=1][,seed=N][,latency=N][,watch=OFFSET:SIZE]... PROGRAM
 *   qemu-system-aarch64 -plugin trace_plugin.so,fd=N …
 *   qemu-system-arm -plugin trace_plugin.so,fd=N -M mps2-an385 …
 *
 * fd is a file of the size of struct trace_area. An executed block takes one word. Marks at the instructions
 * that can fault show whether a block was left early. With `each` every instruction has a mark, which is
 * slower and gives the same result. With `watch`, accesses to a piece of memory are written with their data:
 * SIZE bytes from OFFSET behind the begin of the program's code (both hexadecimal).
 *
 * Each thread has a clock, in cycles. With a latency, the clocks agree with causality: other threads see what
 * a thread stores at time T at T + 1 at the earliest. A thread publishes its clock before each block that
 * stores, and reads the newest published clock at every block. If its own clock is not at least `latency`
 * ahead of that clock, it waits until it is, and for `latency` cycles at least, like a wait for a line from
 * another cache: trace with a cycle count threshold does not show shorter waits. */
#define _GNU_SOURCE /* process_vm_readv, futex */
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exceptions_m.h"
#include "fault.h"
#include "guest.h"
#include "guest_m.h"
#include "mappings.h"
#include "qemu_plugin_api.h"
#include "trace_stream.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

#define PAGE     UINT64_C(4096)
#define PAGES    (1u << 16) /* pages of code that are written whole; of others only executed blocks */
#define HANDLERS 256u
#define VECTOR   0x80u /* bytes of an exception vector: Arm ARM DDI 0487, D1.3.1 */
#define FILES    1024u
#define SG       0xe97fe97fu /* the instruction */

/* What the callbacks know about a block that QEMU translated. */
struct block {
    uint32_t id;
    uint32_t insns;
    uint32_t whole; /* value of `at` of the thread when the whole block was executed */
    _Atomic uint32_t handler;
    uint32_t sets_context; /* number of the register + 1, if it ends with MSR CONTEXTIDR_EL1 */
    uint32_t vector_level; /* exception level, if it may be an exception vector to it; else 0 */
    uint32_t stores;       /* 1: the block may write to memory */
    uint64_t addr;
    uint64_t end;
    struct block *next;
};

/* The state of a thread that writes; each has a cache line of its own. */
struct writer {
    _Alignas(64) uint32_t *words;
    _Atomic uint32_t *used;
    uint32_t count;
    uint32_t room;
    uint64_t clock;      /* clock of the thread, in cycles */
    uint64_t seen;       /* the newest published clock that the thread has read */
    uint64_t end;        /* end of the block before */
    uint32_t insns;      /* instructions of the block before */
    uint32_t until_wait; /* number of blocks up to the next wait for memory */
    uint64_t random;
    uint32_t sets_context;           /* sets_context of the block before */
    struct exceptions_m *exceptions; /* of the M profile; NULL: no block was executed yet */
};

/* The newest published clock, in a cache line of its own. */
static struct {
    _Alignas(64) _Atomic uint64_t clock;
} newest_known;

/* The state of the recording of one program: QEMU loads the plugin once. */
static struct {
    struct writer writers[TRACE_THREADS];
    struct trace_area *area;
    pthread_mutex_t lock;
    _Atomic int detached; /* there is no reader any more, or this is a forked child */
    uint32_t next_free;   /* where the search for a free chunk begins */
    uint32_t block_chunk; /* chunk that blocks are written to */
    uint32_t block_count;
    uint32_t thread_count;
    _Atomic uint32_t threads_now;
    uint64_t seed;
    uint32_t latency; /* in cycles; 0: clocks of threads agree at system calls only */
    int each;
    int arm32;
    int system; /* QEMU emulates a whole machine, so a thread is a processor */
    int m_profile;
    struct block *blocks;
    uint64_t pages[PAGES]; /* a hash table: page number + 1 */
    uint32_t page_count;
    struct {
        uint64_t start, end;
    } files[FILES]; /* mapped files that have been written */
    uint32_t file_count;
    uint64_t handlers[HANDLERS];
    struct {
        uint64_t start, size;
    } watched[TRACE_WATCHED]; /* relative to the begin of the code until that is known */
    uint32_t handler_count;
    uint32_t watched_count;
} rec = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- chunks ---- */

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Returns a free chunk, marked as `kind`, or waits until the reader gives one back. Returns TRACE_NO_CHUNK
 * when there is no reader any more. Requires the lock. */
static uint32_t take_chunk(enum trace_chunk_kind kind)
{
    struct trace_area *area = rec.area;
    for (;;) {
        const uint32_t freed = atomic_load(&area->freed);
        for (uint32_t i = 0; i < TRACE_CHUNKS; i++) {
            const uint32_t at = (rec.next_free + i) % TRACE_CHUNKS;
            struct trace_chunk *chunk = &area->chunks[at];
            if (atomic_load(&chunk->kind) != TRACE_CHUNK_FREE)
                continue;
            rec.next_free = at + 1;
            atomic_store(&chunk->next, TRACE_NO_CHUNK);
            atomic_store(&chunk->used, 0);
            atomic_store(&chunk->kind, kind);
            return at;
        }
        if (atomic_load(&area->stop))
            return TRACE_NO_CHUNK;
        atomic_store(&area->waiting, 1);
        futex_wait(&area->freed, freed);
    }
}

static void hand_over(unsigned cpu)
{
    struct trace_area *area = rec.area;
    const uint32_t n = atomic_load(&area->handed);
    area->order[n % TRACE_CHUNKS] = area->threads[cpu].chunk;
    area->threads[cpu].chunk = TRACE_NO_CHUNK;
    atomic_store(&area->handed, n + 1);
    futex_wake(&area->handed);
    rec.writers[cpu].room = rec.writers[cpu].count = 0;
}

/* Words of threads without a reader, which overwrite each other. */
static uint32_t scratch[1024];
static _Atomic uint32_t scratch_used;

static void write_to_nobody(struct writer *w)
{
    w->words = scratch;
    w->used = &scratch_used;
    w->count = 0;
    w->room = sizeof scratch / sizeof *scratch;
}

static void renew_chunk(unsigned cpu)
{
    struct writer *w = &rec.writers[cpu];
    struct trace_area *area = rec.area;
    pthread_mutex_lock(&rec.lock);
    if (atomic_load(&area->stop))
        atomic_store(&rec.detached, 1);
    if (!atomic_load(&rec.detached) && area->threads[cpu].chunk != TRACE_NO_CHUNK && w->room)
        hand_over(cpu);
    const uint32_t at = atomic_load(&rec.detached) ? TRACE_NO_CHUNK : take_chunk(TRACE_CHUNK_PATH);
    if (at == TRACE_NO_CHUNK) {
        atomic_store(&rec.detached, 1);
        write_to_nobody(w);
    } else {
        area->chunks[at].thread = cpu;
        area->threads[cpu].chunk = at;
        w->words = area->chunks[at].words;
        w->used = &area->chunks[at].used;
        w->count = 0;
        w->room = TRACE_CHUNK_WORDS;
    }
    pthread_mutex_unlock(&rec.lock);
}

/* Makes room for a few words in one chunk. */
static void reserve(unsigned cpu, uint32_t words)
{
    if (rec.writers[cpu].count + words > rec.writers[cpu].room)
        renew_chunk(cpu);
}

static inline void put(unsigned cpu, uint32_t word)
{
    struct writer *w = &rec.writers[cpu];
    if (__builtin_expect(w->count == w->room, 0))
        renew_chunk(cpu);
    w->words[w->count++] = word;
    atomic_store_explicit(w->used, w->count, memory_order_release);
}

/* ---- clocks ---- */

/* Returns a random number below `n`, which is a power of two (xorshift64*). */
static uint32_t random_below(struct writer *w, uint32_t n)
{
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return (uint32_t)(w->random * UINT64_C(2685821657736338717) >> 32) & (n - 1);
}

static void wait_for(unsigned cpu, uint64_t cycles)
{
    rec.writers[cpu].clock += cycles;
    reserve(cpu, 3);
    put(cpu, TRACE_WAITED | (cycles <= TRACE_VALUE(UINT32_MAX) ? (uint32_t)cycles : 0));
    if (cycles <= TRACE_VALUE(UINT32_MAX))
        return;
    put(cpu, (uint32_t)cycles);
    put(cpu, (uint32_t)(cycles >> 32));
}

/* Lets the thread wait as if for memory, and draws after how many blocks it waits again: 32 on average. */
static void wait_for_memory(unsigned cpu)
{
    struct writer *w = &rec.writers[cpu];
    w->until_wait = 1 + random_below(w, 64);
    wait_for(cpu, 1 + random_below(w, 32));
}

/* Keeps the clock of a thread, at the begin of a block or a system call, behind the clocks of all threads
 * whose stores it can have seen. When it `stores`, publishes the clock, which no other thread has published:
 * a thread that sees the stores sees a new clock. */
static void keep_up(unsigned cpu, bool stores)
{
    struct writer *w = &rec.writers[cpu];
    atomic_thread_fence(memory_order_acquire);
    uint64_t newest = atomic_load_explicit(&newest_known.clock, memory_order_acquire);
    do {
        if (newest != w->seen && w->clock < newest + rec.latency)
            wait_for(cpu, rec.latency + (newest > w->clock ? newest - w->clock : 0));
        w->seen = newest;
    } while (stores && !atomic_compare_exchange_strong(&newest_known.clock, &newest, w->clock));
    if (!stores)
        return;
    w->seen = w->clock;
    atomic_thread_fence(memory_order_release);
}

/* ---- execution ---- */

/* Marks the blocks at `addr` as the begin of a handler. */
static void add_handler(uint64_t addr)
{
    pthread_mutex_lock(&rec.lock);
    uint32_t i = 0;
    while (i < rec.handler_count && rec.handlers[i] != addr)
        i++;
    if (i == rec.handler_count && i < HANDLERS) {
        rec.handlers[rec.handler_count++] = addr;
        for (struct block *b = rec.blocks; b; b = b->next)
            if (b->addr == addr)
                atomic_store(&b->handler, 1);
    }
    pthread_mutex_unlock(&rec.lock);
}

/* Writes, at the begin of a signal handler, where the program was interrupted. */
static void put_signal(unsigned cpu)
{
    uint64_t pc;
    int t32;
    const enum guest_signal what = guest_signal_frame(cpu, rec.arm32, &pc, &t32);
    if (what == GUEST_NO_SIGNAL)
        return;
    wait_for(cpu, TRACE_EXCEPTION_CYCLES);
    reserve(cpu, 3);
    if (what == GUEST_UNKNOWN) {
        put(cpu, TRACE_HANDLER);
        return;
    }
    put(cpu, TRACE_SIGNAL | (uint32_t)t32);
    put(cpu, (uint32_t)pc);
    put(cpu, (uint32_t)(pc >> 32));
}

/* Writes the context ID if the block before has set it. Its value is still in the register. */
static void put_context(unsigned cpu, const struct block *next)
{
    struct writer *w = &rec.writers[cpu];
    uint64_t value;
    if (w->sets_context && guest_register(cpu, (int)w->sets_context - 1, &value)) {
        reserve(cpu, 2);
        put(cpu, TRACE_CONTEXT);
        put(cpu, (uint32_t)value);
    }
    w->sets_context = next->sets_context;
}

/* Writes the return address of the exception that may have brought execution to `b`, because that address
 * tells what was executed before. */
static void put_return(unsigned cpu, const struct block *b)
{
    uint64_t pc;
    if (!guest_return_address(cpu, b->vector_level, &pc))
        return;
    reserve(cpu, 3);
    put(cpu, TRACE_RETURN);
    put(cpu, (uint32_t)pc);
    put(cpu, (uint32_t)(pc >> 32));
}

static void put_taken(unsigned cpu, const struct exception_m *taken, unsigned count)
{
    reserve(cpu, 3 * count);
    for (unsigned i = 0; i < count; i++) {
        put(cpu, TRACE_M_TAKEN | taken[i].number);
        put(cpu, taken[i].return_to);
        put(cpu, taken[i].interrupted);
    }
}

/* Writes the exceptions of the M profile that brought execution to `b`. */
static void put_exceptions(unsigned cpu, const struct block *b)
{
    struct writer *w = &rec.writers[cpu];
    struct exception_m taken[EXCEPTIONS_M_TAKEN];
    unsigned count;
    if (!w->exceptions) {
        struct guest_m state;
        w->exceptions = calloc(1, sizeof *w->exceptions);
        if (!w->exceptions || !guest_m_find(guest_cpu(cpu), &state))
            abort();
        exceptions_m_begin(w->exceptions, &state, (uint32_t)b->addr);
        return;
    }
    const bool handler = atomic_load_explicit(&b->handler, memory_order_relaxed);
    if (!exceptions_m_may_change(w->exceptions, handler, (uint32_t)b->addr))
        return;
    const uint32_t handled = *w->exceptions->cpu.exception;
    switch (exceptions_m_follow(w->exceptions, handler, (uint32_t)b->addr, taken, &count)) {
    case EXCEPTIONS_M_NONE:
        break;
    case EXCEPTIONS_M_RETURNED:
        put(cpu, TRACE_M_RETURNED | handled);
        break;
    case EXCEPTIONS_M_TAKEN_SOME:
        put_taken(cpu, taken, count);
        for (unsigned i = 0; i < count; i++) /* all but the last one have not executed anything yet */
            if (i + 1 < count || !handler)
                add_handler(w->exceptions->handlers[taken[i].number]);
        break;
    case EXCEPTIONS_M_RESET:
        put(cpu, TRACE_M_RESET);
        break;
    case EXCEPTIONS_M_LOST:
        put(cpu, TRACE_M_LOST | handled);
        break;
    }
}

static void on_block(unsigned cpu, void *user)
{
    const struct block *b = user;
    if (cpu >= TRACE_THREADS)
        return;
    struct trace_thread *t = &rec.area->threads[cpu];
    struct writer *w = &rec.writers[cpu];
    w->clock += trace_block_cycles(w->insns, w->end, b->addr);
    w->insns = b->insns;
    w->end = b->end;
    if (__builtin_expect(!--w->until_wait, 0))
        wait_for_memory(cpu);
    if (rec.latency && atomic_load_explicit(&rec.threads_now, memory_order_relaxed) > 1)
        keep_up(cpu, b->stores);
    if (t->at < t->whole)
        put(cpu, TRACE_PARTIAL | t->at);
    if (rec.m_profile)
        put_exceptions(cpu, b);
    else if (__builtin_expect(atomic_load_explicit(&b->handler, memory_order_relaxed), 0))
        put_signal(cpu);
    if (__builtin_expect(rec.writers[cpu].sets_context | b->sets_context, 0))
        put_context(cpu, b);
    if (__builtin_expect(b->vector_level, 0))
        put_return(cpu, b);
    t->at = 0;
    t->whole = b->whole;
    put(cpu, b->id);
}

static void on_mark(unsigned cpu, void *user)
{
    if (cpu < TRACE_THREADS)
        rec.area->threads[cpu].at = (uint32_t)(uintptr_t)user;
}

static void on_last_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *user)
{
    (void)info, (void)va, (void)user;
    if (cpu < TRACE_THREADS)
        rec.area->threads[cpu].at++;
}

/* Writes the access to 1 << `shift` bytes at `va`, with what memory contains after the access. */
static void put_access(unsigned cpu, uint32_t what, uint64_t va, uint32_t shift)
{
    uint64_t data = 0;
    if (!guest_memory(va, &data, (size_t)1 << shift)) {
        atomic_fetch_add(&rec.area->unread, 1);
        return;
    }
    reserve(cpu, 5);
    put(cpu, TRACE_ACCESS | what | shift << TRACE_ACCESS_SIZE_SHIFT);
    put(cpu, (uint32_t)va);
    put(cpu, (uint32_t)(va >> 32));
    put(cpu, (uint32_t)data);
    put(cpu, (uint32_t)(data >> 32));
}

/* Writes an access to watched memory: as one access when it is watched as a whole and has at most eight
 * bytes, else those parts of it that are watched. `user` is the index of its instruction. */
static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *user)
{
    const unsigned whole = qemu_plugin_mem_size_shift(info);
    const uint64_t end = va + (UINT64_C(1) << whole);
    const uint32_t what =
        (uint32_t)(uintptr_t)user | (qemu_plugin_mem_is_store(info) ? TRACE_ACCESS_STORE : 0);
    if (cpu >= TRACE_THREADS)
        return;
    for (uint32_t i = 0; i < rec.watched_count; i++) {
        const uint64_t start = rec.watched[i].start, behind = start + rec.watched[i].size;
        uint64_t low = va > start ? va : start;
        const uint64_t high = end < behind ? end : behind;
        const uint32_t which = what | i << TRACE_ACCESS_PIECE_SHIFT;
        if (low == va && high == end && whole <= 3) {
            put_access(cpu, which, va, whole);
            continue;
        }
        for (uint32_t shift; low < high; low += UINT64_C(1) << shift) {
            for (shift = 3; low & ((1u << shift) - 1) || high - low < 1u << shift;)
                shift--;
            put_access(cpu, which, low, shift);
        }
    }
}

/* ---- blocks ---- */

static struct trace_chunk *blocks_chunk(uint32_t words)
{
    struct trace_chunk *chunk = &rec.area->chunks[rec.block_chunk];
    if (atomic_load(&chunk->used) + words <= TRACE_CHUNK_WORDS)
        return chunk;
    const uint32_t at = take_chunk(TRACE_CHUNK_BLOCKS);
    if (at == TRACE_NO_CHUNK) {
        atomic_store(&rec.detached, 1);
        return NULL;
    }
    atomic_store(&chunk->next, at);
    rec.block_chunk = at;
    return &rec.area->chunks[at];
}

/* Writes the head of a block or page, and returns its words, which the caller fills before end_block counts
 * them. Returns NULL when there is no reader any more. */
static uint32_t *begin_block(const struct trace_block *head, struct trace_chunk **chunk)
{
    const uint32_t words = (uint32_t)(sizeof *head + head->size + 3) / 4;
    *chunk = atomic_load(&rec.detached) ? NULL : blocks_chunk(words);
    if (!*chunk)
        return NULL;
    uint32_t *at = (*chunk)->words + atomic_load(&(*chunk)->used);
    memcpy(at, head, sizeof *head);
    at[words - 1] = words * 4 > sizeof *head + head->size ? 0 : at[words - 1];
    return at + sizeof *head / 4;
}

static void end_block(const struct trace_block *head, struct trace_chunk *chunk)
{
    atomic_fetch_add(&chunk->used, (uint32_t)(sizeof *head + head->size + 3) / 4);
}

static bool page_is_new(uint64_t addr)
{
    const uint64_t key = addr / PAGE + 1;
    if (rec.page_count > PAGES / 2)
        return false;
    uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 48;
    while (rec.pages[i] && rec.pages[i] != key)
        i = (i + 1) % PAGES;
    if (rec.pages[i])
        return false;
    rec.pages[i] = key;
    rec.page_count++;
    return true;
}

static bool is_in_file(uint64_t va)
{
    for (uint32_t i = 0; i < rec.file_count; i++)
        if (rec.files[i].start <= va && va < rec.files[i].end)
            return true;
    return false;
}

/* Writes the file that the code at `va` comes from, unless it is written already. */
static void put_file(uint64_t va, const uint8_t *host)
{
    static struct mapping mapping;
    static struct trace_file file;
    struct trace_chunk *chunk;
    if (rec.system || is_in_file(va) || rec.file_count == FILES || !mapping_at(host, &mapping))
        return;
    const uint64_t start = va - ((uintptr_t)host - mapping.start), length = mapping.end - mapping.start;
    file = (struct trace_file){.offset = {(uint32_t)mapping.offset, (uint32_t)(mapping.offset >> 32)},
                               .length = {(uint32_t)length, (uint32_t)(length >> 32)}};
    const size_t size = strlen(mapping.path) + 1;
    memcpy(file.path, mapping.path, size);
    const struct trace_block head = {.addr = {(uint32_t)start, (uint32_t)(start >> 32)},
                                     .size = (uint16_t)(offsetof(struct trace_file, path) + size),
                                     .flags = TRACE_BLOCK_FILE};
    uint32_t *out = begin_block(&head, &chunk);
    if (!out)
        return;
    memcpy(out, &file, head.size);
    end_block(&head, chunk);
    rec.files[rec.file_count].start = start;
    rec.files[rec.file_count++].end = start + length;
}

static void put_page(uint64_t va, const uint8_t *host)
{
    struct trace_chunk *chunk;
    if (!host || !page_is_new(va))
        return;
    put_file(va, host);
    const uint64_t start = va & ~(PAGE - 1);
    const struct trace_block head = {.addr = {(uint32_t)start, (uint32_t)(start >> 32)},
                                     .size = (uint16_t)PAGE};
    uint32_t *out = begin_block(&head, &chunk);
    if (!out)
        return;
    memcpy(out, host - (va - start), PAGE);
    end_block(&head, chunk);
}

static enum fault_isa isa_of(const struct qemu_plugin_tb *tb, uint32_t *flags)
{
    *flags = TRACE_BLOCK_ISA_KNOWN;
    if (rec.m_profile) {
        *flags |= TRACE_BLOCK_T32;
        return FAULT_T32;
    }
    if (!rec.arm32)
        return FAULT_A64;
    const int t32 = guest_is_t32(tb);
    *flags = (t32 > 0 ? TRACE_BLOCK_T32 : 0) | (t32 >= 0 ? TRACE_BLOCK_ISA_KNOWN : 0);
    return t32 > 0 ? FAULT_T32 : FAULT_A32;
}

/* Returns t + 1 for MSR CONTEXTIDR_EL1, Xt, and 0 for other instructions. */
static uint32_t context_register(const struct qemu_plugin_insn *insn)
{
    uint32_t op;
    memcpy(&op, qemu_plugin_insn_data(insn), sizeof op);
    return (op & ~31u) == 0xd518d020 ? (op & 31) + 1 : 0;
}

/* Returns the length of an instruction. Does not ask QEMU, which reads ahead at the end of a page and then
 * gives too many bytes. */
static size_t size_of(enum fault_isa isa, const struct qemu_plugin_insn *insn)
{
    const uint8_t *bytes = qemu_plugin_insn_data(insn);
    return isa == FAULT_T32 && bytes[1] >> 3 < 29 ? 2 : 4;
}

static void put_block(const struct block *b, const struct qemu_plugin_tb *tb, enum fault_isa isa,
                      uint32_t flags)
{
    struct trace_chunk *chunk;
    const size_t count = qemu_plugin_tb_n_insns(tb);
    struct trace_block head = {.id = b->id,
                               .addr = {(uint32_t)b->addr, (uint32_t)(b->addr >> 32)},
                               .insns = (uint16_t)count,
                               .flags = flags};
    for (size_t i = 0; i < count; i++)
        head.size = (uint16_t)(head.size + size_of(isa, qemu_plugin_tb_get_insn(tb, i)));
    uint8_t *out = (uint8_t *)begin_block(&head, &chunk);
    if (!out)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        memcpy(out, qemu_plugin_insn_data(insn), size_of(isa, insn));
        out += size_of(isa, insn);
    }
    end_block(&head, chunk);
}

/* Adds a mark to each instruction at which execution can leave the block early. */
static void mark(struct block *b, const struct qemu_plugin_tb *tb, enum fault_isa isa)
{
    const size_t count = qemu_plugin_tb_n_insns(tb);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const unsigned accesses = fault_accesses(isa, qemu_plugin_insn_data(insn), size_of(isa, insn));
        const bool last = i + 1 == count;
        b->stores |= fault_stores(isa, qemu_plugin_insn_data(insn), size_of(isa, insn));
        if (rec.watched_count)
            qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                             (void *)(uintptr_t)i);
        const bool traps = rec.m_profile && fault_divides(qemu_plugin_insn_data(insn), size_of(isa, insn));
        if (!accesses && !traps && !rec.each && !(last && b->whole))
            continue;
        b->whole = (uint32_t)i + 1;
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
                                               (void *)(uintptr_t)b->whole);
        if (!last || !accesses)
            continue;
        b->whole += accesses;
        qemu_plugin_register_vcpu_mem_cb(insn, on_last_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         NULL);
    }
}

/* Finds out what the processors are, before the first block is translated: a QEMU for A64 emulates others,
 * too. */
static void find_profile(void)
{
    struct guest_m state;
    pthread_mutex_lock(&rec.lock);
    if (!rec.block_count && guest_m_find(guest_current(), &state)) {
        guest_m_model(&state, rec.area->model, sizeof rec.area->model);
        rec.m_profile = 1;
    }
    if (!rec.block_count && !guest_has_a64(guest_current()))
        rec.arm32 = 1;
    rec.area->bits = rec.arm32 ? 32 : 64;
    pthread_mutex_unlock(&rec.lock);
}

/* Returns the state that a block of a whole machine is translated for, as flags of the block. */
static uint32_t system_flags(struct block *b, const struct qemu_plugin_insn *last)
{
    struct guest_m state;
    if (!rec.m_profile) {
        const unsigned level = guest_level();
        b->vector_level = b->addr % VECTOR ? 0 : level;
        b->sets_context = context_register(last);
        return level << TRACE_BLOCK_LEVEL_SHIFT;
    }
    if (!guest_m_find(guest_current(), &state))
        abort();
    uint32_t flags = guest_m_it_left(&state) << TRACE_BLOCK_IT_SHIFT, before;
    if (state.secure && *state.secure)
        flags |= TRACE_BLOCK_SECURE;
    if (flags & TRACE_BLOCK_SECURE && guest_m_read(&state, (uint32_t)b->addr - 4, &before, sizeof before) &&
        before == SG)
        flags |= TRACE_BLOCK_AFTER_SG;
    return flags;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    struct block *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    struct trace_area *area = rec.area;
    uint32_t flags;
    if (rec.system && !rec.block_count)
        find_profile();
    const enum fault_isa isa = isa_of(tb, &flags);
    struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
    struct qemu_plugin_insn *end = qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1);
    b->addr = qemu_plugin_insn_vaddr(first);
    b->insns = (uint32_t)qemu_plugin_tb_n_insns(tb);
    b->end = qemu_plugin_insn_vaddr(end) + size_of(isa, end);
    mark(b, tb, isa);
    if (rec.system)
        flags |= system_flags(b, end);
    pthread_mutex_lock(&rec.lock);
    if (!area->entry && !rec.system) {
        area->entry = qemu_plugin_entry_code();
        area->code_start = qemu_plugin_start_code();
        for (uint32_t i = 0; i < rec.watched_count; i++)
            rec.watched[i].start += area->code_start;
    }
    b->id = rec.block_count++;
    for (uint32_t i = 0; i < rec.handler_count; i++)
        if (rec.handlers[i] == b->addr)
            atomic_store(&b->handler, 1);
    b->next = rec.blocks;
    rec.blocks = b;
    put_page(b->addr, qemu_plugin_insn_haddr(first));
    put_page(qemu_plugin_insn_vaddr(end), qemu_plugin_insn_haddr(end));
    put_block(b, tb, isa, flags);
    pthread_mutex_unlock(&rec.lock);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, b);
}

/* ---- system calls ---- */

static void on_syscall(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)a1, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    uint64_t handler = 0;
    if (guest_sets_handler(number, rec.arm32, a2, &handler))
        add_handler(handler);
    if (cpu >= TRACE_THREADS)
        return;
    keep_up(cpu, true); /* other threads continue because of this call at a later clock */
    if (atomic_load(&rec.threads_now) < 2)
        return;
    pthread_mutex_lock(&rec.lock);
    if (rec.writers[cpu].count && !atomic_load(&rec.detached))
        hand_over(cpu);
    pthread_mutex_unlock(&rec.lock);
}

static void on_syscall_result(qemu_plugin_id_t id, unsigned cpu, int64_t number, int64_t result)
{
    (void)id, (void)number, (void)result;
    if (cpu >= TRACE_THREADS)
        return;
    const uint64_t clock = rec.writers[cpu].clock + TRACE_EXCEPTION_CYCLES;
    const uint64_t newest = atomic_load(&newest_known.clock);
    wait_for(cpu, TRACE_EXCEPTION_CYCLES + (newest < clock ? 0 : newest + 1 - clock));
}

/* ---- threads ---- */

static void on_thread(qemu_plugin_id_t id, unsigned cpu)
{
    (void)id;
    if (cpu >= TRACE_THREADS) {
        atomic_fetch_add(&rec.area->lost, 1);
        return;
    }
    struct writer *w = &rec.writers[cpu];
    const uint32_t number = ++rec.thread_count & 0xffffff;
    atomic_fetch_add(&rec.threads_now, 1);
    w->clock = atomic_load(&newest_known.clock) + 1;
    w->seen = 0;
    w->end = UINT64_MAX;
    w->insns = 0;
    w->random = (rec.seed + number) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    w->until_wait = 1 + random_below(w, 64);
    rec.area->threads[cpu].at = rec.area->threads[cpu].whole = 0;
    reserve(cpu, 3);
    put(cpu, TRACE_THREAD | number);
    put(cpu, (uint32_t)w->clock);
    put(cpu, (uint32_t)(w->clock >> 32));
}

static void on_thread_end(qemu_plugin_id_t id, unsigned cpu)
{
    (void)id;
    atomic_fetch_sub(&rec.threads_now, 1);
    if (cpu >= TRACE_THREADS)
        return;
    rec.writers[cpu].clock += trace_block_cycles(rec.writers[cpu].insns, 0, 1);
    keep_up(cpu, true);
    put(cpu, TRACE_THREAD_END);
    pthread_mutex_lock(&rec.lock);
    if (!atomic_load(&rec.detached))
        hand_over(cpu);
    pthread_mutex_unlock(&rec.lock);
}

/* Detaches a forked child, which is a program of its own, from the shared memory: it writes to private
 * memory. */
static void on_fork_child(void)
{
    atomic_store(&rec.detached, 1);
    pthread_mutex_init(&rec.lock, NULL);
    if (mmap(rec.area, sizeof *rec.area, PROT_READ | PROT_WRITE,
             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        abort();
    for (unsigned i = 0; i < TRACE_THREADS; i++)
        write_to_nobody(&rec.writers[i]);
}

/* Adds watched memory from the text OFFSET:SIZE. */
static void watch(const char *text)
{
    char *behind;
    const uint64_t start = strtoull(text, &behind, 16);
    if (*behind == ':' && rec.watched_count < TRACE_WATCHED) {
        rec.watched[rec.watched_count].start = start;
        rec.watched[rec.watched_count++].size = strtoull(behind + 1, NULL, 16);
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    int fd = -1;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "fd=", 3))
            fd = atoi(argv[i] + 3);
        else if (!strcmp(argv[i], "each=1"))
            rec.each = 1;
        else if (!strncmp(argv[i], "seed=", 5))
            rec.seed = strtoull(argv[i] + 5, NULL, 10);
        else if (!strncmp(argv[i], "latency=", 8))
            rec.latency = (uint32_t)atoi(argv[i] + 8);
        else if (!strncmp(argv[i], "watch=", 6))
            watch(argv[i] + 6);
    }
    rec.system = info->system_emulation;
    rec.arm32 = !strcmp(info->target_name, "arm");
    rec.area = mmap(NULL, sizeof *rec.area, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (rec.area == MAP_FAILED)
        return -1;
    for (unsigned i = 0; i < TRACE_THREADS; i++)
        rec.area->threads[i].chunk = TRACE_NO_CHUNK;
    rec.area->bits = rec.arm32 ? 32 : 64;
    rec.block_chunk = take_chunk(TRACE_CHUNK_BLOCKS);
    atomic_store(&rec.area->first_blocks, rec.block_chunk);
    rec.area->magic = TRACE_MAGIC;
    guest_init();
    pthread_atfork(NULL, NULL, on_fork_child);
    qemu_plugin_register_vcpu_init_cb(id, on_thread);
    qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    if (rec.system)
        return 0;
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_result);
    return 0;
}
