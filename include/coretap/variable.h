/* SPDX-License-Identifier: Apache-2.0 */
/* coretap variable: the address and type of a program's variable, from the debug information of its ELF file
 * (DWARF 4 or 5).
 *
 *     struct ct_variable *v;
 *     if (ct_variable_find(ctx, "firmware.elf", NULL, "motor.state", &v) == CT_OK) {
 *         printf("0x%" PRIx64 ": %s\n", v->addr, v->type);
 *         ct_variable_free(v);
 *     } */
#ifndef CORETAP_VARIABLE_H
#define CORETAP_VARIABLE_H

#include "coretap/base.h"
#include "coretap/source_lines.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the bytes of a variable are read. */
enum ct_variable_form {
    CT_VARIABLE_BLOCK,    /* no number: a structure or an array, or more than 8 bytes */
    CT_VARIABLE_SIGNED,   /* a signed number */
    CT_VARIABLE_UNSIGNED, /* an unsigned number: also a truth value, a character, a pointer */
    CT_VARIABLE_REAL,     /* a floating-point number of 32 or 64 bits */
    CT_VARIABLE_RAW,      /* bits: there is no debug information, and the symbol table has no types */
};

/* A name that an enumeration gives to one of its values. */
struct ct_enumerator {
    const char *name;
    uint64_t value; /* sign-extended if the variable is signed */
};

/* One variable, or a part of one. */
struct ct_variable {
    const char *name;                  /* with its scopes, fields and indices */
    const char *type;                  /* as in the source, such as "enum state"; "" when it has no name */
    const struct ct_enumerator *names; /* of an enumeration, in the order of the source */
    size_t name_count;
    uint64_t addr;        /* of its first byte, load bias included */
    uint64_t size;        /* bytes; for a bit field those that contain it */
    uint8_t form;         /* enum ct_variable_form */
    uint8_t bit;          /* of a number: its lowest bit in these bytes, read as a little-endian number */
    uint8_t bits;         /* of a number: its width in bits, 1 to 64 */
    uint8_t is_bit_field; /* 1: other variables share its bytes */
    uint8_t pad[4];       /* 0 */
};

/* Finds a variable of the ELF file at `path`. `name` is its name in the source, with as many of its scopes as
 * make it unique and a path to a part of it: "speed", "motor.c:speed", "control::limits", "main::turns",
 * "table[3].rows[0].value". A structure or atomic with only one number is that number. A variable without
 * debug information is found in the symbol table, without type and parts. Pointers are not followed.
 * `options` as for ct_lines_load_with, whose errors it also returns. CT_ERR_NOT_FOUND: there is no such
 * variable; CT_ERR_UNSUPPORTED: it has no address in memory, or several variables have the name, or it has no
 * such part. The caller frees *out. */
CT_API int ct_variable_find(struct ct_ctx *ctx, const char *path, const struct ct_line_options *options,
                            const char *name, struct ct_variable **out);

/* The same in the bytes of a file, called `file` in messages, without separate files. The bytes are not
 * needed afterwards. */
CT_API int ct_variable_find_bytes(struct ct_ctx *ctx, const char *file, const void *bytes, size_t size,
                                  const char *name, struct ct_variable **out);
CT_API void ct_variable_free(struct ct_variable *variable);

/* Returns the name of a value of an enumeration; NULL when it has none. */
CT_API const char *ct_variable_value_name(const struct ct_variable *variable, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
