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
    bool a64;            /* it is a program that this QEMU runs */
    char **argv;         /* with the name that it is called by, and NULL behind the last */
    char **envp;
};

/* Reads the arguments of an execve out of the program's memory, and finds the file. An absolute path is
 * looked for below QEMU's prefix (-L, QEMU_LD_PREFIX) first. Returns false when the call will fail. */
bool exec_read(uint64_t path, uint64_t argv, uint64_t envp, struct exec_image *out);

/* Replaces this process by a QEMU that runs the image, with the plugin at its own path and these options, or
 * without it (NULL). Returns only when that cannot be. */
void exec_start(const struct exec_image *image, const char *options);

void exec_free(struct exec_image *image);

#endif
