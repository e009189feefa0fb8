/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of /proc/kallsyms: "address type name", and for a symbol of a module a tab and "[module]" after
 * it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol of the kernel, or of one of its modules. Name and module are in the text that was read, without
 * NUL. */
struct ct_kallsyms_symbol {
    uint64_t addr;
    char type; /* letter of the symbol's type, as in nm */
    char *name, *module;
    size_t name_length, module_length; /* module_length is 0 for symbols of the kernel itself */
};

/* Reads the line at *text and advances *text past it. A NUL must be at `end`, the end of the text. Returns
 * false when the line is no symbol. */
bool ct_kallsyms_read(char **text, char *end, struct ct_kallsyms_symbol *out);
