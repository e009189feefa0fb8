/* SPDX-License-Identifier: Apache-2.0 */
/* The client brings a complete HTTP stack, so it is loaded only where servers are configured. */
#include "base/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"

typedef void *begin_fn(void);
typedef int find_fn(void *client, const unsigned char *id, int size, char **path);
typedef void end_fn(void *client);

/* Warns when the client failed because of its cache. Servers that do not answer are no reason for a warning:
 * many machines have $DEBUGINFOD_URLS set and no network. */
static void tell_cache(struct ct_ctx *ctx, int error)
{
    static const int of_files[] = {EROFS, ENOSPC, EDQUOT, EACCES, EPERM, ENOTDIR, EIO};
    const char *path = getenv("DEBUGINFOD_CACHE_PATH");
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        if (error == of_files[i])
            ct_log(
                ctx, CT_LOG_WARNING,
                "%s: a file of the servers in $DEBUGINFOD_URLS cannot be stored in this cache: %s; what it "
                "contains (names or instructions of a program) is missing; make the folder writable, make "
                "room in it, or set $DEBUGINFOD_CACHE_PATH to another one",
                path ? path : "~/.cache/debuginfod_client", strerror(error));
}

char *ct_debuginfod(struct ct_ctx *ctx, const uint8_t *id, size_t size, enum ct_debuginfod_kind kind)
{
    static const char *const names[] = {"debuginfod_find_executable", "debuginfod_find_debuginfo"};
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !*urls)
        return NULL;
    /* never closed, because the libraries that it loads cannot be unloaded */
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);
    if (!library)
        return NULL;
    begin_fn *begin = (begin_fn *)dlsym(library, "debuginfod_begin");
    find_fn *find = (find_fn *)dlsym(library, names[kind]);
    end_fn *end = (end_fn *)dlsym(library, "debuginfod_end");
    void *client = begin && find && end ? begin() : NULL;
    if (!client)
        return NULL;
    char *path = NULL;
    int fd = find(client, id, (int)size, &path);
    end(client);
    if (fd < 0) {
        tell_cache(ctx, -fd);
        return NULL;
    }
    close(fd);
    return path;
}
