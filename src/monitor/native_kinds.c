/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/native_kinds.h"

/* How an instruction uses the kinds of its cells. */
enum shape {
    BY_BYTECODE, /* the instruction has no machine code */
    NO_CELLS,
    TEST,       /* reads a, of any kind */
    INT_TEST,   /* reads an Int or Bool */
    MAKES_INT,  /* writes an Int to d */
    INT_1,      /* writes an Int to d, from the Int a */
    INT_2,      /* writes an Int to d, from the Ints a and b */
    FLOAT_2,    /* writes a Float to d, from the Floats a and b */
    FLOAT_TEST, /* writes an Int to d, from the Floats a and b */
    COPY_1,     /* may copy a to d */
    COPY_2,     /* may copy a or b to d */
    COPY_INT,   /* may copy a to d, where a is no Float */
    OPTION,     /* may copy a to d with another meta */
};

static enum shape shape_of(const struct ct_mon_insn *i)
{
    static const uint8_t shapes[I_COUNT] = {
        [OP_ADD] = INT_2,          [OP_SUB] = INT_2,        [OP_MUL] = INT_2,       [OP_DIV] = INT_2,
        [OP_MOD] = INT_2,          [OP_BITAND] = INT_2,     [OP_BITOR] = INT_2,     [OP_BITXOR] = INT_2,
        [OP_LT] = INT_2,           [OP_GT] = INT_2,         [OP_LE] = INT_2,        [OP_GE] = INT_2,
        [OP_EQ] = INT_2,           [OP_NE] = INT_2,         [OP_FADD] = FLOAT_2,    [OP_FSUB] = FLOAT_2,
        [OP_FMUL] = FLOAT_2,       [OP_FDIV] = FLOAT_2,     [OP_FLT] = FLOAT_TEST,  [OP_FGT] = FLOAT_TEST,
        [OP_FLE] = FLOAT_TEST,     [OP_FGE] = FLOAT_TEST,   [OP_NOT] = INT_1,       [OP_IS_NONE] = INT_1,
        [OP_IS_SOME] = INT_1,      [OP_SOME] = OPTION,      [OP_GET_SOME] = OPTION, [I_COPY] = COPY_1,
        [I_SAVE] = COPY_1,         [I_TIME] = MAKES_INT,    [I_LAST] = COPY_1,      [I_LAST2] = COPY_2,
        [I_JUMP] = NO_CELLS,       [I_JABSENT] = TEST,      [I_JPRESENT] = TEST,    [I_JNEVER] = TEST,
        [I_JFALSE] = INT_TEST,     [I_JTRUE] = INT_TEST,    [I_AND] = COPY_INT,     [I_OR] = COPY_INT,
        [I_OPTION] = OPTION,       [I_PRESENT] = MAKES_INT, [I_UNOPTION] = OPTION,  [I_PURE] = COPY_INT,
        [I_DEFAULT_FROM] = COPY_2, [I_OUT] = TEST,          [I_END] = NO_CELLS,
    };
    return (enum shape)shapes[i->op];
}

static bool reads_a(enum shape s)
{
    return s != NO_CELLS && s != MAKES_INT;
}

static bool reads_b(enum shape s)
{
    return s == INT_2 || s == FLOAT_2 || s == FLOAT_TEST || s == COPY_2;
}

static bool writes(enum shape s)
{
    return s >= MAKES_INT;
}

static uint8_t join(uint8_t x, uint8_t y)
{
    return x == y || !y ? x : x ? KIND_MIXED : y;
}

struct kinds {
    const struct ct_mon_program *p;
    uint8_t *of;
    bool changed;
};

static void add(struct kinds *k, uint32_t cell, uint8_t kind)
{
    const uint8_t joined = join(k->of[cell], kind);
    k->changed |= joined != k->of[cell];
    k->of[cell] = joined;
}

/* Adds the kind of the value that an instruction writes. */
static void follow(struct kinds *k, const struct ct_mon_insn *i)
{
    const enum shape s = shape_of(i);
    if (s == COPY_1 || s == COPY_2 || s == COPY_INT)
        add(k, i->d, k->of[i->a]);
    if (s == COPY_2)
        add(k, i->d, k->of[i->b]);
    if (s == MAKES_INT || s == INT_1 || s == INT_2 || s == FLOAT_TEST)
        add(k, i->d, KIND_INT);
    if (s == FLOAT_2)
        add(k, i->d, KIND_FLOAT);
    if (s == OPTION)
        add(k, i->d, KIND_MIXED);
}

/* Sets cells that are read but never written to KIND_MIXED. */
static void settle(struct kinds *k, const struct ct_mon_insn *i)
{
    const enum shape s = shape_of(i);
    if (reads_a(s) && !k->of[i->a])
        add(k, i->a, KIND_MIXED);
    if (reads_b(s) && !k->of[i->b])
        add(k, i->b, KIND_MIXED);
    if (i->op == I_PRESENT && !k->of[i->a])
        add(k, i->a, KIND_MIXED);
}

static bool fits(const struct kinds *k, const struct ct_mon_insn *i)
{
    const enum shape s = shape_of(i);
    const bool float_a = reads_a(s) && k->of[i->a] == KIND_FLOAT;
    const bool float_b = reads_b(s) && k->of[i->b] == KIND_FLOAT;
    const bool float_d = writes(s) && k->of[i->d] == KIND_FLOAT;
    switch (s) {
    case BY_BYTECODE:
        return false;
    case FLOAT_2:
        return float_a && float_b && float_d;
    case FLOAT_TEST:
        return float_a && float_b;
    case COPY_1:
        return float_a == float_d;
    case COPY_2:
        return float_a == float_d && float_b == float_d;
    case TEST:
        return true;
    default:
        return !float_a && !float_b && !float_d;
    }
}

/* Visits each instruction of the inputs' programs. */
static void each(struct kinds *k, void (*visit)(struct kinds *k, const struct ct_mon_insn *i))
{
    for (size_t n = 0; n < k->p->ninputs; n++) {
        const uint32_t code = k->p->inputs[n].code;
        for (uint32_t i = code; code != NO_CODE && k->p->code[i].op != I_END; i++)
            visit(k, &k->p->code[i]);
    }
}

/* Sets the kinds of constants and inputs. Returns false when an input is a text or a collection. */
static bool begin(struct kinds *k)
{
    const struct ct_mon_program *p = k->p;
    for (size_t i = 0; i < p->nconstants; i++) {
        const uint32_t meta = p->constants[i].meta;
        k->of[i] = meta ? meta == META_FLOAT ? KIND_FLOAT : KIND_MIXED : KIND_INT;
    }
    for (size_t i = 0; i < p->ninputs; i++) {
        const struct ct_mon_input_info *in = &p->inputs[i];
        const struct ct_mon_type *t = in->type;
        const bool plain = t->kind == TY_INT || t->kind == TY_BOOL || (t->kind == TY_RECORD && t->n == 0);
        if (!plain && t->kind != TY_FLOAT)
            return false;
        if (in->cell != NO_CELL)
            add(k, in->cell, plain ? KIND_INT : KIND_FLOAT);
        if (in->prev != NO_CELL)
            add(k, in->prev, plain ? KIND_INT : KIND_FLOAT);
    }
    return true;
}

static void follow_all(struct kinds *k)
{
    do {
        k->changed = false;
        each(k, follow);
    } while (k->changed);
}

bool ct_mon_native_kinds(const struct ct_mon_program *p, uint8_t *kinds, bool *written)
{
    struct kinds k = {.p = p, .of = kinds};
    if (p->ntimers || !begin(&k))
        return false;
    follow_all(&k);
    each(&k, settle);
    follow_all(&k);
    for (size_t n = 0; n < p->ninputs; n++) {
        const struct ct_mon_input_info *in = &p->inputs[n];
        if (in->cell != NO_CELL)
            written[in->cell] = true;
        if (in->prev != NO_CELL)
            written[in->prev] = true;
        for (uint32_t i = in->code; i != NO_CODE && p->code[i].op != I_END; i++) {
            if (!fits(&k, &p->code[i]))
                return false;
            if (writes(shape_of(&p->code[i])))
                written[p->code[i].d] = true;
        }
    }
    return true;
}
