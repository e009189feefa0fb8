/* SPDX-License-Identifier: Apache-2.0 */
/* coretap FRACTAL run: FRACTAL (fractal.h) at work, on the recorded messages of a port or on an Arm program
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

/* Reads a range of addresses: "400000..402000", both hexadecimal, with or without 0x, the second being the
 * first address behind it, 2^48 at most; or "all". CT_ERR_FORMAT: it is neither, or is empty; CT_ERR_ARG. */
CT_API int ct_fractal_range_parse(struct ct_ctx *ctx, const char *text, uint64_t *lo, uint64_t *hi);

/* ---- a recorded message stream ---- */

struct ct_fractal_replay_options {
    size_t size;      /* sizeof(struct ct_fractal_replay_options) */
    const char *path; /* of the stream, "-" for standard input; NULL: the caller gives its bytes */
    const struct ct_fractal_target *target; /* that is traced from the first message on; NULL: as by_stream */
    const uint64_t *points;                 /* observation points of the target */
    size_t point_count;                     /* number of them */
    const char *log_name;                   /* what messages call the log; NULL: "log" */
    ct_write_fn *log;                       /* takes the event log (docs/fractal.md); NULL: nobody wants it */
    void *log_user;
    ct_write_fn *commands; /* takes a line of values for each command that a message brought about, behind
                              CT_FRACTAL_COMMANDS_HEADER; NULL: nobody wants them */
    void *commands_user;
    /* Takes a text about each line that is passed over, the first ten, and one that says that there are more.
     * NULL: they are counted alone. */
    void (*refused)(void *user, const char *text);
    void *refused_user;
    uint8_t by_stream; /* 1: the stream's own register writes set the tracer up, and the target is what the
                          log's header says of it */
    uint8_t pad[7];    /* 0 */
    uint32_t protocol; /* enum ct_fractal_protocol: of the flits in the stream and of commands. A stream of
                          CT_FRACTAL_NEUTRAL has messages only */
    uint32_t pad2;     /* 0 */
};

/* First line of commands. `flits` are CHANNEL.OPCODE:ADDR:DATA, hexadecimal and apart by a blank; none for
 * CT_FRACTAL_NEUTRAL. */
#define CT_FRACTAL_COMMANDS_HEADER "time,command,pa,va,asid,flits\n"

struct ct_fractal_replay_counts {
    uint64_t messages;
    uint64_t refused;                             /* messages that cannot be, and lines that are no message */
    uint64_t events;                              /* that were logged */
    uint64_t commands[CT_FRACTAL_CMD_KIND_COUNT]; /* by enum ct_fractal_command_kind */
};

/* A tracer that takes a recorded stream. Of one thread at a time. */
struct ct_fractal_replay;

/* Makes a tracer, sets it up and opens the stream. The target and the points are read here; what the log and
 * the commands begin with is written. CT_ERR_ARG: the target cannot be; CT_ERR_IO: the stream cannot be
 * opened; CT_ERR_LIMIT: too many points; CT_ERR_NOMEM; what `log` and `commands` returned. */
CT_API int ct_fractal_replay_new(struct ct_ctx *ctx, const struct ct_fractal_replay_options *options,
                                 struct ct_fractal_replay **out);
CT_API void ct_fractal_replay_free(struct ct_fractal_replay *replay);

/* Takes the stream that was opened, up to its end. Lines that are no messages, and messages that cannot be,
 * are counted and passed over. CT_ERR_IO: it cannot be read; CT_ERR_ARG: none was opened; CT_ERR_NOMEM; what
 * `log` and `commands` returned. */
CT_API int ct_fractal_replay_run(struct ct_fractal_replay *replay);

/* Takes bytes of a stream, in pieces of any size. The errors of ct_fractal_replay_run. */
CT_API int ct_fractal_replay_push(struct ct_fractal_replay *replay, const void *data, size_t size);

/* Ends the stream, whose last line needs no newline, and the log; once. Behind an error of
 * ct_fractal_replay_run or ct_fractal_replay_push it ends the log with what is in it. The same errors. */
CT_API int ct_fractal_replay_finish(struct ct_fractal_replay *replay);

/* Returns what was counted so far; it belongs to the replay. */
CT_API const struct ct_fractal_replay_counts *
ct_fractal_replay_counts_of(const struct ct_fractal_replay *replay);

/* Writes what was counted, by the tracer's registers, too: a name and a number a line. CT_ERR_ARG,
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_fractal_replay_write(struct ct_fractal_replay *replay, ct_write_fn *write, void *user);

/* ---- a program on the simulated cluster ---- */

#define CT_FRACTAL_BESIDE 4 /* most programs beside the one that is traced */

/* What is selected. A range, section or symbol may not overlap another. */
enum ct_fractal_selection_kind {
    CT_FRACTAL_SELECT_RANGE,   /* as ct_fractal_range_parse takes it */
    CT_FRACTAL_SELECT_SECTION, /* of the program */
    CT_FRACTAL_SELECT_SYMBOL,  /* a function or object of it */
    CT_FRACTAL_SELECT_POINT,   /* observation point: hexadecimal address, LO..HI, function (the line of its
                                  entry) or   object (all its lines) */
};

/* One selection. The text may begin with "N:": it is that of the N-th program beside (from 1 on); or with
 * "NAME:": of each process whose program's file has that name, such as what the program starts in its place
 * or in that of a child (execve). A place alone counts for what the program itself becomes, too, as far as it
 * is there. */
struct ct_fractal_selection {
    const char *text;
    uint8_t kind;   /* enum ct_fractal_selection_kind */
    uint8_t pad[7]; /* 0 */
};

/* How a program ended that was run. */
struct ct_fractal_ended {
    int32_t exit_code; /* -1: it did not end by itself, or could not be run */
    uint32_t signal;   /* that ended it; 0: none */
    uint8_t ran;       /* 1: it ran an instruction */
    uint8_t pad[7];    /* 0 */
};

struct ct_fractal_simulate_options {
    size_t size; /* sizeof(struct ct_fractal_simulate_options) */
    /* The program, by its path, and its arguments, with NULL behind them. */
    char *const *argv;
    const struct ct_soc_config *cluster;          /* its `fabric` is coherent; NULL: a Kria KV260 */
    const struct ct_fractal_options *tracer;      /* NULL: the defaults */
    const struct ct_fractal_names_options *names; /* how they are found (`files`, `raw_names`); NULL: as by
                                                     default */
    const char *const *beside; /* programs that run on other cores meanwhile, up to CT_FRACTAL_BESIDE */
    size_t beside_count;       /* number of `beside`: fewer than there are cores */
    const char *log_name;      /* what messages call the log; NULL: "log" */
    ct_write_fn *log;          /* takes the event log; NULL: nobody wants it */
    void *log_user;
    ct_write_fn *truth; /* takes each last-level miss of the program in the range, as the cluster knows it, in
                           lines as ct_fractal_csv_write has them behind the header; NULL: nobody wants it */
    void *truth_user;
    ct_write_fn *messages; /* takes the messages of the port, for a replay; NULL: nobody wants them */
    void *messages_user;
    uint8_t mode;        /* enum ct_fractal_mode */
    uint8_t points_only; /* 1: accesses to observation points are logged and nothing else */
    uint8_t ring;   /* 1: what finds no place in the tracer's ring is dropped; 0: it is emptied in time */
    uint8_t pad[5]; /* 0 */
    const struct ct_fractal_selection *selections; /* what is traced, up to the tracer's registers */
    size_t selection_count; /* number of `selections`; without any but points all of the program is traced */
    const char *script;  /* path of a file of lines "TIME COMMAND", in the order of the program's time; NULL:
                            none. TIME is a number with ns, us, ms or s, or of cycles; COMMAND as
                            ct_fractal_control_ask takes it; '#' begins a comment */
    const char *control; /* path of a socket that takes commands while the program runs; NULL: none */
    uint8_t forks;       /* 1: children that the program forks are followed, and traced as it is */
    uint8_t pad2[7];     /* 0 */
    uint32_t protocol;   /* enum ct_fractal_protocol that the port speaks: what passes between cluster and
                            tracers is encoded and decoded, and `messages` gets flits; CT_FRACTAL_NEUTRAL:
                            messages and commands pass as they are */
    uint32_t pad3;       /* 0 */
    /* A number that a handler of signals may set: that of a signal for the program, which is then sent to it,
     * and to its children that outlive it; what goes on for some seconds is killed. NULL: there is none. */
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
    uint64_t cycles; /* of the core of its threads whose clock is the latest: CT_SOC_CLOCK_HZ are a second */
    uint8_t lost;    /* 1: a point or a page table had no place in the tracer: events are missing */
    uint8_t left;  /* processes, 255 at most, that went on as programs for another machine: what these did is
                      not  in the log, whose text names them */
    uint8_t unmet; /* selections, 255 at most, of programs by name that none of the processes became */
    uint8_t pad;   /* 0 */
    uint32_t late; /* steps of the script for times after the program's end, which were not carried out */
};

/* Gives a command to a run whose control socket is at `path`: "range|section|symbol|point add|remove PLACE",
 * "process add|remove N", "page move ADDRESS" (to another frame) or "status"; PLACE as in struct
 * ct_fractal_selection. Commands take effect between two accesses. *answer is the run's, for free().
 * CT_ERR_IO: nobody answers; CT_ERR_CONFIG: the run refused, and why; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fractal_control_ask(struct ct_ctx *ctx, const char *path, const char *command, char **answer);

/* Runs an Arm Linux program on a simulated cluster with FRACTAL on its port. QEMU's user emulation runs it,
 * to its end, with the standard input and output of this process; its accesses go through the cluster.
 * *result says how it ended whatever is returned, and all else of a run without errors. CT_ERR_NOT_FOUND: no
 * Arm program, plugin, section or symbol of this name, or the program ran no instruction; CT_ERR_ARG: the
 * cluster cannot be; CT_ERR_FORMAT: a range or point cannot be; CT_ERR_LIMIT: too many programs; CT_ERR_IO,
 * also when a program beside it could not be run; CT_ERR_NOMEM; the errors of ct_fractal_names_new; what the
 * receivers returned. */
CT_API int ct_fractal_simulate(struct ct_ctx *ctx, const struct ct_fractal_simulate_options *options,
                               struct ct_fractal_simulate_result *result);

struct ct_fractal_overhead_options {
    size_t size;                                  /* sizeof(struct ct_fractal_overhead_options) */
    char *const *argv;                            /* as in struct ct_fractal_simulate_options */
    const struct ct_soc_config *cluster;          /* NULL: a Kria KV260 */
    const struct ct_fractal_names_options *names; /* how the section .text is found; NULL: as by default */
    const volatile int *signal;                   /* as in struct ct_fractal_simulate_options */
};

/* Cycles of a program on four clusters: CT_SOC_CLOCK_HZ are a second. */
struct ct_fractal_overhead_result {
    struct ct_fractal_ended ended;
    uint64_t bare;     /* without fabric */
    uint64_t coherent; /* with a coherent port that listens and does nothing */
    uint64_t traced;   /* with FRACTAL tracing the section .text in points mode */
    uint64_t logged;   /* cycles of writing the log to the memory that misses are read from */
};

/* Predicts what tracing costs a program: it is run once, and its accesses go through four clusters. The
 * errors of ct_fractal_simulate. */
CT_API int ct_fractal_overhead(struct ct_ctx *ctx, const struct ct_fractal_overhead_options *options,
                               struct ct_fractal_overhead_result *result);

enum ct_fractal_overhead_form {
    CT_FRACTAL_OVERHEAD_TEXT, /* a table with times and shares */
    CT_FRACTAL_OVERHEAD_CSV,  /* one line of cycles: bare, coherent, traced, logged */
};

/* Writes what was predicted. CT_ERR_ARG, also for a form that is none; CT_ERR_NOMEM, what `write` returned.
 */
CT_API int ct_fractal_overhead_write(struct ct_ctx *ctx, const struct ct_fractal_overhead_result *result,
                                     enum ct_fractal_overhead_form form, ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
