/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the access plugin (access.h), in memory shared with the reader of its pipe. They also go
 * through the pipe, in pieces; the last words of a killed process are only here. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define ACCESS_RING_WORDS (1u << 15)

/* Word number n of a process, from 0, is in words[n % ACCESS_RING_WORDS]. It is overwritten only after it
 * went through the pipe. */
struct access_ring {
    _Atomic uint64_t end;  /* number of words so far */
    _Atomic uint64_t sent; /* number of words that went through the pipe, without those being written */
    uint64_t words[ACCESS_RING_WORDS];
};
