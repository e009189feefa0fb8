/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions and lines that every Go program contains for its runtime (.gopclntab), even when
 * stripped: https://go.dev/s/go12symtab, and docs/architecture.md for changes of later versions. */
#pragma once

#include "program/elf.h"

#include <stdbool.h>

/* A table. Offsets are relative to its start. */
struct ct_go_table {
    const uint8_t *bytes;
    size_t size;
    size_t text_end;      /* offset after the last zero byte: each text that starts before it ends in the
                             table */
    uint64_t count;       /* number of functions */
    uint64_t base;        /* added to the addresses of functions */
    uint64_t names;       /* texts */
    uint64_t units;       /* for each unit, the files that its numbers stand for */
    uint64_t files;       /* texts; before Go 1.16 the offset of each text */
    uint64_t values;      /* lines and files by address */
    uint64_t records;     /* of functions */
    uint64_t index;       /* address and record of each function, and the end of the last one */
    uint8_t quantum;      /* unit of address differences, in bytes */
    uint8_t pointer;      /* bytes */
    uint8_t address_size; /* bytes of an address in the index and at the start of a record */
    bool has_units;       /* Go 1.16 and later */
};

struct ct_go_function {
    uint64_t addr, end;  /* without a load bias */
    uint64_t name;       /* offset in the table of a terminated text; 0 without a name */
    uint64_t file, line; /* offsets of its values */
    uint64_t unit;
};

/* A cursor over values by address: `value` applies up to `addr`, from the previous address on. */
struct ct_go_values {
    uint64_t at; /* offset of the next one in the table */
    uint64_t addr;
    int64_t value;
    bool begun;
};

/* Finds the table of a program. CT_ERR_NOT_FOUND: it has none; CT_ERR_FORMAT: it is damaged, or of an unknown
 * version. The bytes of the program must stay valid while the table is used. */
int ct_go_table_find(const struct ct_elf *elf, struct ct_go_table *out);

/* Reads a function. Returns false when its record is damaged. */
bool ct_go_table_function(const struct ct_go_table *table, uint64_t number, struct ct_go_function *out);

/* Start the values of a function, and move to the next one. Returns false at their end. */
struct ct_go_values ct_go_values_of(const struct ct_go_function *function, uint64_t values);
bool ct_go_values_next(const struct ct_go_table *table, struct ct_go_values *values);

/* Returns the path of a file by its number in the unit of a function; NULL when there is none. */
const char *ct_go_table_file(const struct ct_go_table *table, const struct ct_go_function *function,
                             int64_t number);
