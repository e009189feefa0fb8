/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the access plugin (access.h) in memory that it shares with the reader of its pipe. They go
 * through the pipe in pieces; the last ones of a process that is killed are still here. */
#ifndef RECORDER_ACCESS_RING_H
#define RECORDER_ACCESS_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define ACCESS_RING_WORDS (1u << 15)

/* Word number n of a process, from 0 on, is in words[n % ACCESS_RING_WORDS] until another one needs its
 * place, which is after it went through the pipe. */
struct access_ring {
    _Atomic uint64_t end;  /* how many words there were */
    _Atomic uint64_t sent; /* how many of them went through the pipe, but for those that are on their way */
    uint64_t words[ACCESS_RING_WORDS];
};

#endif
