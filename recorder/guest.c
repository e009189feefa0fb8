/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_DEFAULT, process_vm_readv */
#include "guest.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "vmstate.h"

/* The used part of glib's GByteArray. */
struct byte_array {
    uint8_t *data;
    unsigned size;
};

static struct {
    void *(*get_cpu)(int index);
    int (*read_a64)(void *cpu, struct byte_array *out, int number);
    int (*read_a32)(void *cpu, struct byte_array *out, int number);
    struct byte_array *(*new_array)(void);
    uint8_t *(*free_array)(struct byte_array *array, int with_data);
    int (*debug)(void *cpu, uint64_t addr, void *out, size_t size, bool write);
    const uintptr_t *base; /* address of the guest's address 0 in this process */
    void (*block_state)(void *env, uint64_t *pc, uint64_t *base, uint32_t *flags);
    size_t env;   /* offset of the architectural state of a processor; 0: unknown */
    size_t xregs; /* offset of the registers in the state of a processor */
    size_t elr;   /* offset of ELR_EL0 (which does not exist), before ELR_EL1 to ELR_EL3; 0: unknown */
    size_t spsr;  /* offset of SPSR of all modes */
} qemu;

void guest_find(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void find_state(void)
{
    const void *cpu = vmstate_of_cpu();
    size_t env, xregs, elr, spsr;
    if (vmstate_field(cpu, "env.regs", sizeof(uint32_t), 16, &env)) /* its first part */
        qemu.env = env;
    if (vmstate_field(cpu, "env.xregs", sizeof(uint64_t), 32, &xregs) &&
        vmstate_field(cpu, "env.elr_el", sizeof(uint64_t), 4, &elr) &&
        vmstate_field(cpu, "env.banked_spsr", sizeof(uint64_t), 8, &spsr)) {
        qemu.xregs = xregs;
        qemu.elr = elr;
        qemu.spsr = spsr;
    }
}

void guest_init(void)
{
    find_state();
    guest_find(&qemu.get_cpu, "qemu_get_cpu");
    guest_find(&qemu.read_a64, "aarch64_cpu_gdb_read_register");
    guest_find(&qemu.read_a32, "arm_cpu_gdb_read_register");
    guest_find(&qemu.new_array, "g_byte_array_new");
    guest_find(&qemu.free_array, "g_byte_array_free");
    guest_find(&qemu.block_state, "cpu_get_tb_cpu_state");
    guest_find(&qemu.debug, "cpu_memory_rw_debug");
    guest_find(&qemu.base, "guest_base");
}

bool guest_read_register(void *cpu, int arm32, int number, uint64_t *value)
{
    int (*read)(void *, struct byte_array *, int) = arm32 ? qemu.read_a32 : qemu.read_a64;
    if (!cpu || !read || !qemu.new_array || !qemu.free_array)
        return false;
    struct byte_array *bytes = qemu.new_array();
    const int size = read(cpu, bytes, number);
    const bool good = size > 0 && size <= 8 && bytes->size == (unsigned)size;
    *value = 0;
    if (good)
        memcpy(value, bytes->data, (size_t)size);
    qemu.free_array(bytes, 1);
    return good;
}

void *guest_current(void)
{
    void **current = dlsym(RTLD_DEFAULT, "current_cpu");
    return current ? *current : NULL;
}

int guest_is_t32(const struct qemu_plugin_tb *tb)
{
    uint64_t cpsr;
    if (guest_read_register(guest_current(), 1, GUEST_CPSR, &cpsr))
        return (cpsr & GUEST_CPSR_T) != 0;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (qemu_plugin_insn_size(insn) == 2 || qemu_plugin_insn_vaddr(insn) & 2)
            return 1;
    }
    return -1;
}

bool guest_is_a64(uint64_t addr)
{
    const uint32_t a64 = 1; /* of the flags by which QEMU tells blocks apart */
    uint64_t pc = 0, base;
    uint32_t flags = a64;
    char *cpu = guest_current();
    if (cpu && qemu.block_state && qemu.env)
        qemu.block_state(cpu + qemu.env, &pc, &base, &flags);
    return flags & a64 || pc != addr;
}

bool guest_has_a64(void *cpu)
{
    void *(*cast)(void *object, const char *type);
    guest_find(&cast, "object_dynamic_cast");
    return !cast || !cpu || cast(cpu, "aarch64-cpu");
}

#define A64_PSTATE 33

unsigned guest_level_arm(uint64_t cpsr)
{
    enum {
        USER = 0x10,
        MONITOR = 0x16,
        HYPERVISOR = 0x1a,
    };
    switch (cpsr & GUEST_CPSR_MODE) {
    case USER:
        return 0;
    case HYPERVISOR:
        return 2;
    case MONITOR:
        return 3;
    default:
        return 1;
    }
}

unsigned guest_it_left(uint64_t cpsr)
{
    const unsigned conditions = (unsigned)((cpsr >> 25 & 3) | (cpsr >> 8 & 0xc)) & 15;
    return conditions ? 4 - (unsigned)__builtin_ctz(conditions) : 0;
}

unsigned guest_level(void)
{
    uint64_t pstate;
    return guest_read_register(guest_current(), 0, A64_PSTATE, &pstate) ? (unsigned)(pstate >> 2 & 3) : 0;
}

void *guest_cpu(unsigned index)
{
    return qemu.get_cpu ? qemu.get_cpu((int)index) : NULL;
}

bool guest_register(unsigned cpu, int arm32, int number, uint64_t *value)
{
    return guest_read_register(guest_cpu(cpu), arm32, number, value);
}

/* Returns whether the registers at the described offset equal those that the debugger reads. */
static bool is_as_described(void *cpu)
{
    for (int i = 0; i < 31; i++) {
        uint64_t value, there;
        if (!guest_read_register(cpu, 0, i, &value) ||
            !vmstate_peek((const char *)cpu + qemu.xregs + (size_t)i * sizeof value, &there, sizeof there) ||
            value != there)
            return false;
    }
    return true;
}

bool guest_return_address(unsigned cpu, unsigned level, uint64_t *value, uint64_t *spsr)
{
    static const uint8_t spsrs[] = {[1] = 1, [2] = 6, [3] = 7}; /* in QEMU, among those of all modes */
    static _Atomic int checked;                                 /* 1: valid, -1: invalid */
    void *state = qemu.elr && qemu.get_cpu && level - 1 < 3 ? qemu.get_cpu((int)cpu) : NULL;
    if (!state || checked < 0)
        return false;
    if (!checked) {
        checked = is_as_described(state) ? 1 : -1;
        if (checked < 0)
            return false;
    }
    memcpy(value, (const char *)state + qemu.elr + level * sizeof *value, sizeof *value);
    memcpy(spsr, (const char *)state + qemu.spsr + spsrs[level] * sizeof *spsr, sizeof *spsr);
    return true;
}

bool guest_machine_memory(void *cpu, uint64_t addr, void *out, size_t size)
{
    return cpu && qemu.debug && !qemu.debug(cpu, addr, out, size, false);
}

bool guest_memory(uint64_t addr, void *out, size_t size)
{
    if (!qemu.base)
        return false;
    const struct iovec to = {out, size}, from = {(void *)(*qemu.base + (uintptr_t)addr), size};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* Linux puts struct rt_sigframe at the stack pointer. These are offsets in it:
 * linux/arch/arm64/include/uapi/asm/ sigcontext.h and ucontext.h, and those of arm. A frame of arm without
 * siginfo begins with its context. */
enum {
    A64_REGISTERS = 128 + 176 + 8,
    A64_PC = A64_REGISTERS + 31 * 8 + 8,
    A32_INFO = 128,
    A32_PC = 92,
    A32_STATE = 96,
};

/* Recognises the frame by the record for unwinders behind it, to which x29 points: x29 and x30 of the
 * interrupted code, as in the context. siginfo is left as it was for handlers without SA_SIGINFO. */
static enum guest_signal frame_a64(void *cpu, uint64_t *pc)
{
    enum {
        X29 = 29,
        SP = 31
    };
    uint64_t sp, x29, record[2], saved[2];
    if (!guest_read_register(cpu, 0, SP, &sp) || !guest_read_register(cpu, 0, X29, &x29))
        return GUEST_UNKNOWN;
    if (x29 < sp + A64_PC || !guest_memory(x29, record, sizeof record) ||
        !guest_memory(sp + A64_REGISTERS + X29 * sizeof *saved, saved, sizeof saved) ||
        memcmp(record, saved, sizeof record) != 0)
        return GUEST_NO_SIGNAL;
    return guest_memory(sp + A64_PC, pc, sizeof *pc) ? GUEST_SIGNAL : GUEST_UNKNOWN;
}

/* Returns whether a handler that returns to `lr` ends in the system call of handlers without siginfo:
 * MOV R7, #119; SVC #0 in A32 or T32. */
static bool returns_plainly(uint64_t lr)
{
    static const uint32_t a32[] = {0xe3a07077, 0xef000000};
    static const uint16_t wide[] = {0xf04f, 0x0777, 0xdf00}, narrow[] = {0x2777, 0xdf00};
    uint16_t code[4] = {0};
    if (!guest_memory(lr & ~UINT64_C(1), code, lr & 1 ? sizeof wide : sizeof a32))
        return false;
    return lr & 1 ? !memcmp(code, wide, sizeof wide) || !memcmp(code, narrow, sizeof narrow)
                  : !memcmp(code, a32, sizeof a32);
}

static enum guest_signal frame_a32(void *cpu, uint64_t *pc, int *t32)
{
    uint64_t sp, r0, lr;
    uint32_t first, state[2];
    if (!guest_read_register(cpu, 1, 13, &sp) || !guest_read_register(cpu, 1, 0, &r0) ||
        !guest_read_register(cpu, 1, 14, &lr))
        return GUEST_UNKNOWN;
    const bool plain = returns_plainly(lr);
    if (!guest_memory(sp, &first, sizeof first) || (!plain && first != (uint32_t)r0))
        return GUEST_NO_SIGNAL;
    const uint64_t context = plain ? sp : sp + A32_INFO;
    if (!guest_memory(context + A32_PC, state, sizeof state))
        return GUEST_UNKNOWN;
    *pc = state[0] & ~1u;
    *t32 = (state[1] & GUEST_CPSR_T) != 0;
    return GUEST_SIGNAL;
}

enum guest_signal guest_signal_frame(unsigned cpu, int arm32, uint64_t *pc, int *t32)
{
    *t32 = 0;
    if (!qemu.get_cpu)
        return GUEST_UNKNOWN;
    return arm32 ? frame_a32(qemu.get_cpu((int)cpu), pc, t32) : frame_a64(qemu.get_cpu((int)cpu), pc);
}

bool guest_replaces(int64_t number, int arm32)
{
    enum {
        A64_EXECVE = 221,
        A64_EXECVEAT = 281,
        A32_EXECVE = 11,
        A32_EXECVEAT = 387,
    };
    return arm32 ? number == A32_EXECVE || number == A32_EXECVEAT
                 : number == A64_EXECVE || number == A64_EXECVEAT;
}

bool guest_sets_handler(int64_t number, int arm32, uint64_t action, uint64_t *handler)
{
    enum {
        A64_SIGACTION = 134,
        A32_SIGACTION = 67,
        A32_RT_SIGACTION = 174,
    };
    uint32_t handler32 = 0;
    if (arm32 ? number != A32_SIGACTION && number != A32_RT_SIGACTION : number != A64_SIGACTION)
        return false;
    if (!action || !guest_memory(action, arm32 ? (void *)&handler32 : (void *)handler, arm32 ? 4 : 8))
        return false;
    if (arm32)
        *handler = handler32 & ~1u;
    return *handler > 1; /* neither SIG_DFL nor SIG_IGN */
}
