/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a program that starts another one in its place (execve). QEMU gives that to the host, which
 * cannot run it, or runs it under a QEMU without the plugin. So the plugin starts QEMU again by itself. */
#ifndef RECORDER_EXEC_H
#define RECORDER_EXEC_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* A program that is about to begin. */
struct exec_image {
    char path[PATH_MAX]; /* of its file: of a script that of the interpreter */
    char qemu[PATH_MAX]; /* what runs it; "": nothing that would take the plugin */
    char *sysroot;       /* where that looks for its loader and libraries; NULL: at their own paths */
    char **argv;         /* with the name that it is called by, and NULL behind the last */
    char **envp;
};

/* Reads the arguments of an execve out of the memory of a program (arm32: of 32 bits), and finds the file and
 * the QEMU of its machine. An absolute path is looked for below QEMU's prefix (-L, QEMU_LD_PREFIX) first.
 * Returns false when the call will fail. */
bool exec_read(bool arm32, uint64_t path, uint64_t argv, uint64_t envp, struct exec_image *out);

/* Replaces this process by a QEMU that runs the image, with the plugin at its own path and these options, or
 * without it (NULL). Returns only when that cannot be. */
void exec_start(const struct exec_image *image, const char *options);

void exec_free(struct exec_image *image);

#endif
