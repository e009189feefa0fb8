/* Code that changes while the program runs: functions are written to one place in turn, and called; then two
 * of them alternate. A thread does the same in another place.
 *
 *   rewrites [ROUNDS] */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Functions that return: the argument plus one; the number that they counted to (a loop with a backward
 * branch); the larger of the argument and 7 (a branch that is not always taken). */
#if defined __aarch64__
static const uint32_t plus[] = {0x11000400, 0xd65f03c0};
static const uint32_t counts[] = {0x52800001, 0x11000421, 0x6b00003f, 0x54ffffc3, 0x2a0103e0, 0xd65f03c0};
static const uint32_t larger[] = {0x71001c1f, 0x54000048, 0x528000e0, 0xd65f03c0};
#elif defined __thumb__
static const uint16_t plus[] = {0x3001, 0x4770};
static const uint16_t counts[] = {0x2100, 0x3101, 0x4281, 0xd3fc, 0x4608, 0x4770};
static const uint16_t larger[] = {0x2807, 0xd800, 0x2007, 0x4770};
#else
static const uint32_t plus[] = {0xe2800001, 0xe12fff1e};
static const uint32_t counts[] = {0xe3a01000, 0xe2811001, 0xe1510000, 0x3afffffc, 0xe1a00001, 0xe12fff1e};
static const uint32_t larger[] = {0xe3500007, 0x8a000000, 0xe3a00007, 0xe12fff1e};
#endif

typedef unsigned function(unsigned);

/* Writes a function to a place and calls it. */
static unsigned call(char *place, const void *code, size_t size, unsigned argument)
{
    function *f;
    uintptr_t address = (uintptr_t)place;
    memcpy(place, code, size);
    __builtin___clear_cache(place, place + size);
#ifdef __thumb__
    address |= 1;
#endif
    memcpy(&f, &address, sizeof f);
    return f(argument);
}

static unsigned rewrite(char *place, unsigned rounds)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        sum += call(place, plus, sizeof plus, i);
        sum += call(place, counts, sizeof counts, 3 + i % 5);
        sum += call(place, larger, sizeof larger, i);
        sum += call(place + 256, plus, sizeof plus, i); /* the same each time */
    }
    return sum;
}

static void *in_thread(void *place)
{
    return (void *)(uintptr_t)rewrite(place, 5);
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    void *other = NULL;
    if (page == MAP_FAILED)
        return 1;
    const unsigned sum = rewrite(page, rounds);
    if (pthread_create(&thread, NULL, in_thread, page + 4096) == 0)
        pthread_join(thread, &other);
    printf("%u %u\n", sum, (unsigned)(uintptr_t)other);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
