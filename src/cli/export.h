/* SPDX-License-Identifier: Apache-2.0 */
/* Captures in other formats. */
#ifndef CT_CLI_EXPORT_H
#define CT_CLI_EXPORT_H

#include "cli/capture.h"
#include "input/perf_write.h"

/* Bytes of a buffer as memory-aligned frames. */
struct cli_export_frames {
    FILE *file;    /* with nothing else in it, or the buffer's own … */
    bool borrowed; /* … which is closed too */
    uint64_t size; /* bytes, whole frames */
};

/* The trace of `buffer` in frames, its IDs replaced by ids[ID]. False: said why. */
bool cli_export_frames_make(const struct cli_args *args, const struct ct_buffer *buffer,
                            const uint8_t ids[128], struct cli_export_frames *out);

/* Code of an ELF file that ran, which is in the file as it was in memory. */
struct cli_export_code {
    struct ct_perf_map map;
    char *path; /* the map's */
};

struct cli_export_codes {
    struct cli_export_code *all;
    size_t count;
};

/* Finds it, for the programs that the capture names. False: said why. */
bool cli_export_codes_find(const struct cli_capture *capture, struct cli_export_codes *codes);
/* Whether an image brings nothing that they do not. */
bool cli_export_codes_hold(const struct cli_export_codes *codes, const struct ct_image *image);
void cli_export_codes_free(struct cli_export_codes *codes);

/* Writes the capture as perf.data to `path`, or in pipe mode to standard
 * output ("-"). Result: enum cli_exit. */
int cli_export_perf(struct cli_capture *capture, const char *path);

#endif
