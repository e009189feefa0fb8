/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints of variables. */
#include <string.h>

#include "analysis/watch.h"
#include "base/ctx.h"
#include "base/path.h"

/* Loads the code of all programs, which tells loads from stores, before any thread reads it. A program whose
 * file cannot be read has none. CT_ERR_NOMEM. */
static int load_code(struct ct_watches *w)
{
    struct ct_program *program;
    for (size_t p = w->code_programs; (program = ct_programs_at(w->programs, p)); p++) {
        const struct ct_memory *memory;
        const int rc = ct_program_memory(program, &memory);
        if (rc == CT_ERR_NOMEM)
            return rc;
        struct ct_watched_code *code =
            rc ? w->code : ct_arena_push(&w->arena, w->code, &w->code_count, sizeof *code);
        if (!rc && !code)
            return ct_fail_nomem(w->ctx, "watchpoints");
        w->code = code;
        if (!rc)
            code[w->code_count - 1] = (struct ct_watched_code){memory, program->shift};
        w->code_programs = p + 1;
    }
    return CT_OK;
}

/* When several programs only give a reason why the variable cannot be watched, reports the first one's
 * reason. */
int ct_watches_find_variable(const struct ct_watches *w, const char *spec, const char *name, const char *only,
                             struct ct_watched_variable *out)
{
    char why[800] = "there is no program, so its variables are unknown; name the program with --elf";
    int worst = CT_ERR_NOT_FOUND;
    struct ct_program *program;
    bool asked = false;
    for (size_t p = 0; (program = ct_programs_at(w->programs, p)); p++) {
        if (only && strcmp(ct_base_name(program->path), only) != 0)
            continue;
        const int rc = ct_program_variable(program, name, &out->is);
        if (rc == CT_ERR_NOMEM)
            return rc;
        if (!rc) {
            out->addr = out->is->addr + program->shift;
            return CT_OK;
        }
        if (!asked || (worst == CT_ERR_NOT_FOUND && rc != worst)) {
            worst = rc;
            strncpy(why, ct_ctx_error(w->ctx), sizeof why - 1);
        }
        asked = true;
    }
    return ct_fail(w->ctx, worst, "watchpoint '%s': %s", spec, why);
}

static uint8_t form_of(const struct ct_variable *variable)
{
    static const uint8_t forms[] = {[CT_VARIABLE_BLOCK] = CT_WATCH_NO_VALUE,
                                    [CT_VARIABLE_SIGNED] = CT_WATCH_SIGNED,
                                    [CT_VARIABLE_UNSIGNED] = CT_WATCH_UNSIGNED,
                                    [CT_VARIABLE_REAL] = CT_WATCH_REAL,
                                    [CT_VARIABLE_RAW] = CT_WATCH_RAW};
    return forms[variable->form];
}

static int add(struct ct_watches *w, const char *spec, enum ct_watch_kind kind, const char *name)
{
    struct ct_watched_variable found;
    int rc = ct_watches_find_variable(w, spec, name, NULL, &found);
    if (!rc)
        rc = load_code(w);
    if (!rc)
        rc = ct_watches_point(w, spec, kind, found.addr);
    if (rc)
        return rc;
    struct ct_watched_variable *all = ct_arena_push(&w->arena, w->variables, &w->variable_count, sizeof *all);
    if (!all)
        return ct_fail_nomem(w->ctx, "watchpoints");
    found.watch = (uint32_t)w->count - 1;
    w->variables = all;
    all[w->variable_count - 1] = found;
    w->points[w->count - 1].form = form_of(found.is);
    return CT_OK;
}

int ct_watches_add_variable(struct ct_watches *w, const char *spec, bool *is_variable)
{
    static const struct {
        const char *word;
        enum ct_watch_kind kind;
    } words[] = {{"load:", CT_WATCH_LOAD}, {"store:", CT_WATCH_STORE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t size = strlen(words[i].word);
        *is_variable = strncmp(spec, words[i].word, size) == 0;
        if (*is_variable)
            return add(w, spec, words[i].kind, spec + size);
    }
    return CT_OK;
}

const struct ct_variable *ct_watches_variable(const struct ct_watches *w, uint32_t watch)
{
    for (size_t i = 0; w && i < w->variable_count; i++)
        if (w->variables[i].watch == watch)
            return w->variables[i].is;
    return NULL;
}
