/* SPDX-License-Identifier: Apache-2.0 */
/* A run: the state of a specification and the machine that executes its programs. */
#ifndef CT_MONITOR_RUN_H
#define CT_MONITOR_RUN_H

#include "base/ctx.h"
#include "coretap/monitor.h"
#include "monitor/bank.h"
#include "monitor/native.h"
#include "monitor/print.h"
#include "monitor/program.h"

struct ct_monitor_spec {
    struct ct_mon_arena arena;
    struct ct_mon_diags diags;
    struct ct_mon_elab elab;
    struct ct_mon_order order;
    struct ct_mon_program program;
    struct ct_mon_native *native;
    struct ct_mon_beside *beside; /* makes machine code while bytecode runs; NULL: not wanted */
    uint64_t sum;                 /* of its texts, and how it was compiled */
    bool runnable;
    struct ct_mon_joint *joint; /* what it was made of; NULL: of a text */
    unsigned users;             /* joints that point into the specification, besides its owner (atomic) */
};

/* An input whose events need nothing but its machine code. */
struct ct_mon_quick_input {
    native_fn *fn; /* NULL: it is not one */
    uint32_t cell, prev;
    uint32_t code;
    uint8_t kind; /* enum ct_mon_type_kind: TY_INT, TY_BOOL, or a record without members */
    uint8_t pad[3];
};

struct ct_monitor {
    struct ct_ctx *ctx;
    const struct ct_monitor_spec *spec;
    const struct ct_mon_program *p;
    const struct ct_mon_native_code *native; /* NULL: bytecode */
    uint32_t batch_rest; /* so many times events are taken without the function for batches, which was not
                            worth it */
    struct ct_mon_cell *cells;
    struct ct_mon_cell *stack; /* frames of functions; from the first call on */
    uint16_t *states;          /* of the machines, where no bank has them (ct_mon_bank_state) */
    struct ct_mon_bank *banks;
    int64_t *timers;    /* next expiry, or -1 */
    int64_t timer_next; /* the least of them, or INT64_MAX */
    uint32_t stamp;
    int64_t now;
    int64_t floor;               /* no event may come before this time */
    struct ct_mon_cell incoming; /* value of the event being taken: a root */
    bool begun, over;
    bool giving; /* results are with the receiver */
    struct ct_mon_heap heap;
    uint64_t budget; /* units of work that an event may take */
    size_t memory;   /* bytes */
    uint64_t instants_limit, instants;
    bool event_begun;  /* its work is being counted already */
    bool plain_losses; /* for tests: all streams are followed behind a loss, in the plain way */
    enum ct_mon_value_error error;
    /* the instant that events are still coming in for: their cells are written, its program has not run */
    bool open;
    uint32_t sources, only;           /* how many inputs; the first of them */
    uint32_t *seen;                   /* by input: stamp of its last event */
    struct ct_mon_quick_input *quick; /* by input; NULL without machine code */
    /* results not delivered yet */
    struct ct_monitor_result *results;
    size_t nresults, results_cap;
    size_t instant_first; /* of the present instant */
    bool unsorted;
    ct_monitor_fn *fn;
    void *user;
    struct ct_mon_text_reader *reader; /* reads events from text; NULL: no text was given */
    void (*reader_free)(struct ct_mon_text_reader *reader); /* frees `reader` */
    struct ct_mon_certain *certain; /* NULL: nothing depends on events that were lost */
    struct ct_mon_certain *spare;   /* memory of one that is over */
    struct ct_mon_doubt *doubt;     /* NULL: the order of all events was known */
};

enum {
    RESULTS_ROOM = 4096,
    STACK_CELLS = 1 << 18
};

/* A flag in the form of a result: events that were lost might have changed it. */
#define CERTAIN_NOT UINT32_C(0x80000000)

/* Another one: the run does not have this result, and would have it after another order of its events. */
#define CERTAIN_POSSIBLE UINT32_C(0x40000000)

/* Goes on with machine code, if some was made since. */
void ct_mon_run_adopt(struct ct_monitor *m);

/* Executes a program; false: `error` says why. */
bool ct_mon_vm_run(struct ct_monitor *m, uint32_t code);
/* Executes one instruction, which is no jump, with the calls that it makes. */
bool ct_mon_vm_one(struct ct_monitor *m, uint32_t insn);

/* Puts out the verdict of a machine behind a step from state `was` to `is`. */
void ct_mon_vm_step_result(struct ct_monitor *m, struct ct_mon_cell *cells, const struct ct_mon_step *s,
                           uint32_t was, uint32_t is);

/* Takes an event with a value, whose time is not before that of the former one. Result: CT_ERR_*. */
int ct_mon_run_event(struct ct_monitor *m, int64_t time, uint32_t input, struct ct_mon_cell value);

/* Evaluates the open instant, and all instants before `time`. Result: CT_ERR_*. */
int ct_mon_run_close(struct ct_monitor *m);
int ct_mon_run_until(struct ct_monitor *m, int64_t time);

/* Says that no event before `time` will come any more. Result: CT_ERR_*. */
int ct_mon_run_advance(struct ct_monitor *m, int64_t time);

/* Evaluates the open instant within the budget of an event, so that what came before a mistake in the trace
 * still counts. Result: CT_ERR_*. */
int ct_mon_run_close_before_mistake(struct ct_monitor *m);
int ct_mon_run_fail(struct ct_monitor *m, int code, const char *text);
void ct_mon_run_deliver(struct ct_monitor *m);

/* Gives results to the receiver, which cannot call the run meanwhile. */
void ct_mon_run_give(struct ct_monitor *m, const struct ct_monitor_result *results, size_t count);

/* Tells whether the run can be fed. CT_ERR_ARG: it is over, or its receiver calls it. */
int ct_mon_run_usable(const struct ct_monitor *m);

#endif
