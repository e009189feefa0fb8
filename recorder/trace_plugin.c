/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU plugin: writes the path of a program, block by block, into memory shared with coretap record.
 *
 *   qemu-aarch64 -plugin trace_plugin.so,layout=HEX,fd=N[,each=1][,seed=N][,latency=N][,watch=OFFSET:SIZE]...
 * PROGRAM qemu-system-aarch64 -plugin trace_plugin.so,layout=HEX,fd=N … qemu-system-arm -plugin
 * trace_plugin.so,layout=HEX,fd=N -M mps2-an385 …
 *
 * layout is PLUGIN_TRACE_LAYOUT (plugin_note.h), fd a file of the size of struct trace_area. An executed
 * block takes one word. Marks at the instructions that can fault show whether a block was left early. With
 * `each` every instruction has a mark, which is slower and gives the same result. With `watch`, accesses to a
 * piece of memory are written with their data: SIZE bytes from OFFSET behind the begin of the program's code
 * (both hexadecimal), or of a machine, from this address. With itm=1 a processor of the M profile gets an ITM
 * (itm.h).
 *
 * Each thread has a clock, in cycles. With a latency, the clocks agree with causality: other threads see what
 * a thread stores at time T at T + 1 at the earliest. A thread publishes its clock before each block that
 * stores, and reads the newest published clock at every block. If its own clock is not at least `latency`
 * ahead of that clock, it waits until it is, and for `latency` cycles at least, like a wait for a line from
 * another cache: trace with a cycle count threshold does not show shorter waits. */
#define _GNU_SOURCE /* process_vm_readv */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chunks.h"
#include "code.h"
#include "exceptions_arm.h"
#include "fault.h"
#include "guest.h"
#include "guest_m.h"
#include "itm.h"
#include "mapped_code.h"
#include "plugin_note.h"
#include "qemu_plugin_api.h"
#include "slots.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

PLUGIN_NOTE(PLUGIN_NOTE_TRACE, PLUGIN_TRACE_LAYOUT);

#define VECTOR 0x80u /* bytes of an exception vector: Arm ARM DDI 0487, D1.3.1 */

/* The newest published clock, in a cache line of its own. */
static struct {
    _Alignas(64) _Atomic uint64_t clock;
} newest_known;

struct recording rec = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
    chunks_reserve(cpu, 3);
    chunks_put(cpu, TRACE_WAITED | (cycles <= TRACE_VALUE(UINT32_MAX) ? (uint32_t)cycles : 0));
    if (cycles <= TRACE_VALUE(UINT32_MAX))
        return;
    chunks_put(cpu, (uint32_t)cycles);
    chunks_put(cpu, (uint32_t)(cycles >> 32));
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
    const enum guest_signal what = guest_signal_frame(rec.writers[cpu].index, rec.arm32, &pc, &t32);
    if (what == GUEST_NO_SIGNAL)
        return;
    wait_for(cpu, TRACE_EXCEPTION_CYCLES);
    chunks_reserve(cpu, 3);
    if (what == GUEST_UNKNOWN) {
        chunks_put(cpu, TRACE_HANDLER);
        return;
    }
    chunks_put(cpu, TRACE_SIGNAL | (uint32_t)t32);
    chunks_put(cpu, (uint32_t)pc);
    chunks_put(cpu, (uint32_t)(pc >> 32));
}

/* Writes the context ID if the block before has set it. Its value is still in the register. */
static void put_context(unsigned cpu, const struct block *next)
{
    struct writer *w = &rec.writers[cpu];
    uint64_t value;
    if (w->sets_context && guest_register(w->index, rec.arm32, (int)w->sets_context - 1, &value)) {
        chunks_reserve(cpu, 2);
        chunks_put(cpu, TRACE_CONTEXT);
        chunks_put(cpu, (uint32_t)value);
    }
    w->sets_context = next->sets_context;
}

/* Writes the return address of the exception that may have brought execution to `b`, because that address
 * tells what was executed before. */
static void put_return(unsigned cpu, const struct block *b)
{
    uint64_t pc, spsr;
    if (!guest_return_address(rec.writers[cpu].index, b->vector_level, &pc, &spsr))
        return;
    const uint32_t isa = !(spsr & GUEST_SPSR_A32) ? FAULT_A64 : spsr & GUEST_CPSR_T ? FAULT_T32 : FAULT_A32;
    chunks_reserve(cpu, 3);
    chunks_put(cpu, TRACE_RETURN | isa);
    chunks_put(cpu, (uint32_t)pc);
    chunks_put(cpu, (uint32_t)(pc >> 32));
}

/* Marks the entries of a vector table of A32. */
static void add_table(uint32_t addr)
{
    for (uint32_t i = 1; i < EXCEPTIONS_ARM_ENTRIES; i++)
        add_handler(addr + 4 * i);
}

/* Notes a vector table that the block before has set. Its address is still in the register. */
static void follow_table(unsigned cpu, const struct block *next)
{
    struct writer *w = &rec.writers[cpu];
    const int from = (int)exceptions_arm_sets_table(w->sets_table) - 1;
    uint64_t value;
    if (w->sets_table && guest_register(w->index, 1, from, &value))
        add_table(exceptions_arm_table(w->sets_table, (uint32_t)value));
    w->sets_table = next->sets_table;
}

/* Writes the exception that led to `b`, an entry of a vector table of A32. */
static void put_exception_arm(unsigned cpu, const struct block *b)
{
    struct exception_arm taken;
    if (!exceptions_arm_find(guest_cpu(rec.writers[cpu].index), (uint32_t)b->addr, &taken))
        return;
    chunks_reserve(cpu, 3);
    chunks_put(cpu, TRACE_ARM_TAKEN | taken.entry);
    chunks_put(cpu, taken.interrupted);
    chunks_put(cpu, taken.t32);
}

static void put_taken(unsigned cpu, const struct exception_m *taken, unsigned count)
{
    chunks_reserve(cpu, 3 * count);
    for (unsigned i = 0; i < count; i++) {
        chunks_put(cpu, TRACE_M_TAKEN | taken[i].number);
        chunks_put(cpu, taken[i].return_to);
        chunks_put(cpu, taken[i].interrupted | (taken[i].after_sg ? TRACE_M_SG : 0));
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
        if (!w->exceptions || !guest_m_find(guest_cpu(rec.writers[cpu].index), &state))
            abort();
        exceptions_m_begin(w->exceptions, &state, (uint32_t)b->addr);
        return;
    }
    const bool handler = atomic_load_explicit(&b->handler, memory_order_relaxed);
    if (!exceptions_m_may_change(w->exceptions, handler, (uint32_t)b->addr))
        return;
    const enum exceptions_m_change change =
        exceptions_m_follow(w->exceptions, handler, (uint32_t)b->addr, taken, &count);
    const uint32_t handled = w->exceptions->active[w->exceptions->depth - 1].number;
    switch (change) {
    case EXCEPTIONS_M_NONE:
        break;
    case EXCEPTIONS_M_RETURNED:
        chunks_put(cpu, TRACE_M_RETURNED | handled);
        break;
    case EXCEPTIONS_M_RETURNED_TO_SG:
        chunks_put(cpu, TRACE_M_RETURNED | TRACE_M_SG_RETURN | handled);
        break;
    case EXCEPTIONS_M_TAKEN_SOME:
        put_taken(cpu, taken, count);
        for (unsigned i = 0; i < count; i++) /* all but the last one have not executed anything yet */
            if (i + 1 < count || !handler)
                add_handler(w->exceptions->handlers[taken[i].number]);
        break;
    case EXCEPTIONS_M_RESET:
        chunks_put(cpu, TRACE_M_RESET);
        break;
    case EXCEPTIONS_M_LOST:
        chunks_put(cpu, TRACE_M_LOST | handled);
        break;
    }
}

static void on_block(unsigned index, void *user)
{
    const struct block *b = user;
    const unsigned cpu = slots_of(index);
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
        chunks_put(cpu, TRACE_PARTIAL | t->at);
    if (rec.m_profile)
        put_exceptions(cpu, b);
    else if (__builtin_expect(atomic_load_explicit(&b->handler, memory_order_relaxed), 0))
        rec.system ? put_exception_arm(cpu, b) : put_signal(cpu);
    if (__builtin_expect(rec.writers[cpu].sets_table | b->sets_table, 0))
        follow_table(cpu, b);
    if (__builtin_expect(rec.writers[cpu].sets_context | b->sets_context, 0))
        put_context(cpu, b);
    if (__builtin_expect(b->vector_level, 0))
        put_return(cpu, b);
    t->at = 0;
    t->whole = b->whole;
    chunks_put(cpu, b->id);
}

static void on_mark(unsigned index, void *user)
{
    const unsigned cpu = slots_of(index);
    if (cpu < TRACE_THREADS)
        rec.area->threads[cpu].at = (uint32_t)(uintptr_t)user;
}

static void on_last_access(unsigned index, qemu_plugin_meminfo_t info, uint64_t va, void *user)
{
    const unsigned cpu = slots_of(index);
    (void)info, (void)va, (void)user;
    if (cpu < TRACE_THREADS)
        rec.area->threads[cpu].at++;
}

/* Writes the access to 1 << `shift` bytes at `va`, with what memory contains after the access. */
static void put_access(unsigned cpu, uint32_t what, uint64_t va, uint32_t shift)
{
    uint64_t data = 0;
    const size_t size = (size_t)1 << shift;
    if (!(rec.system ? itm_stored(va, &data, size) ||
                           guest_machine_memory(guest_cpu(rec.writers[cpu].index), va, &data, size)
                     : guest_memory(va, &data, size))) {
        atomic_fetch_add(&rec.area->unread, 1);
        return;
    }
    chunks_reserve(cpu, 5);
    chunks_put(cpu, TRACE_ACCESS | what | shift << TRACE_ACCESS_SIZE_SHIFT);
    chunks_put(cpu, (uint32_t)va);
    chunks_put(cpu, (uint32_t)(va >> 32));
    chunks_put(cpu, (uint32_t)data);
    chunks_put(cpu, (uint32_t)(data >> 32));
}

/* Writes an access to watched memory: as one access when it is watched as a whole and has at most eight
 * bytes, else those parts of it that are watched. `user` is the index of its instruction. */
static void on_access(unsigned index, qemu_plugin_meminfo_t info, uint64_t va, void *user)
{
    const unsigned cpu = slots_of(index);
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

static enum fault_isa isa_of(const struct qemu_plugin_tb *tb, uint32_t *flags)
{
    uint32_t aarch32 = 0;
    *flags = TRACE_BLOCK_ISA_KNOWN;
    if (rec.m_profile) {
        *flags |= TRACE_BLOCK_T32;
        return FAULT_T32;
    }
    if (!rec.arm32) {
        if (!rec.system || guest_is_a64(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0))))
            return FAULT_A64;
        aarch32 = TRACE_BLOCK_AARCH32;
    }
    const int t32 = guest_is_t32(tb);
    *flags = aarch32 | (t32 > 0 ? TRACE_BLOCK_T32 : 0) | (t32 >= 0 ? TRACE_BLOCK_ISA_KNOWN : 0);
    return t32 > 0 ? FAULT_T32 : FAULT_A32;
}

/* Returns the length of an instruction. Does not ask QEMU, which reads ahead at the end of a page and then
 * gives too many bytes. */
static size_t size_of(enum fault_isa isa, const struct qemu_plugin_insn *insn)
{
    const uint8_t *bytes = qemu_plugin_insn_data(insn);
    return isa == FAULT_T32 && bytes[1] >> 3 < 29 ? 2 : 4;
}

/* Returns the code of an instruction of four bytes, in T32 with the first halfword in front; 0 for one of
 * two. */
static uint32_t code_of(enum fault_isa isa, const struct qemu_plugin_insn *insn)
{
    uint32_t op = 0;
    if (size_of(isa, insn) == sizeof op)
        memcpy(&op, qemu_plugin_insn_data(insn), sizeof op);
    return isa == FAULT_T32 ? op << 16 | op >> 16 : op;
}

/* Returns t + 1 for MSR CONTEXTIDR_EL1, Xt, and 0 for other instructions. */
static uint32_t context_register(uint32_t op)
{
    return (op & ~31u) == 0xd518d020 ? (op & 31) + 1 : 0;
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
    uint8_t *out = (uint8_t *)code_begin(&head, &chunk);
    if (!out)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        memcpy(out, qemu_plugin_insn_data(insn), size_of(isa, insn));
        out += size_of(isa, insn);
    }
    code_end(&head, chunk);
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
    const bool begins = !rec.block_count;
    if (begins && !guest_has_a64(guest_current()))
        rec.arm32 = 1;
    rec.area->bits = rec.arm32 ? 32 : 64;
    pthread_mutex_unlock(&rec.lock);
    if (begins && rec.arm32 && !rec.m_profile)
        add_table(0);
}

/* Returns the state that a block of a whole machine is translated for, as flags of the block. */
static uint32_t system_flags(struct block *b, enum fault_isa isa, uint32_t last)
{
    struct guest_m state;
    uint64_t cpsr;
    if (isa != FAULT_A64 && !rec.m_profile) {
        b->sets_context = rec.arm32 ? exceptions_arm_sets_context(last) : 0;
        b->sets_table = rec.arm32 && exceptions_arm_sets_table(last) ? last : 0;
        return guest_read_register(guest_current(), 1, GUEST_CPSR, &cpsr)
                   ? guest_level_arm(cpsr) << TRACE_BLOCK_LEVEL_SHIFT | guest_it_left(cpsr)
                                                                            << TRACE_BLOCK_IT_SHIFT
                   : 0;
    }
    if (!rec.m_profile) {
        const unsigned level = guest_level();
        b->vector_level = b->addr % VECTOR ? 0 : level;
        b->sets_context = context_register(last);
        return level << TRACE_BLOCK_LEVEL_SHIFT;
    }
    if (!guest_m_find(guest_current(), &state))
        abort();
    uint32_t flags = guest_m_it_left(&state) << TRACE_BLOCK_IT_SHIFT;
    if (state.secure && *state.secure)
        flags |= TRACE_BLOCK_SECURE;
    if (flags & TRACE_BLOCK_SECURE && exceptions_m_is_behind_sg(&state, (uint32_t)b->addr))
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
        flags |= system_flags(b, isa, code_of(isa, end));
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
    code_put_page(b->addr, qemu_plugin_insn_haddr(first));
    code_put_page(qemu_plugin_insn_vaddr(end), qemu_plugin_insn_haddr(end));
    put_block(b, tb, isa, flags);
    pthread_mutex_unlock(&rec.lock);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, b);
}

/* Gives the reader what a thread has written, because its next words may come late. */
static void hand_over(unsigned cpu)
{
    pthread_mutex_lock(&rec.lock);
    if (rec.writers[cpu].count && !atomic_load(&rec.detached))
        chunks_hand_over(cpu);
    pthread_mutex_unlock(&rec.lock);
}

/* A processor sleeps. Before the first block nothing is known of it. */
static void on_idle(qemu_plugin_id_t id, unsigned index)
{
    const unsigned cpu = slots_of(index);
    (void)id;
    if (cpu < TRACE_THREADS && rec.block_count)
        hand_over(cpu);
}

/* ---- system calls ---- */

static void on_syscall(qemu_plugin_id_t id, unsigned index, int64_t number, uint64_t a1, uint64_t a2,
                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)a1, (void)a4, (void)a6, (void)a7, (void)a8;
    const unsigned cpu = slots_of(index);
    uint64_t handler = 0;
    if (guest_sets_handler(number, rec.arm32, a2, &handler))
        add_handler(handler);
    mapped_code_look(rec.area, number, rec.arm32, a3, a5);
    if (guest_replaces(number, rec.arm32))
        atomic_store(&rec.area->replaced, 1);
    if (cpu >= TRACE_THREADS)
        return;
    keep_up(cpu, true); /* other threads continue because of this call at a later clock */
    if (atomic_load(&rec.threads_now) > 1)
        hand_over(cpu);
}

static void on_syscall_result(qemu_plugin_id_t id, unsigned index, int64_t number, int64_t result)
{
    const unsigned cpu = slots_of(index);
    (void)id, (void)result;
    if (guest_replaces(number, rec.arm32))
        atomic_store(&rec.area->replaced, 0);
    if (cpu >= TRACE_THREADS)
        return;
    const uint64_t clock = rec.writers[cpu].clock + TRACE_EXCEPTION_CYCLES;
    const uint64_t newest = atomic_load(&newest_known.clock);
    wait_for(cpu, TRACE_EXCEPTION_CYCLES + (newest < clock ? 0 : newest + 1 - clock));
}

/* ---- threads ---- */

/* Gives a processor of the M profile its ITM. */
static void add_itm(unsigned index)
{
    struct guest_m state;
    if (guest_m_find(guest_cpu(index), &state) && itm_add(state.cpu))
        rec.area->itm = 1;
}

static void on_thread(qemu_plugin_id_t id, unsigned index)
{
    (void)id;
    if (rec.itm)
        add_itm(index);
    const unsigned cpu = slots_take(index);
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
    chunks_reserve(cpu, 3);
    chunks_put(cpu, TRACE_THREAD | number);
    chunks_put(cpu, (uint32_t)w->clock);
    chunks_put(cpu, (uint32_t)(w->clock >> 32));
}

static void on_thread_end(qemu_plugin_id_t id, unsigned index)
{
    const unsigned cpu = slots_of(index);
    (void)id;
    if (cpu >= TRACE_THREADS)
        return;
    atomic_fetch_sub(&rec.threads_now, 1);
    rec.writers[cpu].clock += trace_block_cycles(rec.writers[cpu].insns, 0, 1);
    keep_up(cpu, true);
    chunks_put(cpu, TRACE_THREAD_END);
    pthread_mutex_lock(&rec.lock);
    if (!atomic_load(&rec.detached))
        chunks_hand_over(cpu);
    pthread_mutex_unlock(&rec.lock);
    slots_give_back(index);
}

/* Detaches a forked child, which is a program of its own, from the shared memory: it writes to private
 * memory. */
static void on_fork_child(void)
{
    atomic_fetch_add(&rec.area->forked, 1); /* in private memory, if this is the child of a child */
    atomic_store(&rec.detached, 1);
    pthread_mutex_init(&rec.lock, NULL);
    if (mmap(rec.area, sizeof *rec.area, PROT_READ | PROT_WRITE,
             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        abort();
    for (unsigned i = 0; i < TRACE_THREADS; i++)
        chunks_to_nobody(&rec.writers[i]);
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

/* Reads an option. Returns false when it is unknown. */
static bool read_option(const char *option, int *fd, bool *fits)
{
    if (!strncmp(option, "layout=", 7))
        *fits = plugin_layout_is(option + 7, PLUGIN_TRACE_LAYOUT);
    else if (!strncmp(option, "fd=", 3))
        *fd = atoi(option + 3);
    else if (!strcmp(option, "each=1"))
        rec.each = 1;
    else if (!strncmp(option, "seed=", 5))
        rec.seed = strtoull(option + 5, NULL, 10);
    else if (!strncmp(option, "latency=", 8))
        rec.latency = (uint32_t)atoi(option + 8);
    else if (!strcmp(option, "itm=1"))
        rec.itm = 1;
    else if (!strncmp(option, "watch=", 6))
        watch(option + 6);
    else
        return false;
    return true;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    static const char file[] = "coretap-trace.so";
    int fd = -1;
    bool fits = false;
    for (int i = 0; i < argc; i++)
        if (!read_option(argv[i], &fd, &fits))
            return plugin_refuse(file, argv[i]);
    if (!fits)
        return plugin_refuse(file, NULL);
    rec.system = info->system_emulation;
    rec.arm32 = !strcmp(info->target_name, "arm");
    rec.area = mmap(NULL, sizeof *rec.area, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (rec.area == MAP_FAILED)
        return -1;
    for (unsigned i = 0; i < TRACE_THREADS; i++)
        rec.area->threads[i].chunk = TRACE_NO_CHUNK;
    rec.area->bits = rec.arm32 ? 32 : 64;
    atomic_store(&rec.area->first_blocks, code_first_chunk());
    rec.area->magic = TRACE_MAGIC;
    guest_init();
    pthread_atfork(NULL, NULL, on_fork_child);
    qemu_plugin_register_vcpu_init_cb(id, on_thread);
    qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    if (rec.system) {
        qemu_plugin_register_vcpu_idle_cb(id, on_idle);
        return 0;
    }
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_result);
    return 0;
}
