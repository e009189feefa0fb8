/* SPDX-License-Identifier: Apache-2.0 */
/* Packages of debug information (.dwp), in which a tool collected the units that the compiler had written to
 * separate files (DWARF 5, 7.3.5; before it GNU's format of DWARF 4). libdw before 0.191 cannot read
 * packages, so a unit is copied into its own image, which equals its original .dwo. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Makes the image of the unit with an ID; the caller frees it. *image is NULL when the package does not have
 * the unit, or cannot be read. CT_ERR_NOMEM. */
int ct_dwarf_package_unit(const uint8_t *bytes, size_t size, uint64_t id, uint8_t **image,
                          size_t *image_size);
