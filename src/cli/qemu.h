/* SPDX-License-Identifier: Apache-2.0 */
/* Running an Arm Linux program under QEMU user emulation with one of the project's plugins. */
#ifndef CT_CLI_QEMU_H
#define CT_CLI_QEMU_H

#include "cli/cli.h"

struct cli_qemu {
    const char *command; /* "qemu-aarch64" or "qemu-arm" */
    const char *sysroot; /* where the program's loader and libraries are looked for, or NULL */
    bool arm32;
    bool system; /* the command line is that of a system emulator */
    char plugin[4096];
};

/* Finds what runs `program` (a path): QEMU by the program's architecture, the plugin `file` where the
 * environment variable `variable` says, beside the command in a build tree, or installed. CLI_CLEAN, or
 * CLI_FAILED with a message. */
int cli_qemu_find(struct cli_qemu *qemu, const char *program, const char *file, const char *variable);

/* The same for a whole machine: `command` is the system emulator itself. */
int cli_qemu_find_system(struct cli_qemu *qemu, const char *command, const char *file, const char *variable);

/* In a child process: becomes QEMU running `argv`, with `option` for the plugin. */
void cli_qemu_run(const struct cli_qemu *qemu, const char *option, char *const *argv)
    __attribute__((noreturn));

#endif
