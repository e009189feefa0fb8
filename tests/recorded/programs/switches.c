/* switch: dense, sparse, falling through, without default, on a character. */
#include <stdio.h>

static int dense(int n)
{
    switch (n) {
    case 0:
        return 10;
    case 1:
        return 11;
    case 2:
        return 12;
    case 3:
        return 13;
    case 4:
        return 14;
    case 5:
        return 15;
    case 6:
        return 16;
    default:
        return -1;
    }
}

static int sparse(int n)
{
    int result = 0;
    switch (n) {
    case 1:
        result = 1;
        break;
    case 100:
        result = 2;
        break;
    case 10000:
        result = 3;
        break;
    }
    return result;
}

static int through(int n)
{
    int result = 0;
    switch (n) {
    case 3:
        result += 3;
        /* fall through */
    case 2:
        result += 2;
        /* fall through */
    case 1:
        result += 1;
        break;
    default:
        result = -1;
    }
    return result;
}

static int kind(char c)
{
    switch (c) {
    case 'a': case 'e': case 'i': case 'o': case 'u':
        return 1;
    case '0' ... '9':
        return 2;
    default:
        return 0;
    }
}

int main(void)
{
    int sum = 0;
    for (int i = -1; i < 9; i++)
        sum += dense(i);
    for (int i = 1; i <= 10000; i *= 10)
        sum += sparse(i);
    for (int i = 0; i < 5; i++)
        sum += through(i);
    for (const char *p = "hello world 2026"; *p; p++)
        sum += kind(*p);
    printf("%d\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
