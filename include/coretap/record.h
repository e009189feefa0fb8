/* SPDX-License-Identifier: Apache-2.0 */
/* coretap record: runs an Arm program under QEMU and writes the trace that a trace unit would have written,
 * with its description, as a snapshot directory. docs/recording.md says how execution becomes trace.
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

#define CT_RECORD_CORES       96   /* maximal number of cores: each has a trace ID, from 0x10 */
#define CT_RECORD_RANGES      16   /* maximal number of address ranges */
#define CT_RECORD_COMPARATORS 4    /* maximal number of watched variables */
#define CT_RECORD_LAST_ID     0x6f /* the highest trace ID */

/* A range of addresses, [low, high). */
struct ct_record_range {
    uint64_t low, high;
};

/* What is recorded, and the configuration of each core's trace unit. */
struct ct_record_options {
    size_t size; /* sizeof(struct ct_record_options) */
    /* The path of the program and its arguments, terminated by NULL; with `system` the command line of a
     * system emulator. */
    char *const *argv;
    const char *directory; /* the snapshot, which is created and must not contain one yet */
    /* A file or pipe to which frames are written while the program runs, instead of the directory, whose
     * live.ini describes them. NULL: none. Sets `framed` to 1. */
    const char *stream;
    uint8_t protocol;          /* CT_PROTOCOL_ETM4 (also 0), CT_PROTOCOL_ETE or CT_PROTOCOL_PTM */
    uint8_t branch_broadcast;  /* 1: the target of every taken branch is traced */
    uint8_t cycle_count;       /* 1: traces cycle counts */
    uint8_t timestamps;        /* 1: traces timestamps */
    uint8_t context_id;        /* 1: traces the number of the thread as context ID */
    uint8_t vmid;              /* 1: traces a VMID, which is 1 */
    uint8_t return_stack;      /* 1: omits addresses of returns that a decoder knows from its return stack */
    uint8_t framed;            /* 1: all cores share one buffer of CoreSight frames; 0: each has its own */
    uint8_t one_core;          /* 1: threads take turns on one core, told apart by context IDs */
    uint8_t system;            /* 1: a whole machine: its processors are cores */
    uint8_t each_instruction;  /* 1: observes each instruction separately: slower, with the same trace */
    uint8_t pad;               /* 0 */
    uint32_t cycle_threshold;  /* fewest cycles for a count to be traced, 1 to 4095; 0: 16 */
    uint32_t timestamp_period; /* minimal number of cycles between timestamps; 0: 10000 */
    uint32_t sync_period;      /* bytes of trace between synchronisation points; 0: 4096 */
    uint32_t event_rate;       /* average number of instructions between events of the trace unit; 0: none */
    uint32_t overflow_rate; /* average number of instructions between overflows, which lose trace; 0: none */
    uint32_t padding;       /* bytes of trace between padding in frames; 0: none */
    uint64_t seed;          /* seed of everything random */
    uint64_t max_instructions; /* traced instructions, after which the program runs on unobserved; 0: no
                                  limit */
    const uint8_t *ids;        /* trace IDs of the first cores, 1 to CT_RECORD_LAST_ID, no two the same */
    size_t id_count;           /* number of `ids`; further cores get the free IDs from 0x10 */
    const struct ct_record_range *ranges; /* only runs with an instruction in one of them are traced */
    size_t range_count;                   /* number of `ranges`, up to CT_RECORD_RANGES; 0: everywhere */
    /* A hexadecimal address or a function of the program. Nothing is traced before execution reaches `start`,
     * nor after it reached `stop`, until it reaches `start` again. NULL: no such place. */
    const char *start, *stop;
    const struct ct_programs_options *names; /* how functions are found for these; NULL: the defaults */
    /* Receives the executed path, a line for each run of instructions (docs/recording.md); NULL: none is
     * written. */
    ct_write_fn *truth;
    void *truth_user;
    /* A number that a signal handler may set to a signal for the program. It is sent to the program, which is
     * killed after some seconds if it continues. NULL: none. */
    const volatile int *signal;
    /* Variables of the program, or of the ELF files that a machine loads, by name, or NULL. Stores to `ports`
     * are writes to the stimulus ports of an ITM, four bytes each, and stores to `channels` to those of an
     * STM, 256 bytes a channel (IHI 0054). Loads and stores of `watched` are the data trace of the ITM's DWT,
     * one comparator each. All have the cores' clock as timestamps. With `system`, `ports` may be "e0000000":
     * the processor gets an ITM of its own. */
    const char *ports;
    const char *channels;
    const char *const *watched;
    size_t watched_count; /* up to CT_RECORD_COMPARATORS */
};

struct ct_record_result {
    uint64_t instructions; /* traced */
    uint64_t untraceable;  /* instructions executed from code whose change cannot be traced */
    uint64_t bytes;        /* of trace */
    int32_t exit_code;     /* of the program, or 128 plus the number of the signal that ended it */
    uint32_t pad;          /* 0 */
};

/* Runs the program to its end and writes the capture. The description in the directory is updated at least
 * every half second, so that a recording can be read up to there however it ends. The program has the
 * standard input and output of this process. CT_ERR_ARG: the options contradict each other; CT_ERR_NOT_FOUND:
 * no Arm program, plugin or function of this name; CT_ERR_LIMIT: more simultaneous threads than cores;
 * CT_ERR_UNSUPPORTED: the machine runs neither A64 nor the M profile, or its trace units have no such trace;
 * CT_ERR_IO, CT_ERR_NOMEM; what `truth` returned. */
CT_API int ct_record(struct ct_ctx *ctx, const struct ct_record_options *options,
                     struct ct_record_result *result);

/* The amount of trace with one combination of settings. */
struct ct_volume_row {
    uint64_t bytes;
    uint8_t protocol; /* CT_PROTOCOL_ETM4, CT_PROTOCOL_ETE or CT_PROTOCOL_PTM */
    uint8_t branch_broadcast, cycle_count, return_stack, timestamps, context_id; /* 1: as in the options */
    uint8_t pad[2];                                                              /* 0 */
};

#define CT_VOLUME_ROWS 96 /* most rows: three protocols, each with five settings in any combination */

struct ct_volume {
    uint64_t instructions; /* traced, by all cores */
    uint64_t untraceable;  /* instructions executed from code that cannot be traced */
    uint64_t branches;     /* waypoints that were traced */
    uint64_t cycles;       /* of all cores, including time they wait */
    size_t row_count;
    struct ct_volume_row rows[CT_VOLUME_ROWS]; /* by protocol, then by settings, of which the first changes
                                                  slowest */
    int32_t exit_code;                         /* as in struct ct_record_result */
    uint32_t cores;
};

/* Runs the program once and measures its amount of trace with each combination of settings: protocol, branch
 * broadcast, cycle counts, return stack, timestamps and context ID (paper 1, figure 1). `options` are as for
 * ct_record, but settings that the combinations cover are ignored, a `protocol` other than 0 is the only one
 * measured, and `directory` may be NULL: nothing is written. An A64 program has no rows of a PTM. Bytes are
 * those of the trace units, without frames. CT_ERR_ARG, also for options of software trace, frames, streams
 * and truth, CT_ERR_NOT_FOUND, CT_ERR_LIMIT, CT_ERR_IO, CT_ERR_NOMEM, as for ct_record. */
CT_API int ct_record_volume(struct ct_ctx *ctx, const struct ct_record_options *options,
                            struct ct_volume *volume);

struct ct_volume_options {
    size_t size;                          /* sizeof(struct ct_volume_options) */
    uint32_t cycle_threshold;             /* fewest cycles for a count to be traced, up to 4095; 0: 16 */
    uint32_t timestamp_period;            /* cycles between timestamps; 0: 10000 */
    uint32_t sync_period;                 /* bytes of trace between synchronisation points; 0: 4096 */
    uint8_t protocol;                     /* the only protocol measured; 0: each that can trace the program */
    uint8_t pad[3];                       /* 0 */
    uint64_t max_instructions;            /* of each row; 0: no limit */
    const struct ct_record_range *ranges; /* only runs with an instruction in one of them are traced */
    size_t range_count;                   /* number of `ranges`, up to CT_RECORD_RANGES; 0: everywhere */
};

struct ct_volume_replay;

/* Makes an object that measures how much trace other settings would give for the execution in a trace. It has
 * the rows of ct_record_volume. `options` may be NULL. The result is in `volume` (not owned), which is
 * cleared first and complete after the end of the last stream. Cycles are those of a stream that counts them;
 * else one for each instruction and one more for each taken branch. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_volume_replay_new(struct ct_ctx *ctx, const struct ct_volume_options *options,
                                struct ct_volume *volume, struct ct_volume_replay **out);
CT_API void ct_volume_replay_free(struct ct_volume_replay *replay);

/* Begins a stream, which counts as that of a new core. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_volume_replay_begin(struct ct_volume_replay *replay, const struct ct_source *source);

/* Takes flow records of the stream, in order, as a chain of level FLOW gives them. Rows of a PTM exist unless
 * the first range of the first stream is A64. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_volume_replay_take(struct ct_volume_replay *replay, const struct ct_flow *records,
                                 size_t count);

/* Ends the stream, and counts what its trace units still hold. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_volume_replay_end(struct ct_volume_replay *replay);

enum ct_volume_format {
    CT_VOLUME_FORMAT_TSV,
    CT_VOLUME_FORMAT_JSON,
    CT_VOLUME_FORMAT_SVG, /* a bar chart */
};

struct ct_volume_write_options {
    size_t size;    /* sizeof(struct ct_volume_write_options) */
    uint64_t clock; /* of the cores, in Hz, to write megabytes per second; 0: unknown */
    double ipc;     /* instructions per cycle; 0: from the cycles of the recording */
    uint8_t format; /* enum ct_volume_format */
    uint8_t pad[7]; /* 0 */
};

/* Writes a volume. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_volume_write(struct ct_ctx *ctx, const struct ct_volume *volume,
                           const struct ct_volume_write_options *options, ct_write_fn *write, void *user);

/* A QEMU command and one of the project's plugins. */
struct ct_qemu {
    const char *command; /* "qemu-aarch64" or "qemu-arm", or the system emulator */
    const char *sysroot; /* folder in which the program's loader and libraries are found, or NULL */
    uint8_t arm32;       /* 1: an A32 or T32 program */
    uint8_t system;      /* 1: the command line is that of a system emulator */
    uint8_t accesses;    /* 1: the plugin needs all memory accesses. The processor then has no SVE, whose
                            accesses QEMU does not report, unless the environment has QEMU_CPU */
    uint8_t pad[5];      /* 0 */
    char plugin[4096];   /* its path */
};

/* Finds the QEMU and the plugin for `program` (a path, or with `system` 1 the system emulator itself). QEMU
 * is chosen by the program's architecture. The plugin `file` is where the environment variable `variable`
 * says, beside the running command in a build tree, or installed. CT_ERR_CONFIG: it is of another build, or
 * another file. CT_ERR_NOT_FOUND, CT_ERR_ARG. */
CT_API int ct_qemu_find(struct ct_ctx *ctx, const char *program, int system, const char *file,
                        const char *variable, struct ct_qemu *out);

#define CT_QEMU_CANNOT_RUN 127 /* exit code of a child that could not run QEMU */

/* Starts a child process that is QEMU running `argv`, with `option` for the plugin; *child is its number, for
 * waitpid. When QEMU cannot be run, the child says why on standard error and ends with CT_QEMU_CANNOT_RUN.
 * CT_ERR_ARG, CT_ERR_IO. */
CT_API int ct_qemu_start(struct ct_ctx *ctx, const struct ct_qemu *qemu, const char *option,
                         char *const *argv, int *child);

#ifdef __cplusplus
}
#endif
#endif
