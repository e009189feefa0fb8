/* A program under QEMU user emulation, with the access plugin, at the other end of a pipe. */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fractal.h"

#ifndef CT_PLUGIN_DIR
#define CT_PLUGIN_DIR "/usr/local/lib/coretap"
#endif

/* The plugin: where the environment says, beside the command in a build tree, or installed. */
static bool find_plugin(char path[4096])
{
    const char *named = getenv("CORETAP_ACCESS_PLUGIN");
    if (named) {
        snprintf(path, 4096, "%s", named);
        return access(path, R_OK) == 0;
    }
    char self[3800];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    snprintf(path, 4096, "%s/recorder/coretap-access.so", self);
    if (access(path, R_OK) == 0)
        return true;
    snprintf(path, 4096, "%s", CT_PLUGIN_DIR "/coretap-access.so");
    return access(path, R_OK) == 0;
}

/* Architecture of a program by its ELF header. */
static const char *find_qemu(const char *program, const char **sysroot)
{
    unsigned char head[20] = {0};
    const int fd = open(program, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    const unsigned machine = head[18] | (unsigned)head[19] << 8;
    if (n < (ssize_t)sizeof head || memcmp(head, ELFMAG, SELFMAG) != 0 ||
        (machine != EM_AARCH64 && machine != EM_ARM)) {
        cli_say("%s: %s; give an Arm Linux program, by its path", program,
                n < 0 ? strerror(errno) : "not an ELF program for Arm");
        return NULL;
    }
    *sysroot = machine == EM_AARCH64 ? "/usr/aarch64-linux-gnu" : "/usr/arm-linux-gnueabihf";
    return machine == EM_AARCH64 ? "qemu-aarch64" : "qemu-arm";
}

static void run_child(const char *qemu, const char *sysroot, const char *plugin, int fd, char *const *argv)
{
    char option[4200];
    size_t count = 0;
    while (argv[count])
        count++;
    char **all = calloc(count + 8, sizeof *all);
    if (!all)
        _exit(127);
    size_t n = 0;
    snprintf(option, sizeof option, "%s,fd=%d", plugin, fd);
    all[n++] = (char *)(uintptr_t)qemu;
    if (access(sysroot, X_OK) == 0) {
        all[n++] = (char *)(uintptr_t) "-L";
        all[n++] = (char *)(uintptr_t)sysroot;
    }
    all[n++] = (char *)(uintptr_t) "-plugin";
    all[n++] = option;
    memcpy(all + n, argv, count * sizeof *all);
    execvp(qemu, all);
    fprintf(stderr, "coretap: %s cannot be run: %s; it is in Debian's package qemu-user\n", qemu,
            strerror(errno));
    _exit(127);
}

int feed_start(struct feed *feed, char *const *argv)
{
    char plugin[4096];
    const char *sysroot, *qemu = find_qemu(argv[0], &sysroot);
    int ends[2];
    *feed = (struct feed){.fd = -1, .child = -1};
    if (!qemu)
        return CLI_FAILED;
    if (!find_plugin(plugin)) {
        cli_say("the access plugin is not at %s; name it in CORETAP_ACCESS_PLUGIN", plugin);
        return CLI_FAILED;
    }
    if (pipe(ends)) {
        cli_say("no pipe to %s: %s", qemu, strerror(errno));
        return CLI_FAILED;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETPIPE_SZ, 1 << 20); /* only makes it faster */
    fflush(NULL);
    feed->child = fork();
    if (!feed->child)
        run_child(qemu, sysroot, plugin, ends[1], argv);
    close(ends[1]);
    feed->fd = ends[0];
    if (feed->child > 0)
        return CLI_CLEAN;
    cli_say("%s cannot be started: %s", qemu, strerror(errno));
    close(feed->fd);
    return CLI_FAILED;
}

bool feed_next(struct feed *feed, uint64_t *word)
{
    if (feed->at == feed->count) {
        size_t bytes = 0;
        ssize_t n = 1;
        /* Whole words: a read may end inside one. */
        while ((n = read(feed->fd, (char *)feed->words + bytes, sizeof feed->words - bytes)) != 0) {
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                break;
            bytes += (size_t)n;
            if (bytes % sizeof feed->words[0] == 0)
                break;
        }
        feed->at = 0;
        feed->count = bytes / sizeof feed->words[0];
        if (!feed->count)
            return false;
    }
    *word = feed->words[feed->at++];
    return true;
}

int feed_finish(struct feed *feed)
{
    int status = 0;
    if (feed->fd >= 0)
        close(feed->fd);
    feed->fd = -1;
    if (feed->child <= 0)
        return -1;
    while (waitpid(feed->child, &status, 0) < 0 && errno == EINTR) {
    }
    feed->child = -1;
    if (WIFEXITED(status))
        return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
    cli_say("the traced program was ended by signal %d", WTERMSIG(status));
    return -1;
}

void feed_quiet(struct feed *feed)
{
    close(feed->fd);
    feed->fd = -1;
    while (feed->child > 0 && waitpid(feed->child, NULL, 0) < 0 && errno == EINTR) {
    }
    feed->child = -1;
}
