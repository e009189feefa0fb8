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

int main(void)
{
    int sum = 0;
    for (int i = 1; i < 6; i++)
        sum += take(i) + count(3) + choose(i & 1, i) + again(i);
    return sum == 0;
}
