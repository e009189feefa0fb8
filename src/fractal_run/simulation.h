/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by runs and the study of overheads: a program's stream of accesses on one or more simulated
 * clusters. */
#pragma once

#include "coretap/fractal_report.h"
#include "coretap/fractal_run.h"
#include "fractal_run/control.h"
#include "fractal_run/feed.h"
#include "fractal_run/script.h"

#define FRACTAL_CLUSTERS_MAX 4
#define FRACTAL_PROCESSES_MAX                                                                                \
    256 /* the program, those beside it, their children, and programs that replace them */
#define FRACTAL_EVENTS_MAX 4096 /* most events fetched from a ring at once */

/* One cluster that the stream goes through. */
struct ct_fractal_bench {
    struct ct_soc *soc;
    uint32_t pid;                 /* pid of the program */
    uint64_t ticks[CT_SOC_CORES]; /* timer interrupts so far, by core */
};

/* A second tracer of the program, on a cluster that differs only in where its log goes. */
struct ct_fractal_echo {
    struct ct_soc *soc; /* not owned; NULL: none */
    struct ct_fractal *tracer;
    int tap;
    uint64_t events; /* events written to the sink */
};

/* Selected addresses, with the text that selected them. */
struct ct_fractal_span {
    uint64_t lo, hi;
    char *name;
};

/* The current selections of one kind. */
struct ct_fractal_selected {
    struct ct_fractal_span *span;
    size_t count, room;
};

/* A process of the traced cluster, and its tracer. */
struct ct_fractal_process {
    struct ct_fractal_simulation *simulation;
    const char *program;            /* path of its file */
    char *own_program;              /* `program` if the process owns it, else NULL */
    struct ct_fractal_names *names; /* NULL: never traced */
    uint64_t start_code, bias;      /* address of its code, and its load bias */
    bool begun;                     /* the process runs, so start_code and bias are known */
    uint32_t pid;
    unsigned number;
    unsigned core;                       /* core of its first thread */
    struct ct_fractal_process *parent;   /* NULL: not forked */
    uint64_t child;                      /* its number in its parent's notes */
    struct ct_fractal_process *image_of; /* the process that it replaced by exec; NULL: none */
    char *leaving;    /* path of a program that is not followed and that it is about to execute; NULL: none */
    unsigned feed;    /* number of its feed */
    uint64_t running; /* cores that run it, one bit each */
    struct ct_fractal *tracer;    /* NULL: never traced */
    struct ct_fractal_wire *wire; /* between port and tracer; NULL: the port speaks no protocol */
    int tap;                      /* tap of its tracer on the port */
    bool tracing;
    struct ct_fractal_selected ranges, points;
    uint64_t dropped;
    uint64_t sunk;         /* events written to memory, if the log goes there */
    size_t batched, given; /* events in `batch`, and how many of them were written */
    struct ct_fractal_event *batch;
};

struct ct_fractal_simulation {
    struct ct_ctx *ctx;
    struct ct_fractal_simulate_options options;
    struct ct_soc_config config;
    struct ct_fractal_bench bench[FRACTAL_CLUSTERS_MAX]; /* the first one is traced */
    unsigned benches;
    struct ct_fractal_echo echo;
    struct ct_fractal_feed feed[FEEDS_MAX]; /* of the program, of those beside it, of their children */
    struct ct_fractal_feeds feeds;
    uint64_t cycles; /* program time: latest clock of a core that ran one of its threads */
    unsigned words;  /* words since timers and rings were last checked */
    bool hooked;     /* tracers are told which cores run their process, because pages are shared */
    struct ct_fractal_process process[FRACTAL_PROCESSES_MAX];
    unsigned processes;
    struct ct_fractal_process *of_feed[FEEDS_MAX]; /* process by feed */
    struct ct_fractal_process *seat[CT_SOC_TAPS];  /* process whose tracer is on the tap; NULL: none */
    unsigned seats;
    uint64_t commands; /* commands of detached tracers */
    bool lost;         /* a detached tracer lost something for lack of room */
    unsigned left;     /* processes that executed programs that are not followed */
    bool unseen;       /* a process made accesses that QEMU does not report */
    struct ct_fractal_script script;
    struct ct_fractal_control control;
    unsigned beside; /* programs that run beside it */
    struct ct_fractal_writer *writer;
    uint64_t targets; /* last-level misses of traced processes in their ranges */
    uint64_t events, dropped;
    bool ran; /* the program has reported its address */
    bool stack_known;
    int result;    /* first error of a hook, which cannot return it */
    uint64_t heap; /* beginning of the heap; 0: unknown */
};

/* ---- clusters (cluster.c) ---- */

/* Add the traced cluster, which must be the first, or one with another fabric (enum ct_soc_fabric). Errors:
 * CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_fractal_simulation_add_traced(struct ct_fractal_simulation *s);
int ct_fractal_simulation_add_bare(struct ct_fractal_simulation *s, unsigned fabric);

/* Adds a cluster on which the program is traced as on the first one, with its log in memory. Errors:
 * CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_fractal_simulation_add_logged(struct ct_fractal_simulation *s);

/* Pass a message of the port to the tracer of a process, and the tracer's next command to the port, both
 * encoded as flits and decoded again. `user` is an element of `seat`. Messages at the first tap are
 * recorded. */
void ct_fractal_seat_message(void *user, const struct ct_fractal_message *m, const uint64_t *line);
int ct_fractal_seat_command(void *user, struct ct_fractal_command *out);

/* Begins to tell tracers which cores run their processes. Without that, accesses of a child to pages shared
 * with its parent would look like the parent's. */
void ct_fractal_simulation_hook(struct ct_fractal_simulation *s);

/* Writes a register of the process's tracer, in order with the traffic. Returns the error of the register. */
int ct_fractal_process_register(struct ct_fractal_process *p, uint32_t offset, uint64_t value);

/* Moves logged events from all rings to the log, in order of time. */
int ct_fractal_simulation_drain(struct ct_fractal_simulation *s);

/* Makes the access that a word of the plugin describes, on a core of all clusters. */
void ct_fractal_process_access(const struct ct_fractal_process *p, uint64_t word);

/* Raises timer interrupts on the cores where they are due. */
void ct_fractal_simulation_tick(struct ct_fractal_simulation *s);

/* Returns the pid of a process in a cluster, or 0 if it is not there; only the program is in all clusters. */
uint32_t ct_fractal_process_pid(const struct ct_fractal_process *p, unsigned bench);

/* Unmaps pages of a process, from `lo` on. */
void ct_fractal_process_unmap(struct ct_fractal_process *p, uint64_t lo, uint64_t size);

/* Moves pages of a process, as mremap does. */
void ct_fractal_process_move(struct ct_fractal_process *p, uint64_t from, uint64_t to, uint64_t size);

/* Maps at [to, to + size) of a process what it has mapped from `from` on, including what follows there. */
void ct_fractal_process_remap(struct ct_fractal_process *p, uint64_t from, uint64_t to, uint64_t size);

/* Maps a shared object at [lo, lo + size) of a process. */
void ct_fractal_process_shared(struct ct_fractal_process *p, uint64_t lo, uint64_t size, uint64_t object);

/* Gives a process huge pages where blocks of [lo, lo + size) are empty. */
void ct_fractal_process_huge(struct ct_fractal_process *p, uint64_t lo, uint64_t size);

/* Notes that a process has mapped a file at [lo, hi). */
void ct_fractal_process_file(const struct ct_fractal_process *p, uint64_t lo, uint64_t hi);

/* ---- processes (process.c) ---- */

/* Adds a process of the traced cluster, not traced yet. Errors: CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_simulation_add_process(struct ct_fractal_simulation *s, uint32_t pid, const char *program,
                                      struct ct_fractal_process **out);

/* Attaches a tracer for the process to the port. Errors: CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_process_attach(struct ct_fractal_process *p);

/* Adds the number of commands of a process's tracer, and sets *lost if it lost something for lack of room. */
void ct_fractal_process_count(const struct ct_fractal_process *p, uint64_t *commands, bool *lost);

/* Forks a process. The child is traced as its parent is. Errors: CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_process_fork(struct ct_fractal_process *p, uint64_t number, struct ct_fractal_process **out);

/* Ends a process that executes the program at a path. The program becomes a new process, which waits until
 * its code is known. Errors: CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_process_exec(struct ct_fractal_process *p, const char *program,
                            struct ct_fractal_process **out);

/* Ends a forked process. */
int ct_fractal_process_end(struct ct_fractal_process *p);

/* Moves the page at an address to another frame. Error: CT_ERR_CONFIG when no page is there. */
int ct_fractal_process_migrate(struct ct_fractal_process *p, uint64_t va);

/* ---- what is traced (tracing.c) ---- */

/* Starts tracing before the first instruction of the program, whose code is at `start_code`. Returns the
 * errors of ct_fractal_simulate. */
int ct_fractal_simulation_begin(struct ct_fractal_simulation *s, uint64_t start_code);

/* Notes that a process begins, with its code at `start_code`, and starts tracing what was selected of it.
 * Returns the same errors. */
int ct_fractal_process_begin(struct ct_fractal_process *p, uint64_t start_code);

/* Returns how many selections name programs that no process executed. */
size_t ct_fractal_simulation_unmet(const struct ct_fractal_simulation *s);

/* Starts tracing a process that has begun: what is selected of it, or else all of it. */
int ct_fractal_process_start(struct ct_fractal_process *p);

/* Adds a line of text to the log, if there is one. */
int ct_fractal_simulation_text(struct ct_fractal_simulation *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- selections (select.c) ---- */

/* Adds or removes what a text selects, at once. Errors: CT_ERR_NOT_FOUND when it names nothing;
 * CT_ERR_FORMAT; CT_ERR_CONFIG when a range overlaps another, or a point is outside memory or all ranges;
 * CT_ERR_LIMIT when the tracer has no register left; CT_ERR_NOMEM. */
int ct_fractal_process_select(struct ct_fractal_process *p, unsigned kind, const char *text, bool add);

/* Returns whether an address from `first` to `last` is in a range of the process. */
bool ct_fractal_process_traces(const struct ct_fractal_process *p, uint64_t first, uint64_t last);

/* Returns how many points of the process are outside its ranges; *name is the name of the first. */
size_t ct_fractal_process_stranded(const struct ct_fractal_process *p, const char **name);

/* Copies the selections of a forked process's parent: ranges, or points. */
int ct_fractal_process_inherit(struct ct_fractal_process *p, bool points);

void ct_fractal_selected_free(struct ct_fractal_selected *selected);

/* ---- commands while the program runs (steer.c) ---- */

/* Executes a command of a script or control socket. Writes the result to `answer`, without a newline. Errors:
 * CT_ERR_FORMAT for an unknown command, those of ct_fractal_process_select. */
int ct_fractal_simulation_steer(struct ct_fractal_simulation *s, const char *command, char *answer,
                                size_t size);

/* Returns the length of the program name in "NAME:PLACE", or 0 when there is only a place. A place may
 * contain "::". */
size_t ct_fractal_program_prefix(const char *text);

/* Returns whether the file of a process's program has the name in the first `size` bytes of `text`. */
bool ct_fractal_process_is(const struct ct_fractal_process *p, const char *text, size_t size);

/* Splits "N:PLACE" into a process and a place, or "NAME:PLACE", which means the last running process of that
 * name; without either, the process is the program. Error: CT_ERR_NOT_FOUND. */
int ct_fractal_simulation_process(struct ct_fractal_simulation *s, const char **text,
                                  struct ct_fractal_process **out);

/* Adds a region of the program. Ignores regions from before its address is known. Error: CT_ERR_NOMEM. */
int ct_fractal_simulation_region(struct ct_fractal_simulation *s, uint64_t lo, uint64_t hi, const char *text);

/* Writes the regions to the log and ends it. Returns the result of `log`. */
int ct_fractal_simulation_end_log(struct ct_fractal_simulation *s);

/* ---- the stream (simulate.c) ---- */

/* Creates a simulation without clusters. Errors: CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_fractal_simulation_new(struct ct_ctx *ctx, const struct ct_fractal_simulate_options *options,
                              struct ct_fractal_simulation **out);
void ct_fractal_simulation_free(struct ct_fractal_simulation *s);

/* Runs the program to its end, and sets how it ended. */
int ct_fractal_simulation_run(struct ct_fractal_simulation *s, struct ct_fractal_ended *ended);
