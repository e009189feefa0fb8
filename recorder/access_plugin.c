/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU user-mode plugin: every fetch of an instruction line, load and store of a program, to a pipe.
 *
 *   qemu-aarch64 -plugin access_plugin.so,fd=N[,forks=SOCKET][,image=1] PROGRAM
 *
 * With forks, each forked child gets a pipe of its own, whose other end is sent through the socket. A program
 * that another one started in its place (execve) has image=1, and goes on in the pipe. */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coretap/access.h"
#include "exec.h"
#include "guest.h"
#include "keep.h"
#include "qemu_plugin_api.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

#define WORDS (1u << 15)

/* One program: QEMU loads the plugin once. */
static struct {
    pthread_mutex_t lock;
    int fd;
    int forks;   /* socket for the pipes of children; -1: they record nothing */
    int next[2]; /* pipe of the child in the making */
    pid_t pid;   /* that writes to fd */
    size_t used;
    int started;
    int a64;
    int keeping;      /* the lock is held, and the files are kept, while the program closes numbers */
    int image;        /* the program was started in place of another one */
    uint64_t args[6]; /* of the system call under way */
    uint64_t objects; /* of anonymous shared memory */
    uint64_t words[WORDS];
} out = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .forks = -1, .next = {-1, -1}};

static void flush(void)
{
    const char *at = (const char *)out.words;
    size_t left = out.used * sizeof out.words[0];
    out.used = 0;
    if (getpid() != out.pid)
        return;
    while (left && out.fd >= 0) {
        const ssize_t n = write(out.fd, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            out.fd = -1; /* the reader has gone; the program goes on */
            return;
        }
        at += n;
        left -= (size_t)n;
    }
}

static void put(uint64_t word)
{
    pthread_mutex_lock(&out.lock);
    out.words[out.used++] = word;
    if (out.used == WORDS)
        flush();
    pthread_mutex_unlock(&out.lock);
}

static void note(enum ct_access_note what, uint64_t a, uint64_t b, uint64_t c)
{
    pthread_mutex_lock(&out.lock);
    if (out.used + 1 + CT_ACCESS_WORDS_NOTE > WORDS)
        flush();
    const uint64_t words[] = {ct_access_word(CT_ACCESS_NOTE, 0, 0, 0), what, a, b, c};
    memcpy(out.words + out.used, words, sizeof words);
    out.used += 1 + CT_ACCESS_WORDS_NOTE;
    if (out.used == WORDS)
        flush();
    pthread_mutex_unlock(&out.lock);
}

/* Tells of a program by its path, whose bytes follow the note in whole words. */
static void note_path(enum ct_access_note what, const char *path)
{
    const size_t size = path ? strlen(path) : 0;
    note(what, size, 0, 0);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, path + at, size - at < sizeof word ? size - at : sizeof word);
        put(word);
    }
}

/* `user` is the word of the run, made when the block was translated. */
static void on_fetch(unsigned cpu, void *user)
{
    put((uint64_t)(uintptr_t)user | ct_access_word(CT_ACCESS_FETCH, cpu, 0, 0));
}

static void on_memory(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *user)
{
    (void)user;
    const int store = qemu_plugin_mem_is_store(info);
    put(ct_access_word(store ? CT_ACCESS_STORE : CT_ACCESS_LOAD, cpu, qemu_plugin_mem_size_shift(info), va));
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    if (!out.started) {
        out.started = 1;
        if (out.image)
            note_path(CT_NOTE_EXEC, qemu_plugin_path_to_binary());
        note(CT_NOTE_PROGRAM, qemu_plugin_start_code(), qemu_plugin_end_code(), qemu_plugin_entry_code());
    }
    const size_t count = qemu_plugin_tb_n_insns(tb);
    for (size_t first = 0, n; first < count; first += n) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first);
        const uint64_t va = qemu_plugin_insn_vaddr(insn);
        for (n = 1; first + n < count; n++)
            if (qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, first + n)) >> 6 != va >> 6)
                break;
        const uint64_t word = ct_access_word(CT_ACCESS_FETCH, 0, n & 15, va);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fetch, QEMU_PLUGIN_CB_NO_REGS,
                                               (void *)(uintptr_t)word);
    }
    for (size_t i = 0; i < count; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_memory, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, NULL);
}

/* System calls of arm64 Linux that change the address space, or make and end processes. */
enum {
    SYS_DUP3 = 24,
    SYS_CLOSE = 57,
    SYS_BRK = 214,
    SYS_MUNMAP = 215,
    SYS_MREMAP = 216,
    SYS_CLONE = 220,
    SYS_EXECVE = 221,
    SYS_MMAP = 222,
    SYS_MADVISE = 233,
    SYS_CLOSE_RANGE = 436,
    SYS_WAIT4 = 260
};

/* Arguments of arm64 Linux. */
enum {
    ARG_CLONE_VM = 0x100,
    ARG_CLONE_VFORK = 0x4000,
    ARG_MAP_SHARED = 1,
    ARG_MAP_ANONYMOUS = 0x20,
    ARG_MADV_HUGEPAGE = 14
};

/* Tells whether a clone makes a process of its own. QEMU does so for vfork, too. */
static int makes_process(uint64_t flags)
{
    return !(flags & ARG_CLONE_VM) || flags & ARG_CLONE_VFORK;
}

/* Makes the pipe of a child that is about to be forked, which must not write what its parent did. */
static void before_fork(void)
{
    pthread_mutex_lock(&out.lock);
    flush();
    if (pipe2(out.next, O_CLOEXEC))
        out.next[0] = out.next[1] = -1;
    pthread_mutex_unlock(&out.lock);
}

static void close_pipe(void)
{
    for (int i = 0; i < 2; i++)
        if (out.next[i] >= 0)
            close(out.next[i]);
    out.next[0] = out.next[1] = -1;
}

/* Lets the child write to its own pipe. Another thread of the parent may have held the lock. */
static void in_child(void)
{
    pthread_mutex_init(&out.lock, NULL);
    out.pid = getpid();
    out.used = 0;
    out.fd = out.next[1];
    if (out.next[0] >= 0)
        close(out.next[0]);
    out.next[0] = out.next[1] = -1;
}

/* Sends the end to read from of the child's pipe. Returns 0 when it could not be sent. */
static int send_pipe(int64_t child)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {{0}};
    struct iovec data = {&child, sizeof child};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &out.next[0], sizeof(int));
    return out.next[0] >= 0 && sendmsg(out.forks, &m, MSG_NOSIGNAL) == (ssize_t)sizeof child;
}

/* Follows both sides of a fork. */
static void after_fork(int64_t result)
{
    if (out.forks < 0)
        return;
    if (result == 0 && getpid() != out.pid) {
        in_child();
        return;
    }
    if (result > 0 && send_pipe(result))
        note(CT_NOTE_FORK, (uint64_t)result, 0, 0);
    close_pipe();
}

/* Starts a program in place of this one. A child that is not followed goes on without the plugin, and a
 * program that this QEMU does not run is left to the host, which is told of. Returns when the call is QEMU's
 * to make. */
static void on_exec(uint64_t path, uint64_t argv, uint64_t envp)
{
    const bool followed = getpid() == out.pid;
    char options[80];
    struct exec_image image;
    if (!out.a64 || !exec_read(path, argv, envp, &image))
        return;
    int n = snprintf(options, sizeof options, "fd=%d,image=1", out.fd);
    if (out.forks >= 0)
        snprintf(options + n, sizeof options - (size_t)n, ",forks=%d", out.forks);
    if (followed && !image.a64)
        note_path(CT_NOTE_LEAVE, image.path);
    pthread_mutex_lock(&out.lock);
    flush();
    if (image.a64 && out.forks >= 0)
        fcntl(out.forks, F_SETFD, 0);
    if (followed && image.a64 && out.fd >= 0)
        fcntl(out.fd, F_SETFD, 0);
    if (image.a64)
        exec_start(&image, followed && out.fd >= 0 ? options : NULL);
    pthread_mutex_unlock(&out.lock);
    exec_free(&image);
}

/* Moves a file of the plugin away from a number that the program closes, as programs do with all numbers
 * before they start another one. */
static void leave_number(int *fd, uint64_t number)
{
    if (*fd < 0 || (uint64_t)*fd != number)
        return;
    const int other = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    if (other >= 0)
        *fd = other;
}

/* Keeps the plugin's files while the program closes the numbers from `first` on. Other threads' words wait.
 */
static void before_close(uint64_t first, uint64_t last)
{
    const int files[KEEP_FILES] = {out.fd, out.forks};
    bool covered = false;
    for (int i = 0; i < KEEP_FILES; i++)
        covered |= files[i] >= 0 && (uint64_t)files[i] >= first && (uint64_t)files[i] <= last;
    if (!covered || getpid() != out.pid)
        return;
    pthread_mutex_lock(&out.lock);
    out.keeping = keep_begin(files);
    if (!out.keeping)
        pthread_mutex_unlock(&out.lock);
}

/* Takes the plugin's files back. */
static void after_close(void)
{
    int files[KEEP_FILES] = {out.fd, out.forks};
    if (!out.keeping)
        return;
    keep_end(files);
    out.fd = files[0];
    out.forks = files[1];
    out.keeping = 0;
    pthread_mutex_unlock(&out.lock);
}

/* What shared memory shows: a file by its number and page, memory without a file by a number of its own. */
static uint64_t object_of(uint64_t flags, uint64_t fd, uint64_t offset)
{
    struct stat st;
    if (!(flags & ARG_MAP_SHARED))
        return 0;
    if (flags & ARG_MAP_ANONYMOUS)
        return (UINT64_C(0x800000) | ++out.objects) << 40;
    if (fstat((int)fd, &st))
        return 0;
    const uint64_t file = ((uint64_t)st.st_dev * 31 + (uint64_t)st.st_ino) * UINT64_C(0x9e3779b97f4a7c15);
    return (file >> 41 | 1) << 40 | (offset >> 12 & UINT64_C(0xffffffffff));
}

/* Tells whether a system call may wait long: what the program did before has to be known meanwhile. */
static int may_wait(int64_t number)
{
    /* epoll_pwait, read, readv, pselect6, ppoll, waitid, futex, nanosleep, clock_nanosleep, rt_sigsuspend,
     * accept, recvfrom, recvmsg, wait4 */
    static const int16_t waits[] = {22, 63, 65, 72, 73, 95, 98, 101, 115, 133, 202, 207, 212, 260};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (waits[i] == number)
            return 1;
    return 0;
}

static void on_syscall(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)cpu, (void)a7, (void)a8;
    if (may_wait(number)) {
        pthread_mutex_lock(&out.lock);
        flush();
        pthread_mutex_unlock(&out.lock);
    }
    if (number == SYS_CLOSE || number == SYS_DUP3) {
        leave_number(&out.fd, number == SYS_CLOSE ? a1 : a2);
        leave_number(&out.forks, number == SYS_CLOSE ? a1 : a2);
    }
    if (number == SYS_CLOSE_RANGE)
        before_close((unsigned)a1, (unsigned)a2);
    if (number == SYS_EXECVE)
        on_exec(a1, a2, a3);
    if (number == SYS_MUNMAP)
        note(CT_NOTE_UNMAP, a1, a2, 0);
    if (number == SYS_MADVISE && a3 == ARG_MADV_HUGEPAGE)
        note(CT_NOTE_HUGE, a1, a2, 0);
    if (number == SYS_CLONE && makes_process(a1) && out.forks >= 0)
        before_fork();
    const uint64_t args[] = {a1, a2, a3, a4, a5, a6};
    memcpy(out.args, args, sizeof args);
}

static void on_syscall_result(qemu_plugin_id_t id, unsigned cpu, int64_t number, int64_t result)
{
    (void)id, (void)cpu;
    if (number == SYS_CLOSE_RANGE)
        after_close();
    if (result < 0 && result > -4096) {
        if (number == SYS_CLONE)
            close_pipe();
        return;
    }
    const uint64_t *a = out.args;
    if (number == SYS_MMAP) {
        note(CT_NOTE_MAP, (uint64_t)result, a[1], !(a[3] & ARG_MAP_ANONYMOUS) && (int32_t)a[4] >= 0);
        note(CT_NOTE_SHARED, (uint64_t)result, a[1], object_of(a[3], a[4], a[5]));
    } else if (number == SYS_MREMAP) {
        if (a[2] < a[1])
            note(CT_NOTE_UNMAP, a[0] + a[2], a[1] - a[2], 0);
        if ((uint64_t)result != a[0])
            note(CT_NOTE_MOVE, a[0], (uint64_t)result, a[2] < a[1] ? a[2] : a[1]);
        note(CT_NOTE_MAP, (uint64_t)result, a[2], 0);
    } else if (number == SYS_CLONE && makes_process(a[0])) {
        after_fork(result);
    } else if (number == SYS_WAIT4 && result > 0) {
        note(CT_NOTE_END, (uint64_t)result, 0, 0);
    }
    if (number == SYS_BRK)
        note(CT_NOTE_BREAK, (uint64_t)result, 0, 0);
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *user)
{
    (void)id, (void)user;
    pthread_mutex_lock(&out.lock);
    flush();
    pthread_mutex_unlock(&out.lock);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    out.pid = getpid();
    out.a64 = info && info->target_name && strcmp(info->target_name, "aarch64") == 0;
    guest_init();
    for (int i = 0; i < argc; i++)
        if (!strncmp(argv[i], "fd=", 3))
            out.fd = atoi(argv[i] + 3);
        else if (!strncmp(argv[i], "forks=", 6))
            out.forks = atoi(argv[i] + 6);
        else if (!strncmp(argv[i], "image=", 6))
            out.image = atoi(argv[i] + 6);
    if (out.fd < 0)
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_result);
    qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
    return 0;
}
