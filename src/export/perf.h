/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the export to perf.data. */
#pragma once

#include "coretap/export.h"
#include "input/perf_write.h"

/* The first number above Linux's PID_MAX_LIMIT (include/linux/threads.h), which no process can have. */
#define CT_PERF_FIRST_FREE_PID 4194305u

/* What to export, and how. */
struct ct_perf_export_of {
    struct ct_ctx *ctx;
    const struct ct_capture *capture;
    const struct ct_buffer *buffers;
    size_t count;
    struct ct_perf_export_options options;
};

/* Reports to the caller what the perf.data file will lack. */
void ct_perf_export_note(const struct ct_perf_export_of *of, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The trace of a buffer as memory-aligned frames. */
struct ct_perf_frames {
    FILE *file;    /* a file with nothing else in it, or the buffer's own file; read from the start */
    uint64_t size; /* in bytes, a whole number of frames */
};

/* Makes frames of the trace of a buffer, with each ID replaced by ids[ID]. The caller closes the file.
 * CT_ERR_IO, CT_ERR_NOMEM, the errors of the demultiplexer. */
int ct_perf_frames_make(const struct ct_perf_export_of *of, const struct ct_buffer *buffer,
                        const uint8_t ids[128], struct ct_perf_frames *out);

/* Executed code of an ELF file with the same bytes in the file as in memory. */
struct ct_perf_code {
    struct ct_perf_map map;
    char *path; /* map.path */
};

struct ct_perf_codes {
    struct ct_perf_code *all;
    size_t count;
};

/* Finds such code in the programs of the capture. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_perf_codes_find(const struct ct_perf_export_of *of, struct ct_perf_codes *codes);

/* Returns whether the codes contain the whole image. */
bool ct_perf_codes_hold(const struct ct_perf_codes *codes, const struct ct_image *image);
void ct_perf_codes_free(struct ct_perf_codes *codes);

/* Returns whether an address is in the kernel's half of the address space. */
static inline bool ct_perf_is_kernel(uint64_t addr)
{
    return addr >> 63;
}

/* Writes the maps of all images, each once for each stamp. CT_ERR_IO, CT_ERR_FORMAT, CT_ERR_NOMEM, the errors
 * of ct_perf_write_map. */
int ct_perf_images_write(const struct ct_perf_export_of *of, const struct ct_perf_codes *codes,
                         struct ct_perf_writer *writer, const struct ct_perf_stamp *stamps, size_t count);

/* Writes the maps of one process. The same errors. */
int ct_perf_generation_write(const struct ct_perf_export_of *of, const struct ct_generation *generation,
                             struct ct_perf_writer *writer, const struct ct_perf_stamp *stamp);

/* Returns whether any image belongs to the kernel. */
bool ct_perf_images_have_kernel(const struct ct_perf_export_of *of);

#define CT_PERF_THREADS_MAX 65536u

/* Thread IDs in the order of their first use. Zeroed before the first use. */
struct ct_perf_threads {
    size_t count;
    uint32_t all[CT_PERF_THREADS_MAX];
    uint8_t seen[1 << 13]; /* a bit for each value of the low bits of an ID, which decides most look-ups */
};

bool ct_perf_threads_has(const struct ct_perf_threads *threads, uint32_t tid);

/* Adds an ID. Returns false when it is known already, or the list is full. */
bool ct_perf_threads_add(struct ct_perf_threads *threads, uint32_t tid);
