/* SPDX-License-Identifier: Apache-2.0 */
/* Types, interned: equal types are the same pointer. */
#ifndef CT_MONITOR_TYPE_H
#define CT_MONITOR_TYPE_H

#include <stdbool.h>

#include "monitor/arena.h"

enum ct_mon_type_kind {
    TY_ERROR, /* of an expression that was reported: fits everything */
    TY_INT,
    TY_FLOAT,
    TY_BOOL,
    TY_STRING,
    TY_VERDICT, /* of a temporal formula: enum ct_mon_verdict */
    TY_OPTION,
    TY_LIST,
    TY_SET,
    TY_MAP,
    TY_RECORD, /* names; a tuple has the names _1.._n; the unit has none */
    TY_EVENTS,
    TY_FUN, /* args, last: the result */
    TY_VAR, /* a type parameter: only in the types of generic macros */
};

struct ct_mon_type {
    enum ct_mon_type_kind kind;
    uint32_t n;
    bool open;    /* record: accepts further members */
    bool generic; /* a TY_VAR inside */
    bool value;   /* no stream and no function inside */
    uint64_t hash;
    const struct ct_mon_type **args;
    const char **names;
    const char *name;  /* TY_VAR */
    const void *scope; /* TY_VAR: the definition it belongs to */
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

/* Gives the name of the kind; functions and type parameters have an empty one. */
const char *ct_mon_type_kind_name(enum ct_mon_type_kind kind);

/* Writes the type as a specification has it: "Events[Option[Int]]". */
const char *ct_mon_type_text(struct ct_mon_arena *a, const struct ct_mon_type *t);

/* Gives the index of a member, or -1. */
int ct_mon_type_member(const struct ct_mon_type *record, const char *name);

bool ct_mon_type_is_tuple(const struct ct_mon_type *t);

/* What the type parameters of a call stand for. */
struct ct_mon_type_bind {
    const struct ct_mon_type *var;
    const struct ct_mon_type *type; /* NULL: not known yet */
};

struct ct_mon_type_binds {
    struct ct_mon_type_bind *at;
    size_t n;
};

/* Puts what is known of type parameters into the type. Unknown ones stay. */
const struct ct_mon_type *ct_mon_type_subst(struct ct_mon_types *ts, const struct ct_mon_type *t,
                                            const struct ct_mon_type_binds *binds);

/* Tells whether `actual` fits `pattern`, and binds type parameters on the way. Open records accept wider
 * ones. */
bool ct_mon_type_match(const struct ct_mon_type *pattern, const struct ct_mon_type *actual,
                       struct ct_mon_type_binds *binds);

#endif
