/* SPDX-License-Identifier: Apache-2.0 */
/* A32 and T32: the instructions of which compilers make jump tables and counted loops. For all others, the
 * registers and the memory that they may write, and whether they may set the flags. An encoding that is not
 * listed may change everything. Arm ARM DDI 0487, F4 and F3; Armv8-M ARM DDI 0553, C2. */
#include "base/bytes.h"
#include "program/cfg_lift.h"

#define X(r)      (UINT64_C(1) << (r))
#define ALL       (X(15) - 1)
#define CALL_MASK (X(0) | X(1) | X(2) | X(3) | X(12) | X(14)) /* AAPCS32: what a call may change */
#define SP        13
#define LINK      14
#define PC        15

/* Operations of data processing, with the numbers of A32. */
enum operation {
    AND = 0,
    EOR = 1,
    SUB = 2,
    RSB = 3,
    ADD = 4,
    ADC = 5,
    SBC = 6,
    TST = 8,
    TEQ = 9,
    CMP = 10,
    CMN = 11,
    ORR = 12,
    MOV = 13,
    BIC = 14,
    MVN = 15,
    OTHER = 16,
};

/* Returns what a condition says about the compare before it when execution reaches the table. A branch that
 * skips the table has HI or CS; a jump that is conditional itself has LS or CC. */
static uint8_t skip_above(uint32_t cond)
{
    return cond == CT_COND_HI ? 1 : cond == CT_COND_CS ? 2 : 0;
}

static uint8_t jump_above(uint32_t cond)
{
    return cond == CT_COND_LS ? 1 : cond == CT_COND_CC ? 2 : 0;
}

/* Returns the registers that an instruction of 32 bits may use: all that its fields may name. */
static uint64_t fields(uint32_t op)
{
    return X(ct_bits(op, 19, 16)) | X(ct_bits(op, 15, 12)) | X(ct_bits(op, 11, 8)) | X(ct_bits(op, 3, 0));
}

static void set(struct ct_lift *out, enum ct_lift_kind kind, uint32_t rd, uint32_t rn)
{
    out->kind = (uint8_t)kind;
    out->rd = (uint8_t)rd;
    out->rn = (uint8_t)rn;
    out->writes = X(rd);
    out->gives = X(rn);
}

/* Lifts an instruction that only writes some registers. */
static void only_writes(struct ct_lift *out, uint64_t writes)
{
    out->kind = CT_LIFT_OTHER;
    out->writes = writes;
    out->flags = false;
    out->stores = CT_LIFT_STORES_NOTHING;
}

/* Lifts an instruction without any effect on general registers, flags and memory. */
static void nothing(struct ct_lift *out)
{
    only_writes(out, 0);
    out->gives = 0;
}

static void unknown(struct ct_lift *out)
{
    only_writes(out, ALL);
    out->gives = ALL;
    out->flags = true;
    out->stores = CT_LIFT_STORES_ANYWHERE;
}

static void call(struct ct_lift *out)
{
    unknown(out);
    out->writes = CALL_MASK;
    out->gives = 0;
    out->calls = true;
}

/* Lifts rd = rn + imm, where rn may be the PC, which reads as `pc`. */
static void add_immediate(struct ct_lift *out, uint32_t rd, uint32_t rn, int64_t imm, uint64_t pc)
{
    set(out, rn == PC ? CT_LIFT_CONST : CT_LIFT_ADDI, rd, rn);
    out->imm = rn == PC ? (int64_t)pc + imm : imm;
}

static void constant(struct ct_lift *out, uint32_t rd, uint32_t value)
{
    set(out, CT_LIFT_CONST, rd, 0);
    out->gives = 0;
    out->imm = value;
}

static void add_register(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t rm, uint32_t shift)
{
    set(out, CT_LIFT_ADD, rd, rn);
    out->gives |= X(rm);
    out->rm = (uint8_t)rm;
    out->shift = (uint8_t)shift;
}

static void reverse(struct ct_lift *out, uint32_t rd, uint32_t rn, int64_t imm)
{
    set(out, CT_LIFT_RSB, rd, rn);
    out->imm = imm;
}

static void steps(struct ct_lift *out, uint32_t rm)
{
    set(out, CT_LIFT_STEPS, PC, PC);
    out->rm = (uint8_t)rm;
}

static void jump(struct ct_lift *out, uint32_t rm)
{
    set(out, CT_LIFT_JUMP, 0, rm);
    out->writes = out->gives = 0;
}

static void skip(struct ct_lift *out, uint32_t cond)
{
    set(out, CT_LIFT_SKIP, 0, 0);
    out->above = skip_above(cond);
    out->taken = jump_above(cond);
    out->cond = (uint8_t)cond;
    out->writes = out->gives = 0;
}

static void mask(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t imm)
{
    set(out, (imm & (imm + 1)) == 0 ? CT_LIFT_MASK : CT_LIFT_OTHER, rd, rn);
    out->imm = imm;
}

static void extend(struct ct_lift *out, uint32_t rd, uint32_t rm, uint32_t bits, bool is_signed)
{
    if (!is_signed) {
        mask(out, rd, rm, (uint32_t)ct_mask64(bits));
        return;
    }
    set(out, CT_LIFT_SIGN, rd, rm);
    out->bits = (uint8_t)bits;
}

/* A load or store of one register. */
struct transfer {
    bool load, before, writes_back; /* `before`: the address includes the offset */
    uint32_t rt, rn, size;
    int64_t offset;
    bool is_signed;
};

/* Lifts a transfer with a constant offset. */
static void memory(struct ct_lift *out, const struct transfer *t)
{
    const bool back = t->writes_back || !t->before;
    set(out, t->load ? CT_LIFT_FETCH : CT_LIFT_STORE, t->rt, t->rn);
    out->imm = t->before ? t->offset : 0;
    out->size = (uint8_t)t->size;
    out->stores = t->load ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_HERE;
    out->writes = t->load ? X(t->rt) : 0;
    out->gives = t->load ? 0 : X(t->rt);
    if (t->load && t->size < 4) {
        out->bits = (uint8_t)(8 * t->size);
        out->is_signed = t->is_signed;
    }
    if (!back)
        return;
    out->kind = CT_LIFT_OTHER;
    out->writes |= X(t->rn);
    out->moves = t->load && t->rt == t->rn ? 0 : t->offset;
}

/* Lifts a transfer whose offset is a register, or that changes rn by one. */
static void memory_by_register(struct ct_lift *out, const struct transfer *t, uint32_t rm, uint32_t shift)
{
    set(out, t->load && t->before && !t->writes_back ? CT_LIFT_LOAD : CT_LIFT_OTHER, t->rt, t->rn);
    out->writes = (t->load ? X(t->rt) : 0) | (t->writes_back || !t->before ? X(t->rn) : 0);
    out->stores = t->load ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_ANYWHERE;
    out->gives = t->load ? 0 : X(t->rt);
    out->rm = (uint8_t)rm;
    out->shift = (uint8_t)shift;
    out->size = (uint8_t)t->size;
    if (t->load && t->size < 4 && t->is_signed) {
        out->bits = (uint8_t)(8 * t->size);
        out->is_signed = true;
    }
}

/* Lifts LDM and STM: of `count` words, from rn + first on. */
static void multiple(struct ct_lift *out, bool load, uint32_t rn, uint64_t list, int64_t first, int64_t moves)
{
    const uint64_t registers = list & 0xffff;
    out->kind = CT_LIFT_OTHER;
    out->rn = (uint8_t)rn;
    out->imm = first;
    out->size = (uint8_t)(4 * __builtin_popcountll(registers));
    out->writes = (load ? registers : 0) | (moves ? X(rn) : 0);
    out->moves = load && registers >> rn & 1 ? 0 : moves;
    out->flags = false;
    out->stores = load ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_HERE;
    out->gives = load ? 0 : registers;
}

static void compare(struct ct_lift *out, uint32_t rn, int64_t imm)
{
    set(out, CT_LIFT_CMP, 0, rn);
    out->writes = 0;
    out->imm = imm;
    out->flags = true;
}

static void compare_registers(struct ct_lift *out, uint32_t rn, uint32_t rm)
{
    set(out, CT_LIFT_CMPR, 0, rn);
    out->gives |= X(rm);
    out->writes = 0;
    out->rm = (uint8_t)rm;
    out->flags = true;
}

/* ---- data processing ---- */

static void data_immediate(struct ct_lift *out, enum operation operation, uint32_t rd, uint32_t rn,
                           uint32_t value, uint64_t pc)
{
    out->writes = X(rd);
    out->gives = X(rn);
    switch (operation) {
    case AND:
        mask(out, rd, rn, value);
        break;
    case SUB:
        add_immediate(out, rd, rn, -(int64_t)value, pc);
        break;
    case ADD:
        add_immediate(out, rd, rn, value, pc);
        break;
    case RSB:
        reverse(out, rd, rn, value);
        break;
    case MOV:
        constant(out, rd, value);
        break;
    case MVN:
        constant(out, rd, ~value);
        break;
    case CMP:
        compare(out, rn, value);
        break;
    case CMN: /* the same flags as a compare with -value, except that of 0 */
        out->writes = 0;
        if (value)
            compare(out, rn, -(int64_t)value);
        break;
    case TST:
        mask(out, 0, rn, value);
        out->writes = 0;
        break;
    case TEQ:
        set(out, CT_LIFT_SAME, 0, rn);
        out->imm = value;
        out->writes = 0;
        break;
    default:
        break;
    }
}

/* Lifts an operation with a register that is shifted by a constant; `type` 0 is LSL. */
static void data_register(struct ct_lift *out, enum operation operation, uint32_t rd, uint32_t rn,
                          uint32_t rm, uint32_t type, uint32_t amount)
{
    const bool plain = type == 0 && amount == 0;
    out->writes = operation >= TST && operation <= CMN ? 0 : X(rd);
    out->gives = X(rn) | X(rm);
    if (operation == MOV && type == 0 && rd != PC) {
        set(out, plain ? CT_LIFT_COPY : CT_LIFT_SHIFT, rd, rm);
        out->shift = (uint8_t)amount;
    } else if (operation == MOV && plain) {
        set(out, CT_LIFT_JUMP, rd, rm);
    } else if (operation == ADD && type == 0) {
        add_register(out, rd, rn, rm, amount);
    } else if (operation == MVN && plain) {
        reverse(out, rd, rm, -1);
    } else if (operation == CMP && plain) {
        compare_registers(out, rn, rm);
    } else if (operation == SUB && plain && out->flags) {
        compare_registers(out, rn, rm);
        out->rd = (uint8_t)rd;
        out->writes = X(rd);
    }
}

/* ---- coprocessors, floating-point numbers and vectors: the same in A32 and T32 ---- */

static void coprocessor_memory(uint32_t op, struct ct_lift *out)
{
    const uint32_t rn = ct_bits(op, 19, 16);
    const bool load = op & 0x00100000, back = op & 0x00200000;
    const bool floats = ct_bits(op, 11, 9) == 5;
    const uint32_t bytes = ct_bits(op, 7, 0) * 4;
    const int64_t offset = op & 0x00800000 ? bytes : -(int64_t)bytes;
    if ((op & 0x0fe00000) == 0x0c000000) { /* vectors of the M profile: VMOV of two registers */
        unknown(out);
        return;
    }
    if ((op & 0x0fe00000) == 0x0c400000) { /* MCRR, MRRC, VMOV of two registers */
        only_writes(out, load ? X(ct_bits(op, 15, 12)) | X(rn) : 0);
        return;
    }
    only_writes(out, back ? X(rn) : 0);
    out->gives = 0;
    out->rn = (uint8_t)rn;
    out->stores = load ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_ANYWHERE;
    if (!floats)
        return;
    const bool single = (op & 0x01200000) == 0x01000000; /* VLDR, VSTR */
    out->moves = back ? offset : 0;
    out->imm = op & 0x00800000 && !single ? 0 : offset;
    out->size = (uint8_t)(single ? ct_bits(op, 8, 8) * 4 + 4 : bytes > 128 ? 0 : bytes);
    out->stores = load ? CT_LIFT_STORES_NOTHING : out->size ? CT_LIFT_STORES_HERE : CT_LIFT_STORES_ANYWHERE;
}

/* Lifts register transfers and operations. Vectors of the M profile use the numbers of other coprocessors,
 * and some write general registers. */
static void coprocessor_data(uint32_t op, bool is_t32, struct ct_lift *out)
{
    const bool transfers = op & 0x10, reads = op & 0x00100000;
    const uint32_t rt = ct_bits(op, 15, 12);
    if (ct_bits(op, 11, 9) != 5 && is_t32) {
        unknown(out);
        return;
    }
    only_writes(out, transfers && reads && rt != PC ? X(rt) : 0);
    out->gives = transfers && !reads ? X(rt) : 0;
    out->flags = transfers && reads && rt == PC;
}

/* Lifts loads and stores of elements and structures of vectors; `rm` 13: rn moves by their size. */
static void elements(uint32_t op, struct ct_lift *out)
{
    static const uint8_t registers[16] = {4, 4, 4, 2, 3, 3, 3, 1, 2, 2, 2};
    const uint32_t rn = ct_bits(op, 19, 16), rm = ct_bits(op, 3, 0);
    only_writes(out, rm == PC ? 0 : X(rn));
    out->gives = 0;
    out->rn = (uint8_t)rn;
    out->moves = rm == SP && !(op & 0x00800000) ? registers[ct_bits(op, 11, 8)] * 8 : 0;
    out->stores = op & 0x00200000 ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_ANYWHERE;
}

/* ---- A32 ---- */

static uint32_t a32_constant(uint32_t op)
{
    unsigned turn = ct_bits(op, 11, 8) * 2;
    uint32_t value = op & 0xff;
    return turn ? value >> turn | value << (32 - turn) : value;
}

static void a32_immediate(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 15, 12);
    const uint32_t wide = ct_bits(op, 19, 16) << 12 | (op & 0xfff);
    switch (ct_bits(op, 24, 20)) {
    case 0x10: /* MOVW */
        constant(out, rd, wide);
        break;
    case 0x14: /* MOVT */
        set(out, CT_LIFT_PART, rd, rd);
        out->shift = 16;
        out->imm = wide;
        break;
    case 0x12:
    case 0x16: /* MSR, hints */
        only_writes(out, 0);
        out->flags = true;
        break;
    default:
        out->flags = op & 0x00100000;
        data_immediate(out, (enum operation)ct_bits(op, 24, 21), rd, ct_bits(op, 19, 16), a32_constant(op),
                       addr + 8);
        break;
    }
}

/* Lifts TST, TEQ, CMP and CMN without flags, which are other instructions. */
static void a32_miscellaneous(uint32_t op, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 15, 12);
    if (op & 0x80) { /* multiplies of halfwords */
        only_writes(out, X(ct_bits(op, 19, 16)) | ((op & 0x00600000) == 0x00400000 ? X(rd) : 0));
    } else if ((op & 0x0ff000f0) == 0x01200010 || (op & 0x0ff000f0) == 0x01200020) { /* BX, BXJ */
        if ((op & 15) == LINK)
            only_writes(out, 0);
        else
            jump(out, op & 15);
    } else if ((op & 0x0ff000f0) == 0x01200030 || (op & 0x0f9000f0) == 0x01000070) { /* BLX, SMC, HVC */
        call(out);
    } else if ((op & 0x0fb000f0) == 0x01200000) { /* MSR */
        only_writes(out, 0);
        out->flags = true;
    } else { /* MRS, CLZ, saturating sums, CRC32 */
        only_writes(out, X(rd));
    }
}

/* Lifts multiplies, and loads and stores of halfwords, pairs and of synchronisation. */
static void a32_extra(uint32_t op, struct ct_lift *out)
{
    const uint32_t rt = ct_bits(op, 15, 12), rn = ct_bits(op, 19, 16);
    const uint32_t kind = ct_bits(op, 6, 5);
    const bool load = op & 0x00100000;
    const uint32_t value = op & 0x00400000 ? ct_bits(op, 11, 8) << 4 | (op & 15) : 0;
    struct transfer t = {.load = load || kind == 2,
                         .before = op & 0x01000000,
                         .writes_back = op & 0x00200000,
                         .rt = rt,
                         .rn = rn,
                         .size = load && kind == 2   ? 1
                                 : kind == 1 || load ? 2
                                                     : 8,
                         .offset = op & 0x00800000 ? value : -(int64_t)value,
                         .is_signed = load && kind != 1};
    out->flags = false;
    if (kind == 0) {
        const bool synchronises = op & 0x01000000;
        const bool is_long = op & 0x00800000 || (op & 0x00e00000) == 0x00400000; /* a result of 64 bits */
        only_writes(out, synchronises ? X(rt) | X((rt + 1) & 15) : X(rn) | (is_long ? X(rt) : 0));
        out->flags = !synchronises && load;
        out->stores = synchronises ? CT_LIFT_STORES_ANYWHERE : CT_LIFT_STORES_NOTHING;
        return;
    }
    if (op & 0x00400000)
        memory(out, &t);
    else
        memory_by_register(out, &t, op & 15, 0);
    if (t.size == 8) {
        out->kind = CT_LIFT_OTHER;
        out->writes |= t.load ? X((rt + 1) & 15) : 0;
        out->moves = out->writes >> rn & 1 && t.load && (rt | 1) == (rn | 1) ? 0 : out->moves;
    }
}

static void a32_register(uint32_t op, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 15, 12);
    out->flags = op & 0x00100000;
    if ((op & 0x90) == 0x90)
        a32_extra(op, out);
    else if ((op & 0x01900000) == 0x01000000)
        a32_miscellaneous(op, out);
    else if ((op & 0x0ffffff0) == 0x008ff100)
        steps(out, op & 15);
    else if (op & 0x10) /* shifted by a register */
        out->writes = (op & 0x01800000) == 0x01000000 ? 0 : X(rd);
    else
        data_register(out, (enum operation)ct_bits(op, 24, 21), rd, ct_bits(op, 19, 16), op & 15,
                      ct_bits(op, 6, 5), ct_bits(op, 11, 7));
}

static void a32_memory(uint32_t op, struct ct_lift *out)
{
    const uint32_t offset = op & 0xfff;
    const bool up = op & 0x00800000;
    const struct transfer t = {.load = op & 0x00100000,
                               .before = op & 0x01000000,
                               .writes_back = op & 0x00200000,
                               .rt = ct_bits(op, 15, 12),
                               .rn = ct_bits(op, 19, 16),
                               .size = op & 0x00400000 ? 1 : 4,
                               .offset = up ? offset : -(int64_t)offset};
    if (!(op & 0x02000000))
        memory(out, &t);
    else
        memory_by_register(out, &t, op & 15, ct_bits(op, 11, 7));
    if (out->kind == CT_LIFT_LOAD && (!up || op & 0x60))
        out->kind = CT_LIFT_OTHER;
}

/* Lifts parallel sums, extensions and fields of bits, whose result is in 15:12, and multiplies and divides,
 * whose result is in 19:16 or, of 64 bits, in both. */
static void a32_media(uint32_t op, struct ct_lift *out)
{
    const uint32_t low = ct_bits(op, 15, 12), kind = ct_bits(op, 24, 20);
    if ((op & 0x0f8f0ff0) == 0x068f0070 && op & 0x00200000) /* SXTB, SXTH, UXTB, UXTH */
        extend(out, low, op & 15, op & 0x00100000 ? 16 : 8, !(op & 0x00400000));
    else if ((op & 0x0fe00ff0) == 0x07e00050) /* UBFX from bit 0 */
        mask(out, low, op & 15, (uint32_t)ct_mask64(ct_bits(op, 20, 16) + 1));
    else if (kind >= 0x10 && kind < 0x1a)
        only_writes(out, X(ct_bits(op, 19, 16)) | (kind == 0x14 ? X(low) : 0));
    else
        only_writes(out, X(low));
}

static void a32_multiple(uint32_t op, struct ct_lift *out)
{
    const int64_t bytes = 4 * __builtin_popcount(op & 0xffff);
    const bool up = op & 0x00800000, before = op & 0x01000000;
    const int64_t first = up ? (before ? 4 : 0) : before ? -bytes : 4 - bytes;
    multiple(out, op & 0x00100000, ct_bits(op, 19, 16), op & 0xffff, first,
             op & 0x00200000 ? (up ? bytes : -bytes) : 0);
}

/* Lifts the instructions without a condition. */
static void a32_always(uint32_t op, struct ct_lift *out)
{
    if ((op & 0x0e000000) == 0x0a000000)
        call(out); /* BLX */
    else if ((op & 0x0f100000) == 0x04000000)
        elements(op, out);
    else if ((op & 0x0e000000) == 0x02000000 || (op & 0x0d70f000) == 0x0550f000 ||
             (op & 0x0ff000f0) == 0x05700040 || (op & 0x0ff000f0) == 0x05700050 ||
             (op & 0x0ff000f0) == 0x05700060 || ((op & 0x0f000010) == 0x0e000000 && (op & 0xe00) == 0xa00))
        nothing(out); /* operations of vectors; PLD; barriers; VSEL, VMAXNM, VRINT */
    else
        unknown(out);
}

void ct_lift_a32(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    const uint32_t cond = op >> 28;
    *out = (struct ct_lift){.rm = CT_LIFT_NO_REG, .cond = (uint8_t)cond, .gives = fields(op)};
    if (cond == 15) {
        a32_always(op, out);
        return;
    }
    switch (ct_bits(op, 27, 25)) {
    case 0:
        a32_register(op, out);
        break;
    case 1:
        a32_immediate(op, addr, out);
        break;
    case 2:
        a32_memory(op, out);
        break;
    case 3:
        if (op & 0x10)
            a32_media(op, out);
        else
            a32_memory(op, out);
        break;
    case 4:
        a32_multiple(op, out);
        break;
    case 5:
        if (op & 0x01000000)
            call(out);
        else
            skip(out, cond);
        return;
    case 6:
        coprocessor_memory(op, out);
        break;
    default:
        if (op & 0x01000000)
            call(out); /* SVC */
        else
            coprocessor_data(op, false, out);
        break;
    }
    out->is_maybe = cond != CT_COND_ALWAYS;
    const bool jumps = (out->writes & X(PC)) || out->kind == CT_LIFT_STEPS;
    if (jumps)
        out->above = jump_above(cond);
    else if (out->is_maybe && out->kind != CT_LIFT_JUMP)
        out->kind = CT_LIFT_OTHER;
}

/* ---- T32, 16 bits ---- */

static void t16_immediate(uint32_t op, struct ct_lift *out)
{
    const uint32_t low = op & 7, high = ct_bits(op, 10, 8), rn = ct_bits(op, 5, 3);
    out->flags = true;
    switch (ct_bits(op, 13, 11)) {
    case 0: /* LSL */
        data_register(out, MOV, low, 0, rn, 0, ct_bits(op, 10, 6));
        break;
    case 3:
        if (op & 0x400)
            add_immediate(out, low, rn, op & 0x200 ? -(int64_t)(op >> 6 & 7) : (int64_t)(op >> 6 & 7), 0);
        else
            data_register(out, op & 0x200 ? SUB : ADD, low, rn, ct_bits(op, 8, 6), 0, 0);
        break;
    case 4:
        constant(out, high, op & 0xff);
        break;
    case 5:
        compare(out, high, op & 0xff);
        break;
    case 6:
    case 7:
        add_immediate(out, high, high, op & 0x800 ? -(int64_t)(op & 0xff) : (int64_t)(op & 0xff), 0);
        break;
    default: /* LSR, ASR */
        out->writes = X(low);
        out->gives = X(rn);
        break;
    }
}

static void t16_register(uint32_t op, struct ct_lift *out)
{
    const uint32_t low = op & 7, rm = ct_bits(op, 5, 3);
    out->flags = true;
    out->writes = X(low);
    out->gives = X(low) | X(rm);
    switch (ct_bits(op, 9, 6)) {
    case 8:
    case 11: /* TST, CMN */
        out->writes = 0;
        break;
    case 9: /* RSB #0 */
        reverse(out, low, rm, 0);
        break;
    case 10:
        compare_registers(out, low, rm);
        break;
    case 15:
        reverse(out, low, rm, -1);
        break;
    default:
        break;
    }
}

static void t16_high(uint32_t op, struct ct_lift *out)
{
    uint32_t rd = ct_bits(op, 7, 7) << 3 | (op & 7);
    uint32_t rm = ct_bits(op, 6, 3);
    switch (ct_bits(op, 9, 8)) {
    case 0:
        add_register(out, rd, rd, rm, 0);
        break;
    case 1:
        compare_registers(out, rd, rm);
        break;
    case 2:
        set(out, rd == PC ? CT_LIFT_JUMP : CT_LIFT_COPY, rd, rm);
        break;
    default:
        if (op & 0x80)
            call(out);
        else
            jump(out, rm);
        break;
    }
}

/* Lifts loads and stores of one register. */
static void t16_memory(uint32_t op, struct ct_lift *out)
{
    static const uint8_t sizes[8] = {4, 2, 1, 1, 4, 2, 1, 2};
    const uint32_t low = op & 7, rn = ct_bits(op, 5, 3), kind = ct_bits(op, 11, 9);
    const uint32_t imm = ct_bits(op, 10, 6);
    struct transfer t = {.load = op & 0x800, .before = true, .rt = low, .rn = rn, .size = 4};
    switch (op >> 12) {
    case 5:
        t.load = kind >= 3;
        t.size = sizes[kind];
        t.is_signed = kind == 3 || kind == 7;
        memory_by_register(out, &t, ct_bits(op, 8, 6), 0);
        return;
    case 6:
        t.offset = imm * 4;
        break;
    case 7:
        t.size = 1;
        t.offset = imm;
        break;
    case 8:
        t.size = 2;
        t.offset = imm * 2;
        break;
    default: /* 4: a constant beside the code; 9: on the stack */
        t.load = t.load || op >> 12 == 4;
        t.rt = ct_bits(op, 10, 8);
        t.rn = op >> 12 == 4 ? PC : SP;
        t.offset = (op & 0xff) * 4;
        break;
    }
    memory(out, &t);
}

static void t16_miscellaneous(uint32_t op, struct ct_lift *out)
{
    const uint32_t low = op & 7, rm = ct_bits(op, 5, 3);
    const uint32_t list = (op & 0xff) | (op & 0x100 ? (uint32_t)X(op & 0x800 ? PC : LINK) : 0);
    const int64_t bytes = 4 * __builtin_popcount(list);
    if ((op & 0xff00) == 0xb000) {
        add_immediate(out, SP, SP, op & 0x80 ? -(int64_t)(op & 0x7f) * 4 : (int64_t)(op & 0x7f) * 4, 0);
    } else if ((op & 0xf500) == 0xb100) { /* CBZ, CBNZ */
        set(out, CT_LIFT_ZERO, 0, low);
        out->cond = op & 0x800 ? CT_COND_NE : CT_COND_EQ;
        out->writes = 0;
    } else if ((op & 0xff00) == 0xb200) {
        extend(out, low, rm, op & 0x40 ? 8 : 16, !(op & 0x80));
    } else if ((op & 0xfe00) == 0xb400) {
        multiple(out, false, SP, list, -bytes, -bytes);
    } else if ((op & 0xfe00) == 0xbc00) {
        multiple(out, true, SP, list, 0, bytes);
    } else if ((op & 0xff00) == 0xba00) { /* REV */
        only_writes(out, X(low));
        out->gives = X(rm);
    } else if ((op & 0xff00) == 0xbe00) { /* BKPT: perhaps semihosting */
        call(out);
    } else { /* SETEND, CPS, IT, hints */
        nothing(out);
    }
}

static void t16(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    const uint32_t high = ct_bits(op, 10, 8);
    const int64_t bytes = 4 * __builtin_popcount(op & 0xff);
    switch (op >> 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        t16_immediate(op, out);
        break;
    case 4:
        if (op & 0x800)
            t16_memory(op, out);
        else if (op & 0x400)
            t16_high(op, out);
        else
            t16_register(op, out);
        break;
    case 10:
        add_immediate(out, high, op & 0x800 ? SP : PC, (op & 0xff) * 4, (addr + 4) & ~UINT64_C(3));
        break;
    case 11:
        t16_miscellaneous(op, out);
        break;
    case 12: /* LDM does not write a base back that it loads */
        multiple(out, op & 0x800, high, op & 0xff, 0, op & 0x800 && op >> high & 1 ? 0 : bytes);
        break;
    case 13:
        if ((op & 0xfe00) == 0xde00)
            call(out); /* UDF, SVC */
        else
            skip(out, ct_bits(op, 11, 8));
        break;
    case 14:
        nothing(out);
        break;
    default:
        t16_memory(op, out);
        break;
    }
}

/* ---- T32, 32 bits ---- */

/* Returns the operation of an encoding of data processing, in T32's numbers. */
static enum operation t32_operation(uint32_t op)
{
    static const uint8_t plain[16] = {AND, BIC,   ORR, OTHER, EOR,   OTHER, OTHER, OTHER,
                                      ADD, OTHER, ADC, SBC,   OTHER, SUB,   RSB,   OTHER};
    const uint32_t number = ct_bits(op, 24, 21), rn = ct_bits(op, 19, 16);
    const bool tests = ct_bits(op, 11, 8) == PC && op & 0x00100000;
    if (rn == PC && (number == 2 || number == 3))
        return number == 2 ? MOV : MVN;
    if (tests)
        return number == 0 ? TST : number == 4 ? TEQ : number == 8 ? CMN : number == 13 ? CMP : OTHER;
    return (enum operation)plain[number];
}

/* Returns the number that the 12 bits i:imm3:imm8 stand for. */
static uint32_t t32_constant(uint32_t op)
{
    const uint32_t imm = ct_bits(op, 26, 26) << 11 | ct_bits(op, 14, 12) << 8 | (op & 0xff);
    const uint32_t byte = imm & 0xff, turn = imm >> 7;
    if (imm >> 10)
        return (0x80 | (imm & 0x7f)) >> turn | (0x80 | (imm & 0x7f)) << (32 - turn);
    return imm >> 8 == 0   ? byte
           : imm >> 8 == 1 ? byte << 16 | byte
           : imm >> 8 == 2 ? byte << 24 | byte << 8
                           : byte << 24 | byte << 16 | byte << 8 | byte;
}

static void t32_immediate(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 11, 8), rn = ct_bits(op, 19, 16);
    const uint32_t imm = ct_bits(op, 26, 26) << 11 | ct_bits(op, 14, 12) << 8 | (op & 0xff);
    const uint64_t pc = (addr + 4) & ~UINT64_C(3);
    if (!(op & 0x02000000)) {
        out->flags = op & 0x00100000;
        data_immediate(out, t32_operation(op), rd, rn, t32_constant(op), pc);
        return;
    }
    out->writes = X(rd);
    switch (ct_bits(op, 24, 20)) {
    case 0x00: /* ADDW */
        add_immediate(out, rd, rn, imm, pc);
        break;
    case 0x04: /* MOVW */
        constant(out, rd, rn << 12 | imm);
        break;
    case 0x0a: /* SUBW */
        add_immediate(out, rd, rn, -(int64_t)imm, pc);
        break;
    case 0x0c: /* MOVT */
        set(out, CT_LIFT_PART, rd, rd);
        out->shift = 16;
        out->imm = rn << 12 | imm;
        break;
    case 0x1c: /* UBFX */
        if ((op & 0x70c0) == 0)
            mask(out, rd, rn, (uint32_t)ct_mask64((op & 31) + 1));
        break;
    default:
        break;
    }
}

/* Lifts branches, low-overhead loops and instructions that control the core. */
static void t32_control(uint32_t op, struct ct_lift *out)
{
    const uint32_t rn = ct_bits(op, 19, 16);
    if ((op & 0xfffff001) == 0xf00fc001 || (op & 0xfffff001) == 0xf01fc001) { /* LE, LETP */
        set(out, CT_LIFT_LEAVE, LINK, LINK);
        out->imm = -1;
    } else if ((op & 0xfffff001) == 0xf02fc001 || op == 0xf00fe001) { /* LE for ever, LCTP */
        nothing(out);
    } else if ((op & 0xff80d001) == 0xf000c001) { /* WLS, DLS */
        set(out, CT_LIFT_COPY, LINK, rn);
    } else if ((op & 0xd001) == 0xc001 || (op & 0xd000) == 0xd000 || (op & 0xd001) == 0xc000) {
        call(out); /* BL, BLX; branch future */
    } else if ((op & 0xd000) == 0x9000) {
        nothing(out);
    } else if ((op & 0x03800000) != 0x03800000) {
        skip(out, ct_bits(op, 25, 22));
    } else if ((op & 0xfff00000) == 0xf3a00000 || (op & 0xfff00000) == 0xf3b00000) { /* hints, barriers */
        nothing(out);
    } else if ((op & 0xffe00000) == 0xf3e00000) { /* MRS */
        only_writes(out, X(ct_bits(op, 11, 8)));
    } else if ((op & 0xffe00000) == 0xf3800000) { /* MSR */
        only_writes(out, X(SP));
        out->flags = true;
    } else {
        call(out); /* HVC, SMC, UDF */
    }
}

/* Lifts loads and stores of one register. */
static void t32_memory(uint32_t op, struct ct_lift *out)
{
    const uint32_t imm8 = op & 0xff, rn = ct_bits(op, 19, 16);
    const bool up = op & 0x00800000, is_long = rn == PC || up;
    struct transfer t = {.load = op & 0x00100000,
                         .before = true,
                         .rt = ct_bits(op, 15, 12),
                         .rn = rn,
                         .size = 1u << ct_bits(op, 22, 21),
                         .is_signed = op & 0x01000000};
    if ((op & 0xff100000) == 0xf9000000) {
        elements(op, out);
    } else if (t.size == 8) {
        unknown(out);
    } else if (is_long) {
        t.offset = up ? (int64_t)(op & 0xfff) : -(int64_t)(op & 0xfff);
        memory(out, &t);
    } else if (op & 0x800) {
        t.before = op & 0x400;
        t.writes_back = op & 0x100;
        t.offset = op & 0x200 ? (int64_t)imm8 : -(int64_t)imm8;
        memory(out, &t);
    } else {
        memory_by_register(out, &t, op & 15, ct_bits(op, 5, 4));
    }
}

/* Lifts loads and stores of pairs, of synchronisation, and table branches. */
static void t32_dual(uint32_t op, struct ct_lift *out)
{
    const uint32_t rt = ct_bits(op, 15, 12), other = ct_bits(op, 11, 8), rn = ct_bits(op, 19, 16);
    const bool load = op & 0x00100000;
    const int64_t offset = op & 0x00800000 ? (int64_t)(op & 0xff) * 4 : -(int64_t)(op & 0xff) * 4;
    if ((op & 0xffffffe0) == 0xe8dff000) {
        set(out, CT_LIFT_TABLE, PC, PC);
        out->rm = op & 15;
        out->size = op & 0x10 ? 2 : 1;
    } else if (op & 0x01200000) { /* LDRD, STRD */
        const bool back = op & 0x00200000;
        multiple(out, load, rn, X(rt) | X(other), op & 0x01000000 ? offset : 0, back ? offset : 0);
        out->size = 8;
        out->writes |= back ? X(rn) : 0;
    } else { /* the loaded registers, or the status in 11:8 or 3:0 */
        only_writes(out, X(rt) | X(other) | X(op & 15));
        out->stores = CT_LIFT_STORES_ANYWHERE;
    }
}

static void t32_multiple(uint32_t op, struct ct_lift *out)
{
    const int64_t bytes = 4 * __builtin_popcount(op & 0xffff);
    const uint32_t way = ct_bits(op, 24, 23);
    const int64_t moves = way == 1 ? bytes : -bytes;
    if (way == 1 || way == 2)
        multiple(out, op & 0x00100000, ct_bits(op, 19, 16), op & 0xffff, way == 1 ? 0 : moves,
                 op & 0x00200000 ? moves : 0);
    else
        unknown(out); /* SRS, RFE */
}

static void t32_shifted(uint32_t op, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 11, 8), rm = op & 15;
    out->flags = op & 0x00100000;
    if ((op & 0xfff00000) == 0xea500000 && (op & 0x8000 || (rd & 1 && rm >= SP)))
        unknown(out); /* CSEL, and shifts of two registers */
    else
        data_register(out, t32_operation(op), rd, ct_bits(op, 19, 16), rm, ct_bits(op, 5, 4),
                      ct_bits(op, 14, 12) << 2 | ct_bits(op, 7, 6));
}

static void t32_register(uint32_t op, struct ct_lift *out)
{
    out->writes = X(ct_bits(op, 11, 8));
    out->flags = (op & 0xff9000f0) == 0xfa100000; /* shifts */
    if ((op & 0xff8ff0f0) == 0xfa0ff080 && !(op & 0x00200000) && !(op & 0x30))
        extend(out, ct_bits(op, 11, 8), op & 15, op & 0x00400000 ? 8 : 16, !(op & 0x00100000));
}

static void t32_coprocessor(uint32_t op, struct ct_lift *out)
{
    if ((op & 0xef000000) == 0xef000000)
        nothing(out); /* vectors */
    else if ((op & 0x0e000000) == 0x0c000000)
        coprocessor_memory(op, out);
    else if (op >> 28 == 15 && (op & 0xe10) != 0xa00)
        unknown(out);
    else
        coprocessor_data(op, true, out);
}

void ct_lift_t32(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    *out = (struct ct_lift){.rm = CT_LIFT_NO_REG, .gives = fields(op)};
    if (op >> 27 < 29)
        t16(op >> 16, addr, out);
    else if ((op & 0xf8008000) == 0xf0000000)
        t32_immediate(op, addr, out);
    else if ((op & 0xf8008000) == 0xf0008000)
        t32_control(op, out);
    else if ((op & 0xec000000) == 0xec000000)
        t32_coprocessor(op, out);
    else if ((op & 0xfe400000) == 0xe8000000)
        t32_multiple(op, out);
    else if ((op & 0xfe400000) == 0xe8400000)
        t32_dual(op, out);
    else if ((op & 0xfe000000) == 0xea000000)
        t32_shifted(op, out);
    else if ((op & 0xfe000000) == 0xf8000000)
        t32_memory(op, out);
    else if ((op & 0xff000000) == 0xfa000000)
        t32_register(op, out);
    else if ((op & 0xff800000) == 0xfb000000) /* multiplies */
        out->writes = X(ct_bits(op, 11, 8));
    else if ((op & 0xff800000) == 0xfb800000) /* long multiplies, divides */
        out->writes = X(ct_bits(op, 11, 8)) | X(ct_bits(op, 15, 12));
    else
        unknown(out);
}
