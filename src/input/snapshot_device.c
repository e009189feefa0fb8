/* SPDX-License-Identifier: Apache-2.0 */
/* Device files of a snapshot (docs/formats.md): a core with its memory dumps, or a
 * trace source with its registers. */
#include "input/snapshot.h"

#include <string.h>

struct device_parser {
    struct ct_opening *opening;
    struct ct_device *device;
    const char *folder; /* of the snapshot: file names are relative to it */
};

static int set_string(struct device_parser *p, const struct ct_ini_item *item, const char **slot)
{
    if (*slot && strcmp(*slot, item->value) != 0)
        return ct_ini_fail(item, "the key was already given as %.100s; keep the correct line", *slot);
    *slot = ct_arena_strdup(p->opening->arena, item->value);
    return *slot ? CT_OK : ct_fail_nomem(item->ctx, item->path);
}

static int on_device(struct device_parser *p, const struct ct_ini_item *item)
{
    if (strcmp(item->key, "name") == 0)
        return set_string(p, item, &p->device->name);
    if (strcmp(item->key, "class") == 0)
        return set_string(p, item, &p->device->class_name);
    if (strcmp(item->key, "type") == 0)
        return set_string(p, item, &p->device->type);
    return CT_OK;
}

static int dump_begin(struct device_parser *p, const struct ct_ini_item *item)
{
    struct ct_device *device = p->device;
    struct ct_arena *arena = p->opening->arena;
    if (device->dump_count == CT_IMAGES_MAX)
        return ct_fail(item->ctx, CT_ERR_LIMIT,
                       "%s:%u: there are more than %d dumps, which is the limit; "
                       "remove some",
                       item->path, item->line, CT_IMAGES_MAX);
    struct ct_image_spec *dumps = ct_arena_push(arena, device->dumps, &device->dump_count, sizeof *dumps);
    const char *where = ct_arena_printf(arena, "%s:%u: [%s]", item->path, item->line, item->section);
    if (!dumps || !where)
        return ct_fail_nomem(item->ctx, item->path);
    device->dumps = dumps;
    dumps[device->dump_count - 1] = (struct ct_image_spec){.where = where};
    return CT_OK;
}

static int dump_space(const struct ct_ini_item *item, struct ct_image_spec *dump)
{
    const char *name = ct_ini_unquote(item);
    if (!name)
        return CT_ERR_FORMAT;
    dump->space = ct_space_by_name(name);
    if (!dump->space && *name)
        ct_log(item->ctx, CT_LOG_NOTE,
               "%s:%u: space=%s is unknown; the image is used for all memory "
               "spaces",
               item->path, item->line, name);
    return CT_OK;
}

static int on_dump(struct device_parser *p, const struct ct_ini_item *item)
{
    struct ct_image_spec *dump = &p->device->dumps[p->device->dump_count - 1];
    if (strcmp(item->key, "space") == 0)
        return dump_space(item, dump);
    return ct_snapshot_image(p->opening, p->folder, item, dump);
}

static int on_item(void *user, const struct ct_ini_item *item)
{
    struct device_parser *p = user;
    int known;
    if (strncmp(item->section, "dump", 4) == 0)
        return item->key ? on_dump(p, item) : dump_begin(p, item);
    if (strncmp(item->section, "event ", 6) == 0)
        return ct_ini_fail(item, "a device file can name only the events of its own source; write [event]");
    if (!item->key)
        return CT_OK;
    if (strcmp(item->section, "device") == 0)
        return on_device(p, item);
    if (strcmp(item->section, "event") == 0)
        return ct_event_set(p->opening, item, p->device->events);
    if (strcmp(item->section, "regs") == 0)
        return ct_regs_set(item, &p->device->regs, &p->device->given, &known);
    return CT_OK;
}

/* Checks the complete device at the end of the file. */
static int check(struct ct_ctx *ctx, const struct ct_device *device)
{
    if (!device->name || !*device->name)
        return ct_fail(
            ctx, CT_ERR_CONFIG,
            "%s: a [device] section has no name=, so the trace file cannot refer to the device; add it",
            device->path);
    for (size_t i = 0; i < device->dump_count; i++) {
        const struct ct_image_spec *dump = &device->dumps[i];
        if (!dump->file || !dump->has_addr)
            return ct_fail(ctx, CT_ERR_CONFIG,
                           "%s: the section has no %s=; a memory image needs file= and address=", dump->where,
                           dump->file ? "address" : "file");
    }
    return CT_OK;
}

int ct_device_read(struct ct_opening *opening, const char *path, const char *wanted_by, const char *folder,
                   struct ct_device *device)
{
    *device = (struct ct_device){.path = path};
    ct_regs_defaults(&device->regs);
    struct device_parser p = {.opening = opening, .device = device, .folder = folder};
    return ct_read_ini(opening, path, wanted_by, on_item, &p) ?: check(opening->ctx, device);
}
