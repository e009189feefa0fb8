/* SPDX-License-Identifier: Apache-2.0 */
/* The emitter's output: one program for each input and timer, with only the streams that it reaches; one for
 * instants at which several of them have events; one for instant 0. */
#pragma once

#include "monitor/elab.h"
#include "monitor/machine.h"

/* Operands are cells: d is written, a and b are read, unless said otherwise. "->x" jumps to x. The operations
 * of OPS up to OP_POW come first, with their own numbers. */
enum ct_mon_insn_op {
    I_FIRST_OWN = OP_FIRST_SLOW,
    I_SLOW = I_FIRST_OWN, /* d := slow[b](cells from a on) */
    I_COPY,
    I_CONST,    /* d := constant b (only in functions; elsewhere constants are cells) */
    I_SAVE,     /* d := a with its stamp */
    I_TIME,     /* d := now */
    I_LAST,     /* d := a if it ever had an event */
    I_LAST2,    /* as I_LAST; b holds the value before a's event at this instant */
    I_JUMP,     /* ->d */
    I_JABSENT,  /* a has no event now: ->d */
    I_JPRESENT, /* a has an event now: ->d */
    I_JNEVER,   /* a never had one: ->d */
    I_JFALSE,   /* a is false: ->d. An error in a ends the run if b is 0; else cell b - 1 := a, and execution
                 * continues right before d, with the jump that follows the choice */
    I_JTRUE,
    I_AND, /* a is false or an error: d := a, ->b */
    I_OR,
    I_OPTION,   /* d := Some(a) or None */
    I_PRESENT,  /* d := a has an event */
    I_UNOPTION, /* if a is Some(x), d has the event x */
    I_PURE,
    I_DEFAULT_FROM,
    I_CALL, /* d := functions[b](cells from a on) */
    I_TAIL, /* as I_CALL, for a tail call: its result is that of the current function, which it replaces */
    I_RETURN,
    I_CHECK_DELAY, /* fails unless a has no event or is positive */
    I_TIMER,       /* sets timer d; a: amount, b: reset */
    I_STEP,        /* steps[a]: steps one machine, with the letter read from its atoms */
    I_STEPS,       /* steps[a..a+b): steps machines with known letters and byte tables, whose states are
                    * contiguous; emits only changes. Their uses of banks start at uses[d] */
    I_OUT,         /* emits a to output b */
    I_OUTS,        /* emits a to output b and to all outputs of the same stream */
    I_END,
    I_COUNT,
};

struct ct_mon_insn {
    uint32_t op, d, a, b;
};

/* Returns the jump target of an instruction, which is always later, or 0. */
static inline uint32_t insn_target(const struct ct_mon_insn *i)
{
    switch (i->op) {
    case I_JUMP:
    case I_JABSENT:
    case I_JPRESENT:
    case I_JNEVER:
    case I_JFALSE:
    case I_JTRUE:
        return i->d;
    case I_AND:
    case I_OR:
        return i->b;
    default:
        return 0;
    }
}

struct ct_mon_slow {
    enum ct_mon_op op;
    uint32_t n;
    struct ct_mon_op_extra extra;
};

struct ct_mon_step_atom {
    uint32_t cell;
    uint8_t kind; /* enum ct_mon_atom_kind */
};

struct ct_mon_step {
    const struct ct_mon_machine *machine;
    uint32_t state; /* index of its state */
    uint32_t cell;
    uint32_t out;    /* output that receives the changes; UINT32_MAX: the cell does */
    uint32_t letter; /* if known */
    uint32_t atoms;  /* if not known: first of machine->natoms in program.atoms */
    uint32_t clocks; /* how many streams follow the atoms; an event of any of them triggers a step */
    bool known;
    bool changes_only;
};

/* Machines with contiguous states that all I_STEPS step together (bank.h). */
struct ct_mon_bank_info {
    uint32_t first, n; /* machines */
    uint32_t columns;  /* how many I_STEPS step it */
    uint32_t most;     /* most joint states kept, a power of two */
};

/* A part of an I_STEPS: a bank, or a machine that belongs to none. */
struct ct_mon_bank_use {
    uint32_t bank;   /* number of the bank, or NO_BANK */
    uint32_t column; /* column of the bank for this I_STEPS */
    uint32_t step;   /* step of its first machine */
    uint32_t n;      /* number of machines */
    bool last;       /* last part of its I_STEPS */
};

struct ct_mon_timer_info {
    uint32_t cell, prev; /* cell of the delay; prev: cell of its former event, or NO_CELL if unused */
    uint32_t code;
};

struct ct_mon_out_info {
    const char *name;
    const struct ct_mon_type *type;
    const char *type_text;
    bool raw;
    bool direct;    /* written by steps only */
    uint32_t next;  /* next output of the same stream, or NO_OUTPUT */
    uint32_t count; /* number of outputs of the stream, in its first one */
};

struct ct_mon_input_info {
    const char *name;
    const struct ct_mon_type *type;
    const char *type_text;
    const char *source_kind, *source_arg, *source_core;
    uint64_t source_number;
    uint32_t cell, prev;
    uint32_t code;
};

enum {
    NO_CELL = UINT32_MAX,
    NO_OUTPUT = UINT32_MAX,
    NO_CODE = UINT32_MAX,
    NO_BANK = UINT32_MAX
};

struct ct_mon_fn_info {
    uint32_t code, frame, nargs;
};

struct ct_mon_program {
    struct ct_mon_insn *code;
    size_t ncode, code_cap;
    uint32_t *costs; /* by instruction: work of the longest path from here to the end of the program or
                      * function */
    struct ct_mon_cell *constants;
    size_t nconstants, constants_cap;
    struct ct_mon_slow *slow;
    size_t nslow, slow_cap;
    struct ct_mon_step *steps;
    const uint8_t **rows; /* by step: row of a known letter in a byte table, or NULL */
    size_t nsteps, steps_cap, rows_cap;
    struct ct_mon_step_atom *atoms;
    size_t natoms, atoms_cap;
    struct ct_mon_fn_info *fns;
    size_t nfns;
    struct ct_mon_input_info *inputs;
    size_t ninputs;
    struct ct_mon_out_info *outputs;
    size_t noutputs;
    struct ct_mon_timer_info *timers;
    size_t ntimers;
    uint16_t *machine_starts;
    size_t nmachines;
    struct ct_mon_bank_info *banks;
    size_t nbanks;
    struct ct_mon_bank_use *uses;
    size_t nuses, uses_cap;
    uint32_t *bank_of;            /* by machine: its bank, or NO_BANK */
    uint32_t code_zero, code_all; /* programs of instant 0, and of instants with several sources */
    /* cells: constants, then streams and their former values (the roots), then temporaries */
    uint32_t roots_from, roots_to, ncells;
    size_t nnodes;
    uint32_t *node_cells; /* by evaluation order */
};

/* The streams that the outputs need, each after those that it needs at the same instant. ct_mon_analyse
 * returns false after reporting an infinite recursion. */
struct ct_mon_order {
    struct ct_mon_node **nodes;
    size_t n;
};
bool ct_mon_analyse(struct ct_mon_elab *e, struct ct_mon_order *order);

/* Emits the programs into the elaboration's arena. */
void ct_mon_emit_program(struct ct_mon_elab *e, const struct ct_mon_order *order, struct ct_mon_program *p);

/* Writes the core as a graph for graphviz. */
struct ct_mon_text;
void ct_mon_dot_write(const struct ct_mon_elab *e, const struct ct_mon_order *order, struct ct_mon_text *out);
