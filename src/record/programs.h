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

/* Notes that a file was mapped at `addr`. Files that are no ELF files with code are left out.
 * CT_ERR_NOMEM. */
int ct_record_programs_map(struct ct_ctx *ctx, struct ct_record_programs *programs, uint64_t addr,
                           const struct trace_file *file);
/* Puts the program that was started into the first place. CT_ERR_NOMEM. */
int ct_record_programs_first(struct ct_ctx *ctx, struct ct_record_programs *programs, const char *path,
                             uint64_t bias);
void ct_record_programs_free(struct ct_record_programs *programs);

#endif
