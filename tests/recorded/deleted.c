/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes or replaces its own file, loads a library from a file without a name, or loads libraries one after
 * the other from a file that is deleted at once, and works on.
 *
 *   deleted unlink PROGRAM | rename PROGRAM OTHER | memory FILE | plugins (COPY FILE FUNCTION) twice */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TIMES 1000

__attribute__((noipa)) static int work(int i)
{
    return i * 3;
}

static int copy(const char *path, int to)
{
    char bytes[4096];
    ssize_t n;
    const int from = open(path, O_RDONLY);
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        if (write(to, bytes, (size_t)n) != n)
            return 1;
    return close(from);
}

/* Loads a library from a file without a name. */
static void *load_copy(const char *path)
{
    char name[32];
    const int to = memfd_create("made", 0);
    if (copy(path, to))
        return NULL;
    snprintf(name, sizeof name, "/proc/self/fd/%d", to);
    return dlopen(name, RTLD_NOW);
}

/* Loads a copy of a library, deletes the copy, and calls a function of it. */
static int call_plugin(const char *name, const char *path, const char *function)
{
    const int to = open(name, O_WRONLY | O_CREAT | O_EXCL, 0700);
    int sum = 0;
    if (copy(path, to) || close(to))
        return 1;
    void *library = dlopen(name, RTLD_NOW);
    if (!library || unlink(name))
        return 1;
    int (*called)(int) = (int (*)(int))dlsym(library, function);
    for (int i = 0; i < TIMES; i++)
        sum += called(i);
    return sum == 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[1] : "";
    int (*called)(int) = work;
    void *library = NULL;
    int sum = 0;
    if (strcmp(how, "plugins") == 0)
        return argc != 8 || call_plugin(argv[2], argv[3], argv[4]) || call_plugin(argv[5], argv[6], argv[7]);
    if (strcmp(how, "memory") == 0)
        library = load_copy(argv[2]);
    if (strcmp(how, "rename") == 0 ? rename(argv[3], argv[2]) : *how && *how != 'm' && unlink(argv[2]))
        return 1;
    if (library)
        called = (int (*)(int))dlsym(library, "added");
    for (int i = 0; i < TIMES; i++)
        sum += called(i);
    return sum == 1;
}
