/* SPDX-License-Identifier: Apache-2.0 */
/* One program's stream of accesses on one or more simulated clusters: what a run and the study of overheads
 * share. */
#ifndef CT_FRACTAL_RUN_SIMULATION_H
#define CT_FRACTAL_RUN_SIMULATION_H

#include "coretap/fractal_report.h"
#include "coretap/fractal_run.h"
#include "fractal_run/control.h"
#include "fractal_run/feed.h"
#include "fractal_run/script.h"

#define FRACTAL_CLUSTERS_MAX 4
#define FRACTAL_PROCESSES_MAX                                                                                \
    256 /* the program, those beside it, their children, and programs in their place */
#define FRACTAL_EVENTS_MAX 4096 /* that are taken out of the ring in one go */

/* One cluster that the stream goes through. */
struct ct_fractal_bench {
    struct ct_soc *soc;
    uint32_t pid;                 /* of the program */
    uint64_t ticks[CT_SOC_CORES]; /* timer interrupts that each core has had */
};

/* A second tracer of the program, on a cluster where only the log goes elsewhere. */
struct ct_fractal_echo {
    struct ct_soc *soc; /* not owned; NULL: there is none */
    struct ct_fractal *tracer;
    int tap;
    uint64_t events; /* that the sink has */
};

/* Addresses that were selected, and what they were called. */
struct ct_fractal_span {
    uint64_t lo, hi;
    char *name;
};

/* What of a kind is selected now. */
struct ct_fractal_selected {
    struct ct_fractal_span *span;
    size_t count, room;
};

/* A process of the traced cluster, and the tracer that follows it. */
struct ct_fractal_process {
    struct ct_fractal_simulation *simulation;
    const char *program;            /* path of its file */
    char *own_program;              /* `program` where the process has to free it, else NULL */
    struct ct_fractal_names *names; /* NULL: it was never traced */
    uint64_t start_code, bias;      /* where its code lies, and by how much that was moved */
    bool begun;                     /* the process runs, so that start_code and bias are known */
    uint32_t pid;
    unsigned number;
    unsigned core;                       /* of its first thread */
    struct ct_fractal_process *parent;   /* NULL: it was not forked */
    uint64_t child;                      /* its number in its parent's notes */
    struct ct_fractal_process *image_of; /* that started it in its own place; NULL: none */
    char *leaving;    /* path of a program that is not followed, which it is about to become; NULL: none */
    unsigned feed;    /* that its words come from */
    uint64_t running; /* cores that run it, one bit each */
    struct ct_fractal *tracer;    /* NULL: it was never traced */
    struct ct_fractal_wire *wire; /* between port and tracer; NULL: the port speaks no protocol */
    int tap;                      /* the number of the tracer on the port */
    bool tracing;
    struct ct_fractal_selected ranges, points;
    uint64_t dropped;
    uint64_t sunk;         /* events that memory has, where the log goes there */
    size_t batched, given; /* events of the tracer that wait in `batch`, and those that were written */
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
    uint64_t cycles; /* the latest clock of a core that ran a thread of the program: its time */
    unsigned words;  /* since timers and rings were looked at */
    bool hooked;     /* tracers are told which cores run their process, since pages are shared */
    struct ct_fractal_process process[FRACTAL_PROCESSES_MAX];
    unsigned processes;
    struct ct_fractal_process *of_feed[FEEDS_MAX]; /* the process whose words come */
    struct ct_fractal_process *seat[CT_SOC_TAPS];  /* the process whose tracer is on that tap; NULL: none */
    unsigned seats;
    uint64_t commands; /* commands of tracers that were detached */
    bool lost;         /* a tracer that was detached had no place for something */
    unsigned left;     /* processes that went on as programs that are not followed */
    struct ct_fractal_script script;
    struct ct_fractal_control control;
    unsigned beside; /* programs that run beside it */
    struct ct_fractal_writer *writer;
    uint64_t targets; /* last-level misses of traced processes in their ranges */
    uint64_t events, dropped;
    bool ran; /* the program said where it is */
    bool stack_known;
    int result;    /* the first error of a hook, which cannot return it */
    uint64_t heap; /* where it begins; 0: not known */
};

/* ---- clusters (cluster.c) ---- */

/* Adds the cluster that is traced, which has to be the first, or one with another fabric (enum
 * ct_soc_fabric). CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_fractal_simulation_add_traced(struct ct_fractal_simulation *s);
int ct_fractal_simulation_add_bare(struct ct_fractal_simulation *s, unsigned fabric);

/* Adds a cluster on which the program is traced as on the first one, with its log in memory. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
int ct_fractal_simulation_add_logged(struct ct_fractal_simulation *s);

/* Hears a message of the port for the tracer of a process, and gives the port its next command, as it comes
 * out of the flits that say it. `user` is an element of `seat`. The messages of the first one are recorded.
 */
void ct_fractal_seat_message(void *user, const struct ct_fractal_message *m, const uint64_t *line);
int ct_fractal_seat_command(void *user, struct ct_fractal_command *out);

/* Begins to tell tracers of cores: without that, accesses of a child to pages that it shares with its parent
 * would look like those of the parent. */
void ct_fractal_simulation_hook(struct ct_fractal_simulation *s);

/* Writes a register of the process's tracer, in order with the traffic. What that refused. */
int ct_fractal_process_register(struct ct_fractal_process *p, uint32_t offset, uint64_t value);

/* Moves what was logged from the rings to the log, in the order of time. */
int ct_fractal_simulation_drain(struct ct_fractal_simulation *s);

/* Lets a core of all clusters make an access of a process, as a word of the plugin says. */
void ct_fractal_process_access(const struct ct_fractal_process *p, uint64_t word);

/* Lets timers interrupt the cores whose time it is. */
void ct_fractal_simulation_tick(struct ct_fractal_simulation *s);

/* Gives the number of a process in a cluster; only the program has one in all of them. Returns 0 where it is
 * not. */
uint32_t ct_fractal_process_pid(const struct ct_fractal_process *p, unsigned bench);

/* Takes pages of a process away, from `lo` on. */
void ct_fractal_process_unmap(struct ct_fractal_process *p, uint64_t lo, uint64_t size);

/* Moves pages of a process, as mremap does. */
void ct_fractal_process_move(struct ct_fractal_process *p, uint64_t from, uint64_t to, uint64_t size);

/* Says that a process shows at [to, to + size) what it showed from `from` on, and what comes behind that. */
void ct_fractal_process_remap(struct ct_fractal_process *p, uint64_t from, uint64_t to, uint64_t size);

/* Says that a process shows an object at [lo, lo + size). */
void ct_fractal_process_shared(struct ct_fractal_process *p, uint64_t lo, uint64_t size, uint64_t object);

/* Gives a process huge pages where blocks of [lo, lo + size) are empty. */
void ct_fractal_process_huge(struct ct_fractal_process *p, uint64_t lo, uint64_t size);

/* Says that a process has a file at [lo, hi). */
void ct_fractal_process_file(const struct ct_fractal_process *p, uint64_t lo, uint64_t hi);

/* ---- processes (process.c) ---- */

/* Adds a process of the traced cluster that is not traced yet. CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_simulation_add_process(struct ct_fractal_simulation *s, uint32_t pid, const char *program,
                                      struct ct_fractal_process **out);

/* Puts a tracer for the process on the port. CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_process_attach(struct ct_fractal_process *p);

/* Adds the commands of a process's tracer, and whether it had no place for something. */
void ct_fractal_process_count(const struct ct_fractal_process *p, uint64_t *commands, bool *lost);

/* Forks a process; the child is traced as its parent is. CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_process_fork(struct ct_fractal_process *p, uint64_t number, struct ct_fractal_process **out);

/* Ends a process, in whose place a program begins that is at a path: a process of its own, which waits for
 * its code to be known. CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_process_exec(struct ct_fractal_process *p, const char *program,
                            struct ct_fractal_process **out);

/* Ends a process that was forked. */
int ct_fractal_process_end(struct ct_fractal_process *p);

/* Moves the page at an address to another frame. CT_ERR_CONFIG: there is none. */
int ct_fractal_process_migrate(struct ct_fractal_process *p, uint64_t va);

/* ---- what is traced (tracing.c) ---- */

/* Starts tracing before the first instruction of a program whose code lies at `start_code`. The errors of
 * ct_fractal_simulate. */
int ct_fractal_simulation_begin(struct ct_fractal_simulation *s, uint64_t start_code);

/* Says that a process begins, whose code lies at `start_code`, and starts to trace what was selected of it.
 * The same errors. */
int ct_fractal_process_begin(struct ct_fractal_process *p, uint64_t start_code);

/* Returns how many selections are of programs by name that no process became. */
size_t ct_fractal_simulation_unmet(const struct ct_fractal_simulation *s);

/* Starts to trace a process that has begun: with what is selected of it, else with all of it. */
int ct_fractal_process_start(struct ct_fractal_process *p);

/* Adds a line of text to the log, if there is one. */
int ct_fractal_simulation_text(struct ct_fractal_simulation *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- what is selected (select.c) ---- */

/* Adds what a text selects, or takes it away, now. CT_ERR_NOT_FOUND: it names nothing; CT_ERR_FORMAT;
 * CT_ERR_CONFIG: a range overlaps another, or a point is in no memory or no range; CT_ERR_LIMIT: the tracer
 * has no register left; CT_ERR_NOMEM. */
int ct_fractal_process_select(struct ct_fractal_process *p, unsigned kind, const char *text, bool add);

/* Tells whether an address is in a range of the process. */
bool ct_fractal_process_traces(const struct ct_fractal_process *p, uint64_t first, uint64_t last);

/* Returns how many points of the process are in none of its ranges; *name is what the first one was called.
 */
size_t ct_fractal_process_stranded(const struct ct_fractal_process *p, const char **name);

/* Selects what is selected of the parent of a forked process: ranges, or points. */
int ct_fractal_process_inherit(struct ct_fractal_process *p, bool points);

void ct_fractal_selected_free(struct ct_fractal_selected *selected);

/* ---- commands while the program runs (steer.c) ---- */

/* Carries out a command as a script or a control socket gives it. `answer` gets what it came to, without a
 * newline. CT_ERR_FORMAT: it is none; the errors of ct_fractal_process_select. */
int ct_fractal_simulation_steer(struct ct_fractal_simulation *s, const char *command, char *answer,
                                size_t size);

/* Returns how many bytes of "NAME:PLACE" are the name of a program; 0 when there is none before the place. A
 * place may have "::" in it. */
size_t ct_fractal_program_prefix(const char *text);

/* Tells whether the file of a process's program has the name in `text` up to `size`. */
bool ct_fractal_process_is(const struct ct_fractal_process *p, const char *text, size_t size);

/* Splits "N:PLACE" into a process and a place, or "NAME:PLACE", which is the last process that runs with this
 * name; without either it is the program's. CT_ERR_NOT_FOUND. */
int ct_fractal_simulation_process(struct ct_fractal_simulation *s, const char **text,
                                  struct ct_fractal_process **out);

/* Adds a region of the program. Regions before it said where it is are passed over. CT_ERR_NOMEM. */
int ct_fractal_simulation_region(struct ct_fractal_simulation *s, uint64_t lo, uint64_t hi, const char *text);

/* Writes the regions to the log and ends it. What `log` returned. */
int ct_fractal_simulation_end_log(struct ct_fractal_simulation *s);

/* ---- the stream (simulate.c) ---- */

/* Makes a simulation without clusters. CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_fractal_simulation_new(struct ct_ctx *ctx, const struct ct_fractal_simulate_options *options,
                              struct ct_fractal_simulation **out);
void ct_fractal_simulation_free(struct ct_fractal_simulation *s);

/* Runs the program to its end, and says how it ended. */
int ct_fractal_simulation_run(struct ct_fractal_simulation *s, struct ct_fractal_ended *ended);

#endif
