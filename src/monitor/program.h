/* SPDX-License-Identifier: Apache-2.0 */
/* What the emitter makes of a core: one program for each input and timer, with only what that reaches; one
 * for instants at which several of them meet; one for the instant 0. */
#ifndef CT_MONITOR_PROGRAM_H
#define CT_MONITOR_PROGRAM_H

#include "monitor/elab.h"
#include "monitor/machine.h"

/* Operands are cells: d is written, a and b are read, unless said otherwise. "->x" is a jump target. The
 * operations of OPS up to OP_POW come first, with their own numbers. */
enum ct_mon_insn_op {
    I_FIRST_OWN = OP_FIRST_SLOW,
    I_SLOW = I_FIRST_OWN, /* d := slow[b] of the cells from a on */
    I_COPY,
    I_CONST,    /* d := constant b (in functions; elsewhere constants are cells) */
    I_SAVE,     /* d := a with its stamp */
    I_TIME,     /* d := now */
    I_LAST,     /* d := a if it ever had an event */
    I_LAST2,    /* I_LAST where b is the value before a's event at this instant */
    I_JUMP,     /* ->d */
    I_JABSENT,  /* a has no event now: ->d */
    I_JPRESENT, /* a has one: ->d */
    I_JNEVER,   /* a never had one: ->d */
    I_JFALSE, /* a is false: ->d. An error in a ends the run where b is 0; else cell b - 1 := a, and execution
                 goes on right before d, with the jump behind the choice */
    I_JTRUE,
    I_AND, /* a is false or an error: d := a, ->b */
    I_OR,
    I_OPTION,   /* d := Some(a) or None */
    I_PRESENT,  /* d := a has an event */
    I_UNOPTION, /* d has an event if a is Some(x): x */
    I_PURE,
    I_DEFAULT_FROM,
    I_CALL, /* d := functions[b] of the cells from a on */
    I_TAIL, /* I_CALL whose result is that of the present function, which it replaces: arguments from a on */
    I_RETURN,
    I_CHECK_DELAY, /* a, if it has an event, must be positive */
    I_TIMER,       /* timer d; a amount, b reset */
    I_STEP,        /* steps[a]: one machine, letter read from its atoms */
    I_STEPS,       /* steps[a..a+b): letters known, tables of bytes, states in a row, only changes put out;
                      uses[d] and those behind it are how banks take them */
    I_OUT,         /* output b: a */
    I_OUTS,        /* output b, and those that put out the same stream: a */
    I_END,
    I_COUNT,
};

struct ct_mon_insn {
    uint32_t op, d, a, b;
};

/* Gives the instruction that this one may jump to, always a later one, or 0. */
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
    uint32_t out;    /* changes go straight to this output; UINT32_MAX: to the cell */
    uint32_t letter; /* if known */
    uint32_t atoms;  /* else: first of machine->natoms in program.atoms */
    uint32_t clocks; /* behind the atoms: how many streams there are any of whose events makes a step */
    bool known;
    bool changes_only;
};

/* Machines with states in a row that all I_STEPS step together (bank.h). */
struct ct_mon_bank_info {
    uint32_t first, n; /* machines */
    uint32_t columns;  /* how many I_STEPS step it */
    uint32_t most;     /* joint states that are remembered, a power of two */
};

/* A part of an I_STEPS: a bank, or a machine that is in none. */
struct ct_mon_bank_use {
    uint32_t bank;   /* number of the bank that it is in, or NO_BANK */
    uint32_t column; /* of the bank, for this I_STEPS */
    uint32_t step;   /* of its first machine */
    uint32_t n;      /* machines */
    bool last;       /* of its I_STEPS */
};

struct ct_mon_timer_info {
    uint32_t cell, prev; /* of the delay; prev: NO_CELL unless its former event matters */
    uint32_t code;
};

struct ct_mon_out_info {
    const char *name;
    const struct ct_mon_type *type;
    const char *type_text;
    bool raw;
    bool direct;    /* only fed by steps */
    uint32_t next;  /* output of the same stream; NO_OUTPUT behind the last one */
    uint32_t count; /* how many there are, in the first one */
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
    uint32_t *costs; /* beside code: the work of the longest way from here to the end of the program
                        or function */
    struct ct_mon_cell *constants;
    size_t nconstants, constants_cap;
    struct ct_mon_slow *slow;
    size_t nslow, slow_cap;
    struct ct_mon_step *steps;
    const uint8_t **rows; /* beside steps: the row of a known letter in a table of bytes, or NULL */
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
    uint32_t *bank_of;            /* by machine: a bank, or NO_BANK */
    uint32_t code_zero, code_all; /* instant 0; several sources */
    /* cells: constants first, then streams and their former values (the roots), then temporaries */
    uint32_t roots_from, roots_to, ncells;
    size_t nnodes;
    uint32_t *node_cells; /* by the order of the streams */
};

/* The streams that the outputs need, in an order in which each comes after those it needs at the same
 * instant. False after reporting an infinite recursion. */
struct ct_mon_order {
    struct ct_mon_node **nodes;
    size_t n;
};
bool ct_mon_analyse(struct ct_mon_elab *e, struct ct_mon_order *order);

/* Emits the programs into the elaboration's arena. */
void ct_mon_emit_program(struct ct_mon_elab *e, const struct ct_mon_order *order, struct ct_mon_program *p);

/* Drawing of the core for graphviz. */
struct ct_mon_text;
void ct_mon_dot_write(const struct ct_mon_elab *e, const struct ct_mon_order *order, struct ct_mon_text *out);

#endif
