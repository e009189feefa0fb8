/* SPDX-License-Identifier: Apache-2.0 */
/* coretap access: what the access plugin of QEMU (coretap-access.so) says of a program: 64-bit words, in the
 * order of the host's bytes.
 *
 *   bits 47:0   virtual address
 *   bits 51:48  log2 of the size in bytes (loads and stores), or instructions of the run (fetches, 0 means
 *               16)
 *   bits 53:52  enum ct_access_kind
 *   bits 61:54  virtual processor
 *
 * A note is followed by four words: what happened and three values. The bytes of a path come behind these, in
 * whole words with zeros behind the last byte. */
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
    CT_NOTE_PROGRAM, /* start and end of the program's code, its entry point: where it was loaded */
    CT_NOTE_MAP,     /* address and size of memory that mmap gave; 1 when for a file */
    CT_NOTE_UNMAP,   /* address and size */
    CT_NOTE_BREAK,   /* end of the heap */
    CT_NOTE_STACK,   /* an address in the first stack */
    CT_NOTE_MOVE,    /* old and new address and size of memory that mremap moved */
    CT_NOTE_SHARED, /* address and size of memory that mmap gave, and what it shows: a file's page (bits 39:0)
                       of a file (bits 63:40); 0: private memory */
    CT_NOTE_HUGE,   /* address and size of memory that is to have huge pages */
    CT_NOTE_FORK,   /* number of a child process, whose words come through a pipe of their own */
    CT_NOTE_END,    /* number of a child process that was waited for */
    CT_NOTE_EXEC, /* bytes of a path, which follows: the program there runs in this one's place from now on */
    CT_NOTE_LEAVE, /* the same of a program that is for another machine: if no word follows, it ran */
    CT_NOTE_REMAP, /* old and new address and new size of memory that mremap moved or made larger: what it
                      shows at the new one is what it showed at the old one, and what comes behind that */
    CT_NOTE_FILE,  /* bytes of a path, which follows; address and size of memory that shows that file */
};

#define CT_ACCESS_WORDS_NOTE 4

/* Returns a word of the stream. `low` stands in bits 51:48. */
static inline uint64_t ct_access_word(enum ct_access_kind kind, unsigned cpu, unsigned low, uint64_t va)
{
    return (va & UINT64_C(0xffffffffffff)) | (uint64_t)(low & 15) << 48 | (uint64_t)kind << 52 |
           (uint64_t)(cpu & 255) << 54;
}

/* Returns what a word says. */
static inline enum ct_access_kind ct_access_kind_of(uint64_t word)
{
    return (enum ct_access_kind)(word >> 52 & 3);
}

/* Returns the virtual address in a word. */
static inline uint64_t ct_access_va(uint64_t word)
{
    return word & UINT64_C(0xffffffffffff);
}

/* Returns bits 51:48 of a word, which are of its kind. */
static inline unsigned ct_access_low(uint64_t word)
{
    return (unsigned)(word >> 48 & 15);
}

/* Returns the virtual processor in a word. */
static inline unsigned ct_access_cpu(uint64_t word)
{
    return (unsigned)(word >> 54 & 255);
}

#ifdef __cplusplus
}
#endif
#endif
