/* Captures in other formats. */
#ifndef CT_CLI_EXPORT_H
#define CT_CLI_EXPORT_H

#include "cli/capture.h"
#include "input/perf_write.h"

/* Bytes of a buffer as memory-aligned frames. */
struct export_frames {
    FILE *file;    /* with nothing else in it, or the buffer's own … */
    bool borrowed; /* … which is closed too */
    uint64_t size; /* bytes, whole frames */
};

/* The trace of `buffer` in frames, its IDs replaced by ids[ID]. False: said why. */
bool export_frames_make(const struct cli_args *args, const struct ct_buffer *buffer, const uint8_t ids[128],
                        struct export_frames *out);

/* Writes the capture as perf.data to `path`, or in pipe mode to standard output ("-"). Result: enum cli_exit. */
int export_perf(struct cli_capture *capture, const char *path);

#endif
