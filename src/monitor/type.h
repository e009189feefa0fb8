/* SPDX-License-Identifier: Apache-2.0 */
/* Types. They are interned: equal types are the same pointer. */
#pragma once

#include <stdbool.h>

#include "monitor/arena.h"

enum ct_mon_type_kind {
    TY_ERROR, /* type of an expression with a reported error: fits everything */
    TY_INT,
    TY_FLOAT,
    TY_BOOL,
    TY_STRING,
    TY_VERDICT, /* verdict of a temporal formula: enum ct_mon_verdict */
    TY_OPTION,
    TY_LIST,
    TY_SET,
    TY_MAP,
    TY_RECORD, /* names; a tuple has the names _1.._n; unit has no members */
    TY_EVENTS,
    TY_FUN, /* args; the last is the result */
    TY_VAR, /* type parameter; only in types of generic macros */
};

struct ct_mon_type {
    enum ct_mon_type_kind kind;
    uint32_t n;
    bool open;    /* record: accepts further members */
    bool generic; /* contains a TY_VAR */
    bool value;   /* contains no stream and no function */
    uint64_t hash;
    const struct ct_mon_type **args;
    const char **names;
    const char *name;  /* TY_VAR */
    const void *scope; /* TY_VAR: the definition that it belongs to */
    struct ct_mon_type *next;
};

struct ct_mon_types {
    struct ct_mon_arena *arena;
    struct ct_mon_type *buckets[256];
    const struct ct_mon_type *error, *integer, *real, *boolean, *string, *unit, *verdict;
};

void ct_mon_types_init(struct ct_mon_types *ts, struct ct_mon_arena *arena);
const struct ct_mon_type *ct_mon_type_of1(struct ct_mon_types *ts, enum ct_mon_type_kind kind,
                                          const struct ct_mon_type *arg);
const struct ct_mon_type *ct_mon_type_map(struct ct_mon_types *ts, const struct ct_mon_type *key,
                                          const struct ct_mon_type *value);
const struct ct_mon_type *ct_mon_type_fun(struct ct_mon_types *ts, const struct ct_mon_type **args, size_t n);
const struct ct_mon_type *ct_mon_type_record(struct ct_mon_types *ts, const char **names,
                                             const struct ct_mon_type **args, size_t n, bool open);
const struct ct_mon_type *ct_mon_type_tuple(struct ct_mon_types *ts, const struct ct_mon_type **args,
                                            size_t n);
const struct ct_mon_type *ct_mon_type_var(struct ct_mon_types *ts, const char *name, const void *scope);

static inline const struct ct_mon_type *type_events(struct ct_mon_types *ts, const struct ct_mon_type *t)
{
    return ct_mon_type_of1(ts, TY_EVENTS, t);
}

/* Returns the name of the kind; empty for functions and type parameters. */
const char *ct_mon_type_kind_name(enum ct_mon_type_kind kind);

/* Prints the type in the syntax of specifications: "Events[Option[Int]]". */
const char *ct_mon_type_text(struct ct_mon_arena *a, const struct ct_mon_type *t);

/* Returns the index of a member, or -1. */
int ct_mon_type_member(const struct ct_mon_type *record, const char *name);

bool ct_mon_type_is_tuple(const struct ct_mon_type *t);

/* Binding of one type parameter of a call. */
struct ct_mon_type_bind {
    const struct ct_mon_type *var;
    const struct ct_mon_type *type; /* NULL: not known yet */
};

struct ct_mon_type_binds {
    struct ct_mon_type_bind *at;
    size_t n;
};

/* Replaces bound type parameters by their types. Unbound ones stay. */
const struct ct_mon_type *ct_mon_type_subst(struct ct_mon_types *ts, const struct ct_mon_type *t,
                                            const struct ct_mon_type_binds *binds);

/* Returns whether `actual` fits `pattern`, and binds type parameters. Open records accept records with more
 * members. */
bool ct_mon_type_match(const struct ct_mon_type *pattern, const struct ct_mon_type *actual,
                       struct ct_mon_type_binds *binds);
