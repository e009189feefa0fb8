/* SPDX-License-Identifier: Apache-2.0 */
/* Lines whose code a compiler makes several times: loops that are unrolled, and two calls of one function, called
 * or inlined, in one statement. */
#include <stdio.h>

#define COUNT 900

static int left[COUNT], right[COUNT];

__attribute__((noinline)) static int product(int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) sum += left[i] * right[count - 1 - i] ^ i;
    return sum;
}

static inline int inlined(int x)
{
    return x % 7 ? x * 3 : x / 2;
}

__attribute__((noinline)) static int called(int x)
{
    return x + 1;
}

__attribute__((noinline)) static int twice(int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) sum += called(i) + called(sum) + inlined(i) + inlined(sum);
    return sum;
}

__attribute__((noinline)) static int eight(void)
{
    int sum = 0;
    for (int i = 0; i < 8; i++) sum = sum * 31 + (left[i] & 1 ? inlined(sum) : sum / 3);
    return sum;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < COUNT; i++) {
        left[i] = i * 7;
        right[i] = i ^ 5;
    }
    for (int i = 0; i < 5; i++) sum += product(COUNT) + twice(COUNT) + eight();
    printf("%d\n", sum);
    return 0;
}
