/* SPDX-License-Identifier: Apache-2.0 */
/* coretap FRACTAL run: runs FRACTAL (fractal.h) on the recorded messages of a port, or on an Arm program
 * whose accesses go through a simulated cluster (soc.h).
 *
 *     char *const argv[] = {"./canny", NULL};
 *     struct ct_fractal_simulate_options options = {
 *         .size = sizeof options, .argv = argv, .mode = CT_FRACTAL_ACTIVE, .log = write, .log_user = file};
 *     struct ct_fractal_simulate_result result;
 *     if (ct_fractal_simulate(ctx, &options, &result) == CT_OK)
 *         printf("%llu events\n", (unsigned long long)result.events);
 *
 *     struct ct_fractal_replay_options how = {
 *         .size = sizeof how, .path = "messages", .log = write, .log_user = file};
 *     ct_fractal_replay_new(ctx, &how, &replay);
 *     ct_fractal_replay_run(replay);
 *     ct_fractal_replay_finish(replay);
 *     ct_fractal_replay_write(replay, write, stdout);
 *     ct_fractal_replay_free(replay); */
#ifndef CORETAP_FRACTAL_RUN_H
#define CORETAP_FRACTAL_RUN_H

#include "coretap/base.h"
#include "coretap/fractal.h"
#include "coretap/fractal_names.h"
#include "coretap/fractal_wire.h"
#include "coretap/soc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parses a range of addresses: "400000..402000" or "all". Both are hexadecimal, with or without 0x; the
 * second is the first address after the range, at most 2^48. CT_ERR_FORMAT: it is neither, or is empty;
 * CT_ERR_ARG. */
CT_API int ct_fractal_range_parse(struct ct_ctx *ctx, const char *text, uint64_t *lo, uint64_t *hi);

/* ---- a recorded message stream ---- */

struct ct_fractal_replay_options {
    size_t size;      /* sizeof(struct ct_fractal_replay_options) */
    const char *path; /* of the stream, "-" for standard input; NULL: the caller pushes its bytes */
    const struct ct_fractal_target *target; /* traced from the first message on; NULL: as by_stream says */
    const uint64_t *points;                 /* observation points of the target */
    size_t point_count;                     /* number of them */
    const char *log_name;                   /* name of the log in messages; NULL: "log" */
    ct_write_fn *log;                       /* receives the event log (docs/fractal.md); NULL: none is
                                               written */
    void *log_user;
    ct_write_fn *commands; /* receives a line of CSV for each command, after CT_FRACTAL_COMMANDS_HEADER: first
                              those that set up the target, with time 0; NULL: none are written */
    void *commands_user;
    /* Receives a text about each of the first ten lines that are skipped, and one more that says that there
     * are others. NULL: they are only counted. */
    void (*refused)(void *user, const char *text);
    void *refused_user;
    uint8_t by_stream; /* 1: the register writes in the stream set up the tracer and describe the target in
                          the header of the log; the target is ignored */
    uint8_t pad[7];    /* 0 */
    uint32_t protocol; /* enum ct_fractal_protocol of the flits in the stream and of commands. A stream of
                          CT_FRACTAL_NEUTRAL only has messages */
    uint32_t pad2;     /* 0 */
};

/* The first line of a CSV file of commands. `flits` are CHANNEL.OPCODE:ADDR:DATA, hexadecimal, separated by
 * blanks; empty for CT_FRACTAL_NEUTRAL. */
#define CT_FRACTAL_COMMANDS_HEADER "time,command,pa,va,asid,flits\n"

struct ct_fractal_replay_counts {
    uint64_t messages;
    uint64_t refused;                             /* impossible messages, and lines that are no message */
    uint64_t events;                              /* logged events */
    uint64_t commands[CT_FRACTAL_CMD_KIND_COUNT]; /* by enum ct_fractal_command_kind */
};

/* A tracer that takes a recorded stream. Only one thread may use it at a time. */
struct ct_fractal_replay;

/* Makes a tracer, sets it up and opens the stream. Reads the target and the points, and writes the beginning
 * of the log and of the commands. CT_ERR_ARG: the target is impossible; CT_ERR_CONFIG: a point is outside of
 * the target's range, or the mode is passive; CT_ERR_IO: the stream cannot be
 * opened; CT_ERR_LIMIT: too many points; CT_ERR_NOMEM; what `log` and `commands` returned. */
CT_API int ct_fractal_replay_new(struct ct_ctx *ctx, const struct ct_fractal_replay_options *options,
                                 struct ct_fractal_replay **out);
CT_API void ct_fractal_replay_free(struct ct_fractal_replay *replay);

/* Takes the stream that was opened, up to its end. Lines that are no messages, and impossible messages, are
 * counted and skipped. CT_ERR_IO: it cannot be read; CT_ERR_ARG: none was opened; CT_ERR_NOMEM; what `log`
 * and `commands` returned. */
CT_API int ct_fractal_replay_run(struct ct_fractal_replay *replay);

/* Takes bytes of a stream, in pieces of any size. The errors of ct_fractal_replay_run. */
CT_API int ct_fractal_replay_push(struct ct_fractal_replay *replay, const void *data, size_t size);

/* Ends the stream, whose last line needs no newline, and the log; once. After an error of
 * ct_fractal_replay_run or ct_fractal_replay_push it ends the log with what it has. The same errors. */
CT_API int ct_fractal_replay_finish(struct ct_fractal_replay *replay);

/* Returns the counts so far; they belong to the replay. */
CT_API const struct ct_fractal_replay_counts *
ct_fractal_replay_counts_of(const struct ct_fractal_replay *replay);

/* Explains what the log lacks at the end of the stream: contents of page tables that the stream does not
 * have, events for which the tracer had no room, or all events. Returns NULL when nothing is missing. The
 * text belongs to the replay. */
CT_API const char *ct_fractal_replay_missing(struct ct_fractal_replay *replay);

/* Writes the counts, including those of the tracer's registers, one name and number a line. CT_ERR_ARG,
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_fractal_replay_write(struct ct_fractal_replay *replay, ct_write_fn *write, void *user);

/* ---- a program on the simulated cluster ---- */

#define CT_FRACTAL_BESIDE 4 /* maximal number of programs beside the traced one */

/* Kinds of selections. A range, section or symbol may not overlap another. */
enum ct_fractal_selection_kind {
    CT_FRACTAL_SELECT_RANGE,   /* as ct_fractal_range_parse takes it */
    CT_FRACTAL_SELECT_SECTION, /* of the program */
    CT_FRACTAL_SELECT_SYMBOL,  /* a function or object of it */
    CT_FRACTAL_SELECT_POINT,   /* observation point: hexadecimal address, LO..HI, function (the line of its
                                  entry) or object (all its lines) */
};

/* One selection. The text may begin with "N:", for the N-th program beside (from 1), or with "NAME:", for
 * each process whose program file has that name, such as a program that is started by execve in place of the
 * program or of a child. A place alone also applies to a program that replaces the program itself, as far as
 * it has the place. */
struct ct_fractal_selection {
    const char *text;
    uint8_t kind;   /* enum ct_fractal_selection_kind */
    uint8_t pad[7]; /* 0 */
};

/* How a program ended. */
struct ct_fractal_ended {
    int32_t exit_code; /* -1: it did not end by itself, or could not be run */
    uint32_t signal;   /* that ended it; 0: none */
    uint8_t ran;       /* 1: it ran an instruction */
    uint8_t pad[7];    /* 0 */
};

struct ct_fractal_simulate_options {
    size_t size; /* sizeof(struct ct_fractal_simulate_options) */
    /* The path of the program and its arguments, terminated by NULL. */
    char *const *argv;
    const struct ct_soc_config *cluster;          /* `fabric` is treated as coherent; NULL: a Kria KV260 */
    const struct ct_fractal_options *tracer;      /* NULL: the defaults */
    const struct ct_fractal_names_options *names; /* how names are found (`files`, `raw_names`); NULL: the
                                                     defaults */
    const char *const *beside;                    /* programs that run on other cores at the same time, up to
                                                     CT_FRACTAL_BESIDE */
    size_t beside_count;                          /* number of `beside`: less than the number of cores */
    const char *log_name;                         /* name of the log in messages; NULL: "log" */
    ct_write_fn *log;                             /* receives the event log; NULL: none is written */
    void *log_user;
    ct_write_fn *truth; /* receives each last-level miss of the program in the range, as the cluster knows it,
                           as lines of ct_fractal_csv_write after the header; NULL: none are written */
    void *truth_user;
    ct_write_fn *messages; /* receives the messages of the port, for a replay; NULL: none are written */
    void *messages_user;
    uint8_t mode;        /* enum ct_fractal_mode */
    uint8_t points_only; /* 1: only accesses to observation points are logged */
    uint8_t ring;        /* 1: events that do not fit into the tracer's ring are dropped; 0: it is emptied in
                            time */
    uint8_t pad[5];      /* 0 */
    const struct ct_fractal_selection *selections; /* what is traced, as many as the tracer has registers */
    size_t selection_count; /* number of `selections`; with none, or only points, the whole program is
                               traced */
    const char *script;  /* path of a file of lines "TIME COMMAND", in the order of the program's time; NULL:
                            none. TIME is a number with ns, us, ms or s, or a number of cycles; COMMAND as for
                            ct_fractal_control_ask; '#' begins a comment */
    const char *control; /* path of a socket that receives commands while the program runs; NULL: none */
    uint8_t forks;       /* 1: forked children are followed, and traced like the program */
    uint8_t pad2[7];     /* 0 */
    uint32_t protocol;   /* enum ct_fractal_protocol of the port: what passes between cluster and tracers is
                            encoded and decoded, and `messages` gets flits; CT_FRACTAL_NEUTRAL: messages and
                            commands pass unchanged */
    uint32_t pad3;       /* 0 */
    /* A number that a signal handler may set to a signal for the program. It is sent to the program and to
     * children that outlive it; what still runs some seconds later is killed. NULL: none. */
    const volatile int *signal;
};

struct ct_fractal_simulate_result {
    struct ct_fractal_ended ended;
    uint64_t accesses; /* of all programs */
    uint64_t misses;   /* misses of the last-level cache */
    uint64_t targets;  /* misses of the program in the range */
    uint64_t events;   /* events that were logged */
    uint64_t dropped;
    uint64_t commands;
    uint64_t cycles; /* of the thread whose core has the latest clock: CT_SOC_CLOCK_HZ are a second */
    uint8_t lost;    /* 1: the tracer had no room for a point or a page table: events are missing */
    uint8_t left;    /* processes, at most 255, that continued as programs of another architecture: their
                        accesses are not in the log, whose text names them */
    uint8_t unmet;   /* selections, at most 255, of programs by name that no process became */
    uint8_t unseen;  /* 1: programs accessed memory by SVE instructions, which QEMU does not report: these
                        accesses are missing */
    uint32_t late;   /* steps of the script after the end of the program, which were not carried out */
};

/* Sends a command to a run whose control socket is at `path`: "range|section|symbol|point add|remove PLACE",
 * "process add|remove N", "page move ADDRESS" (to another frame) or "status"; PLACE as in struct
 * ct_fractal_selection. Commands take effect between two accesses. *answer is that of the run; the caller
 * frees it. CT_ERR_IO: no answer; CT_ERR_CONFIG: the run refused, and why; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fractal_control_ask(struct ct_ctx *ctx, const char *path, const char *command, char **answer);

/* Runs an Arm Linux program on a simulated cluster with FRACTAL on its port. QEMU's user emulation runs it to
 * its end, with the standard input and output of this process; its accesses go through the cluster. *result
 * says how it ended whatever is returned; its other members are valid only without an error.
 * CT_ERR_NOT_FOUND: no Arm program, plugin, section or symbol of this name, or the program ran no
 * instruction; CT_ERR_ARG: the cluster is impossible; CT_ERR_FORMAT: a range or point is malformed;
 * CT_ERR_LIMIT: too many programs; CT_ERR_IO, also when a program beside it could not be run; CT_ERR_NOMEM;
 * the errors of ct_fractal_names_new; what the receivers returned. */
CT_API int ct_fractal_simulate(struct ct_ctx *ctx, const struct ct_fractal_simulate_options *options,
                               struct ct_fractal_simulate_result *result);

struct ct_fractal_overhead_options {
    size_t size;                                  /* sizeof(struct ct_fractal_overhead_options) */
    char *const *argv;                            /* as in struct ct_fractal_simulate_options */
    const struct ct_soc_config *cluster;          /* NULL: a Kria KV260 */
    const struct ct_fractal_names_options *names; /* how the section .text is found; NULL: the defaults */
    const volatile int *signal;                   /* as in struct ct_fractal_simulate_options */
};

/* Cycles of a program on four clusters. CT_SOC_CLOCK_HZ are a second. */
struct ct_fractal_overhead_result {
    struct ct_fractal_ended ended;
    uint64_t bare;     /* without fabric */
    uint64_t coherent; /* with a coherent port that only listens */
    uint64_t traced;   /* with FRACTAL tracing the section .text in points mode */
    uint64_t logged;   /* cycles for writing the log to the memory that misses are read from */
};

/* Predicts what tracing costs a program. Runs it once and passes its accesses through four clusters. The
 * errors of ct_fractal_simulate. */
CT_API int ct_fractal_overhead(struct ct_ctx *ctx, const struct ct_fractal_overhead_options *options,
                               struct ct_fractal_overhead_result *result);

enum ct_fractal_overhead_form {
    CT_FRACTAL_OVERHEAD_TEXT, /* a table with times and shares */
    CT_FRACTAL_OVERHEAD_CSV,  /* one line of cycles: bare, coherent, traced, logged */
};

/* Writes the prediction. CT_ERR_ARG, also for an unknown form; CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_fractal_overhead_write(struct ct_ctx *ctx, const struct ct_fractal_overhead_result *result,
                                     enum ct_fractal_overhead_form form, ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
