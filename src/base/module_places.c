/* SPDX-License-Identifier: Apache-2.0 */
#include "base/module_places.h"

#include <string.h>

#include "base/ctx.h"

bool ct_module_is_named(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *ko = strstr(slash ? slash : path, ".ko");
    return ko && (ko[3] == 0 || ko[3] == '.');
}

int ct_module_place(struct ct_ctx *ctx, const char *path, const struct ct_module_section *sections,
                    size_t count)
{
    struct ct_arena *arena = &ctx->modules.arena;
    struct ct_module_place *place = ct_arena_alloc(arena, sizeof *place);
    struct ct_module_section *copy = ct_arena_alloc(arena, (count + 1) * sizeof *copy);
    const char *name = ct_arena_strdup(arena, path);
    if (!place || !copy || !name)
        return ct_fail_nomem(ctx, path);
    for (size_t i = 0; i < count; i++) {
        copy[i] = (struct ct_module_section){ct_arena_strdup(arena, sections[i].name), sections[i].addr};
        if (!copy[i].name)
            return ct_fail_nomem(ctx, path);
    }
    *place =
        (struct ct_module_place){.next = ctx->modules.newest, .path = name, .sections = copy, .count = count};
    ctx->modules.newest = place;
    return CT_OK;
}

const struct ct_module_place *ct_module_placed(const struct ct_ctx *ctx, const char *path)
{
    const struct ct_module_place *place = ctx ? ctx->modules.newest : NULL;
    while (place && strcmp(place->path, path) != 0)
        place = place->next;
    return place;
}
