/* SPDX-License-Identifier: Apache-2.0 */
/* A dynamically linked program: it calls functions of the C library, some often, one that calls back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[64];

__attribute__((noinline)) int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) size_t format(int value)
{
    snprintf(text, sizeof text, "%d", value);
    return strlen(text);
}

__attribute__((noinline)) size_t sorted(int *values, int count)
{
    size_t sum = 0;
    qsort(values, (size_t)count, sizeof *values, compare);
    for (int i = 0; i < count; i++)
        sum += format(values[i]);
    return sum;
}

int main(void)
{
    int values[20];
    size_t sum = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i++)
            values[i] = (i * 7919 + round) % 101;
        sum += sorted(values, 20);
    }
    return sum > 1000;
}
