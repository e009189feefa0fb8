/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF files that ran, with where they were loaded: the capture names them. */
#ifndef CT_RECORD_PROGRAMS_H
#define CT_RECORD_PROGRAMS_H

#include "record/snapshot.h"
#include "recorder/trace_stream.h"

struct ct_record_programs {
    struct ct_snapshot_program *all;
    size_t count;
};

/* A file is mapped at `addr`; one that is no ELF file with code there is none that ran. CT_ERR_NOMEM. */
int ct_record_programs_map(struct ct_ctx *ctx, struct ct_record_programs *programs, uint64_t addr,
                           const struct trace_file *file);
/* The program that was started takes the first place. CT_ERR_NOMEM. */
int ct_record_programs_first(struct ct_ctx *ctx, struct ct_record_programs *programs, const char *path,
                             uint64_t bias);
void ct_record_programs_free(struct ct_record_programs *programs);

#endif
