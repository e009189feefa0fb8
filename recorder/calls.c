/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <stddef.h>

/* A system call by its number. */
struct call_number {
    int16_t number;
    uint8_t call; /* enum call */
};

/* System calls of arm64 (asm-generic/unistd.h). The ones that block are epoll_pwait, read, readv, pselect6,
 * ppoll, waitid, futex, nanosleep, clock_nanosleep, rt_sigsuspend, accept, recvfrom, recvmsg and accept4;
 * kill, tkill and tgkill may end a process. */
static const struct call_number calls_a64[] = {
    {24, CALL_DUP_TO},  {57, CALL_CLOSE},  {436, CALL_CLOSE_RANGE}, {214, CALL_BRK},   {215, CALL_MUNMAP},
    {216, CALL_MREMAP}, {222, CALL_MMAP},  {233, CALL_MADVISE},     {220, CALL_CLONE}, {221, CALL_EXECVE},
    {260, CALL_WAIT4},  {22, CALL_WAITS},  {63, CALL_WAITS},        {65, CALL_WAITS},  {72, CALL_WAITS},
    {73, CALL_WAITS},   {95, CALL_WAITS},  {98, CALL_WAITS},        {101, CALL_WAITS}, {115, CALL_WAITS},
    {133, CALL_WAITS},  {202, CALL_WAITS}, {207, CALL_WAITS},       {212, CALL_WAITS}, {242, CALL_WAITS},
    {129, CALL_WAITS},  {130, CALL_WAITS}, {131, CALL_WAITS},
};

/* System calls of arm's EABI (arch/arm/tools/syscall.tbl); mmap is mmap2. Besides the same ones, these block:
 * pause, poll, sigsuspend, _newselect, epoll_wait, recv, and those of 64-bit time: clock_nanosleep, pselect6,
 * ppoll and futex. */
static const struct call_number calls_a32[] = {
    {63, CALL_DUP_TO}, {358, CALL_DUP_TO}, {6, CALL_CLOSE},   {436, CALL_CLOSE_RANGE}, {45, CALL_BRK},
    {91, CALL_MUNMAP}, {163, CALL_MREMAP}, {192, CALL_MMAP},  {220, CALL_MADVISE},     {120, CALL_CLONE},
    {2, CALL_FORK},    {190, CALL_FORK},   {11, CALL_EXECVE}, {114, CALL_WAIT4},       {3, CALL_WAITS},
    {29, CALL_WAITS},  {72, CALL_WAITS},   {142, CALL_WAITS}, {145, CALL_WAITS},       {162, CALL_WAITS},
    {168, CALL_WAITS}, {179, CALL_WAITS},  {240, CALL_WAITS}, {252, CALL_WAITS},       {265, CALL_WAITS},
    {280, CALL_WAITS}, {285, CALL_WAITS},  {291, CALL_WAITS}, {292, CALL_WAITS},       {297, CALL_WAITS},
    {335, CALL_WAITS}, {336, CALL_WAITS},  {346, CALL_WAITS}, {366, CALL_WAITS},       {407, CALL_WAITS},
    {413, CALL_WAITS}, {414, CALL_WAITS},  {422, CALL_WAITS}, {37, CALL_WAITS},        {238, CALL_WAITS},
    {268, CALL_WAITS},
};

enum call call_of(int arm32, int64_t number)
{
    const struct call_number *all = arm32 ? calls_a32 : calls_a64;
    const size_t count = arm32 ? sizeof calls_a32 / sizeof *calls_a32 : sizeof calls_a64 / sizeof *calls_a64;
    for (size_t i = 0; i < count; i++)
        if (all[i].number == number)
            return (enum call)all[i].call;
    return CALL_OTHER;
}
