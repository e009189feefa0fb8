/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a stream that are to be decoded, and how far decoding has come. */
#ifndef CT_ETM4_WORK_H
#define CT_ETM4_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "coretap/frame.h"

/* the most bytes that find_sync looks at from the beginning of a synchronisation point on */
#define CT_SYNC_SIZE_MAX 16

/* What follows the bytes of a run. */
enum ct_behind {
    CT_BEHIND_MORE,  /* more of the same stream */
    CT_BEHIND_BREAK, /* something was lost: a packet that is not whole here never will be */
    CT_BEHIND_END,   /* nothing follows: what is held leaves */
};

/* A run to be decoded, with the state of decoding it. */
struct ct_work {
    const struct ct_run *run;
    enum ct_behind behind;
    bool whole;            /* the last reset was where one recording ended and another began, so that nothing
                              is missing there */
    size_t at;             /* bytes of the run that are decoded */
    uint64_t start_offset; /* offset in the capture of the first byte since the start or the last reset */
    uint64_t last_offset;  /* offset in the capture of the last packet */
    bool more;             /* the elements had no room: the caller has to call again */
    size_t until;          /* set by hops_run: the byte of the run where it wants to be called again; 0 for
                              none */
};

#endif
