/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recording as a snapshot directory (docs/formats.md): everything but the trace itself. */
#ifndef CT_RECORD_SNAPSHOT_H
#define CT_RECORD_SNAPSHOT_H

#include "record/states.h"

/* From this byte on, the trace of a buffer is of another state of memory. */
struct ct_snapshot_piece {
    uint64_t from; /* byte of the trace file */
    uint32_t state;
};

struct ct_snapshot_core {
    const struct ct_source *source; /* the name of the source is made here */
    unsigned number;
    const char *trace; /* file with its trace, in the directory; framed: all the same one */
    const struct ct_snapshot_piece *pieces; /* of that file, in order; before the first it is of state 0 */
    size_t piece_count;
};

/* An ELF file that ran. */
struct ct_snapshot_program {
    const char *path; /* absolute */
    uint64_t bias;
    char build_id[41]; /* in hexadecimal digits, or "" */
};

struct ct_snapshot {
    const char *dir;
    const char *part;  /* folder in it, with a '/', of all files but snapshot.ini and the trace; "": none */
    const char *model; /* of all cores */
    const char *description; /* a line */
    size_t program_count;
    const struct ct_snapshot_program *programs; /* what was started comes first */
    bool framed;
    size_t core_count;
    const struct ct_snapshot_core *cores;
    size_t software_count;
    const struct ct_snapshot_core *software; /* ITM and STM, which are no core's */
    const struct ct_states *states;
};

/* Writes all files but the trace. snapshot.ini replaces an older one at the end, so when `part` is a new
 * folder, a whole description is there at any time. CT_ERR_IO: something cannot be written. */
int ct_snapshot_write(struct ct_ctx *ctx, const struct ct_snapshot *snapshot, struct ct_code *code);

#endif
