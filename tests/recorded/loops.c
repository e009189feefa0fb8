/* SPDX-License-Identifier: Apache-2.0 */
/* Loops, each with a line of its own: that of its condition. A64, A32 and T32; needs no library. Prints
 * nothing and exits with 0. The comments "rounds: N" say where the loops are, and how often their bodies
 * run. */
#include "leave.h"

volatile int twelve = 12;
volatile int result;

static inline int is_enough(int sum)
{
    return sum >= result + 20;
}

/* The inner loop begins where the body of the outer one begins. */
__attribute__((noinline)) int nested(int n)
{
    int sum = 0;
    for (int i = 0; i < n + 1; i++) {     /* rounds: 13 */
        for (int j = 0; j < n + 5; j++) { /* rounds: 17 */
            if (sum > j + 1000000)
                break;
            sum += result ^ j;
        }
        if (!n)
            break;
    }
    return sum;
}

/* The condition of a loop is an inlined function above it. */
__attribute__((noinline)) int inlined(int n)
{
    int sum = n;
    while (!is_enough(sum)) /* rounds: 8 */
        sum += 1 + (result & sum);
    return sum;
}

/* The line of a loop with its condition at the end is that of its end. */
__attribute__((noinline)) int at_end(int n)
{
    int sum = 0;
    do {
        sum += result ^ n;
        result = result;
        n++;
    } while (n < 35); /* rounds: 23 */
    return sum;
}

/* A bound on the line of the outer loop is not one of the inner loop, and not the other way round. */
__attribute__((noinline)) int outer_told(int n)
{
    int sum = 0;
    for (int i = 0; i < n - 2; i++)     /* loop bound: 60 */
        for (int j = 0; j < n + 7; j++) /* rounds: 19 */
            sum += result ^ j;
    return sum;
}

__attribute__((noinline)) int inner_told(int n)
{
    int sum = 0;
    for (int i = 0; i < n - 1; i++)     /* rounds: 11 */
        for (int j = 0; j < n + 3; j++) /* loop bound: 70 */
            sum += result ^ j;
    return sum;
}

/* One bound above a loop, one as TACLeBench has it, one that is too low. */
__attribute__((noinline)) int told(int n)
{
    int sum = 0;
    /* loop bound: 80 */
    for (int i = 0; i < n + 9; i++)
        sum += result ^ i;
    _Pragma("loopbound min 1 max 90") for (int i = 0; i < n + 11; i++) sum ^= result + i;
    for (int i = 0; i < n + 13; i++) /* loop bound: 5 */
        sum += result + i;
    return sum;
}

/* Two loops of the source that begin with the same code: compilers make one of them. */
__attribute__((noinline)) int shared(int n)
{
    static int at[12] = {5, 2, 0, 4, 1, 7, 3, 6, 9, 11, 8, 10};
    int moves = 0;
    for (int i = 0; i < n;) { /* loop bound: 12 */
        for (;;) {
            int to = at[i];
            if (to == i)
                break;
            at[i] = at[to];
            at[to] = to;
            moves++;
        }
        i++;
    }
    return moves;
}

/* A loop in a recursion: its bound is that of one entry. */
__attribute__((noinline)) int recursive(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* loop bound: 12 */
        sum += result ^ i;
    return n > 1 ? sum + recursive(n - 1) + recursive(n - 3) : sum;
}

int all(int n)
{
    return nested(n) + inlined(n) + at_end(n) + outer_told(n) + inner_told(n) + told(n) + shared(n) +
           recursive(n);
}

void _start(void)
{
    result = all(twelve) & 0;
    leave();
}
