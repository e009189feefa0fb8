/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a stream that are to be decoded, and how far that is. */
#ifndef CT_ETM4_WORK_H
#define CT_ETM4_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "coretap/frame.h"

/* Bytes that find_sync looks at from the beginning of a synchronisation point on, at most. */
#define CT_SYNC_SIZE_MAX 16

/* What comes behind the bytes of a run. */
enum ct_behind {
    CT_BEHIND_MORE,  /* more of the same stream */
    CT_BEHIND_BREAK, /* something was lost: a packet that is not whole here never will be */
    CT_BEHIND_END,   /* nothing: what is held leaves */
};

/* What there is to be decoded, and how far it is. */
struct ct_work {
    const struct ct_run *run;
    enum ct_behind behind;
    bool whole;            /* the last reset was where a recording ended: nothing is missing there */
    size_t at;             /* bytes of the run that are done with */
    uint64_t start_offset; /* in the capture: of the first byte since the start or the last reset … */
    uint64_t last_offset;  /* … and of the last packet */
    bool more;             /* the elements had no room: call again */
    size_t until;          /* hops_run: it wants to be called again just there; 0: nowhere */
};

#endif
