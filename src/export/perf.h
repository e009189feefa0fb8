/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the export to perf.data share. */
#ifndef CT_EXPORT_PERF_H
#define CT_EXPORT_PERF_H

#include "coretap/export.h"
#include "input/perf_write.h"

/* the lowest number above PID_MAX_LIMIT of Linux (include/linux/threads.h), which no process can have */
#define CT_PERF_FIRST_FREE_PID 4194305u

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

/* Tells whether an address is in the half that Linux uses itself. */
static inline bool ct_perf_is_kernel(uint64_t addr)
{
    return addr >> 63;
}

/* Writes the maps of all images, each once for each of the stamps. CT_ERR_IO, CT_ERR_FORMAT, CT_ERR_NOMEM,
 * those of ct_perf_write_map. */
int ct_perf_images_write(const struct ct_perf_export_of *of, const struct ct_perf_codes *codes,
                         struct ct_perf_writer *writer, const struct ct_perf_stamp *stamps, size_t count);

/* Writes what one process had in its memory. The same errors. */
int ct_perf_generation_write(const struct ct_perf_export_of *of, const struct ct_generation *generation,
                             struct ct_perf_writer *writer, const struct ct_perf_stamp *stamp);

/* Tells whether any image is of the kernel. */
bool ct_perf_images_have_kernel(const struct ct_perf_export_of *of);

#define CT_PERF_THREADS_MAX 65536u

/* Numbers of threads, in the order in which they come. To be zeroed before its first use. */
struct ct_perf_threads {
    size_t count;
    uint32_t all[CT_PERF_THREADS_MAX];
    uint8_t seen[1 << 13]; /* a bit for each value of a number's low part, which answers most questions */
};

bool ct_perf_threads_has(const struct ct_perf_threads *threads, uint32_t tid);

/* Adds a number. Returns false when it is there, or no more can be added. */
bool ct_perf_threads_add(struct ct_perf_threads *threads, uint32_t tid);

#endif
