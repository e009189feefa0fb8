/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the export to perf.data share. */
#ifndef CT_EXPORT_PERF_H
#define CT_EXPORT_PERF_H

#include "coretap/export.h"
#include "input/perf_write.h"

/* What is exported, and how. */
struct ct_perf_export_of {
    struct ct_ctx *ctx;
    const struct ct_capture *capture;
    const struct ct_buffer *buffers;
    size_t count;
    struct ct_perf_export_options options;
};

/* Tells the caller what perf will not get. */
void ct_perf_export_note(const struct ct_perf_export_of *of, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The bytes of a buffer as memory-aligned frames. */
struct ct_perf_frames {
    FILE *file;    /* holds nothing else, or is the buffer's own file, read from its start */
    uint64_t size; /* in bytes, all of them in whole frames */
};

/* Gives the trace of a buffer in frames, with each ID replaced by ids[ID]. The caller closes the file.
 * CT_ERR_IO, CT_ERR_NOMEM, the errors of the demultiplexer. */
int ct_perf_frames_make(const struct ct_perf_export_of *of, const struct ct_buffer *buffer,
                        const uint8_t ids[128], struct ct_perf_frames *out);

/* Code of an ELF file that ran, whose bytes in the file are those in memory. */
struct ct_perf_code {
    struct ct_perf_map map;
    char *path; /* path in the map */
};

struct ct_perf_codes {
    struct ct_perf_code *all;
    size_t count;
};

/* Finds such code of the programs that the capture names. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_perf_codes_find(const struct ct_perf_export_of *of, struct ct_perf_codes *codes);

/* Tells whether an image has nothing that this code does not have. */
bool ct_perf_codes_hold(const struct ct_perf_codes *codes, const struct ct_image *image);
void ct_perf_codes_free(struct ct_perf_codes *codes);

#endif
