/* SPDX-License-Identifier: Apache-2.0 */
/* coretap record: runs an Arm program under QEMU and writes the trace that a trace unit at its core would
 * have written, with what describes it, as a snapshot directory. docs/recording.md says how execution becomes
 * trace.
 *
 *     char *const argv[] = {"./hello", NULL};
 *     struct ct_record_options options = {
 *         .size = sizeof options, .argv = argv, .directory = "hello.trace", .cycle_count = 1};
 *     struct ct_record_result result;
 *     if (ct_record(ctx, &options, &result) == CT_OK)
 *         printf("%llu instructions\n", (unsigned long long)result.instructions); */
#ifndef CORETAP_RECORD_H
#define CORETAP_RECORD_H

#include "coretap/base.h"
#include "coretap/flow.h"
#include "coretap/input.h"
#include "coretap/programs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CT_RECORD_CORES       96   /* most cores: each has a trace ID, from 0x10 on */
#define CT_RECORD_RANGES      16   /* most ranges of addresses */
#define CT_RECORD_COMPARATORS 4    /* most variables that are watched */
#define CT_RECORD_LAST_ID     0x6f /* the highest trace ID */

/* Addresses from `low` on, below `high`. */
struct ct_record_range {
    uint64_t low, high;
};

/* What is recorded, and how the trace unit of each core is set up. */
struct ct_record_options {
    size_t size; /* sizeof(struct ct_record_options) */
    /* The program, by its path, and its arguments, with NULL behind them; with `system` the command line of a
     * system emulator. */
    char *const *argv;
    const char *directory; /* the snapshot: it is made, and must not hold one yet */
    /* A file or pipe that frames go to while the program runs, and not into the directory, whose live.ini
     * says what is in them. NULL: none. Makes `framed` 1. */
    const char *stream;
    uint8_t protocol;          /* CT_PROTOCOL_ETM4 (0 stands for it), CT_PROTOCOL_ETE or CT_PROTOCOL_PTM */
    uint8_t branch_broadcast;  /* 1: the target of every taken branch is traced */
    uint8_t cycle_count;       /* 1: cycles are counted */
    uint8_t timestamps;        /* 1: there are timestamps */
    uint8_t context_id;        /* 1: the number of the thread is traced as context ID */
    uint8_t vmid;              /* 1: a VMID is traced, which is 1 */
    uint8_t return_stack;      /* 1: addresses of returns that a decoder knows by itself are left out */
    uint8_t framed;            /* 1: all cores share one buffer of CoreSight frames; 0: each has its own */
    uint8_t one_core;          /* 1: threads take turns on one core, told apart by context IDs */
    uint8_t system;            /* 1: a whole machine, whose processors are the cores */
    uint8_t each_instruction;  /* 1: each instruction is watched by itself: slower, and the same trace */
    uint8_t pad;               /* 0 */
    uint32_t cycle_threshold;  /* cycles, 1 to 4095, before a count is traced; 0: 16 */
    uint32_t timestamp_period; /* cycles between timestamps at least; 0: 10000 */
    uint32_t sync_period;      /* bytes of trace between points of synchronisation; 0: 4096 */
    uint32_t event_rate;       /* instructions between events of the trace unit on average; 0: none */
    uint32_t overflow_rate; /* instructions between overflows on average, in which trace is lost; 0: none */
    uint32_t padding;       /* bytes of trace between padding in frames; 0: none */
    uint64_t seed;          /* what is random follows from it */
    uint64_t max_instructions; /* traced, after which the program runs on unobserved; 0: any number */
    const uint8_t *ids;        /* trace IDs of the first cores, 1 to CT_RECORD_LAST_ID, no two the same */
    size_t id_count;           /* number of `ids`; cores behind them have those from 0x10 on that are left */
    const struct ct_record_range *ranges; /* only runs with an instruction in one of them are traced */
    size_t range_count;                   /* number of `ranges`, up to CT_RECORD_RANGES; 0: everywhere */
    /* A hexadecimal address or a function of the program: nothing is traced before execution comes to the
     * first, nor after it came to the second, until it comes to the first again. NULL: no such place. */
    const char *start, *stop;
    const struct ct_programs_options *names; /* how functions are found for these; NULL: as by default */
    /* Takes the path that was executed, a line for each run of instructions (docs/recording.md); NULL: nobody
     * wants it. */
    ct_write_fn *truth;
    void *truth_user;
    /* A number that a handler of signals may set: that of a signal for the program, which is then sent to it,
     * and ends it after some seconds if it goes on. NULL: there is none. */
    const volatile int *signal;
    /* Variables of the program, by name, or NULL. Stores to `ports` are writes to the stimulus ports of an
     * ITM, four bytes each, and to `channels` to those of an STM, 256 bytes a channel (IHI 0054). Loads and
     * stores of the others are the data trace of the ITM's DWT, one comparator each. All have the cores'
     * clock as timestamps. */
    const char *ports;
    const char *channels;
    const char *const *watched;
    size_t watched_count; /* up to CT_RECORD_COMPARATORS */
};

struct ct_record_result {
    uint64_t instructions; /* traced */
    uint64_t untraceable;  /* instructions that were executed from code whose change no trace can tell */
    uint64_t bytes;        /* of trace */
    int32_t exit_code;     /* of the program, or 128 and the number of the signal that ended it */
    uint32_t pad;          /* 0 */
};

/* Runs the program to its end and writes the capture. What was traced is described in the directory at least
 * every half second, so that it can be read up to there however the recording ends. The program has the
 * standard input and output of this process. CT_ERR_ARG: the options do not go together; CT_ERR_NOT_FOUND: no
 * Arm program, plugin or function of this name; CT_ERR_LIMIT: more threads at a time than cores; CT_ERR_IO,
 * CT_ERR_NOMEM; what `truth` returned. */
CT_API int ct_record(struct ct_ctx *ctx, const struct ct_record_options *options,
                     struct ct_record_result *result);

/* How much trace a trace unit writes of a program. */
struct ct_volume_row {
    uint64_t bytes;
    uint8_t protocol; /* CT_PROTOCOL_ETM4, CT_PROTOCOL_ETE or CT_PROTOCOL_PTM */
    uint8_t branch_broadcast, cycle_count, return_stack, timestamps, context_id; /* 1: as in the options */
    uint8_t pad[2];                                                              /* 0 */
};

#define CT_VOLUME_ROWS 96 /* most rows: three protocols, each with five settings in any combination */

struct ct_volume {
    uint64_t instructions; /* traced, by all cores */
    uint64_t untraceable;  /* instructions that were executed from code that no trace can tell */
    uint64_t branches;     /* waypoints that were traced */
    uint64_t cycles;       /* of all cores, their waits included */
    size_t row_count;
    struct ct_volume_row rows[CT_VOLUME_ROWS]; /* by protocol; within one by settings, the first one of which
                                                  is slowest to change */
    int32_t exit_code;                         /* as in struct ct_record_result */
    uint32_t cores;
};

/* Runs the program once and measures how much trace it makes by each combination of settings: protocol,
 * branch broadcast, cycle counts, return stack, timestamps and context ID (paper 1, figure 1). `options` are
 * as for ct_record: what the combinations set is ignored, `protocol` other than 0 is the only one, and
 * `directory` may be NULL: nothing is written. An A64 program has no rows of a PTM. Bytes are those of the
 * trace units, without frames. CT_ERR_ARG, also for options of software trace, frames, streams and truth,
 * CT_ERR_NOT_FOUND, CT_ERR_LIMIT, CT_ERR_IO, CT_ERR_NOMEM, as for ct_record. */
CT_API int ct_record_volume(struct ct_ctx *ctx, const struct ct_record_options *options,
                            struct ct_volume *volume);

struct ct_volume_options {
    size_t size;               /* sizeof(struct ct_volume_options) */
    uint32_t cycle_threshold;  /* of cycle counts, where there are some, up to 4095; 0: 16 */
    uint32_t timestamp_period; /* cycles between timestamps, where there are some; 0: 10000 */
    uint32_t sync_period;      /* bytes of trace between synchronisation points; 0: 4096 */
    uint8_t protocol;          /* the only one that rows are of; 0: each that can trace the program */
    uint8_t pad[3];            /* 0 */
    uint64_t max_instructions; /* of each row; 0: any number */
    const struct ct_record_range *ranges; /* only runs with an instruction in one of them are traced */
    size_t range_count;                   /* number of `ranges`, up to CT_RECORD_RANGES; 0: everywhere */
};

struct ct_volume_replay;

/* Makes an object that measures how much trace it would be what another trace says. It has the rows of
 * ct_record_volume. `options` may be NULL. What is found is in `volume` (not owned), which is cleared, and
 * whole behind the end of the last stream. Cycles are those of a stream that counts them; else one for each
 * instruction and one more for each branch that is taken. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_volume_replay_new(struct ct_ctx *ctx, const struct ct_volume_options *options,
                                struct ct_volume *volume, struct ct_volume_replay **out);
CT_API void ct_volume_replay_free(struct ct_volume_replay *replay);

/* Begins a stream, which is that of another core than those before. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_volume_replay_begin(struct ct_volume_replay *replay, const struct ct_source *source);

/* Takes records of the stream, in their order, as a chain of level FLOW gives them. Whether there are rows of
 * a PTM, the first range of the first stream decides: not with one in A64. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_volume_replay_take(struct ct_volume_replay *replay, const struct ct_flow *records,
                                 size_t count);

/* Ends the stream, and counts what its trace units hold back. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_volume_replay_end(struct ct_volume_replay *replay);

enum ct_volume_format {
    CT_VOLUME_FORMAT_TSV,
    CT_VOLUME_FORMAT_JSON,
    CT_VOLUME_FORMAT_SVG, /* bars */
};

struct ct_volume_write_options {
    size_t size;    /* sizeof(struct ct_volume_write_options) */
    uint64_t clock; /* of the cores, in Hz: megabytes a second are written, too; 0: they are not known */
    double ipc;     /* instructions for a cycle; 0: the cycles are those of the recording */
    uint8_t format; /* enum ct_volume_format */
    uint8_t pad[7]; /* 0 */
};

/* Writes a volume. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_volume_write(struct ct_ctx *ctx, const struct ct_volume *volume,
                           const struct ct_volume_write_options *options, ct_write_fn *write, void *user);

/* QEMU with one of the project's plugins. */
struct ct_qemu {
    const char *command; /* "qemu-aarch64" or "qemu-arm", or the system emulator */
    const char *sysroot; /* where the program's loader and libraries are looked for, or NULL */
    uint8_t arm32;       /* 1: an A32 or T32 program */
    uint8_t system;      /* 1: the command line is that of a system emulator */
    uint8_t pad[6];      /* 0 */
    char plugin[4096];   /* its path */
};

/* Finds what runs `program` (a path, or with `system` 1 the system emulator itself): QEMU by the program's
 * architecture, and the plugin `file` where the environment variable `variable` says, beside the running
 * command in a build tree, or installed. CT_ERR_NOT_FOUND, CT_ERR_ARG. */
CT_API int ct_qemu_find(struct ct_ctx *ctx, const char *program, int system, const char *file,
                        const char *variable, struct ct_qemu *out);

/* Becomes QEMU running `argv`, with `option` for the plugin, in a child process. It returns only when that
 * cannot be. CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_IO. */
CT_API int ct_qemu_run(struct ct_ctx *ctx, const struct ct_qemu *qemu, const char *option, char *const *argv);

#define CT_QEMU_CANNOT_RUN 127 /* exit code of a child in which QEMU could not be run */

/* Starts a child process that does what ct_qemu_run does; *child is its number, for waitpid. Where QEMU
 * cannot be run, the child says why on standard error and ends with CT_QEMU_CANNOT_RUN. CT_ERR_ARG,
 * CT_ERR_IO. */
CT_API int ct_qemu_start(struct ct_ctx *ctx, const struct ct_qemu *qemu, const char *option,
                         char *const *argv, int *child);

#ifdef __cplusplus
}
#endif
#endif
