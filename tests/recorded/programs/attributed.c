/* SPDX-License-Identifier: Apache-2.0 */
/* Lines to which gcov attributes the code of others: the counts of these are known from the program. */
static volatile int seen;

static int take(int n)
{
    for (;;) {
        const int half = n / 2;
        if (half > 1000)
            return -1;
        if (half == 0)
            return n;
        n = half;
    }
}

static int count(int n)
{
    do {
        n--;
    } while (n > 0);
    return n;
}

static int choose(int a, int b)
{
    switch (a) {
    case 1:
        switch (b) {
        case 2:
            return 3;
        case 4:
            return 5;
        }
        return 6;
    case 7:
        return 8;
    }
    return 9;
}

static int again(int n)
{
    seen++;
    for (;;) {
        const int less = n - 1;
        if (less <= 0)
            break;
        n = less;
        if (less > 1000)
            seen++;
    }
    return n;
}

static int ends(int n, int limit)
{
    while (n < 20) {
        if (limit && n < limit) {
            const int more = n + 3;
            n = more;
            if (seen > 1000)
                return 0;
        } else
            n++;
    }
    return n;
}

static int labels(int n)
{
    void *volatile to[] = {&&first, &&second};
    if (seen == 12345)
        seen++;
back:
    if (n > 1) {
        if (seen == 4321)
            seen++;
        n -= 2;
        goto back;
    }
    goto *to[n];
first:
    n = 5;
    goto third;
second:
third:
    return n + 3;
}

static int unused(int n)
{
    (void)(__builtin_expect(n < 100, 1) || count(n));
    return n;
}

int main(void)
{
    int sum = 0;
    for (int i = 1; i < 6; i++)
        sum += take(i) + count(3) + choose(i & 1, i) + again(i) + ends(i, 9) + labels(i) + unused(i);
    return sum == 0;
}
