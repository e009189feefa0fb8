/* Writes a recording as a snapshot directory (docs/formats.md): everything but the trace itself. */
#ifndef CT_RECORD_SNAPSHOT_H
#define CT_RECORD_SNAPSHOT_H

#include "record/code.h"

struct ct_snapshot_core {
    const struct ct_source *source; /* the name of the source is made here */
    unsigned number;
    const char *trace; /* file with its trace, in the directory; framed: all the same one */
};

/* An ELF file that ran. */
struct ct_snapshot_program {
    const char *path; /* absolute */
    uint64_t bias;
    char build_id[41]; /* in hexadecimal digits, or "" */
};

struct ct_snapshot {
    const char *dir;
    const char *model;       /* of all cores */
    const char *description; /* a line */
    size_t program_count;
    const struct ct_snapshot_program *programs; /* what was started comes first */
    bool framed;
    size_t core_count;
    const struct ct_snapshot_core *cores;
};

/* CT_ERR_IO: something cannot be written. */
int ct_snapshot_write(struct ct_ctx *ctx, const struct ct_snapshot *snapshot, struct ct_code *code);

#endif
