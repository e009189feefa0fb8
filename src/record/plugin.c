/* SPDX-License-Identifier: Apache-2.0 */
#include "record/plugin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/elf_look.h"
#include "recorder/plugin_note.h"

#define VERSION_MAX 40

/* The plugins, and the layouts that this build reads. */
static const struct plugin {
    const char *file;
    uint32_t type; /* of its note */
    uint32_t layout;
} plugins[] = {
    {"coretap-trace.so", PLUGIN_NOTE_TRACE, PLUGIN_TRACE_LAYOUT},
    {"coretap-access.so", PLUGIN_NOTE_ACCESS, PLUGIN_ACCESS_LAYOUT},
};

#define PLUGINS (sizeof plugins / sizeof *plugins)

/* What the note of a plugin says. */
struct note {
    const struct plugin *of; /* NULL: there is no note of a plugin */
    uint32_t layout;
    char version[VERSION_MAX];
};

static struct note read_note(const char *path)
{
    struct note note = {0};
    char bytes[sizeof note.layout + VERSION_MAX - 1] = {0};
    for (size_t i = 0; i < PLUGINS && !note.of; i++) {
        const size_t size =
            ct_elf_note(&ct_files_system, path, PLUGIN_NOTE_NAME, plugins[i].type, bytes, sizeof bytes);
        if (size <= sizeof note.layout)
            continue;
        note.of = &plugins[i];
        note.layout = ct_load32((const uint8_t *)bytes);
        memcpy(note.version, bytes + sizeof note.layout, size - sizeof note.layout);
    }
    return note;
}

#define FAULT_MAX 160 /* bytes of what is wrong with a file */

/* Returns what is wrong with the file, as a part of a sentence; NULL: nothing. */
static const char *fault(const struct plugin *wanted, const char *path, const struct note *note,
                         char text[FAULT_MAX])
{
    struct ct_elf_look elf, own;
    errno = 0;
    if (!ct_elf_look(&ct_files_system, path, &elf)) {
        snprintf(text, FAULT_MAX, "it cannot be read: %s", strerror(errno));
        return text;
    }
    if (!elf.is_elf)
        return "it is no shared object";
    if (!note->of)
        return "it is no plugin of coretap, or one of a build that had no version yet";
    if (note->of != wanted) {
        snprintf(text, FAULT_MAX, "it is the plugin %s", note->of->file);
        return text;
    }
    if (ct_elf_look(&ct_files_system, "/proc/self/exe", &own) && own.is_elf && own.machine != elf.machine)
        return "it is built for another processor than this command";
    if (note->layout == wanted->layout)
        return NULL;
    snprintf(text, FAULT_MAX, "it is of another build: coretap %s with layout %08x", note->version,
             note->layout);
    return text;
}

int ct_plugin_check(struct ct_ctx *ctx, const char *path, const char *file, const char *variable)
{
    const char *named = getenv(variable);
    const struct plugin *wanted = plugins;
    char self[4096], text[FAULT_MAX];
    while (wanted < plugins + PLUGINS && strcmp(wanted->file, file) != 0)
        wanted++;
    if (wanted == plugins + PLUGINS)
        return CT_OK;
    const struct note note = read_note(path);
    const char *wrong = fault(wanted, path, &note, text);
    if (!wrong)
        return CT_OK;
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = 0;
    return ct_fail(ctx, CT_ERR_CONFIG,
                   "%s: %s; %s (coretap %s with layout %08x) cannot use it for QEMU, so nothing is recorded; "
                   "%s%s%s",
                   path, wrong, self, ct_version_exact(), wanted->layout,
                   named && *named ? "set " : "install the command and its plugins from one build",
                   named && *named ? variable : "",
                   named && *named ? " to the plugin of the same build, or unset it" : "");
}

int ct_plugin_not_loaded(struct ct_ctx *ctx, const struct ct_qemu *qemu, const char *program)
{
    return ct_fail(
        ctx, CT_ERR_NOT_FOUND,
        "%s: %s ended before it had loaded the plugin %s (coretap %s), so nothing is recorded; its "
        "messages say why; if it refuses the plugin, record with QEMU 7.2 (Debian 12: %s)",
        program, qemu->command, qemu->plugin, ct_version(), qemu->system ? "qemu-system-arm" : "qemu-user");
}
