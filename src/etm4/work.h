/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a stream that are still to be decoded, and how far decoding has come. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coretap/frame.h"

/* most bytes of a synchronisation point, from its first one on, that find_sync reads */
#define CT_SYNC_SIZE_MAX 16

/* What follows the bytes of a run. */
enum ct_behind {
    CT_BEHIND_MORE,  /* more of the same stream */
    CT_BEHIND_BREAK, /* something was lost: a packet that is incomplete here stays incomplete */
    CT_BEHIND_END,   /* the stream ends: the resolver releases what it holds */
};

/* A run of bytes to be decoded, and how far it is decoded. */
struct ct_work {
    const struct ct_run *run;
    enum ct_behind behind;
    bool whole;            /* the last reset was between two recordings, so nothing is missing there */
    size_t at;             /* number of bytes of the run that are decoded */
    uint64_t start_offset; /* offset in the capture of the first byte since the start or the last reset */
    uint64_t last_offset;  /* offset in the capture of the last packet */
    bool more;             /* there was no room for all elements: the caller has to call again */
    size_t until; /* set by hops_run: the byte of the run at which it wants to be called again; 0: none */
};
