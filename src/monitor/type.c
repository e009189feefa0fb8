/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/type.h"

#include <string.h>

/* Hashes the members of a type. The hashes of a record's members are added, because their order does not
 * matter. */
static uint64_t hash_args(const struct ct_mon_type *t)
{
    uint64_t h = hash_mix(t->kind, t->n * 2u + t->open);
    uint64_t members = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->names)
            members += hash_ptr(hash_mix(0, t->args[i]->hash), t->names[i]);
        else
            h = hash_mix(h, t->args[i]->hash);
    }
    return hash_mix(h, members);
}

static bool same_args(const struct ct_mon_type *a, const struct ct_mon_type *b)
{
    for (uint32_t i = 0; i < a->n; i++) {
        const int k = a->names ? ct_mon_type_member(b, a->names[i]) : (int)i;
        if (k < 0 || a->args[i] != b->args[k])
            return false;
    }
    return true;
}

static const struct ct_mon_type *intern(struct ct_mon_types *ts, struct ct_mon_type t)
{
    uint64_t h = hash_args(&t);
    t.hash = h = hash_ptr(hash_ptr(h, t.name), t.scope);
    struct ct_mon_type **bucket = &ts->buckets[h & 255];
    for (struct ct_mon_type *o = *bucket; o; o = o->next) {
        if (o->hash != h || o->kind != t.kind || o->n != t.n || o->open != t.open || o->name != t.name ||
            o->scope != t.scope)
            continue;
        if (same_args(&t, o))
            return o;
    }
    struct ct_mon_type *o = ARENA_NEW(ts->arena, struct ct_mon_type);
    *o = t;
    o->generic = t.kind == TY_VAR;
    o->value = t.kind != TY_EVENTS && t.kind != TY_FUN;
    o->args = ARENA_ARRAY(ts->arena, const struct ct_mon_type *, t.n);
    o->names = t.names ? ARENA_ARRAY(ts->arena, const char *, t.n) : NULL;
    for (uint32_t i = 0; i < t.n; i++) {
        o->args[i] = t.args[i];
        o->generic |= t.args[i]->generic;
        o->value &= t.args[i]->value;
        if (t.names)
            o->names[i] = t.names[i];
    }
    o->next = *bucket;
    return *bucket = o;
}

void ct_mon_types_init(struct ct_mon_types *ts, struct ct_mon_arena *arena)
{
    memset(ts, 0, sizeof *ts);
    ts->arena = arena;
    ts->error = intern(ts, (struct ct_mon_type){.kind = TY_ERROR});
    ts->integer = intern(ts, (struct ct_mon_type){.kind = TY_INT});
    ts->real = intern(ts, (struct ct_mon_type){.kind = TY_FLOAT});
    ts->boolean = intern(ts, (struct ct_mon_type){.kind = TY_BOOL});
    ts->string = intern(ts, (struct ct_mon_type){.kind = TY_STRING});
    ts->verdict = intern(ts, (struct ct_mon_type){.kind = TY_VERDICT});
    ts->unit = intern(ts, (struct ct_mon_type){.kind = TY_RECORD});
}

const struct ct_mon_type *ct_mon_type_of1(struct ct_mon_types *ts, enum ct_mon_type_kind kind,
                                          const struct ct_mon_type *arg)
{
    return intern(ts, (struct ct_mon_type){.kind = kind, .n = 1, .args = &arg});
}

const struct ct_mon_type *ct_mon_type_map(struct ct_mon_types *ts, const struct ct_mon_type *key,
                                          const struct ct_mon_type *value)
{
    const struct ct_mon_type *args[] = {key, value};
    return intern(ts, (struct ct_mon_type){.kind = TY_MAP, .n = 2, .args = args});
}

const struct ct_mon_type *ct_mon_type_fun(struct ct_mon_types *ts, const struct ct_mon_type **args, size_t n)
{
    return intern(ts, (struct ct_mon_type){.kind = TY_FUN, .n = (uint32_t)n, .args = args});
}

/* Returns the k of a name "_k", or 0 for other names. */
static uint32_t tuple_place(const char *name)
{
    uint32_t k = 0;
    if (*name++ != '_' || *name == '0')
        return 0;
    for (; *name >= '0' && *name <= '9' && k < 10000; name++)
        k = k * 10 + (uint32_t)(*name - '0');
    return *name ? 0 : k;
}

/* Sorts the members of a tuple that was written as a record into the order of the tuple. */
static void sort_tuple(const char **names, const struct ct_mon_type **args, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t k = tuple_place(names[i]);
        if (!k || k > n)
            return;
    }
    for (size_t i = 0; i < n; i++) {
        size_t k;
        while ((k = tuple_place(names[i]) - 1) != i && names[k] != names[i]) {
            const char *name = names[k];
            const struct ct_mon_type *arg = args[k];
            names[k] = names[i];
            args[k] = args[i];
            names[i] = name;
            args[i] = arg;
        }
    }
}

const struct ct_mon_type *ct_mon_type_record(struct ct_mon_types *ts, const char **names,
                                             const struct ct_mon_type **args, size_t n, bool open)
{
    if (n > 1) {
        const char **sorted = ARENA_ARRAY(ts->arena, const char *, n);
        const struct ct_mon_type **types = ARENA_ARRAY(ts->arena, const struct ct_mon_type *, n);
        memcpy(sorted, names, n * sizeof *sorted);
        memcpy(types, args, n * sizeof *types);
        sort_tuple(sorted, types, n);
        names = sorted;
        args = types;
    }
    return intern(
        ts, (struct ct_mon_type){
                .kind = TY_RECORD, .n = (uint32_t)n, .args = args, .names = n ? names : NULL, .open = open});
}

const struct ct_mon_type *ct_mon_type_tuple(struct ct_mon_types *ts, const struct ct_mon_type **args,
                                            size_t n)
{
    const char **names = ARENA_ARRAY(ts->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        names[i] = ct_mon_arena_intern_z(ts->arena, ct_mon_arena_printf(ts->arena, "_%zu", i + 1));
    return ct_mon_type_record(ts, names, args, n, false);
}

const struct ct_mon_type *ct_mon_type_var(struct ct_mon_types *ts, const char *name, const void *scope)
{
    return intern(ts, (struct ct_mon_type){.kind = TY_VAR, .name = name, .scope = scope});
}

bool ct_mon_type_is_tuple(const struct ct_mon_type *t)
{
    if (t->kind != TY_RECORD || t->open)
        return false;
    for (uint32_t i = 0; i < t->n; i++)
        if (tuple_place(t->names[i]) != i + 1)
            return false;
    return true;
}

int ct_mon_type_member(const struct ct_mon_type *record, const char *name)
{
    for (uint32_t i = 0; i < record->n; i++)
        if (record->names[i] == name)
            return (int)i;
    return -1;
}

static const char *list_text(struct ct_mon_arena *a, const struct ct_mon_type *t, uint32_t n, bool named)
{
    const char *s = "";
    for (uint32_t i = 0; i < n; i++)
        s = ct_mon_arena_printf(a, "%s%s%s%s%s", s, i ? ", " : "", named ? t->names[i] : "",
                                named ? ": " : "", ct_mon_type_text(a, t->args[i]));
    return s;
}

const char *ct_mon_type_kind_name(enum ct_mon_type_kind kind)
{
    static const char names[][8] = {"?",      "Int",  "Float", "Bool", "String", "Verdict",
                                    "Option", "List", "Set",   "Map",  "",       "Events"};
    return names[kind];
}

const char *ct_mon_type_text(struct ct_mon_arena *a, const struct ct_mon_type *t)
{
    switch (t->kind) {
    case TY_RECORD:
        if (ct_mon_type_is_tuple(t))
            return t->n ? ct_mon_arena_printf(a, "(%s%s)", list_text(a, t, t->n, false), t->n == 1 ? "," : "")
                        : "Unit";
        return ct_mon_arena_printf(a, "{%s%s}", list_text(a, t, t->n, true),
                                   !t->open ? ""
                                   : t->n   ? ", .."
                                            : "..");
    case TY_FUN:
        return ct_mon_arena_printf(a, "(%s) => %s", list_text(a, t, t->n - 1, false),
                                   ct_mon_type_text(a, t->args[t->n - 1]));
    case TY_VAR:
        return t->name;
    default:
        return t->n ? ct_mon_arena_printf(a, "%s[%s]", ct_mon_type_kind_name(t->kind),
                                          list_text(a, t, t->n, false))
                    : ct_mon_type_kind_name(t->kind);
    }
}

const struct ct_mon_type *ct_mon_type_subst(struct ct_mon_types *ts, const struct ct_mon_type *t,
                                            const struct ct_mon_type_binds *binds)
{
    if (!t->generic)
        return t;
    if (t->kind == TY_VAR) {
        for (size_t i = 0; i < binds->n; i++)
            if (binds->at[i].var == t && binds->at[i].type)
                return binds->at[i].type;
        return t;
    }
    struct ct_mon_type copy = *t;
    copy.name = NULL;
    copy.args = ARENA_ARRAY(ts->arena, const struct ct_mon_type *, t->n);
    for (uint32_t i = 0; i < t->n; i++)
        copy.args[i] = ct_mon_type_subst(ts, t->args[i], binds);
    return intern(ts, copy);
}

static bool match_record(const struct ct_mon_type *pattern, const struct ct_mon_type *actual,
                         struct ct_mon_type_binds *binds)
{
    if (!pattern->open && (pattern->n != actual->n || actual->open))
        return false;
    for (uint32_t i = 0; i < pattern->n; i++) {
        int k = ct_mon_type_member(actual, pattern->names[i]);
        if (k < 0 || !ct_mon_type_match(pattern->args[i], actual->args[k], binds))
            return false;
    }
    return true;
}

bool ct_mon_type_match(const struct ct_mon_type *pattern, const struct ct_mon_type *actual,
                       struct ct_mon_type_binds *binds)
{
    if (pattern->kind == TY_ERROR || (pattern == actual && !pattern->generic))
        return true;
    /* an error fits everything; parameters that nothing else binds become errors, too */
    if (actual->kind == TY_ERROR && pattern->kind != TY_VAR) {
        for (uint32_t i = 0; i < pattern->n; i++)
            ct_mon_type_match(pattern->args[i], actual, binds);
        return true;
    }
    if (pattern->kind == TY_VAR) {
        for (size_t i = 0; i < binds->n; i++) {
            if (binds->at[i].var != pattern)
                continue;
            if (!actual->value && actual->kind != TY_ERROR)
                return false;
            if (!binds->at[i].type || binds->at[i].type->kind == TY_ERROR)
                binds->at[i].type = actual;
            return binds->at[i].type == actual || actual->kind == TY_ERROR;
        }
        return pattern == actual || actual->kind == TY_ERROR;
    }
    if (pattern->kind != actual->kind)
        return false;
    if (pattern->kind == TY_RECORD)
        return match_record(pattern, actual, binds);
    if (pattern->n != actual->n)
        return false;
    for (uint32_t i = 0; i < pattern->n; i++) {
        const struct ct_mon_type *want = pattern->args[i], *have = actual->args[i];
        /* a function may take more than it is given: the types of its parameters match in reverse */
        const bool reverse =
            pattern->kind == TY_FUN && i + 1 < pattern->n && !want->generic && !have->generic;
        if (!ct_mon_type_match(reverse ? have : want, reverse ? want : have, binds))
            return false;
    }
    return true;
}
