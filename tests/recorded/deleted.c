/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes or replaces its own file, or loads a library from a file without a name, and works on.
 *
 *   deleted unlink PROGRAM | rename PROGRAM OTHER | memory FILE */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TIMES 1000
#define WAITS 20000 /* of a millisecond */

__attribute__((noipa)) static int work(int i)
{
    return i * 3;
}

/* Returns whether the recorder, which is the parent, has the file without a name open. */
static int is_kept(const char *folder)
{
    char path[400], target[64] = "";
    int kept = 0;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && !kept && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        const ssize_t size = readlink(path, target, sizeof target - 1);
        target[size < 0 ? 0 : size] = 0;
        kept = strncmp(target, "/memfd:made", 11) == 0;
    }
    if (dir)
        closedir(dir);
    return kept;
}

/* Waits until the recorder has opened the library, which goes when this program ends. */
static void wait_for_recorder(void)
{
    char folder[40];
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)getppid());
    for (int i = 0; i < WAITS && !is_kept(folder); i++)
        usleep(1000);
}

/* Loads a library from a file without a name. */
static void *load_copy(const char *path)
{
    char bytes[4096], name[32];
    ssize_t n;
    const int from = open(path, O_RDONLY), to = memfd_create("made", 0);
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        if (write(to, bytes, (size_t)n) != n)
            return NULL;
    snprintf(name, sizeof name, "/proc/self/fd/%d", to);
    return dlopen(name, RTLD_NOW);
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[1] : "";
    int (*called)(int) = work;
    void *library = NULL;
    int sum = 0;
    if (strcmp(how, "memory") == 0)
        library = load_copy(argv[2]);
    if (strcmp(how, "rename") == 0 ? rename(argv[3], argv[2]) : *how && *how != 'm' && unlink(argv[2]))
        return 1;
    if (library) {
        wait_for_recorder();
        called = (int (*)(int))dlsym(library, "added");
    }
    for (int i = 0; i < TIMES; i++)
        sum += called(i);
    return sum == 1;
}
