/* Files by build id from debuginfod servers (elfutils). Its client brings a whole HTTP stack, so it is loaded only
 * where servers are configured. */
#include "input/perf.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

typedef void *begin_fn(void);
typedef int find_fn(void *client, const unsigned char *id, int size, char **path);
typedef void end_fn(void *client);

static const char *find(void *library, struct ct_arena *arena, const struct ct_build_id *id)
{
    begin_fn *begin = (begin_fn *)dlsym(library, "debuginfod_begin");
    find_fn *find_executable = (find_fn *)dlsym(library, "debuginfod_find_executable");
    end_fn *end = (end_fn *)dlsym(library, "debuginfod_end");
    void *client = begin && find_executable && end ? begin() : NULL;
    if (!client)
        return NULL;
    char *path = NULL;
    int fd = find_executable(client, id->bytes, id->size, &path);
    const char *copy = fd >= 0 && path ? ct_arena_strdup(arena, path) : NULL;
    if (fd >= 0)
        close(fd);
    free(path);
    end(client);
    return copy;
}

const char *ct_perf_debuginfod(struct ct_arena *arena, const struct ct_build_id *id)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !*urls)
        return NULL;
    /* Not closed again: libraries that it loads do not bear that. */
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);
    return library ? find(library, arena, id) : NULL;
}
