/* SPDX-License-Identifier: Apache-2.0 */
/* The capture that is being recorded: trace files, the truth file, and what describes them. */
#ifndef CT_RECORD_CAPTURE_H
#define CT_RECORD_CAPTURE_H

#include "coretap/record.h"
#include "record/programs.h"
#include "record/software.h"
#include "record/unit.h"

/* Sources of software trace. */
enum ct_record_software {
    CT_RECORD_ITM,
    CT_RECORD_STM,
    CT_RECORD_SOFTWARE, /* how many */
};

/* Memory whose accesses become software trace. */
struct ct_recording_watched {
    uint64_t start; /* from the begin of the program's code on */
    uint64_t size;
    uint8_t kind; /* enum ct_software_kind */
    uint8_t comparator;
};

/* A recording, as its options say it. */
struct ct_recording {
    struct ct_unit_wishes wishes;
    struct ct_unit_options unit; /* what all cores share of it */
    const char *directory;
    const char *program;
    bool framed;
    bool system;         /* a whole machine is recorded */
    bool contexts;       /* threads are context IDs on one core */
    uint64_t code_start; /* where the program was loaded */
    const char *stream;  /* where frames go in place of the directory, or NULL */
    uint32_t padding;    /* bytes of trace between padding in the frames; 0 for no padding */
    uint8_t ids[CT_RECORD_CORES];
    uint8_t software_ids[CT_RECORD_SOFTWARE]; /* trace IDs of ITM and STM */
    unsigned watched_count;
    struct ct_recording_watched watched[CT_RECORD_COMPARATORS + 2];
    ct_write_fn *truth;
    void *truth_user;
    const volatile int *signal; /* the `signal` of struct ct_record_options */
};

/* Sets the trace IDs of cores, the first ones as given. Returns false when one is impossible or is there
 * twice. */
bool ct_recording_ids(struct ct_recording *recording, const uint8_t *ids, size_t count);

/* Fills in what the comparators of the DWT compare, once it is known where the program was loaded. */
void ct_recording_comparators(const struct ct_recording *recording, struct ct_source_regs *regs);

/* Tells whether the recording has a source of software trace, and describes it. */
bool ct_recording_software(const struct ct_recording *recording, enum ct_record_software which,
                           struct ct_source *source);

/* Finds the variables whose accesses are traced, and writes the options that tell the plugin of them, of
 * CT_RECORD_FEED_WATCH bytes at most. CT_ERR_ARG, CT_ERR_NOT_FOUND, CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_recording_watch(struct ct_ctx *ctx, const struct ct_record_options *given,
                       struct ct_recording *recording, char *options);

/* Finds the program's ELF file, whose path the caller frees, and its load bias. CT_ERR_NOT_FOUND,
 * CT_ERR_NOMEM. */
int ct_recording_program(struct ct_ctx *ctx, const struct ct_recording *recording, char **path,
                         uint64_t *bias);

/* Writes live.ini, which describes the stream. The errors of ct_recording_program, CT_ERR_IO. */
int ct_recording_live_ini(struct ct_ctx *ctx, const struct ct_recording *recording);

/* Makes the directory; *made tells that it is new. CT_ERR_ARG when there is a capture in it, CT_ERR_IO. */
int ct_record_make_directory(struct ct_ctx *ctx, const char *directory, bool *made);

struct ct_record_capture;

/* Makes a capture in the directory, for a program whose code is collected in `code` (not owned).
 * CT_ERR_NOMEM, CT_ERR_IO. */
int ct_record_capture_new(struct ct_ctx *ctx, const struct ct_recording *recording, struct ct_code *code,
                          struct ct_record_capture **out);
/* Returns the trace unit of core `number`, made when it is first asked for; NULL after an error, which is
 * *rc. */
struct ct_unit *ct_record_capture_unit(struct ct_record_capture *capture, unsigned number, int *rc);
/* Returns what a core sees of code that changes: a view of its own or, in frames, one that all cores share.
 * NULL: a stream whose images need not change. */
struct ct_code_view *ct_record_capture_view(struct ct_record_capture *capture, unsigned number);
/* Takes an access that a program made to watched memory, at its address. What writing trace returns. */
int ct_record_capture_access(struct ct_record_capture *capture, const struct ct_software_access *access);
/* Notes that code or a file that ran is new, so that the trace from here on needs a new description. */
void ct_record_capture_changed(struct ct_record_capture *capture);
/* Writes what was traced so far, when it is time, after a description of it, so that the capture can be read
 * up to there however the recording ends. A stream gets everything at once. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_record_capture_flush(struct ct_record_capture *capture, struct ct_record_programs *programs);
/* Writes what is left, and the files that describe the capture. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_record_capture_finish(struct ct_record_capture *capture, struct ct_record_programs *programs);
/* Adds up what the cores did. */
void ct_record_capture_sums(const struct ct_record_capture *capture, struct ct_record_result *result);
void ct_record_capture_free(struct ct_record_capture *capture);

#endif
