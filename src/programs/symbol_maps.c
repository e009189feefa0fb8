/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol maps of the set of programs. */
#include "programs/programs.h"

#include "base/ctx.h"
#include "base/require.h"

#include <string.h>

static int add(struct ct_programs *p, const char *path, bool of_capture)
{
    for (size_t i = 0; i < p->map_count; i++)
        if (strcmp(p->maps[i].path, path) == 0) {
            p->maps[i].of_capture &= of_capture;
            p->maps[i].nowhere = false;
            return CT_OK;
        }
    struct ct_known_map known = {.path = ct_arena_strdup(&p->arena, path), .of_capture = of_capture};
    if (!known.path)
        return ct_fail_nomem(p->ctx, path);
    const int rc = ct_symbols_load_map(p->ctx, path, &known.symbols);
    if (rc)
        return rc;
    struct ct_known_map *maps = ct_arena_push(&p->arena, p->maps, &p->map_count, sizeof *maps);
    if (!maps) {
        ct_symbols_free(known.symbols);
        return ct_fail_nomem(p->ctx, path);
    }
    p->maps = maps;
    maps[p->map_count - 1] = known;
    return CT_OK;
}

int ct_programs_add_symbol_map(struct ct_programs *p, const char *path)
{
    CT_REQUIRE_OF(p, path);
    return add(p, path, false);
}

int ct_programs_add_maps(struct ct_programs *p, const struct ct_capture *capture)
{
    int rc = CT_OK;
    for (size_t i = 0; i < capture->symbol_map_count && !rc; i++) {
        rc = add(p, capture->symbol_maps[i], true);
        if (rc == CT_ERR_IO) { /* the trace decodes without it */
            ct_log(p->ctx, CT_LOG_WARNING, "%s: generated code has no names: %s", capture->path,
                   ct_ctx_error(p->ctx));
            rc = CT_OK;
        }
    }
    return rc;
}

void ct_programs_leave_maps(struct ct_programs *p)
{
    for (size_t i = 0; i < p->map_count; i++)
        p->maps[i].nowhere = p->maps[i].of_capture;
}
