/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an Arm program under QEMU with one of the project's plugins. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/require.h"
#include "coretap/record.h"
#include "record/plugin.h"
#include "recorder/emulators.h"

#ifndef CT_PLUGIN_DIR
#define CT_PLUGIN_DIR "/usr/local/lib/coretap"
#endif

/* Sets the path of a plugin. Returns false when there is no file. */
static bool find_plugin(char path[4096], const char *file, const char *variable)
{
    const char *named = getenv(variable);
    if (named && *named) {
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

static bool is_big_endian(const unsigned char *head, ssize_t n)
{
    return n > EI_DATA && !memcmp(head, ELFMAG, SELFMAG) && head[EI_DATA] == ELFDATA2MSB;
}

/* Finds the command for the architecture in a program's ELF header. */
static int find_command(struct ct_ctx *ctx, struct ct_qemu *qemu, const char *program)
{
    unsigned char head[EMULATOR_HEAD];
    const int fd = open(program, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    const int why = errno;
    if (fd >= 0)
        close(fd);
    const struct emulator *emulator = emulator_of(head, n < 0 ? 0 : (size_t)n);
    if (!emulator)
        return ct_fail(ctx, CT_ERR_NOT_FOUND,
                       "%s: cannot be run: %s; give the path of an Arm Linux "
                       "program",
                       program,
                       n < 0                    ? strerror(why)
                       : is_big_endian(head, n) ? "it is a big-endian program"
                                                : "it is not an ELF program for Arm");
    if (access(program, X_OK) != 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be run: %s; make it executable with 'chmod +x'", program,
                       strerror(errno));
    qemu->arm32 = emulator->machine == EM_ARM;
    qemu->command = emulator->command;
    qemu->sysroot = emulator->sysroot;
    if (getenv("QEMU_LD_PREFIX") || access(qemu->sysroot, X_OK) != 0)
        qemu->sysroot = NULL;
    return CT_OK;
}

int ct_qemu_find(struct ct_ctx *ctx, const char *program, int system, const char *file, const char *variable,
                 struct ct_qemu *out)
{
    CT_REQUIRE(ctx, program, file, variable, out);
    *out = (struct ct_qemu){.system = system != 0};
    if (system)
        out->command = program;
    const int rc = system ? CT_OK : find_command(ctx, out, program);
    if (rc)
        return rc;
    if (find_plugin(out->plugin, file, variable))
        return ct_plugin_check(ctx, out->plugin, file, variable);
    return ct_fail(ctx, CT_ERR_NOT_FOUND,
                   "the plugin for QEMU is not at %s, so nothing can be recorded; set "
                   "%s to its path",
                   out->plugin, variable);
}

/* Returns the processor to emulate, or NULL for the default of QEMU or of its environment. */
static const char *processor(const struct ct_qemu *qemu)
{
    if (!qemu->accesses || getenv("QEMU_CPU"))
        return NULL;
    for (size_t i = 0; i < sizeof emulators / sizeof *emulators; i++)
        if (strcmp(emulators[i].command, qemu->command) == 0)
            return emulators[i].visible;
    return NULL;
}

/* Returns the value of -plugin, for free(). QEMU ends a value at a comma, and a key at "=", so commas of the
 * path are doubled, and the path has its key. */
static char *plugin_value(const char *path, const char *option)
{
    const size_t size = sizeof "file=" + 2 * strlen(path) + sizeof "," + strlen(option);
    char *value = malloc(size);
    size_t n = value ? (size_t)snprintf(value, size, "file=") : 0;
    for (; value && *path; path++) {
        value[n++] = *path;
        if (*path == ',')
            value[n++] = ',';
    }
    if (value)
        snprintf(value + n, size - n, ",%s", option);
    return value;
}

/* Replaces this process, a child, by QEMU. Returns only when that fails. */
static int run(struct ct_ctx *ctx, const struct ct_qemu *qemu, const char *option, char *const *argv)
{
    size_t count = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the parent, nobody reads its output */
    while (argv[count])
        count++;
    char **all = calloc(count + 10, sizeof *all), *plugin = plugin_value(qemu->plugin, option);
    if (!all || !plugin) {
        free(all);
        free(plugin);
        return ct_fail_nomem(ctx, qemu->command);
    }
    size_t n = 0;
    all[n++] = (char *)(uintptr_t)qemu->command;
    if (qemu->sysroot) {
        all[n++] = (char *)(uintptr_t) "-L";
        all[n++] = (char *)(uintptr_t)qemu->sysroot;
    }
    const char *cpu = processor(qemu);
    if (cpu) {
        all[n++] = (char *)(uintptr_t) "-cpu";
        all[n++] = (char *)(uintptr_t)cpu;
    }
    all[n++] = (char *)(uintptr_t) "-plugin";
    all[n++] = plugin;
    argv += qemu->system; /* without the emulator's own name */
    count -= qemu->system;
    memcpy(all + n, argv, count * sizeof *all);
    if (strchr(qemu->command, '/')) /* execvp would pass a file of another format to the shell */
        execv(qemu->command, all);
    else
        execvp(qemu->command, all);
    const int why = errno;
    free(all);
    free(plugin);
    return ct_fail(
        ctx, CT_ERR_IO, "%s: cannot be run: %s; %s", *qemu->command ? qemu->command : "''", strerror(why),
        qemu->system ? "name the QEMU that emulates the machine, such as qemu-system-aarch64 (Debian: "
                       "qemu-system-arm), and its arguments"
                     : "install it (Debian: qemu-user)");
}

int ct_qemu_start(struct ct_ctx *ctx, const struct ct_qemu *qemu, const char *option, char *const *argv,
                  int *child)
{
    CT_REQUIRE(ctx, qemu, option, argv, child);
    fflush(NULL); /* otherwise the child would write buffered output again */
    *child = fork();
    if (!*child) {
        run(ctx, qemu, option, argv);
        fprintf(stderr, "coretap: %s\n", ct_ctx_error(ctx));
        _exit(CT_QEMU_CANNOT_RUN);
    }
    if (*child > 0)
        return CT_OK;
    return ct_fail(ctx, CT_ERR_IO, "%s: cannot be started: %s", qemu->command, strerror(errno));
}
