/* SPDX-License-Identifier: Apache-2.0 */
/* File names of kernel modules, and the size limit of compressed ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CT_MODULE_UNPACKED ((size_t)1 << 30) /* maximal uncompressed size of a module */

/* Returns whether a file is named like a kernel module: x.ko, or compressed, x.ko.xz. */
bool ct_module_is_named(const char *path);
