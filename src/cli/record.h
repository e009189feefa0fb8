/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of coretap record share. */
#ifndef CT_CLI_RECORD_H
#define CT_CLI_RECORD_H

#include "cli/cli.h"
#include "cli/qemu.h"
#include "record/code.h"
#include "record/path.h"
#include "record/snapshot.h"
#include "record/unit.h"
#include "recorder/trace_stream.h"

#include <sys/wait.h>
#include <time.h>

#define RECORD_CORES 96 /* trace IDs from 0x10 on */

/* ---- the program under QEMU (record_feed.c) ---- */

struct cli_record_feed {
    struct trace_area *area;
    int child;
    int status; /* of waitpid, once the child is gone */
    bool over;
    bool told;             /* the program was sent the signal that this process got … */
    struct timespec when;  /* … at this time */
    uint32_t done;         /* chunks taken */
    uint32_t blocks_chunk; /* where blocks are read … */
    uint32_t blocks_at;    /* … from this word on */
};

struct cli_record_feed_options {
    uint64_t seed;
    uint32_t latency; /* cycles that a core waits at least when another one is not later than it; 0: never */
    bool each;        /* every instruction has a mark */
};

/* From here on a signal that would end this process ends the program, and what it did up to then is written.
 * Keys on the terminal are for the program, which gets their signals itself. */
void cli_record_feed_catch_signals(void);
/* Starts `argv` under `qemu`. CLI_CLEAN or CLI_FAILED. */
int cli_record_feed_start(struct cli_record_feed *feed, const struct cli_qemu *qemu,
                          const struct cli_record_feed_options *options, char *const *argv);
/* The next chunk that was handed over, to be given back; NULL when the program is over. */
struct trace_chunk *cli_record_feed_chunk(struct cli_record_feed *feed);
void cli_record_feed_give_back(struct cli_record_feed *feed, struct trace_chunk *chunk);
/* Tells the program to go on unobserved. */
void cli_record_feed_stop(struct cli_record_feed *feed);
/* The next words of a block or page, or NULL when there is none yet. Good until the next call. */
const struct trace_block *cli_record_feed_block(struct cli_record_feed *feed);
/* Waits for the program and gives back the memory. Its exit code; 128 and the
 * number of the signal that ended it. */
int cli_record_feed_finish(struct cli_record_feed *feed);

/* ---- the ELF files that ran (record_programs.c) ---- */

struct cli_record_programs {
    struct ct_snapshot_program *all;
    size_t count;
};

/* A file is mapped at `addr`; one that is no ELF file with code there is none that ran. */
int cli_record_programs_map(struct cli_record_programs *programs, uint64_t addr,
                            const struct trace_file *file);
/* The program that was started takes the first place. */
int cli_record_programs_first(struct cli_record_programs *programs, const char *path, uint64_t bias);
void cli_record_programs_free(struct cli_record_programs *programs);

/* ---- a file of trace (record_trace.c) ---- */

struct cli_record_trace {
    FILE *file;
    uint8_t *bytes; /* not yet in the file */
    size_t size, room;
};

/* False after a message. */
bool cli_record_trace_open(struct cli_record_trace *trace, const char *path);
/* Holds bytes for the file. Not 0: no memory. */
int cli_record_trace_add(struct cli_record_trace *trace, const uint8_t *bytes, size_t size);
/* Writes what is held. False after a message that names the file: `name`, in
 * `dir` or, with NULL, as it is. */
bool cli_record_trace_release(struct cli_record_trace *trace, const char *dir, const char *name);
void cli_record_trace_close(struct cli_record_trace *trace);

/* ---- the capture (record_write.c) ---- */

struct cli_record_options {
    struct ct_unit_wishes wishes;
    struct ct_unit_options unit; /* as far as all cores share it */
    const char *dir;
    const char *truth;
    const char *program;
    bool framed;
    bool system;         /* a whole machine */
    bool contexts;       /* threads are context IDs on one core */
    uint64_t code_start; /* of the program, where it was loaded */
    const char *stream;  /* where frames go instead of into the directory, or NULL */
    uint32_t padding;    /* bytes of trace between padding in the frames; 0: none */
    uint8_t ids[RECORD_CORES];
};

/* The program's ELF file, to be freed, and where it was loaded less where it
 * says. CLI_CLEAN or CLI_FAILED. */
int cli_record_program(const struct cli_record_options *options, char **path, uint64_t *bias);

/* Writes DIR/live.ini, which says what is in the stream. CLI_CLEAN or CLI_FAILED. */
int cli_record_live(const struct cli_record_options *options);

struct cli_record_out;

/* Trace IDs of the cores: those of `text` (hexadecimal, with commas), or NULL, and then the ones from 0x10 on
 * that are not among them. 0, or what is wrong with the text. */
const char *cli_record_ids(const char *text, uint8_t ids[RECORD_CORES]);

/* Makes the directory, for a program whose code grows in `code` (not owned). CLI_CLEAN or CLI_FAILED. */
int cli_record_out_new(struct ct_ctx *ctx, const struct cli_record_options *options, struct ct_code *code,
                       struct cli_record_out **out);
/* The trace unit of core `number`, made when it is wanted first. NULL after a message. */
struct ct_unit *cli_record_out_unit(struct cli_record_out *out, unsigned number);
/* What it sees of code that changes: each core of its own, in frames all of them the same. NULL: what its
 * images can say of a stream does not change. */
struct ct_code_view *cli_record_out_view(struct cli_record_out *out, unsigned number);
/* Code or a file that ran came: the trace from here on needs a new description. */
void cli_record_out_changed(struct cli_record_out *out);
/* Writes what was traced so far, when it is time, behind what describes it, so that the capture
 * can be read up to there however the recording ends. To who reads a stream everything goes at
 * once. CLI_CLEAN or CLI_FAILED. */
int cli_record_out_flush(struct cli_record_out *out, struct cli_record_programs *programs);
/* Writes what is left, and the files that describe the capture. */
int cli_record_out_finish(struct cli_record_out *out, struct cli_record_programs *programs);
/* Puts the truth, if any, in its place: the last step of a recording that went
 * well. CLI_CLEAN or CLI_FAILED. */
int cli_record_out_keep_truth(struct cli_record_out *out);
/* Instructions traced, and executed but not traceable, by all cores. */
uint64_t cli_record_out_traced(const struct cli_record_out *out);
uint64_t cli_record_out_untraceable(const struct cli_record_out *out);
uint64_t cli_record_out_bytes(const struct cli_record_out *out);
void cli_record_out_free(struct cli_record_out *out);

#endif
