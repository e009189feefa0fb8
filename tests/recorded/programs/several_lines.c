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
    printf("%d"
           "%s\n",
           sum,
           sum > 5 ? "more"
                   : "less");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
