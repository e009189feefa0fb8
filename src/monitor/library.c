/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/library.h"

#include <string.h>

#include "monitor/parse.h"

struct definition {
    const char *name; /* points into the source; `size` bytes */
    uint32_t size;
    uint32_t from, to; /* bytes of the source */
    bool declared;
};

struct ct_mon_library {
    struct ct_mon_elab *e;
    const struct ct_mon_source *source;
    struct definition *all;
    size_t count, cap;
};

/* beginnings of a definition's first line, up to its name */
static const char *const heads[] = {"def ", "@liftable def ", "module "};

static void add(struct ct_mon_library *l, uint32_t from, const char *name)
{
    const size_t size = strcspn(name, "[(: =\n");
    struct definition d = {
        .name = name, .size = (uint32_t)size, .from = from, .to = (uint32_t)l->source->size};
    if (l->count)
        l->all[l->count - 1].to = from;
    ARENA_PUSH(l->e->arena, l->all, l->count, l->cap, d);
}

void ct_mon_library_open(struct ct_mon_elab *e, const struct ct_mon_source *source)
{
    struct ct_mon_library *l = ARENA_NEW(e->arena, struct ct_mon_library);
    *l = (struct ct_mon_library){.e = e, .source = source};
    for (const char *line = source->text; line; line = strchr(line, '\n')) {
        line += line != source->text;
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
            if (strncmp(line, heads[i], strlen(heads[i])) == 0)
                add(l, (uint32_t)(line - source->text), line + strlen(heads[i]));
    }
    e->library->library = true;
    e->library->lazy = l;
    /* modules in which newer sources of the language have what stands outside of modules here */
    static const char *const outer[] = {"StreamFunctions", "PrimitiveFunctions", "Types"};
    for (size_t i = 0; i < sizeof outer / sizeof *outer; i++)
        ct_mon_env_bind_value(e, e->library, ct_mon_arena_intern_z(e->arena, outer[i]),
                              (struct ct_mon_span){0},
                              (struct ct_mon_cv){.kind = CV_MODULE, .env = e->library});
}

/* Declares a definition in the scope of the library, independent of the function and the check in progress.
 */
static void declare(struct ct_mon_library *l, struct definition *d)
{
    struct ct_mon_elab *e = l->e;
    struct ct_mon_fn *fn = e->fn;
    const unsigned check = e->check;
    d->declared = true;
    e->fn = NULL;
    e->check = 0;
    ct_mon_elab_declare(e, e->library, ct_mon_parse_library(e->arena, e->diags, l->source, d->from, d->to));
    e->fn = fn;
    e->check = check;
}

bool ct_mon_library_declare(struct ct_mon_library *l, const char *name)
{
    const size_t size = strlen(name);
    for (size_t i = 0; i < l->count; i++) {
        struct definition *d = &l->all[i];
        if (!d->declared && d->size == size && memcmp(d->name, name, size) == 0) {
            declare(l, d);
            return true;
        }
    }
    return false;
}

void ct_mon_library_names(const struct ct_mon_library *l, bool annotations, struct ct_mon_names *names)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct definition *d = &l->all[i];
        if ((d->name[0] == '@') == annotations)
            ct_mon_names_add(l->e->arena, names,
                             ct_mon_arena_copy(l->e->arena, d->name + annotations, d->size - annotations));
    }
}

void ct_mon_library_declare_all(struct ct_mon_library *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (!l->all[i].declared)
            declare(l, &l->all[i]);
}
