/* SPDX-License-Identifier: Apache-2.0 */
/* Computed calls and branches that the program does not tell the targets of. The second target of each is
 * never taken. Needs no library; prints nothing and exits with 0. */
#include "leave.h"

volatile int input = 6;
volatile int result;

__attribute__((noinline)) static int handle_first(int x)
{
    return x + 1;
}

__attribute__((noinline)) static int handle_second(int x)
{
    return x + 2;
}

__attribute__((noinline)) static int handle_third(int x)
{
    return x + 3;
}

int (*volatile handlers[3])(int);

__attribute__((noinline)) int dispatch(int which)
{
    return handlers[which](which) * 2;
}

/* An interpreter with labels as values: the table has no bound. Nothing is
 * relocated, so that it runs anywhere. */
__attribute__((noinline)) int interpret(const unsigned char *code)
{
    static const int labels[] = {0, &&mul - &&add, &&end - &&add};
    int value = 1;
    goto *(&&add + labels[*code]);
add:
    value += 3;
    goto *(&&add + labels[*++code]);
mul:
    value *= 5;
    goto *(&&add + labels[*++code]);
end:
    return value;
}

static const unsigned char program[] = {0, 0, 2};

void _start(void)
{
    handlers[0] = handle_first;
    handlers[1] = handle_second;
    handlers[2] = handle_third;
    for (int k = 0; k < input; k++)
        result += dispatch(k & 1 ? 0 : 2);
    result += interpret(program);
    leave();
}
