/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_DEFAULT, process_vm_readv */
#include "vmstate.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define ROWS_MAX 64 /* fields or subsections of one description */

struct field {
    const char *name;
    const char *err_hint;
    size_t offset;
    size_t size;
    size_t start;
    int num;
    size_t num_offset;
    size_t size_offset;
    const void *info;
    int flags;
    const void *description;
    int version_id;
    int struct_version_id;
    const void *field_exists;
};

struct description {
    const char *name;
    bool unmigratable;
    bool early_setup;
    int version_id;
    int minimum_version_id;
    int priority;
    const void *load_and_save[4];
    bool (*needed)(void *object);
    const void *unplug;
    const struct field *fields;
    const struct description *const *subsections;
};

bool vmstate_peek(const void *from, void *out, size_t size)
{
    const struct iovec to = {out, size}, there = {(void *)(uintptr_t)from, size};
    return from && process_vm_readv(getpid(), &to, 1, &there, 1, 0) == (ssize_t)size;
}

static bool is_text(const char *there, const char *text)
{
    char have[32];
    const size_t size = strlen(text) + 1;
    return size <= sizeof have && vmstate_peek(there, have, size) && !memcmp(have, text, size);
}

const void *vmstate_of_cpu(void)
{
    struct description about;
    const void *cpu = dlsym(RTLD_DEFAULT, "vmstate_arm_cpu");
    return vmstate_peek(cpu, &about, sizeof about) && is_text(about.name, "cpu") ? cpu : NULL;
}

const void *vmstate_subsection(const void *description, const char *name)
{
    struct description about, part;
    const struct description *at;
    if (!vmstate_peek(description, &about, sizeof about))
        return NULL;
    for (unsigned i = 0; i < ROWS_MAX && vmstate_peek(about.subsections + i, &at, sizeof at) && at; i++)
        if (vmstate_peek(at, &part, sizeof part) && is_text(part.name, name))
            return at;
    return NULL;
}

bool vmstate_applies(const void *description, void *object)
{
    struct description about;
    return vmstate_peek(description, &about, sizeof about) && about.needed && about.needed(object);
}

bool vmstate_field(const void *description, const char *name, size_t size, int num, size_t *offset)
{
    struct description about;
    struct field field;
    if (!vmstate_peek(description, &about, sizeof about))
        return false;
    for (unsigned i = 0; i < ROWS_MAX && vmstate_peek(about.fields + i, &field, sizeof field) && field.name;
         i++)
        if (field.size == size && field.num == num && is_text(field.name, name)) {
            *offset = field.offset;
            return true;
        }
    return false;
}
