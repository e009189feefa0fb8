/* SPDX-License-Identifier: Apache-2.0 */
/* Where the sections of kernel modules lay. Their files do not say it: the kernel decides when it loads them,
 * and a recording may know what it decided. */
#ifndef CT_BASE_MODULE_PLACES_H
#define CT_BASE_MODULE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct ct_ctx;

#define CT_MODULE_UNPACKED ((size_t)1 << 30) /* bytes that a packed module may have */

struct ct_module_section {
    const char *name;
    uint64_t addr; /* from the begin of the module's memory on; wraps for what lay before it */
};

/* The sections of one module. */
struct ct_module_place {
    struct ct_module_place *next;
    const char *path; /* of its file */
    const struct ct_module_section *sections;
    size_t count;
};

/* All modules whose sections are known; all zero: none. */
struct ct_module_places {
    struct ct_arena arena;
    struct ct_module_place *newest;
};

/* Tells whether a file is called like a kernel module: x.ko, or packed, x.ko.xz. */
bool ct_module_is_named(const char *path);

/* Notes where the sections of the module at `path` lay, in the place of what was noted before. The texts are
 * copied. CT_ERR_NOMEM. */
int ct_module_place(struct ct_ctx *ctx, const char *path, const struct ct_module_section *sections,
                    size_t count);

/* Returns what is known of the module at `path`, or NULL. */
const struct ct_module_place *ct_module_placed(const struct ct_ctx *ctx, const char *path);

#endif
