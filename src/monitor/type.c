#include "monitor/type.h"

#include <string.h>

static const struct type *intern(struct types *ts, struct type t)
{
    uint64_t h = hash_mix(t.kind, t.n * 2u + t.open);
    for (uint32_t i = 0; i < t.n; i++) {
        h = hash_mix(h, t.args[i]->hash);
        if (t.names)
            h = hash_ptr(h, t.names[i]);
    }
    t.hash = h = hash_ptr(hash_ptr(h, t.name), t.scope);
    struct type **bucket = &ts->buckets[h & 255];
    for (struct type *o = *bucket; o; o = o->next) {
        if (o->hash != h || o->kind != t.kind || o->n != t.n || o->open != t.open || o->name != t.name ||
            o->scope != t.scope)
            continue;
        bool same = true;
        for (uint32_t i = 0; i < t.n && same; i++)
            same = o->args[i] == t.args[i] && (!t.names || o->names[i] == t.names[i]);
        if (same)
            return o;
    }
    struct type *o = ARENA_NEW(ts->arena, struct type);
    *o = t;
    o->generic = t.kind == TY_VAR;
    o->value = t.kind != TY_EVENTS && t.kind != TY_FUN;
    o->args = ARENA_ARRAY(ts->arena, const struct type *, t.n);
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

void types_init(struct types *ts, struct arena *arena)
{
    memset(ts, 0, sizeof *ts);
    ts->arena = arena;
    ts->error = intern(ts, (struct type){.kind = TY_ERROR});
    ts->integer = intern(ts, (struct type){.kind = TY_INT});
    ts->real = intern(ts, (struct type){.kind = TY_FLOAT});
    ts->boolean = intern(ts, (struct type){.kind = TY_BOOL});
    ts->string = intern(ts, (struct type){.kind = TY_STRING});
    ts->verdict = intern(ts, (struct type){.kind = TY_VERDICT});
    ts->unit = intern(ts, (struct type){.kind = TY_RECORD});
}

const struct type *type_of1(struct types *ts, enum type_kind kind, const struct type *arg)
{
    return intern(ts, (struct type){.kind = kind, .n = 1, .args = &arg});
}

const struct type *type_map(struct types *ts, const struct type *key, const struct type *value)
{
    const struct type *args[] = {key, value};
    return intern(ts, (struct type){.kind = TY_MAP, .n = 2, .args = args});
}

const struct type *type_fun(struct types *ts, const struct type **args, size_t n)
{
    return intern(ts, (struct type){.kind = TY_FUN, .n = (uint32_t)n, .args = args});
}

const struct type *type_record(struct types *ts, const char **names, const struct type **args, size_t n,
                               bool open)
{
    return intern(
        ts, (struct type){
                .kind = TY_RECORD, .n = (uint32_t)n, .args = args, .names = n ? names : NULL, .open = open});
}

const struct type *type_tuple(struct types *ts, const struct type **args, size_t n)
{
    const char **names = ARENA_ARRAY(ts->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        names[i] = arena_intern_z(ts->arena, arena_printf(ts->arena, "_%zu", i + 1));
    return type_record(ts, names, args, n, false);
}

const struct type *type_var(struct types *ts, const char *name, const void *scope)
{
    return intern(ts, (struct type){.kind = TY_VAR, .name = name, .scope = scope});
}

bool type_is_tuple(const struct type *t)
{
    if (t->kind != TY_RECORD || t->open)
        return false;
    for (uint32_t i = 0; i < t->n; i++) {
        const char *p = t->names[i];
        uint32_t k = 0;
        if (*p++ != '_')
            return false;
        for (; *p >= '0' && *p <= '9' && k < 10000; p++)
            k = k * 10 + (uint32_t)(*p - '0');
        if (*p || k != i + 1)
            return false;
    }
    return true;
}

int type_member(const struct type *record, const char *name)
{
    for (uint32_t i = 0; i < record->n; i++)
        if (record->names[i] == name)
            return (int)i;
    return -1;
}

static const char *list_text(struct arena *a, const struct type *t, uint32_t n, bool named)
{
    const char *s = "";
    for (uint32_t i = 0; i < n; i++)
        s = arena_printf(a, "%s%s%s%s%s", s, i ? ", " : "", named ? t->names[i] : "", named ? ": " : "",
                         type_text(a, t->args[i]));
    return s;
}

const char *type_text(struct arena *a, const struct type *t)
{
    static const char names[][8] = {"?",      "Int",  "Float", "Bool", "String", "Verdict",
                                    "Option", "List", "Set",   "Map",  "",       "Events"};
    switch (t->kind) {
    case TY_RECORD:
        if (type_is_tuple(t))
            return t->n ? arena_printf(a, "(%s%s)", list_text(a, t, t->n, false), t->n == 1 ? "," : "")
                        : "Unit";
        return arena_printf(a, "{%s%s}", list_text(a, t, t->n, true), !t->open ? "" : t->n ? ", .." : "..");
    case TY_FUN:
        return arena_printf(a, "(%s) => %s", list_text(a, t, t->n - 1, false),
                            type_text(a, t->args[t->n - 1]));
    case TY_VAR:
        return t->name;
    default:
        return t->n ? arena_printf(a, "%s[%s]", names[t->kind], list_text(a, t, t->n, false))
                    : names[t->kind];
    }
}

const struct type *type_subst(struct types *ts, const struct type *t, const struct type_binds *binds)
{
    if (!t->generic)
        return t;
    if (t->kind == TY_VAR) {
        for (size_t i = 0; i < binds->n; i++)
            if (binds->at[i].var == t && binds->at[i].type)
                return binds->at[i].type;
        return t;
    }
    struct type copy = *t;
    copy.name = NULL;
    copy.args = ARENA_ARRAY(ts->arena, const struct type *, t->n);
    for (uint32_t i = 0; i < t->n; i++)
        copy.args[i] = type_subst(ts, t->args[i], binds);
    return intern(ts, copy);
}

static bool match_record(const struct type *pattern, const struct type *actual, struct type_binds *binds)
{
    if (pattern->open) {
        for (uint32_t i = 0; i < pattern->n; i++) {
            int k = type_member(actual, pattern->names[i]);
            if (k < 0 || !type_match(pattern->args[i], actual->args[k], binds))
                return false;
        }
        return true;
    }
    if (pattern->n != actual->n || actual->open)
        return false;
    for (uint32_t i = 0; i < pattern->n; i++)
        if (pattern->names[i] != actual->names[i] || !type_match(pattern->args[i], actual->args[i], binds))
            return false;
    return true;
}

bool type_match(const struct type *pattern, const struct type *actual, struct type_binds *binds)
{
    if (pattern->kind == TY_ERROR || (pattern == actual && !pattern->generic))
        return true;
    /* an error fits, but a parameter that nothing else binds is then known to be one, too */
    if (actual->kind == TY_ERROR && pattern->kind != TY_VAR) {
        for (uint32_t i = 0; i < pattern->n; i++)
            type_match(pattern->args[i], actual, binds);
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
    for (uint32_t i = 0; i < pattern->n; i++)
        if (!type_match(pattern->args[i], actual->args[i], binds))
            return false;
    return true;
}
