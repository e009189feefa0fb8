/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are loaded on first use: each is large, and loading it with the program would slow down
 * every command. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Loads a library and finds its functions by their names. It stays loaded, because the libraries that it
 * loads may not be unloaded. Returns false when the library or one of the functions is missing. */
bool ct_library_find(const char *file, const char *const *names, size_t count, void **functions);

/* Declares `union ct_library` for the functions that ENTRIES(X) lists, each as X(name), which must be
 * declared in a header: `f` has a pointer of the same name to each. */
// NOLINTBEGIN(bugprone-macro-parentheses): a tag cannot stand in parentheses
#define CT_LIBRARY(ct_library, ENTRIES)                                                                      \
    struct ct_library##_functions {                                                                          \
        ENTRIES(CT_LIBRARY_POINTER)                                                                          \
    };                                                                                                       \
    union ct_library {                                                                                       \
        struct ct_library##_functions f;                                                                     \
        void *found[sizeof(struct ct_library##_functions) / sizeof(void *)]; /* `f` as a list */             \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define CT_LIBRARY_POINTER(name) __typeof__(name) *(name);

/* Finds all functions, like ct_library_find. */
#define CT_LIBRARY_FIND(file, library, ENTRIES)                                                              \
    ct_library_find((file), (const char *const[]){ENTRIES(CT_LIBRARY_NAME)},                                 \
                    sizeof(library)->found / sizeof *(library)->found, (library)->found)
#define CT_LIBRARY_NAME(name) #name,
