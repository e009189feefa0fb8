/* SPDX-License-Identifier: Apache-2.0 */
/* The capture that is being recorded: trace files, the truth file, and the description. */
#pragma once

#include "coretap/record.h"
#include "record/programs.h"
#include "record/software.h"
#include "record/symbol_map.h"
#include "record/unit.h"

/* Sources of software trace. */
enum ct_record_software {
    CT_RECORD_ITM,
    CT_RECORD_STM,
    CT_RECORD_SOFTWARE, /* number of sources */
};

/* Memory whose accesses become software trace. */
struct ct_recording_watched {
    uint64_t start; /* offset from the beginning of the program's code */
    uint64_t size;
    uint8_t kind; /* enum ct_software_kind */
    uint8_t comparator;
};

/* The ITM of a Cortex-M: its stimulus ports and registers. */
#define CT_RECORDING_ITM      UINT64_C(0xe0000000)
#define CT_RECORDING_ITM_SIZE 0x1000

/* Where tracing begins or ends. */
struct ct_recording_point {
    uint64_t addr;
    bool given;
    bool in_program; /* `addr` is relative to the start of the program's code */
};

/* The options of a recording. */
struct ct_recording {
    struct ct_unit_wishes wishes;
    struct ct_unit_options unit; /* common to all cores */
    const char *directory;
    const char *program;
    const struct ct_kept_file *file; /* the program's; NULL: it is a machine, or could not be opened */
    char *const *argv;               /* the command line */
    const char *model;               /* of all cores, as ct_arch_by_name knows it */
    bool framed;
    bool system;         /* a whole machine is recorded */
    bool m_profile;      /* its processors are of the M profile */
    bool has_itm;        /* the stimulus ports are those of the processor, at CT_RECORDING_ITM */
    bool contexts;       /* all threads run on one core, as context IDs */
    uint64_t code_start; /* load address of the program */
    const char *stream;  /* destination of frames instead of the directory; NULL: none */
    uint32_t padding;    /* bytes of trace between padding in the frames; 0: no padding */
    uint8_t ids[CT_RECORD_CORES];
    uint8_t software_ids[CT_RECORD_SOFTWARE]; /* trace IDs of ITM and STM */
    unsigned watched_count;
    struct ct_recording_watched watched[CT_RECORD_COMPARATORS + 2];
    ct_write_fn *truth;
    void *truth_user;
    const volatile int *signal; /* `signal` of struct ct_record_options */
    struct ct_recording_point start, stop;
};

/* Sets the trace IDs of cores, the first ones as given. Returns false when one is out of range or used
 * twice. */
bool ct_recording_ids(struct ct_recording *recording, const uint8_t *ids, size_t count);

/* Fills in the DWT comparators, once the program's load address is known. */
void ct_recording_comparators(const struct ct_recording *recording, struct ct_source_regs *regs);

/* Returns whether the recording has a source of software trace. If so, it fills in `source`. */
bool ct_recording_software(const struct ct_recording *recording, enum ct_record_software which,
                           struct ct_source *source);

/* Finds the variables with traced accesses, and writes the plugin's options for them, in at most
 * CT_RECORD_FEED_WATCH bytes. CT_ERR_ARG, CT_ERR_NOT_FOUND, CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_recording_watch(struct ct_ctx *ctx, const struct ct_record_options *given,
                       struct ct_recording *recording, char *options);

/* Finds where tracing begins and ends, before the program runs: a wrong name stops nothing that has begun.
 * CT_ERR_NOT_FOUND, CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_recording_points(struct ct_ctx *ctx, const struct ct_record_options *given,
                        struct ct_recording *recording);

/* Finds the program's ELF file, with a path that the caller frees, and its load bias. CT_ERR_NOT_FOUND,
 * CT_ERR_NOMEM. */
int ct_recording_program(struct ct_ctx *ctx, const struct ct_recording *recording, char **path,
                         uint64_t *bias);

/* Adds the ELF files that may have a name: the program, or those that a machine loads. CT_ERR_NOT_FOUND: a
 * machine loads none, with a text about `name`; CT_ERR_NOMEM. */
int ct_recording_files(struct ct_ctx *ctx, const struct ct_recording *recording, const char *name,
                       struct ct_record_programs *files);

/* Adds the ELF files that a system emulator loads and runs at the addresses that they name, by its command
 * line. CT_ERR_NOMEM. */
int ct_recording_firmware(struct ct_ctx *ctx, char *const *argv, struct ct_record_programs *programs);

/* Writes live.ini, which describes the stream. The errors of ct_recording_program, CT_ERR_IO. */
int ct_recording_live_ini(struct ct_ctx *ctx, const struct ct_recording *recording);

/* Makes the directory; *made becomes whether it is new. CT_ERR_ARG when it has a capture already,
 * CT_ERR_IO. */
int ct_record_make_directory(struct ct_ctx *ctx, const char *directory, bool *made);

struct ct_record_capture;

/* Makes a capture in the directory, for a program whose code is collected in `code` (not owned).
 * CT_ERR_NOMEM, CT_ERR_IO. */
int ct_record_capture_new(struct ct_ctx *ctx, const struct ct_recording *recording, struct ct_code *code,
                          struct ct_record_capture **out);
/* Returns the trace unit of core `number`, which the first call makes; NULL after an error in *rc. */
struct ct_unit *ct_record_capture_unit(struct ct_record_capture *capture, unsigned number, int *rc);
/* Returns a core's view of changing code: its own or, with frames, one shared by all cores. NULL: a stream,
 * whose images do not change. */
struct ct_code_view *ct_record_capture_view(struct ct_record_capture *capture, unsigned number);
/* Records an access of the program to watched memory. Returns the result of writing trace. */
int ct_record_capture_access(struct ct_record_capture *capture, const struct ct_software_access *access);
/* Notes new code or a new executed file, so that the following trace needs a new description. */
void ct_record_capture_changed(struct ct_record_capture *capture);
/* Writes the trace so far and a description before it, if the pause has passed, so that the capture is
 * readable up to there however the recording ends. A stream gets everything at once. CT_ERR_IO,
 * CT_ERR_NOMEM. */
int ct_record_capture_flush(struct ct_record_capture *capture, struct ct_record_programs *programs);
/* Takes the names of the code that the program generated into the capture. CT_ERR_IO. */
int ct_record_capture_names(struct ct_record_capture *capture, const struct ct_record_process *process);
/* Writes the rest of the trace, and the files that describe the capture. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_record_capture_finish(struct ct_record_capture *capture, struct ct_record_programs *programs);
/* Sets the sums over all cores. */
void ct_record_capture_sums(const struct ct_record_capture *capture, struct ct_record_result *result);
void ct_record_capture_free(struct ct_record_capture *capture);
