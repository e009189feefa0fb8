/* SPDX-License-Identifier: Apache-2.0 */
/* What the trace plugin writes and coretap record reads: memory that both map, host byte order.
 *
 * The area holds chunks of 32-bit words. A thread of the program owns one chunk at a time and fills it; full
 * ones go to the reader in the order in which they were handed over. Code blocks have chunks of their own,
 * and what is in one can be read as soon as it is counted. Nothing has to be written when the program ends:
 * what a thread that was killed had in its chunk is still there. */
#ifndef RECORDER_TRACE_STREAM_H
#define RECORDER_TRACE_STREAM_H

#include <stdatomic.h>
#include <stdint.h>

#define TRACE_MAGIC       0x43545452u
#define TRACE_CHUNK_WORDS 8190u
#define TRACE_CHUNKS      1024u
#define TRACE_THREADS     512u /* at a time */
#define TRACE_NO_CHUNK    UINT32_MAX
#define TRACE_WATCHED     8u /* pieces of memory whose accesses are told */

/* Words of a thread: the number of a block that execution has entered, or one of these above all numbers,
 * with a value in the low 24 bits. */
#define TRACE_BLOCK_MAX 0xefffffffu
#define TRACE_PARTIAL   0xf0000000u /* the block before was left early: value of `at` (see trace_thread) */
#define TRACE_SIGNAL                                                                                         \
    0xf1000000u /* the block behind it begins a signal handler; the program was interrupted at               \
                                        the address of the next two words (low, high); value: 1 for T32 */
#define TRACE_HANDLER 0xf2000000u /* as TRACE_SIGNAL, but nobody knows where: no address follows */
#define TRACE_WAITED                                                                                         \
    0xf3000000u /* the thread waited for so many cycles: value, or 0 and the next two words (low, high) */
#define TRACE_THREAD                                                                                         \
    0xf4000000u /* a new thread is in this place; value: its number, from 1 on. The clock that it            \
                                        begins with is in the next two words (low, high) */
#define TRACE_THREAD_END 0xf5000000u
#define TRACE_CONTEXT    0xf6000000u /* the context ID is that of the next word from here on */
#define TRACE_RETURN                                                                                         \
    0xf7000000u /* the block behind it may be a vector of an exception, which returns to the                 \
                                        address of the next two words (low, high) */
#define TRACE_ACCESS                                                                                         \
    0xf8000000u /* the last block entered accessed memory that is watched: value: see below; the address and \
                                        the data are in the next four words (low, high; low, high) */

/* Value of TRACE_ACCESS: index of the instruction in its block, log2 of the bytes (0 to 3), which of the
 * pieces of memory it is, and which way. */
#define TRACE_ACCESS_INDEX       0xffffu
#define TRACE_ACCESS_SIZE_SHIFT  16
#define TRACE_ACCESS_PIECE_SHIFT 18
#define TRACE_ACCESS_STORE       0x800000u

#define TRACE_KIND(word)  ((word)&0xff000000u)
#define TRACE_VALUE(word) ((word)&0x00ffffffu)

/* The clock of a thread counts cycles. A block takes one for each instruction, and one more when
 * the block behind it is not the next in memory; before the first block of a thread there is one
 * that ends nowhere. The rest are waits. Reader and writer count alike, so that they agree on the
 * clock at the begin of each block. */
static inline uint64_t trace_block_cycles(uint32_t insns, uint64_t end, uint64_t next)
{
    return (uint64_t)insns + (end != next);
}

#define TRACE_EXCEPTION_CYCLES 200u /* that the system takes for a system call or a signal */

/* Words of a block: these, then the bytes of its instructions, filled up to whole words. A block of no
 * instructions brings a page of memory: `size` bytes at `addr`; with TRACE_BLOCK_FILE a struct trace_file, of
 * what is mapped at `addr`. */
struct trace_block {
    uint32_t id;
    uint32_t addr[2];
    uint16_t insns;
    uint16_t size; /* bytes */
    uint32_t flags;
};

enum trace_block_flag {
    TRACE_BLOCK_T32 = 1,
    TRACE_BLOCK_ISA_KNOWN = 2, /* … or not T32: without this flag nobody knows */
    TRACE_BLOCK_LEVEL = 0x30,  /* exception level, shifted by TRACE_BLOCK_LEVEL_SHIFT */
    TRACE_BLOCK_FILE = 0x100,
};

/* A file whose code is executed. */
struct trace_file {
    uint32_t offset[2]; /* of its first byte that is mapped */
    uint32_t length[2]; /* of the mapping */
    char path[4096];    /* with its end; the rest is left out */
};

#define TRACE_BLOCK_LEVEL_SHIFT 4

enum trace_chunk_kind {
    TRACE_CHUNK_FREE,
    TRACE_CHUNK_PATH,   /* `thread` executed blocks */
    TRACE_CHUNK_BLOCKS, /* blocks are known from here on */
};

struct trace_chunk {
    _Atomic uint32_t kind; /* enum trace_chunk_kind */
    uint32_t thread;       /* index of the trace_thread */
    _Atomic uint32_t used; /* words */
    _Atomic uint32_t next; /* blocks: the chunk that goes on, once this one grows no more */
    uint32_t words[TRACE_CHUNK_WORDS];
};

/* How far into its block a thread is. An instruction that may fault raises `at` to its index + 1 when it
 * begins. When the last one may fault, each of its memory accesses that was done adds one more. `whole` is
 * the value when all was done. */
struct trace_thread {
    uint32_t at;
    uint32_t whole;
    uint32_t chunk;   /* owned, or TRACE_NO_CHUNK */
    uint32_t pad[13]; /* a cache line for each thread */
};

struct trace_area {
    uint32_t magic;
    uint32_t bits;           /* 64 or 32: of the program */
    uint64_t entry;          /* where the program begins … */
    uint64_t code_start;     /* … and its code is loaded */
    _Atomic uint32_t handed; /* chunks handed over so far; readers wait for it */
    _Atomic uint32_t freed;  /* chunks given back so far; writers wait for it */
    _Atomic uint32_t waiting;
    _Atomic uint32_t first_blocks; /* the first chunk of blocks */
    _Atomic uint32_t lost;         /* threads that had no place */
    _Atomic uint32_t unread;       /* watched accesses whose data could not be read */
    _Atomic uint32_t stop;         /* set by the reader: it wants no more */
    uint32_t order[TRACE_CHUNKS];  /* which chunk was the n-th handed over, n modulo TRACE_CHUNKS */
    struct trace_thread threads[TRACE_THREADS];
    struct trace_chunk chunks[TRACE_CHUNKS];
};

#endif
