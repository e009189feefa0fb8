/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU user-mode plugin: writes every fetch of an instruction line, load and store of a program to a pipe.
 *
 *  qemu-aarch64 -plugin access_plugin.so,layout=HEX,fd=N,ring=N[,forks=SOCKET][,image=1] PROGRAM
 *
 * `layout` is PLUGIN_ACCESS_LAYOUT (plugin_note.h), `ring` a file of the size of struct access_ring. With
 * forks, each forked child gets its own pipe and ring, which are sent through the socket. A program that
 * replaces another one (execve) gets image=1, and uses the same pipe and ring. */
#define _GNU_SOURCE /* pipe2, memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access_ring.h"
#include "calls.h"
#include "coretap/access.h"
#include "exec.h"
#include "guest.h"
#include "keep.h"
#include "mappings.h"
#include "plugin_note.h"
#include "qemu_plugin_api.h"
#include "unreported.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

PLUGIN_NOTE(PLUGIN_NOTE_ACCESS, PLUGIN_ACCESS_LAYOUT);

#define WORDS ACCESS_RING_WORDS

/* Ring for the words of a process without a reader. */
static struct access_ring unread;

/* The state of the plugin in this process: QEMU loads it once. */
static struct {
    pthread_mutex_t lock;
    int fd;
    int ring_fd; /* file that `ring` maps */
    int forks;   /* socket for the pipes of children; -1: do not record them */
    int next[3]; /* both ends of the pipe, and the ring, of the next child */
    pid_t pid;   /* the process that writes to fd */
    struct access_ring *ring;
    int started;
    int arm32;        /* the program has 32 bits */
    int keeping;      /* the lock is held and the files are kept, while the program closes file descriptors */
    int image;        /* the program replaced another one */
    uint64_t objects; /* number of anonymous shared memories */
} out = {.lock = PTHREAD_MUTEX_INITIALIZER,
         .fd = -1,
         .ring_fd = -1,
         .forks = -1,
         .next = {-1, -1, -1},
         .ring = &unread};

static _Thread_local uint64_t args[6]; /* arguments of this thread's current system call */

/* Writes adjacent words to the pipe. */
static void write_words(const uint64_t *words, size_t count)
{
    const char *at = (const char *)words;
    size_t left = count * sizeof *words;
    while (left && out.fd >= 0) {
        const ssize_t n = write(out.fd, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            out.fd = -1; /* there is no reader any more; the program continues */
            return;
        }
        at += n;
        left -= (size_t)n;
    }
}

static void flush(void)
{
    const uint64_t end = atomic_load_explicit(&out.ring->end, memory_order_relaxed);
    const uint64_t sent = atomic_load_explicit(&out.ring->sent, memory_order_relaxed);
    const size_t first = sent % WORDS;
    const size_t count = (size_t)(end - sent);
    const size_t side_by_side = count < WORDS - first ? count : WORDS - first;
    if (getpid() == out.pid) {
        write_words(out.ring->words + first, side_by_side);
        write_words(out.ring->words, count - side_by_side);
    }
    atomic_store_explicit(&out.ring->sent, end, memory_order_relaxed);
}

/* Adds words. The reader sees all or none of them. Requires the lock. */
static void add(const uint64_t *words, size_t count)
{
    const uint64_t end = atomic_load_explicit(&out.ring->end, memory_order_relaxed);
    if (end - atomic_load_explicit(&out.ring->sent, memory_order_relaxed) + count > WORDS)
        flush();
    for (size_t i = 0; i < count; i++)
        out.ring->words[(end + i) % WORDS] = words[i];
    atomic_store_explicit(&out.ring->end, end + count, memory_order_release);
}

/* Writes all words so far, because the next may take long. */
static void flush_now(void)
{
    pthread_mutex_lock(&out.lock);
    flush();
    pthread_mutex_unlock(&out.lock);
}

static void put(uint64_t word)
{
    pthread_mutex_lock(&out.lock);
    add(&word, 1);
    pthread_mutex_unlock(&out.lock);
}

static void note(enum ct_access_note what, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t words[] = {ct_access_word(CT_ACCESS_NOTE, 0, 0, 0), what, a, b, c};
    pthread_mutex_lock(&out.lock);
    add(words, sizeof words / sizeof *words);
    pthread_mutex_unlock(&out.lock);
}

/* Writes a note about a file with its path, whose bytes follow the note in whole words. */
static void note_path(enum ct_access_note what, const char *path, uint64_t a, uint64_t b)
{
    const size_t size = path ? strnlen(path, PATH_MAX - 1) : 0;
    uint64_t words[5 + PATH_MAX / sizeof(uint64_t)] = {ct_access_word(CT_ACCESS_NOTE, 0, 0, 0), what, size, a,
                                                       b};
    if (size)
        memcpy(words + 5, path, size);
    pthread_mutex_lock(&out.lock);
    add(words, 5 + (size + sizeof *words - 1) / sizeof *words);
    pthread_mutex_unlock(&out.lock);
}

/* Adds the fetch of a run of instructions, whose word `user` was made at translation. */
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

/* Adds the stores of a DC ZVA, whose address register is `user`. */
static void on_zero(unsigned cpu, void *user)
{
    uint64_t va;
    unsigned shift;
    if (unreported_block(cpu, (unsigned)(uintptr_t)user, &va, &shift))
        put(ct_access_word(CT_ACCESS_STORE, cpu, shift, va));
}

/* Writes a note at the first instruction of SVE whose accesses are not reported. */
static void on_sve(unsigned cpu, void *user)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    (void)cpu, (void)user;
    if (!atomic_flag_test_and_set(&told))
        note(CT_NOTE_UNSEEN, 0, 0, 0);
}

/* Watches an instruction of A64 whose accesses QEMU does not report. */
static void watch_unreported(const struct qemu_plugin_tb *tb, size_t index)
{
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, index);
    uint32_t word;
    if (out.arm32 || qemu_plugin_insn_size(insn) != sizeof word)
        return;
    memcpy(&word, qemu_plugin_insn_data(insn), sizeof word);
    const enum unreported how = unreported_by(word);
    if (how == UNREPORTED_ZERO) {
        const size_t next = index + 1 < qemu_plugin_tb_n_insns(tb) ? index + 1 : index;
        qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, next), on_zero,
                                               QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)(word & 31));
    } else if (how == UNREPORTED_SVE) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_sve, QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
}

/* Writes a note about the file that has the first instruction: the loader of a program with libraries, which
 * QEMU mapped without a system call. */
static void note_first_file(const struct qemu_plugin_insn *insn)
{
    const void *host = qemu_plugin_insn_haddr(insn);
    struct mapping file;
    if (!host || !mapping_of_file(host, &file))
        return;
    const uint64_t at = qemu_plugin_insn_vaddr(insn) + file.start - (uintptr_t)host;
    const uint64_t size = file.end - file.start;
    if (qemu_plugin_start_code() - at < size)
        return; /* the program itself */
    note(CT_NOTE_MAP, at, size, 1);
    note_path(CT_NOTE_FILE, file.path, at, size);
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    if (!out.started) {
        out.started = 1;
        if (out.image)
            note_path(CT_NOTE_EXEC, qemu_plugin_path_to_binary(), 0, 0);
        note(CT_NOTE_PROGRAM, qemu_plugin_start_code(), qemu_plugin_end_code(), qemu_plugin_entry_code());
        note_first_file(qemu_plugin_tb_get_insn(tb, 0));
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
    for (size_t i = 0; i < count; i++) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_memory, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, NULL);
        watch_unreported(tb, i);
    }
}

/* values of arguments in Linux, the same for arm64 and arm */
enum {
    ARG_CLONE_VM = 0x100,
    ARG_CLONE_VFORK = 0x4000,
    ARG_MAP_SHARED = 1,
    ARG_MAP_FIXED = 0x10,
    ARG_MAP_ANONYMOUS = 0x20,
    ARG_MADV_DONTNEED = 4,
    ARG_MADV_HUGEPAGE = 14
};

/* Returns whether a clone makes a new process. QEMU does so for vfork too. */
static int makes_process(uint64_t flags)
{
    return !(flags & ARG_CLONE_VM) || flags & ARG_CLONE_VFORK;
}

/* Maps the ring in a file. Returns NULL on failure. */
static struct access_ring *map_ring(int fd)
{
    void *ring =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *out.ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return ring == MAP_FAILED ? NULL : ring;
}

static void close_next(void)
{
    for (size_t i = 0; i < sizeof out.next / sizeof *out.next; i++) {
        if (out.next[i] >= 0)
            close(out.next[i]);
        out.next[i] = -1;
    }
}

/* Makes pipe and ring of a child before its fork, and flushes the parent's words, so that the child does not
 * write them. */
static void before_fork(void)
{
    pthread_mutex_lock(&out.lock);
    flush();
    if (pipe2(out.next, O_CLOEXEC))
        out.next[0] = out.next[1] = -1;
    out.next[2] = memfd_create("coretap-access", MFD_CLOEXEC);
    if (out.next[0] < 0 || out.next[2] < 0 || ftruncate(out.next[2], sizeof *out.ring))
        close_next();
    pthread_mutex_unlock(&out.lock);
}

/* Makes the child write to its own pipe and ring, if it has them. Makes a new lock, which another thread of
 * the parent may have held. */
static void in_child(void)
{
    pthread_mutex_init(&out.lock, NULL);
    struct access_ring *ring = map_ring(out.next[2]);
    if (out.ring != &unread)
        munmap(out.ring, sizeof *out.ring);
    out.ring = ring ? ring : &unread;
    if (out.fd >= 0 && !out.keeping)
        close(out.fd); /* the pipe of the parent, which must end with the parent */
    out.fd = -1;
    if (out.forks < 0)
        return;
    out.pid = getpid();
    out.fd = ring ? out.next[1] : -1;
    out.ring_fd = ring ? out.next[2] : -1;
    if (ring)
        out.next[1] = out.next[2] = -1;
    close_next();
}

/* Sends the child's ring and the read end of its pipe. Returns 0 when that fails. */
static int send_pipe(int64_t child)
{
    const int files[] = {out.next[0], out.next[2]};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof files)];
    } control = {{0}};
    struct iovec data = {&child, sizeof child};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof files);
    memcpy(CMSG_DATA(c), files, sizeof files);
    return files[0] >= 0 && sendmsg(out.forks, &m, MSG_NOSIGNAL) == (ssize_t)sizeof child;
}

/* Handles both sides of a fork. A child that is not followed must not write to the ring either. */
static void after_fork(int64_t result)
{
    if (result == 0 && getpid() != out.pid) {
        in_child();
        return;
    }
    if (out.forks < 0)
        return;
    if (result > 0 && send_pipe(result)) {
        note(CT_NOTE_FORK, (uint64_t)result, 0, 0);
        flush_now(); /* after this note the reader takes the child's files and waits for its words */
    }
    close_next();
}

/* Replaces the program. A child that is not followed continues without the plugin. A program for which there
 * is no QEMU is left to the host, and a note says that. Returns when QEMU should make the call itself. */
static void on_exec(uint64_t path, uint64_t argv, uint64_t envp)
{
    const bool followed = getpid() == out.pid;
    char options[112];
    struct exec_image image;
    if (!exec_read(out.arm32, path, argv, envp, &image))
        return;
    const bool runs = image.qemu[0] != 0;
    int n = snprintf(options, sizeof options, "layout=%x,fd=%d,ring=%d,image=1", PLUGIN_ACCESS_LAYOUT, out.fd,
                     out.ring_fd);
    if (out.forks >= 0)
        snprintf(options + n, sizeof options - (size_t)n, ",forks=%d", out.forks);
    if (followed && !runs)
        note_path(CT_NOTE_LEAVE, image.path, 0, 0);
    pthread_mutex_lock(&out.lock);
    flush();
    if (runs && out.forks >= 0)
        fcntl(out.forks, F_SETFD, 0);
    if (followed && runs && out.fd >= 0) {
        fcntl(out.fd, F_SETFD, 0);
        fcntl(out.ring_fd, F_SETFD, 0);
    }
    if (runs)
        exec_start(&image, followed && out.fd >= 0 ? options : NULL);
    pthread_mutex_unlock(&out.lock);
    exec_free(&image);
}

/* Moves a file of the plugin away from a descriptor that the program closes; programs often close all
 * descriptors before they start another program. */
static void leave_number(int *fd, uint64_t number)
{
    if (*fd < 0 || (uint64_t)*fd != number)
        return;
    const int other = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    if (other >= 0)
        *fd = other;
}

/* Keeps the plugin's files while the program closes the descriptors from `first` to `last`. Words of other
 * threads wait. */
static void before_close(uint64_t first, uint64_t last)
{
    const int files[KEEP_FILES] = {out.fd, out.forks, out.ring_fd};
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

/* Restores the plugin's files. */
static void after_close(void)
{
    int files[KEEP_FILES] = {out.fd, out.forks, out.ring_fd};
    if (!out.keeping)
        return;
    keep_end(files);
    out.fd = files[0];
    out.forks = files[1];
    out.ring_fd = files[2];
    out.keeping = 0;
    pthread_mutex_unlock(&out.lock);
}

/* Returns a number for the contents of shared memory: a file by its inode and page; memory without a file by
 * its creating process, so that it differs from another one's, and a counter. */
static uint64_t object_of(uint64_t flags, uint64_t fd, uint64_t page)
{
    struct stat st;
    if (!(flags & ARG_MAP_SHARED))
        return 0;
    if (flags & ARG_MAP_ANONYMOUS)
        return UINT64_C(1) << 63 | (uint64_t)(getpid() & 0x3fffff) << 41 | (++out.objects & 0xffff) << 25;
    if (fstat((int)fd, &st))
        return 0;
    const uint64_t file = ((uint64_t)st.st_dev * 31 + (uint64_t)st.st_ino) * UINT64_C(0x9e3779b97f4a7c15);
    return (file >> 41 | 1) << 40 | (page & UINT64_C(0xffffffffff));
}

static void on_syscall(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)cpu, (void)a7, (void)a8;
    uint64_t a[] = {a1, a2, a3, a4, a5, a6};
    const enum call call = call_of(out.arm32, number);
    for (size_t i = 0; i < sizeof a / sizeof *a && out.arm32; i++)
        a[i] = (uint32_t)a[i];
    switch (call) {
    case CALL_WAITS:
    case CALL_WAIT4:
        flush_now();
        break;
    case CALL_CLOSE:
    case CALL_DUP_TO:
        leave_number(&out.fd, a[call == CALL_DUP_TO]);
        leave_number(&out.forks, a[call == CALL_DUP_TO]);
        leave_number(&out.ring_fd, a[call == CALL_DUP_TO]);
        break;
    case CALL_CLOSE_RANGE:
        before_close((unsigned)a[0], (unsigned)a[1]);
        break;
    case CALL_EXECVE:
        on_exec(a[0], a[1], a[2]);
        break;
    case CALL_MUNMAP:
        note(CT_NOTE_UNMAP, a[0], a[1], 0);
        break;
    case CALL_MADVISE:
        if (a[2] == ARG_MADV_HUGEPAGE)
            note(CT_NOTE_HUGE, a[0], a[1], 0);
        else if (a[2] == ARG_MADV_DONTNEED)
            note(CT_NOTE_UNMAP, a[0], a[1], 0);
        break;
    case CALL_CLONE:
    case CALL_FORK:
        if (out.forks >= 0 && (call == CALL_FORK || makes_process(a[0])))
            before_fork();
        break;
    default:
        break;
    }
    memcpy(args, a, sizeof a);
}

/* Writes a note about the file behind mapped memory, by its descriptor. */
static void note_file(uint64_t at, uint64_t size, int fd)
{
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    note_path(CT_NOTE_FILE, path, at, size);
}

/* Writes a note about memory from mmap with the arguments `a`. */
static void note_map(uint64_t at, const uint64_t a[6])
{
    const uint64_t page = out.arm32 ? a[5] : a[5] >> 12;
    const bool file = !(a[3] & ARG_MAP_ANONYMOUS) && (int32_t)a[4] >= 0;
    if (a[3] & ARG_MAP_FIXED) /* what was there before */
        note(CT_NOTE_UNMAP, at, a[1], 0);
    note(CT_NOTE_MAP, at, a[1], file);
    if (file)
        note_file(at, a[1], (int32_t)a[4]);
    note(CT_NOTE_SHARED, at, a[1], object_of(a[3], a[4], page));
}

/* Writes a note about memory from mremap with the arguments `a`. */
static void note_remap(uint64_t at, const uint64_t a[6])
{
    if (a[2] < a[1])
        note(CT_NOTE_UNMAP, a[0] + a[2], a[1] - a[2], 0);
    if (at != a[0]) {
        note(CT_NOTE_UNMAP, at, a[2], 0); /* what MREMAP_FIXED replaced */
        note(CT_NOTE_MOVE, a[0], at, a[2] < a[1] ? a[2] : a[1]);
    }
    note(CT_NOTE_MAP, at, a[2], 0);
    note(CT_NOTE_REMAP, a[0], at, a[2]);
}

/* Writes a note about the end of the heap, and one about whole pages that it lost. */
static void note_break(uint64_t at)
{
    static uint64_t before;
    const uint64_t page = 4096, first = (at + page - 1) & ~(page - 1);
    if (first < before)
        note(CT_NOTE_UNMAP, first, before - first, 0);
    note(CT_NOTE_BREAK, at, 0, 0);
    before = at;
}

static void on_syscall_result(qemu_plugin_id_t id, unsigned cpu, int64_t number, int64_t result)
{
    (void)id, (void)cpu;
    const enum call call = call_of(out.arm32, number);
    const bool forks = call == CALL_FORK || (call == CALL_CLONE && makes_process(args[0]));
    const uint64_t at = out.arm32 ? (uint32_t)result : (uint64_t)result;
    if (call == CALL_CLOSE_RANGE)
        after_close();
    if (result < 0 && result > -4096) {
        if (forks)
            close_next();
        return;
    }
    if (forks)
        after_fork(result);
    if (call == CALL_MMAP)
        note_map(at, args);
    if (call == CALL_MREMAP)
        note_remap(at, args);
    if (call == CALL_WAIT4 && result > 0)
        note(CT_NOTE_END, at, 0, 0);
    if (call == CALL_BRK)
        note_break(at);
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *user)
{
    (void)id, (void)user;
    flush_now();
}

/* Reads an option. Returns false when it is unknown. */
static bool read_option(const char *option, bool *fits)
{
    if (!strncmp(option, "layout=", 7))
        *fits = plugin_layout_is(option + 7, PLUGIN_ACCESS_LAYOUT);
    else if (!strncmp(option, "fd=", 3))
        out.fd = atoi(option + 3);
    else if (!strncmp(option, "ring=", 5))
        out.ring_fd = atoi(option + 5);
    else if (!strncmp(option, "forks=", 6))
        out.forks = atoi(option + 6);
    else if (!strncmp(option, "image=", 6))
        out.image = atoi(option + 6);
    else
        return false;
    return true;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    static const char file[] = "coretap-access.so";
    bool fits = false;
    out.pid = getpid();
    out.arm32 = info && info->target_name && strcmp(info->target_name, "arm") == 0;
    guest_init();
    for (int i = 0; i < argc; i++)
        if (!read_option(argv[i], &fits))
            return plugin_refuse(file, argv[i]);
    if (!fits)
        return plugin_refuse(file, NULL);
    struct access_ring *ring = map_ring(out.ring_fd);
    if (out.fd < 0 || !ring)
        return -1;
    out.ring = ring;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_result);
    qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
    return 0;
}
