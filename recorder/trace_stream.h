/* SPDX-License-Identifier: Apache-2.0 */
/* The memory through which the trace plugin passes the path of a program to coretap record. Both map it;
 * words have the byte order of the host.
 *
 * The area holds chunks of 32-bit words. A thread of the program owns one chunk at a time and fills it; full
 * chunks go to the reader in the order in which they were handed over. Code blocks have chunks of their own,
 * whose contents can be read as soon as they are counted. Nothing has to be written when the program ends:
 * the words of a killed thread are still in its chunk. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define TRACE_MAGIC       0x43545453u
#define TRACE_CHUNK_WORDS 8190u
#define TRACE_CHUNKS      1024u
#define TRACE_THREADS     512u /* most threads at a time */
#define TRACE_NO_CHUNK    UINT32_MAX
#define TRACE_WATCHED     8u /* most watched pieces of memory */

/* Words of a thread: the number of a block that execution has entered, or one of the following, which are
 * above all numbers and have a value in the low 24 bits. */
#define TRACE_BLOCK_MAX 0xefffffffu
#define TRACE_PARTIAL   0xf0000000u /* the block before was left early; value: `at` (see trace_thread) */
#define TRACE_SIGNAL                                                                                         \
    0xf1000000u /* the block behind it begins a signal handler; the program was interrupted at               \
                                        the address of the next two words (low, high); value: 1 for T32 */
#define TRACE_HANDLER 0xf2000000u /* as TRACE_SIGNAL, but the place is unknown: no address follows */
#define TRACE_WAITED                                                                                         \
    0xf3000000u /* the thread waited for so many cycles: value, or 0 and the next two words (low, high) */
#define TRACE_THREAD                                                                                         \
    0xf4000000u /* a new thread is in this place; value: its number, from 1 on. The clock that it            \
                                        begins with is in the next two words (low, high) */
#define TRACE_THREAD_END 0xf5000000u
#define TRACE_CONTEXT    0xf6000000u /* from here on, the context ID is the next word */
#define TRACE_RETURN                                                                                         \
    0xf7000000u /* the block behind it may be a vector of an exception, which returns to the                 \
                                        address of the next two words (low, high); value: its instruction    \
                   set, 0 A64, 1 A32, 2 T32 */
#define TRACE_ACCESS                                                                                         \
    0xf8000000u /* the last block entered accessed memory that is watched: value: see below; the address and \
                                        the data are in the next four words (low, high; low, high) */

/* The M profile: before the block behind it, an exception was taken, or several in this order; value: its
 * number, in all of these with TRACE_M_SECURE for the Secure one of two. The next two words are its return
 * address and the number of the exception that was handled before, or 0. When that is not the one handled by
 * the block before, the one handled there returned first. With TRACE_M_SG in the second word, the SG
 * instruction directly before the return address was executed, behind that return or else behind the block
 * before, unless that is Secure. */
#define TRACE_M_TAKEN  0xf9000000u
#define TRACE_M_SECURE 0x200u
#define TRACE_M_SG     0x80000000u
#define TRACE_M_RETURNED                                                                                     \
    0xfa000000u                       /* the exception that was handled has returned; value: the one handled \
                                           now, or 0 */
#define TRACE_M_SG_RETURN 0x800000u   /* in this value: to the SG instruction directly before the block */
#define TRACE_M_RESET     0xfb000000u /* the block behind it may be the first one after a reset */
#define TRACE_M_LOST                                                                                         \
    0xfc000000u /* it is unknown how execution came to the block behind it; value: the exception handled now \
                 */

/* A32 and T32 of the A profile: the block behind it is this entry of the vector table (value: 1 to 7), which
 * an exception led to. The next words are the address at which it interrupted, and 1 when that is T32. */
#define TRACE_ARM_TAKEN 0xfd000000u

/* Value of TRACE_ACCESS: index of the instruction in its block, log2 of the bytes (0 to 3), index of the
 * watched piece of memory, and whether it is a store. */
#define TRACE_ACCESS_INDEX       0xffffu
#define TRACE_ACCESS_SIZE_SHIFT  16
#define TRACE_ACCESS_PIECE_SHIFT 18
#define TRACE_ACCESS_STORE       0x800000u

#define TRACE_KIND(word)  ((word)&0xff000000u)
#define TRACE_VALUE(word) ((word)&0x00ffffffu)

/* Returns the cycles of a block. The clock of a thread adds one cycle for each instruction of a block, and
 * one more when the next block does not follow it in memory. The first block of a thread counts as following
 * an empty block somewhere else. All other cycles are waits. Reader and writer use this function, so they
 * agree on the clock at the begin of each block. */
static inline uint64_t trace_block_cycles(uint32_t insns, uint64_t end, uint64_t next)
{
    return (uint64_t)insns + (end != next);
}

#define TRACE_EXCEPTION_CYCLES 200u /* cycles that the system takes for a system call or a signal */

/* The head of a block. The bytes of its instructions follow it, filled up to whole words. A block of no
 * instructions is a page of memory instead, `size` bytes at `addr`, or, with TRACE_BLOCK_FILE, a struct
 * trace_file of the file mapped at `addr`. */
struct trace_block {
    uint32_t id;
    uint32_t addr[2];
    uint16_t insns;
    uint16_t size; /* number of bytes */
    uint32_t flags;
};

enum trace_block_flag {
    TRACE_BLOCK_T32 = 1,
    TRACE_BLOCK_ISA_KNOWN = 2,   /* TRACE_BLOCK_T32 is valid; else the instruction set is unknown */
    TRACE_BLOCK_LEVEL = 0x30,    /* exception level, shifted by TRACE_BLOCK_LEVEL_SHIFT */
    TRACE_BLOCK_SECURE = 0x40,   /* in Secure state */
    TRACE_BLOCK_AFTER_SG = 0x80, /* an SG instruction is directly before it */
    TRACE_BLOCK_FILE = 0x100,
    TRACE_BLOCK_AARCH32 = 0x1000, /* of a processor for A64: the block is A32 or T32 */
    TRACE_BLOCK_IT = 0xe00,       /* instructions of an IT block that it begins with, shifted by
                                     TRACE_BLOCK_IT_SHIFT */
};

/* A file whose code is executed. */
struct trace_file {
    uint32_t offset[2]; /* offset in the file of its first mapped byte */
    uint32_t length[2]; /* length of the mapping */
    uint32_t inode[2];
    char path[4096]; /* ends with a zero byte, and what follows that is not written; behind the name of a
                        deleted file is " (deleted)" */
};

#define TRACE_BLOCK_LEVEL_SHIFT 4
#define TRACE_BLOCK_IT_SHIFT    9

enum trace_chunk_kind {
    TRACE_CHUNK_FREE,
    TRACE_CHUNK_PATH,   /* blocks that `thread` executed */
    TRACE_CHUNK_BLOCKS, /* code of blocks */
};

/* A chunk of words: of the path of a thread, or of blocks. */
struct trace_chunk {
    _Atomic uint32_t kind; /* enum trace_chunk_kind */
    uint32_t thread;       /* index of the trace_thread */
    _Atomic uint32_t used; /* number of words */
    _Atomic uint32_t next; /* of code of blocks: the chunk that continues this one, once this one is full */
    uint32_t words[TRACE_CHUNK_WORDS];
};

/* How much of its block a thread has executed. An instruction that may fault sets `at` to its index + 1 when
 * it begins. When the last instruction may fault, each of its finished memory accesses adds one more. `whole`
 * is the value after the whole block. */
struct trace_thread {
    uint32_t at;
    uint32_t whole;
    uint32_t chunk;   /* chunk that the thread owns, or TRACE_NO_CHUNK */
    uint32_t pad[13]; /* fills up a cache line for each thread */
};

/* The shared memory. */
struct trace_area {
    uint32_t magic;
    uint32_t bits;           /* 64 or 32, for the program */
    char model[32];          /* of the M profile: the name of the processor, such as "Cortex-M3"; else "" */
    char inbox[16];          /* name of the abstract socket that takes files that become code; "" if none */
    char jitdump[4096];      /* path of the file in which the program describes generated code; "" if none */
    uint64_t entry;          /* address where the program begins */
    uint64_t code_start;     /* address where its code is loaded */
    _Atomic uint32_t handed; /* number of chunks handed over so far; readers wait for it */
    _Atomic uint32_t freed;  /* number of chunks given back so far; writers wait for it */
    _Atomic uint32_t waiting;
    _Atomic uint32_t first_blocks; /* the first chunk of blocks */
    _Atomic uint32_t lost;         /* number of threads for which there was no place */
    _Atomic uint32_t unread;       /* number of watched accesses whose data could not be read */
    _Atomic uint32_t forked;       /* number of processes that the program has started */
    _Atomic uint32_t replaced;     /* 1: the program calls exec, which has not failed */
    _Atomic uint32_t stop;         /* set by the reader when it wants no more */
    uint32_t itm;                  /* 1: the processor has got an ITM */
    uint32_t order[TRACE_CHUNKS];  /* index of the n-th chunk handed over, at n modulo TRACE_CHUNKS */
    struct trace_thread threads[TRACE_THREADS];
    struct trace_chunk chunks[TRACE_CHUNKS];
};
