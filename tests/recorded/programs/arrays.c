/* Arrays of variable length, structures by value, compound literals. */
#include <stdio.h>
#include <string.h>

struct pair {
    int a;
    int b;
    char text[24];
};

static int sieve(int n)
{
    char composite[n + 1];
    int count = 0;
    memset(composite, 0, sizeof composite);
    for (int i = 2; i <= n; i++) {
        if (composite[i])
            continue;
        count++;
        for (int j = 2 * i; j <= n; j += i)
            composite[j] = 1;
    }
    return count;
}

static struct pair swapped(struct pair p)
{
    struct pair q = {
        .a = p.b,
        .b = p.a,
    };
    strcpy(q.text, p.text);
    return q;
}

static int matrix(int n, int m[n][n])
{
    int trace = 0;
    for (int i = 0; i < n; i++)
        trace += m[i][i];
    return trace;
}

int main(void)
{
    struct pair p = swapped((struct pair){1, 2, "text"});
    int m[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    int lengths = 0;
    for (int n = 1; n < 4; n++) {
        int v[n];
        for (int i = 0; i < n; i++)
            v[i] = i;
        lengths += (int)(sizeof v / sizeof *v) + v[n - 1];
    }
    printf("%d %d %s %d %d\n", sieve(50), p.a, p.text, matrix(3, m), lengths);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
