/* SPDX-License-Identifier: Apache-2.0 */
/* Switches of all sizes, loops, calls, calls that do not return, tail calls: what compilers make of control
 * flow. Needs no library; _start runs everything. */
volatile int sink;

__attribute__((noinline)) int twist(int x)
{
    return x * 3 + sink;
}

__attribute__((noinline, noreturn)) void stop(void)
{
    for (;;)
        sink++;
}

int from_zero(int x)
{
    switch (x) {
    case 0:
        sink = 1;
        break;
    case 1:
        sink = twist(4);
        break;
    case 2:
        sink += 9;
        break;
    case 3:
        sink = 17;
        break;
    case 4:
        sink ^= 3;
        break;
    case 5:
        sink = twist(1);
        break;
    case 7:
        sink -= 2;
        break;
    default:
        sink = 0;
    }
    return sink;
}

int from_hundred(int x)
{
    switch (x) {
    case 100:
        return twist(1);
    case 101:
        return 7 + sink;
    case 102:
        return sink * 9;
    case 103:
        return 17;
    case 104:
        sink ^= 3;
        return 1;
    case 105:
        sink = twist(1);
        return 5;
    case 109:
        sink -= 2;
        return sink;
    default:
        sink = 0;
    }
    return sink;
}

#define LONG_CASE(n)                                                                                         \
    case n:                                                                                                  \
        sink = twist((n)*3) + sink * ((n) + 7) - (sink ^ ((n) + 3));                                         \
        sink += twist((n) ^ 55);                                                                             \
        sink = twist(sink + (n));                                                                            \
        sink *= twist(n);                                                                                    \
        sink = twist(sink * (n)) + sink * ((n) + 9);                                                         \
        sink += twist((n) + 13);                                                                             \
        sink = twist(sink ^ (n));                                                                            \
        break;

int far_apart(unsigned char x)
{
    switch (x & 15) {
        LONG_CASE(0)
        LONG_CASE(1)
        LONG_CASE(2)
        LONG_CASE(3)
        LONG_CASE(4)
        LONG_CASE(5)
        LONG_CASE(6)
        LONG_CASE(7)
        LONG_CASE(8)
        LONG_CASE(9)
        LONG_CASE(10)
        LONG_CASE(11)
        LONG_CASE(12)
        LONG_CASE(13)
    }
    return sink;
}

long in_loop(const char *text, int n)
{
    long r = 0;
    for (int i = 0; i < n; i++)
        switch (text[i]) {
        case 'a':
            r += 1;
            break;
        case 'b':
            r *= 3;
            break;
        case 'c':
            r ^= 5;
            break;
        case 'd':
            r -= twist((int)r);
            break;
        case 'e':
            r = 7;
            break;
        case 'f':
            r |= 8;
            break;
        default:
            r++;
        }
    return r;
}

int nested(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            while (sink & k)
                sum += twist(k);
        if (sum > 1000)
            stop();
    }
    return sum;
}

int last_call(int x)
{
    return twist(x + 1);
}

void _start(void)
{
    sink = from_zero(3) + from_hundred(102) + far_apart(2) + (int)in_loop("abcdef", 6) + nested(3) +
           last_call(1);
    stop();
}
