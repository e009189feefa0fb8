/* SPDX-License-Identifier: Apache-2.0 */
/* Short names for the rows of a picture. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes a name with at most `most` characters into `label`: of a path the file's name, of a C++ function the
 * name without return type, template arguments and parameters. What is still too long loses its beginning,
 * because the ends of names differ. Returns false, and writes nothing, when the name is short enough as it
 * is. */
bool ct_fractal_label(const char *name, size_t most, char *label, size_t room);
