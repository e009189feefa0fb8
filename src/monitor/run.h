/* SPDX-License-Identifier: Apache-2.0 */
/* A run: the state of a specification, and the engine that executes its programs. */
#pragma once

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
    uint64_t sum;                 /* hash of its texts and of how it was compiled */
    bool runnable;
    struct ct_mon_joint *joint; /* the parts it was joined from; NULL: it was compiled from text */
    unsigned users;             /* joints that point into the specification, in addition to its owner
                                 * (atomic) */
};

/* An input whose events need only its machine code. */
struct ct_mon_quick_input {
    native_fn *fn; /* NULL: not such an input */
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
    uint32_t batch_rest; /* events still to be taken without the batch function, because it was not worth
                          * it */
    struct ct_mon_cell *cells;
    struct ct_mon_cell *stack; /* frames of functions; allocated at the first call */
    uint16_t *states;          /* by machine, unless a bank has the state (ct_mon_bank_state) */
    struct ct_mon_bank *banks;
    int64_t *timers;    /* next expiry by timer, or -1 */
    int64_t timer_next; /* earliest expiry, or INT64_MAX */
    uint32_t stamp;
    int64_t now;
    int64_t floor;               /* earliest time that the next event may have */
    struct ct_mon_cell incoming; /* value of the event being taken: a root of the garbage collector */
    bool begun, over;
    bool giving; /* the receiver is processing results */
    struct ct_mon_heap heap;
    uint64_t budget; /* units of work per event */
    size_t memory;   /* bytes */
    uint64_t instants_limit, instants;
    bool event_begun;  /* the work of the current event is being counted already */
    bool plain_losses; /* for tests: after a loss, track all streams by the plain evaluator */
    enum ct_mon_value_error error;
    /* The open instant: its events are in their cells, but its program has not run. */
    bool open;
    uint32_t sources, only;           /* how many inputs have events, and the first of them */
    uint32_t *seen;                   /* stamp of the last event, by input */
    struct ct_mon_quick_input *quick; /* by input; NULL without machine code */
    /* Results not delivered yet. */
    struct ct_monitor_result *results;
    size_t nresults, results_cap;
    size_t instant_first; /* index of the current instant's first result */
    bool unsorted;
    ct_monitor_fn *fn;
    void *user;
    struct ct_mon_text_reader *reader; /* reads events from text; NULL: no text was fed */
    void (*reader_free)(struct ct_mon_text_reader *reader); /* frees `reader` */
    struct ct_mon_certain *certain;                         /* NULL: nothing depends on lost events */
    struct ct_mon_certain *spare;                           /* memory of an earlier `certain`, for reuse */
    struct ct_mon_doubt *doubt;                             /* NULL: the order of all events was known */
};

enum {
    RESULTS_ROOM = 4096,
    STACK_CELLS = 1 << 18
};

/* flag in a result's form: lost events might have changed it */
#define CERTAIN_NOT UINT32_C(0x80000000)

/* flag in a result's form: the run does not have this result, but would have it after another order of its
 * events */
#define CERTAIN_POSSIBLE UINT32_C(0x40000000)

/* Switches to machine code if it exists by now. */
void ct_mon_run_adopt(struct ct_monitor *m);

/* Executes a program. Returns false on failure, with the reason in `error`. */
bool ct_mon_vm_run(struct ct_monitor *m, uint32_t code);
/* Executes one instruction, which must not be a jump, including the calls that it makes. */
bool ct_mon_vm_one(struct ct_monitor *m, uint32_t insn);

/* Emits the verdict of a machine after a step from state `was` to `is`. */
void ct_mon_vm_step_result(struct ct_monitor *m, struct ct_mon_cell *cells, const struct ct_mon_step *s,
                           uint32_t was, uint32_t is);

/* Takes an event with a value. Its time must not precede that of the last event. Returns CT_OK or an
 * error. */
int ct_mon_run_event(struct ct_monitor *m, int64_t time, uint32_t input, struct ct_mon_cell value);

/* Evaluates the open instant. Returns CT_OK or an error. */
int ct_mon_run_close(struct ct_monitor *m);

/* Notes that no event before `time` will come. Returns CT_OK or an error. */
int ct_mon_run_advance(struct ct_monitor *m, int64_t time);

/* Evaluates the open instant within the budget of an event, so that events before a mistake in the trace
 * still count. Returns CT_OK or an error. */
int ct_mon_run_close_before_mistake(struct ct_monitor *m);
/* End the run with an error of this text; and with the error of a value (m->error, or that of the heap).
 * Return the error. */
int ct_mon_run_fail(struct ct_monitor *m, int code, const char *text);
int ct_mon_run_fail_value(struct ct_monitor *m);
void ct_mon_run_deliver(struct ct_monitor *m);

/* Passes results to the receiver, which must not call the run meanwhile. */
void ct_mon_run_give(struct ct_monitor *m, const struct ct_monitor_result *results, size_t count);

/* Checks that the run can be fed. Returns CT_ERR_ARG when it has ended, or when its receiver calls it. */
int ct_mon_run_usable(const struct ct_monitor *m);
