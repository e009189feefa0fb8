/* SPDX-License-Identifier: Apache-2.0 */
/* What the access plugin writes and coretap fractal reads: 64-bit words, host order.
 *
 *   bits 47:0   virtual address
 *   bits 51:48  log2 of the size in bytes (loads and stores), or instructions of the run (fetches, 0 means
 *               16)
 *   bits 53:52  enum access_kind
 *   bits 61:54  virtual processor
 *
 * A note is followed by four words: what happened and three values. */
#ifndef RECORDER_ACCESS_STREAM_H
#define RECORDER_ACCESS_STREAM_H

#include <stdint.h>

enum access_kind {
    ACCESS_FETCH, /* a run of instructions inside one line of 64 bytes */
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_NOTE,
};

enum access_note {
    NOTE_PROGRAM, /* start and end of the program's code, its entry point: where it was loaded */
    NOTE_MAP,     /* address and size of memory that mmap gave; 1 when for a file */
    NOTE_UNMAP,   /* address and size */
    NOTE_BREAK,   /* end of the heap */
    NOTE_STACK,   /* an address in the first stack */
};

#define ACCESS_WORDS_NOTE 4

static inline uint64_t access_word(enum access_kind kind, unsigned cpu, unsigned low, uint64_t va)
{
    return (va & UINT64_C(0xffffffffffff)) | (uint64_t)(low & 15) << 48 | (uint64_t)kind << 52 |
           (uint64_t)(cpu & 255) << 54;
}

static inline enum access_kind access_kind_of(uint64_t word)
{
    return (enum access_kind)(word >> 52 & 3);
}

static inline uint64_t access_va(uint64_t word)
{
    return word & UINT64_C(0xffffffffffff);
}

static inline unsigned access_low(uint64_t word)
{
    return (unsigned)(word >> 48 & 15);
}

static inline unsigned access_cpu(uint64_t word)
{
    return (unsigned)(word >> 54 & 255);
}

#endif
