/* SPDX-License-Identifier: Apache-2.0 */
/* The first process of a Linux system that loads kernel modules and makes one of them work (perf_modules.py).
 * Prints the addresses of the modules and the symbols whose names are in the file /wanted. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOP_SET_FD       0x4c00
#define LOOP_CTL_GET_FREE 0x4c82

/* Prints the lines of a file, each after `word`. */
static void show(const char *word, const char *path)
{
    char line[512];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        printf("%s %s", word, line);
    if (file)
        fclose(file);
}

static void load(char *name)
{
    char path[600], word[600];
    snprintf(path, sizeof path, "/%s.ko", name);
    printf("LOADED %s %ld\n", name, syscall(SYS_finit_module, open(path, O_RDONLY), "", 0));
    snprintf(path, sizeof path, "/sys/module/%s/sections", name);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char file[900];
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        snprintf(word, sizeof word, "SECTION %s %s", name, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            show(word, file);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Prints the wanted symbols of the kernel and all symbols of modules. */
static void show_symbols(void)
{
    static char *wanted[65536];
    size_t count = 0;
    char line[512], name[256];
    unsigned long addr;
    FILE *file = fopen("/wanted", "r");
    while (file && count < 65536 && fscanf(file, "%255s", name) == 1)
        wanted[count++] = strdup(name);
    qsort(wanted, count, sizeof *wanted, by_text);
    file = fopen("/proc/kallsyms", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *key = name;
        if (sscanf(line, "%lx %*c %255s", &addr, name) == 2 &&
            (strchr(line, '[') || bsearch(&key, wanted, count, sizeof *wanted, by_text)))
            printf("SYMBOL %s", line);
    }
}

int main(void)
{
    char name[256], block[512];
    mount("proc", "/proc", "proc", 0, 0);
    mount("sys", "/sys", "sysfs", 0, 0);
    mount("dev", "/dev", "devtmpfs", 0, 0);
    FILE *list = fopen("/modules", "r");
    while (list && fscanf(list, "%255s", name) == 1)
        load(name);
    show("MODULE", "/proc/modules");
    show_symbols();
    fflush(stdout);
    usleep(300000);       /* so that the kernel has freed what only loading needed */
    sethostname("it", 2); /* the recording begins here */
    const int control = open("/dev/loop-control", O_RDWR);
    snprintf(name, sizeof name, "/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
    const int loop = open(name, O_RDWR);
    const int backing = open("/loop.ko", O_RDWR);
    const int set = ioctl(loop, LOOP_SET_FD, backing);
    printf("WORKED %d %zd\n", set, pread(loop, block, sizeof block, 0));
    fflush(stdout);
    reboot(RB_POWER_OFF);
    return 0;
}
