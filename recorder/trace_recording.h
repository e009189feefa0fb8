/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the trace plugin. */
#pragma once

#include <pthread.h>

#include "exceptions_m.h"
#include "trace_stream.h"

#define HANDLERS 256u

/* What the callbacks know about a block that QEMU translated. */
struct block {
    uint32_t id;
    uint32_t insns;
    uint32_t whole; /* value of `at` of the thread when the whole block was executed */
    _Atomic uint32_t handler;
    uint32_t sets_context; /* number of the register + 1, if it ends by setting the context ID */
    uint32_t sets_table;   /* A32: the instruction, if it ends by setting where the vector table is; else 0 */
    uint32_t vector_level; /* exception level, if it may be an exception vector to it; else 0 */
    uint32_t stores;       /* 1: the block may write to memory */
    uint64_t addr;
    uint64_t end;
    struct block *next;
};

/* The state of a thread that writes; each has a cache line of its own. */
struct writer {
    _Alignas(64) uint32_t *words;
    _Atomic uint32_t *used;
    uint32_t count;
    uint32_t room;
    unsigned index;      /* QEMU's index of the thread */
    uint64_t clock;      /* clock of the thread, in cycles */
    uint64_t seen;       /* the newest published clock that the thread has read */
    uint64_t end;        /* end of the block before */
    uint32_t insns;      /* instructions of the block before */
    uint32_t until_wait; /* number of blocks up to the next wait for memory */
    uint64_t random;
    uint32_t sets_context;           /* sets_context of the block before */
    uint32_t sets_table;             /* sets_table of the block before */
    struct exceptions_m *exceptions; /* of the M profile; NULL: no block was executed yet */
};

/* The state of the recording of one program: QEMU loads the plugin once. */
struct recording {
    struct writer writers[TRACE_THREADS];
    struct trace_area *area;
    pthread_mutex_t lock;
    _Atomic int detached; /* there is no reader any more, or this is a forked child */
    uint32_t block_count;
    uint32_t thread_count;
    _Atomic uint32_t threads_now;
    uint64_t seed;
    uint32_t latency; /* in cycles; 0: clocks of threads agree at system calls only */
    int each;
    int arm32;
    int system; /* QEMU emulates a whole machine, so a thread is a processor */
    int m_profile;
    int itm; /* processors of the M profile get an ITM */
    struct block *blocks;
    uint64_t handlers[HANDLERS];
    struct {
        uint64_t start, size;
    } watched[TRACE_WATCHED]; /* relative to the begin of the code until that is known */
    uint32_t handler_count;
    uint32_t watched_count;
};

extern struct recording rec;
