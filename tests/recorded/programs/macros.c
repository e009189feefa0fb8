/* Macros that hide statements, loops and conditions. */
#include <stdio.h>

#define MAX(a, b)      ((a) > (b) ? (a) : (b))
#define SWAP(a, b)     do { int swap_ = (a); (a) = (b); (b) = swap_; } while (0)
#define FOR_EACH(i, n) for (int i = 0; i < (n); i++)
#define CHECK(truth) \
    do {             \
        if (!(truth)) \
            return -1; \
    } while (0)
#define TWO(a, b) \
    a += 2;       \
    b += 3

static int checked(int n)
{
    CHECK(n > 0);
    CHECK(n < 5);
    return n;
}

static int sorted(int *v, int n)
{
    int swaps = 0;
    FOR_EACH(i, n)
        FOR_EACH(j, n - 1)
            if (v[j] > v[j + 1]) {
                SWAP(v[j], v[j + 1]);
                swaps++;
            }
    return swaps;
}

int main(void)
{
    int v[] = {5, 2, 9, 1};
    int best = 0;
    int a = 0;
    int b = 0;
    int swaps = sorted(v, 4);
    FOR_EACH(i, 4)
        best = MAX(best, v[i]);
    FOR_EACH(i, 7)
        best += checked(i);
    TWO(a, b);
    TWO(b, a);
    printf("%d %d %d %d\n", swaps, best, a, b);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
