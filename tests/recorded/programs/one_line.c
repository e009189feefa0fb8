/* Several statements, and whole functions, on one line. */
#include <stdio.h>

static int twice(int n) { return 2 * n; }
static int least(int a, int b) { if (a < b) return a; return b; }
static int count(int n) { int c = 0; while (n) { c += n & 1; n >>= 1; } return c; }

static int chain(int n)
{
    int a = n; int b = twice(a); int c = least(a, b);
    if (a > 2) { b++; c--; } else { b--; c++; }
    a += twice(b) + twice(c); b += least(a, twice(c));
    for (int i = 0; i < 3; i++) { if (i == 1) continue; a += i; }
    if (a > 50) return a; if (b > 50) return b;
    return c;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 8; i++) { sum += chain(i); sum += count(i); }
    printf("%d\n", sum); return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
