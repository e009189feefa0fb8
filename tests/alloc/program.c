/* SPDX-License-Identifier: Apache-2.0 */
/* A small program to record, without a C library: mangled C++ names, an inlined call, conditions, a computed
 * call, a loop that depends on its input. */

static volatile unsigned sink;
volatile unsigned ports[2];
#define CORETAP_PORTS ports
#include <coretap/itm.h>

static inline unsigned mix(unsigned a, unsigned b)
{
    return a > b ? a * 3 + b : a ^ b;
}

unsigned twice(unsigned n) __asm__("_ZN4work5twiceEj");
__attribute__((noinline)) unsigned twice(unsigned n)
{
    return mix(n, 7) << 1;
}

__attribute__((noinline)) static unsigned sum_to(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if (i > 2 && (i & 1))
            sum += mix(i, sum);
        else
            sum += i;
    }
    return sum;
}

__attribute__((noinline)) static unsigned by_table(unsigned which, unsigned n)
{
    static unsigned (*const table[])(unsigned) = {twice, sum_to};
    return table[which & 1](n);
}

__attribute__((noinline)) static void work_round(unsigned n)
{
    sink += by_table(n, n % 5);
}

void _start(void)
{
    for (unsigned n = 0; n < 12; n++)
        work_round(n);
    CORETAP_TEXT(1, "%s %d", "ran", 12);
    CORETAP_VALUE(1, "sink", sink);
    register long number __asm__("x8") = 93; /* exit */
    register long code __asm__("x0") = 0;
    __asm__ volatile("svc 0" : : "r"(number), "r"(code));
}
