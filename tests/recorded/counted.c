/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of each form that compilers make. The comments say which are counted by their code, and how often
 * their bodies run: at all levels of optimisation, or at -O0 (counted without optimisation); what is marked
 * neither way depends on the compiler. A64, A32 and T32; a program of Linux,
 * or with -DFIRMWARE one of a Cortex-M that ends by a call of the debugger. */
typedef unsigned char u8;
typedef unsigned short u16;

#define APART __attribute__((noinline))
#ifdef __clang__
#define SAME APART
#else
#define SAME __attribute__((noinline, noclone)) /* one function for all arguments */
#endif

volatile int twelve = 12;
volatile int result;
int words[400];
int table[22][19], other[22][19];
short halves[64];
u8 bytes[300];
const int fixed[37] = {1, 2, 3, 4};

APART int up(void)
{
    int sum = 0;
    for (int i = 0; i < 10; i++) /* counted: 10 */
        sum += result;
    return sum;
}

APART int down(void)
{
    int sum = 0;
    for (int i = 30; i >= 0; i--) /* counted: 31 */
        sum += result;
    return sum;
}

APART int at_end(void)
{
    int sum = 0, i = 17;
    do {
        sum += result;
    } while (--i); /* counted: 17 */
    return sum;
}

APART int in_steps(void)
{
    int sum = 0;
    for (int i = 3; i < 1000; i += 7) /* counted: 143 */
        sum += result;
    return sum;
}

APART int without_sign(void)
{
    int sum = 0;
    for (unsigned i = 5; i <= 60; i += 5) /* counted: 12 */
        sum += result;
    return sum;
}

APART int large(void)
{
    int sum = 0;
    for (int i = 0; i < 100000; i += 1000) /* counted: 100 */
        sum += result;
    return sum;
}

APART int of_bytes(void)
{
    int sum = 0;
    for (u8 i = 200; i < 250; i++) /* counted: 50 */
        sum += result;
    return sum;
}

APART int of_signed_bytes(void)
{
    int sum = 0;
    for (signed char i = 100; i >= 0; i--) /* counted: 101 */
        sum += result;
    return sum;
}

APART int of_halves(void)
{
    int sum = 0;
    for (u16 i = 0; i < 700; i += 2) /* counted: 350 */
        sum += result;
    return sum;
}

APART int arrays(void)
{
    int sum = 0;
    for (int i = 0; i < 400; i++) /* counted: 400 */
        words[i] = i * result;
    for (int i = 0; i < 37; i++) /* counted: 37 */
        sum += fixed[i] * result;
    for (int i = 0; i < 64; i++) /* counted: 64 */
        sum += halves[i] * result;
    return sum;
}

APART int multiplied(void)
{
    int sum = 0;
    for (int i = 1; i < 1000; i <<= 1) /* counted: 10 */
        sum += result;
    for (int i = 1; i < 1000; i *= 3) /* counted without optimisation: 7 */
        sum += result;
    for (unsigned i = 3; i < 100000; i *= 10) /* counted without optimisation: 5 */
        sum += result;
    return sum;
}

/* The first values are not constant, so the width bounds the rounds. */
APART int shifted(unsigned n, int m)
{
    int sum = 0;
    unsigned k = n, l = n;
    u16 h = (u16)n;
    for (unsigned i = 1000; i > 0; i >>= 1) /* counted without optimisation: 10 */
        sum += result;
    while (n) { /* counted without optimisation: 32 */
        sum += result;
        n >>= 1;
    }
    while (m > 0) { /* counted without optimisation: 11 */
        sum += result;
        m >>= 3;
    }
    do {
        sum += result;
        k >>= 2;
    } while (k > 5);        /* counted without optimisation: 15 */
    for (; h != 0; h >>= 1) /* counted without optimisation: 16 */
        sum += result;
    for (; l; l >>= 1) /* counted without optimisation: 32 */
        if (l & 1)
            sum += result;
    return sum;
}

/* Shifts that end these loops in this execution only. */
APART int shifted_otherwise(int m, unsigned n, unsigned by)
{
    int sum = 0;
    unsigned k = n, l = n & 0x20000, o = n;
    volatile unsigned v = n;
    unsigned *volatile at = (unsigned *)&v;
    for (int i = m; i; i >>= 1) /* not counted: not constant or no compare */
        sum += result;
    while (n) { /* not counted: no counter or another way or no compare or no branch */
        sum += result;
        n >>= by & 1;
        by++;
    }
    while (k > 1) { /* not counted: no counter or another way or no compare or no branch */
        sum += result;
        k = k & 1 ? 3 * k + 1 : k >> 1;
    }
    for (; l != 1;
         l = l >> 1 | l << 31) /* not counted: no counter or another way or no compare or no branch */
        sum += result;
    while (v) { /* not counted: no counter or another way or no compare or no branch */
        sum += result;
        v >>= 1;
        if (sum++ == 3)
            *at = 0xfffffff0;
    }
    for (; o > 0; o >>= 1) { /* not counted: no counter or another way or no compare or no branch */
        sum += result;
        if (sum++ & 1)
            continue;
        o += o >> 1;
    }
    return sum;
}

/* Only the distance to the end is constant. */
APART int pointer(const int *at)
{
    int sum = 0;
    for (const int *end = at + 48; at != end; at++) /* counted: 48 */
        sum += *at ^ result;
    return sum;
}

APART int nested(void)
{
    int sum = 0;
    for (int i = 0; i < 12; i++)     /* counted: 12 */
        for (int j = 0; j < 20; j++) /* counted: 20 */
            sum += result ^ j;
    return sum;
}

/* The inner loops depend on the outer ones. */
APART int triangles(void)
{
    int sum = 0;
    for (int i = 0; i < 20; i++)          /* counted: 20 */
        for (int j = i + 1; j <= 30; j++) /* counted: 30 */
            sum += result ^ j;
    for (int i = 0; i < 16; i++)
        for (int j = i; j < i + 5; j++) /* counted: 5 */
            sum += result ^ j;
    for (int i = 0; i < 11; i++)
        for (int j = i; j < 11; j++)
            for (int k = i; k <= j; k++)
                sum += result ^ k;
    return sum;
}

/* The addresses of the stores depend on both counters. */
APART int in_table(void)
{
    for (int i = 0; i < 22; i++)
        for (int j = 0; j < 19; j++) { /* counted: 19 */
            table[i][j] = i + j + result;
            other[i][j] = i - j;
        }
    return table[3][4] + other[5][6];
}

APART int leaves_early(void)
{
    int sum = 0;
    for (int i = 0; i < 33; i++) { /* counted: 33 */
        sum += result;
        if (sum > 1000)
            break;
    }
    for (int i = 0; i < 34; i++) { /* counted: 34 */
        if (result & i)
            continue;
        sum += i;
    }
    for (int i = 0; i < 90; i++) /* counted: 90 */
        if (bytes[i] == 77)
            return i;
    return sum;
}

APART int calls(void)
{
    int sum = 0;
    for (int i = 0; i < 14; i++) /* called: 14 */
        sum += up() + result;
    return sum;
}

/* All calls give a constant: mostly counted. */
SAME int by_argument(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i ^ result;
    return sum;
}

/* A pointer may lead here, too. */
SAME int by_pointer(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* not counted: not constant */
        sum ^= result + i;
    return sum;
}

int (*volatile pointer_to)(int) = by_pointer;

/* Loops that no constant bounds. */
APART int by_parameter(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* not counted: not constant */
        sum += result;
    return sum;
}

APART int by_condition(void)
{
    int sum = 0;
    for (int i = 0; i < 20;) { /* not counted: no counter or another way */
        sum += result + 1;
        i += sum & 1 ? 1 : 2;
    }
    for (int i = 0; i < 21; i++) { /* not counted: another way or no branch or no counter */
        sum += result;
        if (sum == 12345)
            i = 0;
    }
    return sum;
}

APART int search(int x)
{
    int low = 0, high = 255;
    while (low <= high) { /* not counted: no counter or also changes or no branch */
        int middle = (low + high) / 2;
        if (words[middle] < x)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return low;
}

/* Another pointer to the counter. */
APART void change(int *i)
{
    *i += result + 2;
}

APART int by_address(void)
{
    int sum = 0;
    for (int i = 0; i < 50;) { /* not counted: no counter or another way */
        change(&i);
        sum++;
    }
    return sum;
}

int all(int n)
{
    return up() + down() + at_end() + in_steps() + without_sign() + large() + of_bytes() + of_signed_bytes() +
           of_halves() + arrays() + pointer(words) + nested() + in_table() + leaves_early() + calls() +
           triangles() + by_argument(25) + by_argument(7) + by_pointer(4) + pointer_to(n) + by_parameter(n) +
           by_condition() + search(n) + by_address() + multiplied() +
           shifted(0xffffffff - (unsigned)twelve, 0x7fffff00 - twelve) +
           shifted_otherwise(n << 20, 200000, 0);
}

#ifdef FIRMWARE
extern int stack_end;

void reset_handler(void)
{
    register int function __asm__("r0") = 0x18;    /* SYS_EXIT */
    register int argument __asm__("r1") = 0x20026; /* ADP_Stopped_ApplicationExit */
    result = all(twelve) & 0;
    function = 0x18;
    argument = 0x20026;
    __asm__ volatile("bkpt 0xab" : : "r"(function), "r"(argument) : "memory");
    for (;;)
        ;
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {&stack_end,
                                                                                   (void *)reset_handler};
#else
#include "leave.h"

void _start(void)
{
    result = all(twelve) & 0;
    leave();
}
#endif
