/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of /proc/kallsyms: "address type name", and of a module's symbol a tab and "[module]" behind it.
 */
#ifndef CT_BASE_KALLSYMS_H
#define CT_BASE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol of the kernel, or of one of its modules. Name and module lie in the text that was read, where they
 * end without a zero byte. */
struct ct_kallsyms_symbol {
    uint64_t addr;
    char type; /* letter of the symbol's type, as in nm */
    char *name, *module;
    size_t name_length, module_length; /* module_length is 0 of the kernel's own symbols */
};

/* Reads the line at *text and sets *text behind it. A zero byte has to stand at `end`, where the text ends.
 * Returns false when the line is no symbol. */
bool ct_kallsyms_read(char **text, char *end, struct ct_kallsyms_symbol *out);

#endif
