/* SPDX-License-Identifier: Apache-2.0 */
/* Units of debug information that the compiler wrote to separate files (-gsplit-dwarf, .dwo), or that are in
 * a package of such files (.dwp). The program has a skeleton for each, with the name of the file, and a table
 * of addresses that the unit refers to by number (DWARF 5, 3.1.2 and 7.3.2; before it GNU's extension of
 * DWARF 4). */
#pragma once

#include "base/arena.h"
#include "program/dwarf_lines.h"

struct ct_split_bytes {
    const uint8_t *all;
    size_t size;
};

/* Finds such units, and holds the parts of the one that is being read. */
struct ct_split_finder {
    struct ct_dwarf_reader *reader;
    struct ct_arena *arena;
    struct ct_mapped_file *package; /* package of split units beside the program (.dwp), or NULL */
    bool no_package;                /* the program has no package */
    const char *missing;            /* the first file that is missing, or NULL */
    const char *stale;              /* path of a package from another compilation */
    bool reads;                     /* a unit is being read; its parts are: */
    struct ct_split_bytes entries;  /* its entries */
    struct ct_split_bytes texts;    /* its names */
    struct ct_split_bytes numbered; /* its addresses, `bytes` each */
    struct ct_split_bytes ranges;   /* lists of ranges: those of its file; before DWARF 5 those of the
                                       program */
    uint8_t bytes;
    uint64_t base; /* base address of the ranges */
};

/* Opens the unit of the skeleton `skeleton`, calls `read` for it and closes it. Leaves it open in *kept when
 * `kept` is not NULL. Records units whose file is missing. CT_ERR_NOMEM, CT_ERR_LIMIT, and the errors of
 * `read`. */
int ct_split_read(struct ct_split_finder *f, Dwarf_CU *unit, Dwarf_Die *skeleton,
                  int (*read)(void *user, Dwarf_Die *die), void *user, struct ct_dwarf_split **kept);

/* Closes the package. */
void ct_split_end(struct ct_split_finder *finder);

/* Returns the address with a number in the unit that is being read. False: there is none. */
bool ct_split_numbered(const struct ct_split_finder *finder, uint64_t number, uint64_t *addr);

/* Returns the address in an attribute of an entry of that unit. False: it has none. */
bool ct_split_address(const struct ct_split_finder *finder, Dwarf_Die *die, unsigned attribute,
                      uint64_t *addr);

/* Calls `take` with each address range of an entry of that unit, including empty ones, until a call returns
 * another value than 0. Returns that value, else 0. */
int ct_split_ranges(const struct ct_split_finder *finder, Dwarf_Die *die,
                    int (*take)(void *user, uint64_t start, uint64_t end), void *user);
