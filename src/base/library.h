/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are loaded when they are first wanted: each is large, and loading it with the program would
 * slow down every command. */
#ifndef CT_BASE_LIBRARY_H
#define CT_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Loads a library and finds its functions by their names. It stays loaded, because what it loads itself may
 * not be unloaded. Returns false when the library or one of the functions is not there. */
bool ct_library_find(const char *file, const char *const *names, size_t count, void **functions);

#endif
