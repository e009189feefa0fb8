/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Looks up a function by name and stores its address in *member, a pointer to a function. */
static int find(void *handle, const char *name, void *member)
{
    void *address = dlsym(handle, name);
    if (!address) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    memcpy(member, &address, sizeof address);
    return 0;
}

int library_load(const char *path, struct library *out)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
#define LIBRARY_FIND(name)                                                                                   \
    if (find(handle, #name, &out->name))                                                                     \
        return -1;
    LIBRARY_FUNCTIONS(LIBRARY_FIND)
#undef LIBRARY_FIND
    return 0;
}
