/* SPDX-License-Identifier: Apache-2.0 */
/* Units of debug information that the compiler left in files of their own (-gsplit-dwarf, .dwo), or that
 * stand in a package of such files (.dwp). In the program stands a skeleton for each, with the name of the
 * file, and the addresses that the unit has by number (DWARF 5, 3.1.2 and 7.3.2; before it GNU's extension of
 * DWARF 4). */
#ifndef CT_PROGRAM_DWARF_SPLIT_H
#define CT_PROGRAM_DWARF_SPLIT_H

#include "base/arena.h"
#include "program/dwarf_lines.h"

struct ct_split_bytes {
    const uint8_t *all;
    size_t size;
};

/* Finds such units, and holds what belongs to the one that is read. */
struct ct_split_finder {
    struct ct_dwarf_reader *reader;
    struct ct_arena *arena;
    struct ct_mapped_file *package; /* package of split units beside the program (.dwp), or NULL */
    bool no_package;                /* there is no package */
    const char *missing;            /* the first such file that is not there, or NULL */
    const char *stale;              /* path of a package of another compilation */
    bool reads;                     /* a unit is read, of which: */
    struct ct_split_bytes entries;  /* its entries */
    struct ct_split_bytes numbered; /* its addresses, `bytes` each */
    struct ct_split_bytes ranges; /* lists of ranges: all of its file; before DWARF 5 those of the program */
    uint8_t bytes;
    uint64_t base; /* that ranges are told from */
};

/* Opens the unit for which `skeleton` stands, reads it by `read` and closes it, or leaves it open in *kept
 * where that is not NULL. Units whose file is not there are noted. CT_ERR_NOMEM, CT_ERR_LIMIT, and the errors
 * of `read`. */
int ct_split_read(struct ct_split_finder *f, Dwarf_CU *unit, Dwarf_Die *skeleton,
                  int (*read)(void *user, Dwarf_Die *die), void *user, struct ct_dwarf_split **kept);

/* Closes the package. */
void ct_split_end(struct ct_split_finder *finder);

/* Gives the address that has a number in the unit that is read. False: there is none. */
bool ct_split_numbered(const struct ct_split_finder *finder, uint64_t number, uint64_t *addr);

/* Gives the address that an attribute of an entry of that unit has. False: it has none. */
bool ct_split_address(const struct ct_split_finder *finder, Dwarf_Die *die, unsigned attribute,
                      uint64_t *addr);

/* Calls `take` with each range of addresses of an entry of that unit, empty ones too, until that returns
 * another value than 0. Result: that value. */
int ct_split_ranges(const struct ct_split_finder *finder, Dwarf_Die *die,
                    int (*take)(void *user, uint64_t start, uint64_t end), void *user);

#endif
