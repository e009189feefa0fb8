/* A program to record: where does its time go? Counts primes in two ways and prints both.
 *
 *   primes [LIMIT] */
#include <stdio.h>
#include <stdlib.h>

static int by_division(int limit)
{
    int count = 0;
    for (int n = 2; n < limit; n++) {
        int d = 2;
        while (d * d <= n && n % d)
            d++;
        count += d * d > n;
    }
    return count;
}

static int by_sieve(int limit)
{
    char *crossed = calloc((size_t)limit, 1);
    int count = 0;
    for (int n = 2; crossed && n < limit; n++) {
        if (crossed[n])
            continue;
        count++;
        for (long m = (long)n * n; m < limit; m += n)
            crossed[m] = 1;
    }
    free(crossed);
    return count;
}

int main(int argc, char **argv)
{
    const int limit = argc > 1 ? atoi(argv[1]) : 2000;
    printf("%d %d\n", by_division(limit), by_sieve(limit));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
