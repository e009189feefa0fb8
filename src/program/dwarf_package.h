/* SPDX-License-Identifier: Apache-2.0 */
/* Packages of debug information (.dwp), into which a tool put the units that the compiler had left in files
 * of their own (DWARF 5, 7.3.5; before it GNU's format of DWARF 4). libdw before 0.191 reads none of them: a
 * unit is put into an image of its own, which is what its .dwo was. */
#ifndef CT_PROGRAM_DWARF_PACKAGE_H
#define CT_PROGRAM_DWARF_PACKAGE_H

#include <stddef.h>
#include <stdint.h>

/* Makes the image of the unit of an ID; the caller frees it. *image is NULL when the package has no such
 * unit, or is none that can be read. CT_ERR_NOMEM. */
int ct_dwarf_package_unit(const uint8_t *bytes, size_t size, uint64_t id, uint8_t **image,
                          size_t *image_size);

#endif
