/* Statements over several lines: calls, conditions, initialisers, strings. */
#include <stdio.h>

static int add(int a,
               int b,
               int c)
{
    return a +
           b +
           c;
}

static int
style(
    int n)
{
    if (n > 3 &&
        n < 10 &&
        n != 5) {
        return
            n;
    }
    return -
        n;
}

static int pairs(const int *at, int n)
{
    int sum = 0;
    for (; n > 0; n--) {
        int one = add(at[n],
                      at[n - 1],
                      n);
        sum += one;
    }
    return sum;
}

static int twice(int n)
{
    return 2 * n;
}

static int called(const int *to, const int *from, int n)
{
    int sum = 0;
    if (n != 2)
        sum = add(n, twice(n),
                  (int)(to - from));
    while (n < 3)
        n = add(n, twice(0),
                (int)(to - from));
    return sum + n;
}

int
main(void)
{
    int sum = 0;
    for (int i = 0;
         i < 12;
         i++)
        sum += style(i);
    int values[] = {
        add(1, 2, 3),
        add(4,
            5,
            6),
        sum,
    };
    sum = add(values[0],
              add(values[1],
                  style(4),
                  2),
              values[2]);
    sum += pairs(values,
                 3);
    for (int i = 0; i < 4; i++)
        sum += called(values + 1, values, i);
    printf("%d"
           "%s\n",
           sum,
           sum > 5 ? "more"
                   : "less");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
