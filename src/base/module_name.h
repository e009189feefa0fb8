/* SPDX-License-Identifier: Apache-2.0 */
/* How files of kernel modules are called, and how large packed ones may be. */
#ifndef CT_BASE_MODULE_NAME_H
#define CT_BASE_MODULE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define CT_MODULE_UNPACKED ((size_t)1 << 30) /* bytes that a packed module may have */

/* Tells whether a file is called like a kernel module: x.ko, or packed, x.ko.xz. */
bool ct_module_is_named(const char *path);

#endif
