/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <string.h>

enum op {
    NOP,
    MOVZ,
    ADD,
    ADDI,
    SUB,
    SUBSI,
    SUBS,
    LSR,
    ADR,
    B,
    BL,
    BEQ,
    BNE,
    BLO,
    CBZ,
    TBZ,
    BLR,
    RET,
    SVC,
    ERET,
    STOP
};

enum label {
    NONE,
    SYNC_VECTOR,
    IRQ_VECTOR,
    MAIN,
    NEXT,
    CALL,
    GCD,
    GCD_LESS,
    GCD_DONE,
    POPCOUNT,
    POPCOUNT_LOOP,
    POPCOUNT_SKIP,
    POPCOUNT_DONE,
    REPORT,
    REPORT_EVEN,
    ON_CALL,
    ON_IRQ,
    IRQ_EVEN,
    END,
    LABELS,
};

#define ZR 31 /* the zero register */

struct insn {
    enum label at; /* label of this instruction */
    enum op op;
    unsigned d, n, m; /* registers; CBZ and TBZ test d */
    unsigned imm;     /* immediate, shift or bit */
    enum label to;
    unsigned org; /* offset in the firmware of this instruction, from which the following ones continue */
};

/* In each round, computes a gcd or a number of ones, by a call through a register. Then the sum is reported,
 * now and then with a supervisor call. Interrupts come from outside. */
static const struct insn program[] = {
    {.at = SYNC_VECTOR, .op = B, .to = ON_CALL, .org = 0x400},
    {.at = IRQ_VECTOR, .op = B, .to = ON_IRQ, .org = 0x480},

    {.at = MAIN, .op = NOP, .org = 0x500},
    {.op = MOVZ, .d = 20, .imm = 0},
    {.at = NEXT, .op = ADD, .d = 0, .n = 19, .m = 19},
    {.op = ADDI, .d = 0, .n = 0, .imm = 36},
    {.op = MOVZ, .d = 1, .imm = 12},
    {.op = ADR, .d = 9, .to = GCD},
    {.op = TBZ, .d = 19, .imm = 0, .to = CALL},
    {.op = ADR, .d = 9, .to = POPCOUNT},
    {.at = CALL, .op = BLR, .n = 9},
    {.op = ADD, .d = 20, .n = 20, .m = 0},
    {.op = BL, .to = REPORT},
    {.op = SUBSI, .d = 19, .n = 19, .imm = 1},
    {.op = BNE, .to = NEXT},
    {.op = SVC, .imm = 1},
    {.at = END, .op = STOP},

    {.at = GCD, .op = SUBS, .d = ZR, .n = 0, .m = 1},
    {.op = BEQ, .to = GCD_DONE},
    {.op = BLO, .to = GCD_LESS},
    {.op = SUB, .d = 0, .n = 0, .m = 1},
    {.op = B, .to = GCD},
    {.at = GCD_LESS, .op = SUB, .d = 1, .n = 1, .m = 0},
    {.op = B, .to = GCD},
    {.at = GCD_DONE, .op = RET},

    {.at = POPCOUNT, .op = MOVZ, .d = 2, .imm = 0},
    {.at = POPCOUNT_LOOP, .op = CBZ, .d = 0, .to = POPCOUNT_DONE},
    {.op = TBZ, .d = 0, .imm = 0, .to = POPCOUNT_SKIP},
    {.op = ADDI, .d = 2, .n = 2, .imm = 1},
    {.at = POPCOUNT_SKIP, .op = LSR, .d = 0, .n = 0, .imm = 1},
    {.op = B, .to = POPCOUNT_LOOP},
    {.at = POPCOUNT_DONE, .op = ADDI, .d = 0, .n = 2, .imm = 0},
    {.op = RET},

    {.at = REPORT, .op = ADDI, .d = 28, .n = 30, .imm = 0},
    {.op = ADDI, .d = 0, .n = 20, .imm = 0},
    {.op = BL, .to = POPCOUNT},
    {.op = TBZ, .d = 0, .imm = 1, .to = REPORT_EVEN},
    {.op = SVC, .imm = 0},
    {.at = REPORT_EVEN, .op = ADDI, .d = 30, .n = 28, .imm = 0},
    {.op = RET},

    {.at = ON_CALL, .op = ADDI, .d = 21, .n = 21, .imm = 1},
    {.op = ERET},
    {.at = ON_IRQ, .op = ADDI, .d = 22, .n = 22, .imm = 1},
    {.op = TBZ, .d = 22, .imm = 0, .to = IRQ_EVEN},
    {.op = ADDI, .d = 23, .n = 23, .imm = 1},
    {.at = IRQ_EVEN, .op = ERET},
};

#define LENGTH (sizeof program / sizeof program[0])

static uint64_t address_of(size_t index)
{
    uint64_t offset = 0;
    for (size_t i = 0; i <= index; i++)
        offset = program[i].org ? program[i].org : offset + 4;
    return FIRMWARE_BASE + offset;
}

static size_t index_of_label(enum label label)
{
    size_t i = 0;
    while (program[i].at != label)
        i++;
    return i;
}

/* Returns the index of the instruction at `pc`, which must be one. */
static size_t index_of(uint64_t pc)
{
    size_t i = 0;
    while (address_of(i) != pc)
        i++;
    return i;
}

/* Encodes an instruction (Arm ARM DDI 0487, C4.1). `delta` is the distance to the target in instructions. */
static uint32_t encode(const struct insn *p, int32_t delta)
{
    const uint32_t imm26 = (uint32_t)delta & 0x3ffffff;
    const uint32_t imm19 = ((uint32_t)delta & 0x7ffff) << 5;
    const uint32_t imm14 = ((uint32_t)delta & 0x3fff) << 5;
    const uint32_t dn = p->n << 5 | p->d;
    switch (p->op) {
    case NOP:
        return 0xd503201f;
    case MOVZ:
        return 0xd2800000 | p->imm << 5 | p->d;
    case ADD:
        return 0x8b000000 | p->m << 16 | dn;
    case ADDI:
        return 0x91000000 | p->imm << 10 | dn;
    case SUB:
        return 0xcb000000 | p->m << 16 | dn;
    case SUBSI:
        return 0xf1000000 | p->imm << 10 | dn;
    case SUBS:
        return 0xeb000000 | p->m << 16 | dn;
    case LSR: /* UBFM d, n, #imm, #63 */
        return 0xd340fc00 | p->imm << 16 | dn;
    case ADR:
        return 0x10000000 | imm19 | p->d;
    case B:
        return 0x14000000 | imm26;
    case BL:
        return 0x94000000 | imm26;
    case BEQ:
        return 0x54000000 | imm19;
    case BNE:
        return 0x54000001 | imm19;
    case BLO:
        return 0x54000003 | imm19;
    case CBZ:
        return 0xb4000000 | imm19 | p->d;
    case TBZ:
        return 0x36000000 | p->imm << 19 | imm14 | p->d;
    case BLR:
        return 0xd63f0000 | p->n << 5;
    case RET:
        return 0xd65f03c0;
    case SVC:
        return 0xd4000001 | p->imm << 5;
    case ERET:
        return 0xd69f03e0;
    case STOP: /* B . */
        return 0x14000000;
    }
    return 0;
}

void firmware_assemble(uint8_t bytes[FIRMWARE_BYTES])
{
    memset(bytes, 0, FIRMWARE_BYTES);
    for (size_t i = 0; i < LENGTH; i++) {
        const uint64_t address = address_of(i);
        const uint64_t target = program[i].to ? address_of(index_of_label(program[i].to)) : address;
        const uint32_t word = encode(&program[i], (int32_t)((int64_t)(target - address) / 4));
        for (unsigned b = 0; b < 4; b++)
            bytes[address - FIRMWARE_BASE + b] = (uint8_t)(word >> 8 * b);
    }
}

void machine_init(struct machine *machine, uint64_t rounds)
{
    *machine = (struct machine){.pc = address_of(index_of_label(MAIN))};
    machine->x[19] = rounds;
}

/* Takes an exception to EL1. */
static void enter(struct machine *machine, uint64_t vector, uint64_t back)
{
    machine->elr = back;
    machine->el = 1;
    machine->pc = vector;
}

void machine_interrupt(struct machine *machine)
{
    enter(machine, VECTOR_IRQ, machine->pc);
}

static void subtract(struct machine *machine, unsigned d, uint64_t a, uint64_t b)
{
    machine->zero = a == b;
    machine->carry = a >= b;
    if (d != ZR)
        machine->x[d] = a - b;
}

/* Executes an instruction that only computes. Returns false for any other one. */
static bool execute_plain(struct machine *machine, const struct insn *p, uint64_t target)
{
    uint64_t *x = machine->x;
    switch (p->op) {
    case NOP:
        return true;
    case MOVZ:
        x[p->d] = p->imm;
        return true;
    case ADD:
        x[p->d] = x[p->n] + x[p->m];
        return true;
    case ADDI:
        x[p->d] = x[p->n] + p->imm;
        return true;
    case SUB:
        x[p->d] = x[p->n] - x[p->m];
        return true;
    case SUBSI:
        subtract(machine, p->d, x[p->n], p->imm);
        return true;
    case SUBS:
        subtract(machine, p->d, x[p->n], x[p->m]);
        return true;
    case LSR:
        x[p->d] = x[p->n] >> p->imm;
        return true;
    case ADR:
        x[p->d] = target;
        return true;
    default:
        return false;
    }
}

static bool is_taken(const struct machine *machine, const struct insn *p)
{
    switch (p->op) {
    case BEQ:
        return machine->zero;
    case BNE:
        return !machine->zero;
    case BLO:
        return !machine->carry;
    case CBZ:
        return machine->x[p->d] == 0;
    case TBZ:
        return (machine->x[p->d] >> p->imm & 1) == 0;
    default:
        return true;
    }
}

struct step machine_step(struct machine *machine)
{
    const uint64_t pc = machine->pc;
    const struct insn *p = &program[index_of(pc)];
    const uint64_t target = p->to ? address_of(index_of_label(p->to)) : 0;
    struct step step = {.kind = STEP_PLAIN, .pc = pc, .taken = true};
    machine->pc += 4;
    if (!execute_plain(machine, p, target)) {
        switch (p->op) {
        case STOP:
            step.kind = STEP_STOP;
            machine->pc = pc;
            break;
        case SVC:
            step.kind = STEP_CALL;
            enter(machine, VECTOR_SYNC, pc + 4);
            break;
        case ERET:
            step.kind = STEP_ERET;
            machine->el = 0;
            machine->pc = machine->elr;
            break;
        case RET:
        case BLR:
            step.kind = STEP_INDIRECT;
            machine->pc = machine->x[p->op == RET ? 30 : p->n];
            break;
        default:
            step.kind = STEP_DIRECT;
            step.taken = is_taken(machine, p);
            if (step.taken)
                machine->pc = target;
        }
        step.link = p->op == BL || p->op == BLR;
        if (step.link)
            machine->x[30] = pc + 4;
    }
    step.next = machine->pc;
    return step;
}
