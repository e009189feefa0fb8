/* SPDX-License-Identifier: Apache-2.0 */
/* Writes perf.data files, for 'coretap export --perf' and for tests that need special recordings. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coretap/input.h"
#include "base/elf_look.h"
#include "input/perf_format.h"

/* The PMU type of the trace units. Linux assigns it dynamically; any number other than its fixed ones will
 * do. */
#define CT_PERF_WRITE_PMU 8u

/* A record that is being built. `full` is set when something did not fit and was omitted. */
struct ct_perf_body {
    uint8_t bytes[CT_PERF_RECORD_MAX - 8];
    size_t size;
    bool full;
};

void ct_perf_put32(struct ct_perf_body *body, uint32_t x);
void ct_perf_put64(struct ct_perf_body *body, uint64_t x);

/* Appends a text with its NUL, padded with zeros to 8 bytes. */
void ct_perf_put_text(struct ct_perf_body *body, const char *text);

/* Thread and time for the sample ID in records of the kernel. */
struct ct_perf_stamp {
    uint64_t time;
    uint32_t pid, tid, cpu;
};

struct ct_perf_write_options {
    bool pipe;           /* pipe mode: no byte is rewritten */
    bool exclude_kernel; /* only user space was traced */
    bool timeless;       /* records have no time, so that perf does not search the trace for timestamps */
    bool samples;        /* there is no trace: the only event counts instructions, and its samples have branch
                            stacks */
    uint64_t config;     /* of the tracing event, with perf's bits */
    /* Moves to an offset, where the next bytes are written; not used in pipe mode. Returns an enum ct_error.
     */
    int (*seek)(void *user, uint64_t offset);
};

struct ct_perf_writer {
    ct_write_fn *write;
    void *user;
    struct ct_perf_write_options options;
    uint64_t at;     /* bytes written so far */
    uint64_t data;   /* offset of the first record */
    uint64_t *index; /* offsets of the AUXTRACE records */
    size_t index_count;
    uint8_t *ids; /* for samples: a record for each file with a build id */
    size_t ids_size, ids_room;
    struct ct_perf_body body; /* for records of this file */
};

/* Writes the header and two attributes: an event of the trace units, and one for mappings; for samples one
 * that does both. This function and those below return what `write` did. */
int ct_perf_write_begin(struct ct_perf_writer *writer, ct_write_fn *write, void *user,
                        const struct ct_perf_write_options *options);

/* Writes a record: ct_perf_write_user one of perf itself, ct_perf_write_kernel one of the kernel, with its
 * stamp. CT_ERR_LIMIT when the body was full. */
int ct_perf_write_user(struct ct_perf_writer *writer, uint32_t type, unsigned misc,
                       const struct ct_perf_body *body);
int ct_perf_write_kernel(struct ct_perf_writer *writer, uint32_t type, unsigned misc,
                         const struct ct_perf_body *body, const struct ct_perf_stamp *stamp);

/* Writes the registers of trace units, as metadata of version 1 or 0. CPUs are numbered in this order. */
int ct_perf_write_info(struct ct_perf_writer *writer, const struct ct_source *sources, size_t count,
                       unsigned version);

/* Writes that a process runs a program or, with `exec`, that it replaces its program by this one. */
int ct_perf_write_comm(struct ct_perf_writer *writer, const struct ct_perf_stamp *stamp, const char *name,
                       bool exec);

/* Writes that a new process exists or, with the parent's pid, a new thread. */
int ct_perf_write_fork(struct ct_perf_writer *writer, const struct ct_perf_stamp *stamp, uint32_t parent);

struct ct_perf_map {
    uint64_t addr, size, offset;
    const char *path;
    bool kernel;
    struct ct_build_id id; /* of the file */
};

/* Writes executable memory of the stamp's process. CT_ERR_NOMEM too. */
int ct_perf_write_map(struct ct_perf_writer *writer, const struct ct_perf_stamp *stamp,
                      const struct ct_perf_map *map);

struct ct_perf_branch {
    uint64_t from, to; /* 0: unknown */
};

/* A sample, with the branches before it. */
struct ct_perf_written_sample {
    uint64_t ip;
    uint64_t period; /* instructions since the sample before */
    bool kernel;
    const struct ct_perf_branch *branches; /* the branch stack, oldest first */
    size_t count;                          /* at most CT_PERF_BRANCHES_MAX */
};

#define CT_PERF_BRANCHES_MAX 1024u

/* Writes a sample, in a file of samples. */
int ct_perf_write_sample(struct ct_perf_writer *writer, const struct ct_perf_stamp *stamp,
                         const struct ct_perf_written_sample *sample);

/* Writes that a part of the AUX stream was traced without interruption. */
int ct_perf_write_aux(struct ct_perf_writer *writer, const struct ct_perf_stamp *stamp, uint64_t offset,
                      uint64_t size, uint64_t flags);

/* Begins the trace of a CPU (thread -1) or a thread (CPU -1). The caller then writes `size` bytes, a multiple
 * of 8, with ct_perf_write_bytes. */
int ct_perf_write_trace(struct ct_perf_writer *writer, uint32_t idx, uint32_t tid, uint32_t cpu,
                        uint64_t aux_offset, uint64_t size);
int ct_perf_write_bytes(struct ct_perf_writer *writer, const void *bytes, size_t size);

/* Ends the data, writes features and header if there are any, and frees the writer's memory, also after
 * errors. */
int ct_perf_write_end(struct ct_perf_writer *writer);
