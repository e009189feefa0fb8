/* SPDX-License-Identifier: Apache-2.0 */
// Threads that follow each other on the same cores, and all that makes a stack of calls hard to follow in
// one: exceptions, jumps out of functions and handlers, handlers on a stack of their own, tail calls.
//
//   threads [THREADS]
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static thread_local sigjmp_buf out;
static thread_local volatile int handled;

__attribute__((noinline)) static int leaf(int n)
{
    asm volatile("" : "+r"(n));
    return n * 3;
}

__attribute__((noinline)) static int tail(int n)
{
    return leaf(n + 1);
}

__attribute__((noinline)) static int thrower(int n)
{
    if (n == 0)
        throw 7;
    return thrower(n - 1) + 1;
}

__attribute__((noinline)) static int catcher(int n)
{
    try {
        return thrower(n);
    } catch (int value) {
        return value + leaf(n);
    }
}

__attribute__((noinline)) static void jumper(int n)
{
    if (n == 0)
        siglongjmp(out, 1);
    jumper(n - 1);
    asm volatile("");
}

static void on_user(int)
{
    handled = handled + leaf(1);
}

static void on_fault(int)
{
    leaf(2);
    siglongjmp(out, 2);
}

__attribute__((noinline)) static int jumps(int n)
{
    if (sigsetjmp(out, 1) == 0)
        jumper(n);
    if (sigsetjmp(out, 1) == 0)
        *reinterpret_cast<volatile char *>(16) = 1;
    return tail(n);
}

static void work(int n)
{
    std::vector<char> room(65536);
    stack_t other = {};
    other.ss_sp = room.data();
    other.ss_size = room.size();
    sigaltstack(&other, nullptr);
    raise(SIGUSR1);
    int sum = tail(n) + catcher(n % 5) + jumps(n % 4);
    raise(SIGUSR1);
    asm volatile("" : "+r"(sum));
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 6;
    struct sigaction action = {};
    action.sa_flags = SA_ONSTACK;
    action.sa_handler = on_user;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_handler = on_fault;
    sigaction(SIGSEGV, &action, nullptr);
    for (int i = 0; i < count; i += 2) {
        std::thread one(work, i), two(work, i + 1);
        one.join();
        two.join();
    }
    puts("done");
    return 0;
}
