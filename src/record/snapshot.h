/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recording as a snapshot directory (docs/formats.md): everything except the trace. */
#pragma once

#include "record/states.h"
#include "record/symbol_map.h"

/* A change of the state of memory in a buffer's trace. */
struct ct_snapshot_piece {
    uint64_t from; /* first byte in the trace file with this state */
    uint32_t state;
};

struct ct_snapshot_core {
    const struct ct_source *source; /* without a name, which is made here */
    unsigned number;
    const char *trace; /* its trace file in the directory; the same for all when framed */
    const struct ct_snapshot_piece *pieces; /* of that file, in order; before the first one the state is 0 */
    size_t piece_count;
};

/* An executed ELF file. */
struct ct_snapshot_program {
    const char *path;                /* absolute, or that of a copy in the directory */
    const struct ct_kept_file *kept; /* the open file; NULL: it could not be opened */
    uint64_t bias;
    char build_id[41]; /* in hexadecimal digits, or "" */
};

struct ct_snapshot {
    const char *dir;
    const char *part;  /* its folder, with a '/', for all files but snapshot.ini and the trace; "": none */
    const char *model; /* the same for all cores */
    const char *description; /* one line */
    size_t program_count;
    const struct ct_snapshot_program *programs; /* the started program comes first */
    bool framed;
    size_t core_count;
    const struct ct_snapshot_core *cores;
    size_t software_count;
    const struct ct_snapshot_core *software; /* ITM and STM, which belong to no core */
    struct ct_record_names names;            /* which files with names of generated code it has */
    const struct ct_states *states;
};

/* Writes all files except the trace. snapshot.ini is replaced last, so if `part` is a new folder, there is a
 * complete description at any time. CT_ERR_IO: a file cannot be written. */
int ct_snapshot_write(struct ct_ctx *ctx, const struct ct_snapshot *snapshot, struct ct_code *code);
