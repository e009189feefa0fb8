/* SPDX-License-Identifier: Apache-2.0 */
/* The executed ELF files with their load addresses, for the capture. */
#pragma once

#include "record/kept_files.h"
#include "record/snapshot.h"
#include "recorder/trace_stream.h"

struct ct_record_programs {
    struct ct_snapshot_program *all;
    size_t count;
    struct ct_kept_files kept;
    int child; /* the process that runs them */
};

/* Adds a file that was mapped at `addr`, if it is an ELF file with code. CT_ERR_NOMEM. */
int ct_record_programs_map(struct ct_ctx *ctx, struct ct_record_programs *programs, uint64_t addr,
                           const struct trace_file *file);
/* Puts the started program in the first place. CT_ERR_NOMEM. */
int ct_record_programs_first(struct ct_ctx *ctx, struct ct_record_programs *programs, const char *path,
                             uint64_t bias);
/* Copies files that were deleted or replaced since into the directory, whose copies are the programs then.
 * CT_ERR_IO, CT_ERR_NOMEM. */
int ct_record_programs_keep(struct ct_ctx *ctx, struct ct_record_programs *programs, const char *directory);
void ct_record_programs_free(struct ct_record_programs *programs);
