/* SPDX-License-Identifier: Apache-2.0 */
/* coretap access: the trace of a program's memory accesses that the access plugin of QEMU (coretap-access.so)
 * writes. It consists of 64-bit words in the byte order of the host.
 *
 *   bits 47:0   virtual address
 *   bits 51:48  log2 of the size in bytes (loads and stores), or the number of instructions in the run
 *               (fetches; 0 means 16)
 *   bits 53:52  enum ct_access_kind
 *   bits 61:54  virtual processor
 *
 * Four words follow a note: what happened (enum ct_access_note) and three values. Where the note has a path,
 * its bytes follow in whole words, with zeros after the last byte. */
#ifndef CORETAP_ACCESS_H
#define CORETAP_ACCESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ct_access_kind {
    CT_ACCESS_FETCH, /* a run of instructions inside one line of 64 bytes */
    CT_ACCESS_LOAD,
    CT_ACCESS_STORE,
    CT_ACCESS_NOTE,
};

enum ct_access_note {
    CT_NOTE_PROGRAM, /* start and end of the program's code as loaded, and its entry point */
    CT_NOTE_MAP,     /* address and size of memory that mmap gave; 1 when it maps a file */
    CT_NOTE_UNMAP,   /* address and size */
    CT_NOTE_BREAK,   /* end of the heap */
    CT_NOTE_STACK,   /* an address in the first stack */
    CT_NOTE_MOVE,    /* old and new address and size of memory that mremap moved */
    CT_NOTE_SHARED,  /* address and size of shared memory that mmap gave, and what it maps: bits 63:40 the
                        number of a file, bits 39:0 the page in it; 0: private memory */
    CT_NOTE_HUGE,    /* address and size of memory for which huge pages were requested */
    CT_NOTE_FORK,    /* number of a child process, whose words come through its own pipe */
    CT_NOTE_END,     /* number of a child process that the parent waited for */
    CT_NOTE_EXEC,    /* bytes of a path, which follows: from here on the program at that path runs in this
                        process */
    CT_NOTE_LEAVE,   /* like EXEC, for a program of another architecture: if no word follows, it ran */
    CT_NOTE_REMAP, /* old and new address and new size of memory that mremap moved or grew. The new range maps
                      what the old one mapped, and what follows that in the file */
    CT_NOTE_FILE,  /* bytes of a path, which follows; address and size of the memory that maps that file */
    CT_NOTE_UNSEEN, /* the process accessed memory by SVE instructions, which QEMU does not report */
};

#define CT_ACCESS_WORDS_NOTE 4

/* Builds a word of the trace. `low` goes into bits 51:48. */
static inline uint64_t ct_access_word(enum ct_access_kind kind, unsigned cpu, unsigned low, uint64_t va)
{
    return (va & UINT64_C(0xffffffffffff)) | (uint64_t)(low & 15) << 48 | (uint64_t)kind << 52 |
           (uint64_t)(cpu & 255) << 54;
}

/* Returns the kind of a word. */
static inline enum ct_access_kind ct_access_kind_of(uint64_t word)
{
    return (enum ct_access_kind)(word >> 52 & 3);
}

/* Returns the virtual address in a word. */
static inline uint64_t ct_access_va(uint64_t word)
{
    return word & UINT64_C(0xffffffffffff);
}

/* Returns bits 51:48 of a word; their meaning depends on its kind. */
static inline unsigned ct_access_low(uint64_t word)
{
    return (unsigned)(word >> 48 & 15);
}

/* Returns the number of the virtual processor in a word. */
static inline unsigned ct_access_cpu(uint64_t word)
{
    return (unsigned)(word >> 54 & 255);
}

#ifdef __cplusplus
}
#endif
#endif
