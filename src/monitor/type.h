/* SPDX-License-Identifier: Apache-2.0 */
/* Types, interned: equal types are the same pointer. */
#ifndef CT_MONITOR_TYPE_H
#define CT_MONITOR_TYPE_H

#include <stdbool.h>

#include "monitor/arena.h"

enum type_kind {
    TY_ERROR, /* of an expression that was reported: fits everything */
    TY_INT,
    TY_FLOAT,
    TY_BOOL,
    TY_STRING,
    TY_VERDICT, /* of a temporal formula: enum verdict */
    TY_OPTION,
    TY_LIST,
    TY_SET,
    TY_MAP,
    TY_RECORD, /* names; a tuple has the names _1.._n; the unit has none */
    TY_EVENTS,
    TY_FUN, /* args, last: the result */
    TY_VAR, /* a type parameter: only in the types of generic macros */
};

struct type {
    enum type_kind kind;
    uint32_t n;
    bool open;    /* record: accepts further members */
    bool generic; /* a TY_VAR inside */
    bool value;   /* no stream and no function inside */
    uint64_t hash;
    const struct type **args;
    const char **names;
    const char *name;  /* TY_VAR */
    const void *scope; /* TY_VAR: the definition it belongs to */
    struct type *next;
};

struct types {
    struct arena *arena;
    struct type *buckets[256];
    const struct type *error, *integer, *real, *boolean, *string, *unit, *verdict;
};

void ct_mon_types_init(struct types *ts, struct arena *arena);
const struct type *ct_mon_type_of1(struct types *ts, enum type_kind kind, const struct type *arg);
const struct type *ct_mon_type_map(struct types *ts, const struct type *key, const struct type *value);
const struct type *ct_mon_type_fun(struct types *ts, const struct type **args, size_t n);
const struct type *ct_mon_type_record(struct types *ts, const char **names, const struct type **args,
                                      size_t n, bool open);
const struct type *ct_mon_type_tuple(struct types *ts, const struct type **args, size_t n);
const struct type *ct_mon_type_var(struct types *ts, const char *name, const void *scope);

static inline const struct type *type_events(struct types *ts, const struct type *t)
{
    return ct_mon_type_of1(ts, TY_EVENTS, t);
}

/* "Events", up to there; functions and parameters have none. */
const char *ct_mon_type_kind_name(enum type_kind kind);

/* As in a specification: "Events[Option[Int]]". */
const char *ct_mon_type_text(struct arena *a, const struct type *t);

/* Index of a member, or -1. */
int ct_mon_type_member(const struct type *record, const char *name);

bool ct_mon_type_is_tuple(const struct type *t);

/* What the type parameters of a call stand for. */
struct type_bind {
    const struct type *var;
    const struct type *type; /* NULL: not known yet */
};

struct type_binds {
    struct type_bind *at;
    size_t n;
};

/* The type with the known parameters put in; unknown ones stay. */
const struct type *ct_mon_type_subst(struct types *ts, const struct type *t, const struct type_binds *binds);

/* Does `actual` fit `pattern`? Binds the parameters on the way. Open records accept wider ones. */
bool ct_mon_type_match(const struct type *pattern, const struct type *actual, struct type_binds *binds);

#endif
