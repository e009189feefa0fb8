/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into a copy of the command: makes one allocation fail, or all from one on.
 *
 * With CT_ALLOC_SERVER=IN,OUT in the environment the process serves requests, which it reads from descriptor
 * IN. For each it forks a child that continues to main() with its allocations failing as requested, and
 * writes to OUT how the child ended. So libraries are loaded once, not for each run. Allocations of the C
 * library and of other libraries come here, too: the executable's functions take precedence over theirs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/sanitizer.h"

#define DEPTH 24

struct request {
    int64_t first;   /* number of the allocation that fails, from 0; -1: none */
    int64_t forever; /* 1: all later ones fail, too */
    int64_t seconds; /* until the child is killed */
};

struct answer {
    int64_t status; /* of waitpid() */
    int64_t count;  /* number of allocations made */
    int64_t depth;
    uint64_t frames[DEPTH]; /* backtrace of the allocation that failed: addresses in this executable, as its
                             * file
                             *                                has them */
};

/* State that parent and child share. */
struct shared {
    atomic_long count;
    long first;
    bool forever;
    int depth;
    void *frames[DEPTH];
};

static struct shared *shared;
static bool armed;
#if HAVE_ASAN
static _Thread_local bool
    is_ours; /* the thread runs what it was started for, not the sanitizer, which needs memory */
#else
static const bool is_ours = true;
#endif

extern char __executable_start; /* the linker's name: NOLINT(bugprone-reserved-identifier) */
extern char etext;

static bool fails(void)
{
    if (!armed || !is_ours)
        return false;
    const long n = atomic_fetch_add(&shared->count, 1);
    if (shared->first < 0 || n < shared->first || (n > shared->first && !shared->forever))
        return false;
    if (n == shared->first)
        shared->depth = backtrace(shared->frames, DEPTH);
    errno = ENOMEM;
    return true;
}

/* ---- the allocator ---- */

#if HAVE_ASAN
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *old, size_t size);
void *REAL(memalign)(size_t alignment, size_t size);

void *malloc(size_t size)
{
    return fails() ? NULL : REAL(malloc)(size);
}

void *calloc(size_t nmemb, size_t size)
{
    return fails() ? NULL : REAL(calloc)(nmemb, size);
}

void *realloc(void *ptr, size_t size)
{
    return fails() ? NULL : REAL(realloc)(ptr, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : REAL(memalign)(alignment, size);
}

int posix_memalign(void **memptr, size_t alignment, size_t size)
{
    void *p = fails() ? NULL : REAL(memalign)(alignment, size);
    if (!p)
        return ENOMEM;
    *memptr = p;
    return 0;
}

#if HAVE_ASAN
int REAL(pthread_create)(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *user);

struct thread {
    void *(*run)(void *);
    void *user;
};

static void *run_thread(void *user)
{
    const struct thread thread = *(struct thread *)user;
    free(user);
    is_ours = true;
    void *result = thread.run(thread.user);
    is_ours = false;
    return result;
}

/* Starts threads of libraries, too. */
int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *user)
{
    struct thread *thread = REAL(malloc)(sizeof *thread);
    if (!thread)
        return EAGAIN;
    *thread = (struct thread){run, user};
    const int result = REAL(pthread_create)(id, attr, run_thread, thread);
    if (result)
        free(thread);
    return result;
}

/* Replace the sanitizer's copies, which do not call malloc(). */
char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

char *strndup(const char *text, size_t most)
{
    const size_t size = strnlen(text, most);
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = 0;
    }
    return copy;
}
#endif

/* ---- requests of the command to the system (linked with --wrap) ---- */

/* The linker's names: NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
void *__real_mremap(void *old, size_t size, size_t new_size, int flags, void *to);
void *__wrap_mremap(void *old, size_t size, size_t new_size, int flags, void *to);
int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *user);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *user);

void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
    return fails() ? MAP_FAILED : __real_mmap(addr, size, prot, flags, fd, offset);
}

void *__wrap_mremap(void *old, size_t size, size_t new_size, int flags, void *to)
{
    return fails() ? MAP_FAILED : __real_mremap(old, size, new_size, flags, to);
}

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *user)
{
    return fails() ? EAGAIN : __real_pthread_create(id, attr, run, user);
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- the server ---- */

static bool read_all(int fd, void *to, size_t size)
{
    return read(fd, to, size) == (ssize_t)size;
}

/* Sets input and output of the child to their start. */
static void rewind_files(void)
{
    lseek(STDIN_FILENO, 0, SEEK_SET);
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (ftruncate(fd, 0) == 0)
            lseek(fd, 0, SEEK_SET);
}

/* Forks the child for a request. Returns true in the child. */
static bool start_child(const struct request *request, pid_t *child)
{
    rewind_files();
    atomic_store(&shared->count, 0);
    shared->first = request->first;
    shared->forever = request->forever;
    shared->depth = 0;
    *child = fork();
    if (*child)
        return false;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm((unsigned)request->seconds);
    armed = true;
#if HAVE_ASAN
    is_ours = true;
#endif
    return true;
}

static void answer_about(pid_t child, int out)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    kill(-child, SIGKILL); /* processes that it started and left behind */
    struct answer answer = {.status = status, .count = atomic_load(&shared->count), .depth = shared->depth};
    for (int i = 0; i < shared->depth; i++) {
        const char *at = shared->frames[i];
        const bool ours = at >= &__executable_start && at < &etext;
        answer.frames[i] = ours ? (uint64_t)(at - &__executable_start) : 0;
    }
    if (write(out, &answer, sizeof answer) != sizeof answer)
        _exit(1);
}

/* Serves requests before main(). Returns only in the children. */
__attribute__((constructor)) static void serve(void)
{
    int in, out;
    const char *about = getenv("CT_ALLOC_SERVER");
    if (!about || sscanf(about, "%d,%d", &in, &out) != 2)
        return;
    unsetenv("CT_ALLOC_SERVER");
    shared = __real_mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        _exit(1);
    void *once[1];
    backtrace(once, 1); /* loads the library that it needs */
    /* GnuTLS, which libmicrohttpd loads, prints a line of its own when memory runs out while it is loaded,
     * and both continue. So it is loaded here; where it is missing, no case needs it. */
    dlopen("libmicrohttpd.so.12", RTLD_LAZY);
    struct request request;
    while (read_all(in, &request, sizeof request)) {
        pid_t child;
        if (start_child(&request, &child)) {
            close(in);
            close(out);
            return;
        }
        answer_about(child, out);
    }
    _exit(0);
}
