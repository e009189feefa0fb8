/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "exec.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulators.h"
#include "guest.h"

#define PAGE        4096
#define TEXT_MAX    (32 * PAGE) /* Linux's MAX_ARG_STRLEN */
#define STRINGS_MAX (1u << 20)
#define HEAD_BYTES  256 /* as many as Linux reads from a script */

/* ---- arguments ---- */

/* Copies a string from the program's memory, page by page. Returns NULL when it is unmapped. */
static char *read_text(uint64_t addr)
{
    char *text = NULL;
    for (size_t size = 0; addr && size < TEXT_MAX;) {
        const size_t more = PAGE - (addr + size) % PAGE;
        char *longer = realloc(text, size + more);
        if (!longer)
            break;
        text = longer;
        if (!guest_memory(addr + size, text + size, more))
            break;
        if (memchr(text + size, 0, more))
            return text;
        size += more;
    }
    free(text);
    return NULL;
}

static void free_texts(char **texts)
{
    for (size_t i = 0; texts && texts[i]; i++)
        free(texts[i]);
    free(texts);
}

/* Copies the strings in an array of pointers of `width` bytes. Returns NULL when one is unmapped. */
static char **read_texts(uint64_t addr, size_t width)
{
    size_t count = 0;
    uint64_t at = 0; /* little-endian, like the host */
    while (addr && count < STRINGS_MAX && guest_memory(addr + count * width, &at, width) && at)
        count++;
    char **texts = at ? NULL : calloc(count + 1, sizeof *texts);
    for (size_t i = 0; texts && i < count; i++) {
        texts[i] = guest_memory(addr + i * width, &at, width) ? read_text(at) : NULL;
        if (!texts[i]) {
            free_texts(texts);
            return NULL;
        }
    }
    return texts;
}

/* ---- this QEMU's command line ---- */

struct command {
    char *text; /* arguments, each with a final zero */
    const char *prefix, *plugin;
};

/* Reads the options of this QEMU up to the plugin. */
static bool read_command(struct command *out)
{
    size_t room = 0, used = 0;
    *out = (struct command){.prefix = getenv("QEMU_LD_PREFIX")};
    FILE *f = fopen("/proc/self/cmdline", "re");
    for (size_t n = 1; f && n; used += n) {
        if (room - used < PAGE) {
            char *longer = realloc(out->text, room = 2 * room + 2 * PAGE);
            if (!longer)
                break;
            out->text = longer;
        }
        n = fread(out->text + used, 1, room - used - 1, f);
    }
    if (f)
        fclose(f);
    if (!used)
        return false;
    out->text[used] = 0;
    for (const char *at = out->text; at < out->text + used && !out->plugin; at += strlen(at) + 1) {
        if (strcmp(at, "-L") == 0)
            out->prefix = at + 3;
        if (strcmp(at, "-plugin") == 0)
            out->plugin = at + sizeof "-plugin";
    }
    return out->plugin != NULL;
}

/* ---- files ---- */

/* Finds an executable file. Returns false when there is none. */
static bool find_file(const char *path, char found[PATH_MAX])
{
    struct stat st;
    char below[PATH_MAX];
    struct command command;
    const bool known = path[0] == '/' && read_command(&command);
    bool there = false;
    if (known && command.prefix &&
        snprintf(below, sizeof below, "%s%s", command.prefix, path) < (int)sizeof below)
        there = access(below, X_OK) == 0 && realpath(below, found);
    if (known)
        free(command.text);
    if (!there)
        there = access(path, X_OK) == 0 && realpath(path, found);
    return there && !stat(found, &st) && S_ISREG(st.st_mode);
}

/* Reads the first bytes of a file. Returns their number. */
static size_t read_head(const char *path, char head[HEAD_BYTES + 1])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, head, HEAD_BYTES);
    if (fd >= 0)
        close(fd);
    head[n < 0 ? 0 : n] = 0;
    return n < 0 ? 0 : (size_t)n;
}

/* Finds a command beside this QEMU, otherwise in PATH. Returns false when there is none. */
static bool find_command(const char *command, char found[PATH_MAX])
{
    char self[PATH_MAX];
    const char *folders = getenv("PATH");
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = 0;
    const char *slash = strrchr(self, '/');
    if (slash && snprintf(found, PATH_MAX, "%.*s/%s", (int)(slash - self), self, command) < PATH_MAX &&
        access(found, X_OK) == 0)
        return true;
    for (size_t size; folders && *folders; folders += size + (folders[size] == ':')) {
        size = strcspn(folders, ":");
        if (size && snprintf(found, PATH_MAX, "%.*s/%s", (int)size, folders, command) < PATH_MAX &&
            access(found, X_OK) == 0)
            return true;
    }
    found[0] = 0;
    return false;
}

/* Finds the QEMU for a program, from the first bytes of its file: this one, or the other machine's. */
static void find_qemu(bool arm32, const char *head, size_t size, struct exec_image *image)
{
    struct command command;
    const struct emulator *emulator = emulator_of((const unsigned char *)head, size);
    if (!emulator || !read_command(&command))
        return;
    const char *prefix = getenv("QEMU_LD_PREFIX");
    image->cpu = getenv("QEMU_CPU") ? NULL : emulator->visible;
    if ((emulator->machine == EM_ARM) == arm32) {
        snprintf(image->qemu, sizeof image->qemu, "/proc/self/exe");
        image->sysroot = command.prefix ? strdup(command.prefix) : NULL;
    } else if (find_command(emulator->command, image->qemu)) {
        const char *sysroot = prefix ? prefix : access(emulator->sysroot, X_OK) ? NULL : emulator->sysroot;
        image->sysroot = sysroot ? strdup(sysroot) : NULL;
    }
    free(command.text);
}

/* Inserts the interpreter of a script, and its argument, before the script's path and arguments
 * (execve(2)). */
static bool take_interpreter(struct exec_image *image, const char *script, char *line)
{
    char *name = line + strspn(line, " \t");
    line[strcspn(line, "\n")] = 0;
    char *more = name + strcspn(name, " \t");
    if (*more)
        *more++ = 0;
    more += strspn(more, " \t");
    for (size_t n = strlen(more); n && strchr(" \t", more[n - 1]); n--)
        more[n - 1] = 0;
    size_t count = 0, at = 0;
    while (image->argv[count])
        count++;
    char **argv = calloc(count + 4, sizeof *argv);
    if (!argv)
        return false;
    argv[at++] = strdup(name);
    if (*more)
        argv[at++] = strdup(more);
    argv[at++] = strdup(script);
    for (size_t i = 1; i < count; i++)
        argv[at++] = image->argv[i];
    if (count)
        free(image->argv[0]);
    free(image->argv);
    image->argv = argv;
    return find_file(name, image->path);
}

bool exec_read(bool arm32, uint64_t path, uint64_t argv, uint64_t envp, struct exec_image *out)
{
    const size_t width = arm32 ? sizeof(uint32_t) : sizeof(uint64_t);
    char head[HEAD_BYTES + 1];
    char *name = read_text(path);
    out->qemu[0] = 0;
    out->sysroot = NULL;
    out->cpu = NULL;
    out->argv = read_texts(argv, width);
    out->envp = read_texts(envp, width);
    bool there = name && out->argv && out->envp && find_file(name, out->path);
    size_t size = there ? read_head(out->path, head) : 0;
    if (there && size > 2 && memcmp(head, "#!", 2) == 0) {
        there = take_interpreter(out, name, head + 2);
        size = there ? read_head(out->path, head) : 0;
    }
    find_qemu(arm32, head, size, out);
    free(name);
    if (!there)
        exec_free(out);
    return there;
}

/* Returns the length of the plugin's path, in which commas are doubled. */
static int plugin_length(const char *value)
{
    const char *at = value;
    while (*at && (*at != ',' || at[1] == ','))
        at += *at == ',' ? 2 : 1;
    return (int)(at - value);
}

void exec_start(const struct exec_image *image, const char *options)
{
    struct command command;
    size_t count = 0, n = 0;
    while (image->argv[count])
        count++;
    char **all = calloc(count + 11, sizeof *all), *plugin = NULL;
    if (!all || !read_command(&command)) {
        free(all);
        return;
    }
    all[n++] = command.text;
    if (image->sysroot) {
        all[n++] = (char *)(uintptr_t) "-L";
        all[n++] = image->sysroot;
    }
    if (image->cpu) {
        all[n++] = (char *)(uintptr_t) "-cpu";
        all[n++] = (char *)(uintptr_t)image->cpu;
    }
    if (options && asprintf(&plugin, "%.*s,%s", plugin_length(command.plugin), command.plugin, options) > 0) {
        all[n++] = (char *)(uintptr_t) "-plugin";
        all[n++] = plugin;
    }
    all[n++] = (char *)(uintptr_t) "-0";
    all[n++] = count ? image->argv[0] : (char *)(uintptr_t) "";
    all[n++] = (char *)(uintptr_t)image->path;
    for (size_t i = 1; i < count; i++)
        all[n++] = image->argv[i];
    execve(image->qemu, all, image->envp);
    free(plugin);
    free(command.text);
    free(all);
}

void exec_free(struct exec_image *image)
{
    free_texts(image->argv);
    free_texts(image->envp);
    free(image->sysroot);
    image->argv = image->envp = NULL;
    image->sysroot = NULL;
}
