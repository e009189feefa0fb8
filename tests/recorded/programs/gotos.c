/* goto: forwards, backwards, out of loops, cleaning up, and computed. */
#include <stdio.h>

static int backwards(int n)
{
    int sum = 0;
again:
    sum += n;
    if (--n > 0)
        goto again;
    return sum;
}

static int out_of_loops(int want)
{
    int i;
    int j;
    for (i = 0; i < 10; i++)
        for (j = 0; j < 10; j++)
            if (i * j == want)
                goto found;
    return -1;
found:
    return i * 100 + j;
}

static int clean_up(int fail)
{
    int state = 0;
    if (fail == 1)
        goto out;
    state++;
    if (fail == 2)
        goto undo;
    state++;
    return state;
undo:
    state -= 10;
out:
    return state;
}

static int machine(const char *program)
{
    static const void *const ops[] = {&&add, &&twice, &&minus, &&end};
    int value = 1;
    goto *ops[*program++ - '0'];
add:
    value += 5;
    goto *ops[*program++ - '0'];
twice:
    value *= 2;
    goto *ops[*program++ - '0'];
minus:
    value -= 3;
    goto *ops[*program++ - '0'];
end:
    return value;
}

int main(void)
{
    printf("%d %d %d\n", backwards(6), out_of_loops(42), out_of_loops(43));
    printf("%d %d %d\n", clean_up(0), clean_up(1), clean_up(2));
    printf("%d\n", machine("0101223"));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
