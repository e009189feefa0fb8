/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/qemu.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef CT_PLUGIN_DIR
#define CT_PLUGIN_DIR "/usr/local/lib/coretap"
#endif

static bool find_plugin(char path[4096], const char *file, const char *variable)
{
    const char *named = getenv(variable);
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
    snprintf(path, 4096, "%s/recorder/%s", self, file);
    if (access(path, R_OK) == 0)
        return true;
    snprintf(path, 4096, "%s/%s", CT_PLUGIN_DIR, file);
    return access(path, R_OK) == 0;
}

/* Architecture of a program by its ELF header. */
static int find_command(struct cli_qemu *qemu, const char *program)
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
        return CLI_FAILED;
    }
    qemu->arm32 = machine == EM_ARM;
    qemu->command = qemu->arm32 ? "qemu-arm" : "qemu-aarch64";
    qemu->sysroot = qemu->arm32 ? "/usr/arm-linux-gnueabihf" : "/usr/aarch64-linux-gnu";
    if (getenv("QEMU_LD_PREFIX") || access(qemu->sysroot, X_OK) != 0)
        qemu->sysroot = NULL;
    return CLI_CLEAN;
}

int cli_qemu_find(struct cli_qemu *qemu, const char *program, const char *file, const char *variable)
{
    *qemu = (struct cli_qemu){0};
    if (find_command(qemu, program))
        return CLI_FAILED;
    if (find_plugin(qemu->plugin, file, variable))
        return CLI_CLEAN;
    cli_say("the plugin for QEMU is not at %s; name it in %s", qemu->plugin, variable);
    return CLI_FAILED;
}

int cli_qemu_find_system(struct cli_qemu *qemu, const char *command, const char *file, const char *variable)
{
    *qemu = (struct cli_qemu){.command = command, .system = true};
    if (find_plugin(qemu->plugin, file, variable))
        return CLI_CLEAN;
    cli_say("the plugin for QEMU is not at %s; name it in %s", qemu->plugin, variable);
    return CLI_FAILED;
}

void cli_qemu_run(const struct cli_qemu *qemu, const char *option, char *const *argv)
{
    char plugin[4200];
    size_t count = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would read what it has to say */
    while (argv[count])
        count++;
    char **all = calloc(count + 8, sizeof *all);
    if (!all) {
        fprintf(stderr, "coretap: %s cannot be run: out of memory\n", qemu->command);
        _exit(127);
    }
    size_t n = 0;
    snprintf(plugin, sizeof plugin, "%s,%s", qemu->plugin, option);
    all[n++] = (char *)(uintptr_t)qemu->command;
    if (qemu->sysroot) {
        all[n++] = (char *)(uintptr_t) "-L";
        all[n++] = (char *)(uintptr_t)qemu->sysroot;
    }
    all[n++] = (char *)(uintptr_t) "-plugin";
    all[n++] = plugin;
    argv += qemu->system; /* the command itself */
    count -= qemu->system;
    memcpy(all + n, argv, count * sizeof *all);
    execvp(qemu->command, all);
    cli_say("%s cannot be run: %s; it is in Debian's package qemu-user", qemu->command, strerror(errno));
    _exit(127);
}
