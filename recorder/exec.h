/* SPDX-License-Identifier: Apache-2.0 */
/* Handles a program that replaces itself by another one (execve). QEMU would pass the call to the host, which
 * cannot run the program or runs it under a QEMU without the plugin. So the plugin starts QEMU itself. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* The program that replaces this one. */
struct exec_image {
    char path[PATH_MAX]; /* path of its file or, for a script, of the interpreter's file */
    char qemu[PATH_MAX]; /* QEMU that runs it; "": there is none that takes the plugin */
    char *sysroot;       /* prefix for its loader and libraries; NULL: none */
    const char *cpu;     /* processor to emulate; NULL: the default */
    char **argv;         /* its name and arguments, with NULL at the end */
    char **envp;
};

/* Reads the arguments of an execve from the memory of a program (arm32: a 32-bit one), and finds the file and
 * its machine's QEMU. An absolute path is first searched below QEMU's prefix (-L, QEMU_LD_PREFIX). Returns
 * false when the call will fail. */
bool exec_read(bool arm32, uint64_t path, uint64_t argv, uint64_t envp, struct exec_image *out);

/* Replaces this process by a QEMU that runs the image, with the plugin and these options, or without it
 * (NULL). Returns only on failure. */
void exec_start(const struct exec_image *image, const char *options);

void exec_free(struct exec_image *image);
