/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#include <dlfcn.h>

bool ct_library_find(const char *file, const char *const *names, size_t count, void **functions)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
    for (size_t i = 0; all && i < count; i++)
        all = (functions[i] = dlsym(library, names[i])) != NULL;
    return all;
}
