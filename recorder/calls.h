/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of Linux that matter for the memory accesses of a program. */
#pragma once

#include <stdint.h>

/* System calls of Linux that change the address space, or make and end processes. */
enum call {
    CALL_OTHER,
    CALL_DUP_TO, /* dup2, dup3 */
    CALL_CLOSE,
    CALL_CLOSE_RANGE,
    CALL_BRK,
    CALL_MUNMAP,
    CALL_MREMAP,
    CALL_MMAP,
    CALL_MADVISE,
    CALL_CLONE,
    CALL_FORK, /* fork, vfork */
    CALL_EXECVE,
    CALL_WAIT4,
    CALL_WAITS, /* may block for long, or end a process: flush the words before */
};

/* Returns the kind of a system call by its number. `arm32`: the program has 32 bits. */
enum call call_of(int arm32, int64_t number);
