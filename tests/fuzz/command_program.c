/* SPDX-License-Identifier: Apache-2.0 */
/* The program of the seeds that record one (make-corpus-command): a loop with calls, a recursion, a switch
 * and a condition of which both sides run. It needs no library. */
static volatile int sum;

__attribute__((noinline)) static int digits(unsigned n)
{
    return n < 10 ? 1 : 1 + digits(n / 10);
}

__attribute__((noinline)) static int kind(int n)
{
    switch (n) {
    case 0:
        return 7;
    case 1:
        return 1;
    case 2:
        return 4;
    case 3:
        return 9;
    case 4:
        return 2;
    default:
        return sum & 1 ? 3 : 5;
    }
}

int work(int rounds);

__attribute__((noinline)) int work(int rounds)
{
    for (int i = 0; i < rounds; i++) /* loop bound: 8 */
        sum += kind(i) + digits((unsigned)sum * 7u);
    return sum;
}

void _start(void);

void _start(void)
{
    work(7);
#ifdef __aarch64__
    __asm__ volatile("mov x0, 0; mov x8, 93; svc 0");
#else
    __asm__ volatile("mov r0, #0; mov r7, #1; svc 0");
#endif
}
