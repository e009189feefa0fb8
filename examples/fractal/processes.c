/* SPDX-License-Identifier: Apache-2.0 */
/* Uses memory in the ways that processes do: a child with pages of its parent, memory mapped at two
 * addresses, memory that mremap moves, huge pages, threads on several cores, and another program by exec.
 *
 *   coretap fractal run --follow-forks --point table --mode points -o LOG -- ./processes fork
 *   coretap fractal run --follow-forks --point stages:table --mode points -o LOG -- ./processes exec
 * ./stages */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 640
#define PAGE   4096

static volatile int table[64] __attribute__((aligned(64)));

static void touch(volatile int *at, int rounds)
{
    for (int i = 0; i < rounds; i++)
        at[i % 64] = i;
}

/* Forks a child that writes the table as often as its parent, on its own pages. */
static int do_fork(void)
{
    touch(table, ROUNDS);
    const pid_t child = fork();
    if (child < 0)
        return 1;
    touch(table, ROUNDS);
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    touch(table, ROUNDS);
    return 0;
}

/* Forks a child that becomes another program. */
static int do_exec(char **argv)
{
    touch(table, ROUNDS);
    const pid_t child = fork();
    if (child < 0)
        return 1;
    if (!child) {
        touch(table, ROUNDS / 10);
        execv(argv[0], argv);
        perror(argv[0]);
        _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    touch(table, ROUNDS);
    return status;
}

static void *thread(void *at)
{
    touch(at, ROUNDS);
    return NULL;
}

static int do_threads(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, thread, (void *)table))
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Maps the same memory at two addresses. */
static int do_shared(void)
{
    const int fd = memfd_create("shared", 0);
    if (fd < 0 || ftruncate(fd, PAGE))
        return 1;
    int *const one = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int *const two = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (one == MAP_FAILED || two == MAP_FAILED)
        return 1;
    touch(one, ROUNDS);
    touch(two, ROUNDS);
    printf("%p %p\n", (void *)one, (void *)two);
    return 0;
}

/* Grows memory that has no room to grow in place. */
static int do_mremap(void)
{
    char *const old = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *const new = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (old == MAP_FAILED || new == MAP_FAILED)
        return 1;
    touch((int *)old, ROUNDS);
    if (mremap(old, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, new) != new)
        return 1;
    touch((int *)new, ROUNDS);
    printf("%p %p\n", (void *)old, (void *)new);
    return 0;
}

static int do_huge(void)
{
    const size_t huge = (size_t)2 << 20;
    char *const at = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 1;
    char *const first = at + (huge - (size_t)at % huge);
    madvise(first, huge, MADV_HUGEPAGE);
    for (size_t i = 0; i < huge; i += 4096)
        first[i] = 1;
    printf("%p\n", (void *)first);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } what[] = {{"fork", do_fork},
                {"threads", do_threads},
                {"shared", do_shared},
                {"mremap", do_mremap},
                {"huge", do_huge}};
    if (argc > 2 && strcmp(argv[1], "exec") == 0)
        return do_exec(argv + 2);
    for (size_t i = 0; i < sizeof what / sizeof *what; i++)
        if (argc > 1 && strcmp(argv[1], what[i].name) == 0)
            return what[i].run();
    fputs("usage: processes fork|threads|shared|mremap|huge, or exec PROGRAM ARGUMENTS\n", stderr);
    return 2;
}
