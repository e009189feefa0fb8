/* SPDX-License-Identifier: Apache-2.0 */
/* An interpreter for a small language, in which only a run shows where the time goes: most conditions never
 * hold, and small functions are called often. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum op {
    PUSH,
    LOAD,
    STORE,
    ADD,
    SUB,
    MUL,
    DIV,
    MOD,
    LESS,
    EQUAL,
    JUMP,
    UNLESS,
    PRINT,
    HALT
};

struct insn {
    enum op op;
    long value;
};

struct machine {
    long stack[64];
    unsigned top;
    long variables[26];
    const char *trouble;
};

static void fail(struct machine *m, const char *why)
{
    if (!m->trouble)
        m->trouble = why;
}

static void push(struct machine *m, long value)
{
    if (m->top == sizeof m->stack / sizeof *m->stack) {
        fail(m, "the stack is full");
        return;
    }
    m->stack[m->top++] = value;
}

static long pop(struct machine *m)
{
    if (!m->top) {
        fail(m, "the stack is empty");
        return 0;
    }
    return m->stack[--m->top];
}

static long divide(struct machine *m, long a, long b, int rest)
{
    if (!b) {
        fail(m, "division by zero");
        return 0;
    }
    if (a == LONG_MIN && b == -1) {
        fail(m, "the quotient is too large");
        return a;
    }
    return rest ? a % b : a / b;
}

static long *variable(struct machine *m, long number)
{
    static long none;
    if (number < 0 || number >= 26) {
        fail(m, "there is no such variable");
        return &none;
    }
    return &m->variables[number];
}

static long binary(struct machine *m, enum op op, long a, long b)
{
    switch (op) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case DIV:
    case MOD:
        return divide(m, a, b, op == MOD);
    case LESS:
        return a < b;
    default:
        return a == b;
    }
}

/* Runs one instruction. Returns the number of the next one. */
static unsigned step(struct machine *m, const struct insn *i, unsigned at)
{
    long b;
    switch (i->op) {
    case PUSH:
        push(m, i->value);
        break;
    case LOAD:
        push(m, *variable(m, i->value));
        break;
    case STORE:
        *variable(m, i->value) = pop(m);
        break;
    case JUMP:
        return (unsigned)i->value;
    case UNLESS:
        return pop(m) ? at + 1 : (unsigned)i->value;
    case PRINT:
        printf("%ld\n", pop(m));
        break;
    default:
        b = pop(m);
        push(m, binary(m, i->op, pop(m), b));
    }
    return at + 1;
}

static void run(struct machine *m, const struct insn *code, unsigned size)
{
    unsigned at = 0;
    while (!m->trouble && at < size && code[at].op != HALT)
        at = step(m, &code[at], at);
}

/* Runs a program and prints each instruction. */
static void show(struct machine *m, const struct insn *code, unsigned size)
{
    unsigned at = 0;
    while (!m->trouble && at < size && code[at].op != HALT) {
        printf("%u: %d %ld, %u on the stack\n", at, (int)code[at].op, code[at].value, m->top);
        at = step(m, &code[at], at);
    }
}

/* Sums the remainders of squares: s += (i * i) % 7 for i below `most`. */
static const struct insn sums[] = {{LOAD, 0},  {LOAD, 1},  {LESS, 0}, {UNLESS, 17}, {LOAD, 0},
                                   {LOAD, 0},  {MUL, 0},   {PUSH, 7}, {MOD, 0},     {LOAD, 2},
                                   {ADD, 0},   {STORE, 2}, {LOAD, 0}, {PUSH, 1},    {ADD, 0},
                                   {STORE, 0}, {JUMP, 0},  {LOAD, 2}, {PRINT, 0},   {HALT, 0}};

int main(int argc, char **argv)
{
    struct machine m = {.variables = {0, argc > 1 ? atol(argv[1]) : 20000}};
    (argc > 2 ? show : run)(&m, sums, sizeof sums / sizeof *sums);
    if (m.trouble)
        fprintf(stderr, "%s\n", m.trouble);
    return m.trouble != NULL;
}
