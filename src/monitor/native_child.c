/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getdents64, close_range, socket flags */
#include "monitor/native_child.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 10,   /* milliseconds between two tests of `stop` */
    REMOVE_TIMES = 100, /* tries to remove the folder: a killed assembler may still write a file */
    FOLDERS_DEPTH = 1,  /* the compiler creates one folder inside the other */
    ENTRIES_BYTES = 4096,
    SOCKET = 3, /* descriptor in the child, after the standard ones */
};

/* Memory that both processes share. */
struct shared {
    char folder[PATH_MAX]; /* of temporary files; empty until it was created */
    char path[PATH_MAX + 16];
};

/* Removes the contents of a folder, and of subfolders down to `depth`. Allocates nothing, because memory may
 * have run out. */
static void empty_folder(int folder, int depth)
{
    _Alignas(struct dirent64) char entries[ENTRIES_BYTES];
    ssize_t got;
    while ((got = getdents64(folder, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < got; at += ((const struct dirent64 *)(entries + at))->d_reclen) {
            const char *name = ((const struct dirent64 *)(entries + at))->d_name;
            if (!strcmp(name, ".") || !strcmp(name, "..") || unlinkat(folder, name, 0) == 0)
                continue;
            const int inner =
                depth ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
            if (inner < 0)
                continue;
            empty_folder(inner, depth - 1);
            close(inner);
            (void)!unlinkat(folder, name, AT_REMOVEDIR);
        }
}

static void remove_folder(const char *folder)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; *folder && i < REMOVE_TIMES; i++) {
        const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return;
        empty_folder(fd, FOLDERS_DEPTH);
        close(fd);
        if (rmdir(folder) == 0)
            return;
        nanosleep(&moment, NULL);
    }
}

/* ---- in the child ---- */

/* Ends a child whose compiler calls exit(), before the parent's exit handlers run in it. */
static void leave(void)
{
    _exit(EXIT_FAILURE);
}

/* Restores the default actions of fault signals, and blocks all other signals, also for the called
 * programs. */
static void settle_signals(void)
{
    static const int usual[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGCHLD};
    sigset_t most;
    sigfillset(&most);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        signal(usual[i], SIG_DFL);
        sigdelset(&most, usual[i]);
    }
    sigprocmask(SIG_SETMASK, &most, NULL);
}

/* Closes the parent's descriptors, so that readers of its pipes see when it ends, and silences the
 * compiler. */
static bool settle_files(int socket)
{
    const int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(socket, SOCKET) < 0)
        return false;
    for (int fd = 0; fd < SOCKET; fd++)
        if (dup2(null, fd) < 0)
            return false;
    return close_range(SOCKET + 1, UINT_MAX, 0) == 0;
}

/* Creates the folder under a name in shared memory, so that the parent can remove it even when the child ends
 * at once. */
static bool make_folder(struct shared *shared)
{
    const char *place = getenv("TMPDIR");
    char *const folder = shared->folder;
    const int length =
        snprintf(folder, sizeof shared->folder, "%s/coretap-XXXXXX", place && *place ? place : "/tmp");
    if (length >= (int)sizeof shared->folder || !mkdtemp(folder)) {
        *folder = '\0';
        return false;
    }
    snprintf(shared->path, sizeof shared->path, "%s/native.so", folder);
    return setenv("TMPDIR", folder, 1) == 0;
}

/* Makes the object, reports it, and removes it once the parent has loaded it or has ended. */
static void be_child(struct shared *shared, int socket, ct_mon_child_fn *make, void *user)
{
    static const struct rlimit no_core;
    char byte = 0;
    setpgid(0, 0);
    settle_signals();
    setrlimit(RLIMIT_CORE, &no_core);
    if (atexit(leave) == 0 && settle_files(socket) && make_folder(shared) && make(user, shared->path) &&
        write(SOCKET, &byte, 1) == 1)
        (void)!read(SOCKET, &byte, 1);
    remove_folder(shared->folder);
    _exit(EXIT_SUCCESS);
}

/* ---- in the parent ---- */

static bool is_stopped(const bool *stop)
{
    return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* Waits until the child reports that the object is made. Returns false when it is not made, or not wanted any
 * more. */
static bool wait_until_made(int socket, const bool *stop)
{
    struct pollfd fd = {.fd = socket, .events = POLLIN};
    char byte;
    int got = 0;
    while (!is_stopped(stop) && (got = poll(&fd, 1, stop ? PATIENCE_MS : -1)) <= 0)
        if (got < 0 && errno != EINTR)
            return false;
    return got > 0 && read(socket, &byte, 1) == 1;
}

/* Kills the child and its programs unless it ends by itself, and waits for it. */
static void end_child(pid_t pid, bool made)
{
    if (!made)
        kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void *load(struct shared *shared, ct_mon_child_fn *make, void *user, const bool *stop)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return NULL;
    const pid_t pid = fork();
    if (pid == 0)
        be_child(shared, sockets[1], make, user);
    close(sockets[1]);
    void *object = NULL;
    if (pid > 0) {
        setpgid(pid, pid);
        const bool made = wait_until_made(sockets[0], stop);
        if (made)
            object = dlopen(shared->path, RTLD_NOW | RTLD_LOCAL);
        shutdown(sockets[0], SHUT_RDWR);
        end_child(pid, made);
        remove_folder(shared->folder);
    }
    close(sockets[0]);
    return object;
}

void *ct_mon_child_load(ct_mon_child_fn *make, void *user, const bool *stop)
{
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return NULL;
    void *object = load(shared, make, user, stop);
    munmap(shared, sizeof *shared);
    return object;
}
