/* SPDX-License-Identifier: Apache-2.0 */
/* Reads textual traces (docs/tessla-language.md A.9). */
#pragma once

#include "monitor/run.h"

/* Pending events of one line: one event, or those of a range. */
struct ct_mon_text_range {
    int64_t next, step, last;
    char *variable; /* name of the time inside the value */
    char *value;    /* text after '=', or NULL */
    uint64_t line;
    uint32_t input;
};

/* most names of a trace that are compared with those of inputs */
enum {
    TEXT_UNKNOWN_MOST = 16
};

struct ct_mon_text_reader {
    struct ct_mon_text rest; /* the incomplete line at the end of a chunk */
    char *name;              /* name of the trace, for messages */
    uint64_t line, events, limit;
    bool done; /* the event limit was reached */
    struct ct_mon_text_range *ranges;
    size_t nranges, ranges_cap;
    int32_t *columns; /* table: input of each column, or -1 */
    size_t ncolumns;
    struct {
        uint32_t hash, input; /* input + 1; 0: free */
    } * table;
    uint32_t mask;
    bool *named;                         /* of each input: the text has it */
    uint32_t unknown[TEXT_UNKNOWN_MOST]; /* hashes of the first names that are no inputs */
    size_t nunknown;
    char first_unknown[64]; /* the first of these names, perhaps cut */
    bool any_known;         /* the text named an input */
    bool told;              /* a name that is nearly that of an input was reported */
};

/* Parser state of a value at *p. On failure the fields from `expected` on describe what was found. */
struct ct_mon_value_in {
    const char *p, *end;
    struct ct_mon_heap *heap;
    int depth;
    const char *variable; /* name that stands for `bound`; NULL: none */
    int64_t bound;
    enum ct_mon_value_error error; /* error value of an expression */
    /* inserted name in a string that is not `variable`; NULL: none */
    const char *unknown;
    size_t unknown_size;
    /* place of the error: the member, the type found there and its text */
    const struct ct_mon_type *expected;
    const char *found_type;
    const char *found;
    size_t found_size;
    char path[128];
};
bool ct_mon_value_read(struct ct_mon_value_in *in, const struct ct_mon_type *type, struct ct_mon_cell *out);
/* Returns the end of the value that begins at p: the bracket or comma of the enclosing value, or the end of
 * the line. */
const char *ct_mon_value_end(const char *p, const char *end);

/* ---- internal parts of the reader ---- */

int ct_mon_text_fail_syntax(struct ct_monitor *m, const char *expected);
int ct_mon_text_fail_at(struct ct_monitor *m, const char *text);
int32_t ct_mon_text_find_input(const struct ct_monitor *m, const char *p, size_t n);
/* Warns of a stream in the trace that the specification lacks, but whose name is close to that of an input.
 * Other streams of a trace are no mistake. */
void ct_mon_text_check_unknown(struct ct_monitor *m, const char *p, size_t n);
const char *ct_mon_text_skip(const char *p, const char *end);
/* Reads the time at p. Returns the position after it; NULL: there is none, or it exceeds 2^63-1. */
const char *ct_mon_text_time(const char *p, const char *end, int64_t *time);
/* Returns the end of the stream name that begins at p. */
const char *ct_mon_text_name_end(const char *p, const char *end);
/* Takes the event whose value is at p, after the stream's name. `variable` may be NULL. */
int ct_mon_text_event(struct ct_monitor *m, int64_t time, uint32_t input, const char *p, const char *end,
                      const char *variable);

/* Stores a line whose time is a range. p is after its first number. */
int ct_mon_text_range_line(struct ct_monitor *m, int64_t first, const char *p, const char *end);
/* Stores a plain line, because ranges before it have pending events. */
int ct_mon_text_range_plain(struct ct_monitor *m, int64_t time, uint32_t input, const char *p,
                            const char *end);
/* Takes the earliest event of the stored lines. */
int ct_mon_text_range_next(struct ct_monitor *m);
void ct_mon_text_ranges_free(struct ct_mon_text_reader *r);

/* Returns whether this is the first line of a table, "time,NAME,..". */
bool ct_mon_text_table_begins(const char *p, const char *end);
int ct_mon_text_table_names(struct ct_monitor *m, const char *p, const char *end);
int ct_mon_text_table_row(struct ct_monitor *m, const char *p, const char *end);
void ct_mon_value_skip_blank(struct ct_mon_value_in *in);
bool ct_mon_value_accept_word(struct ct_mon_value_in *in, const char *word);
/* Reads an Int, Float, Bool or String: a literal, or an expression with operators. */
bool ct_mon_value_literal(struct ct_mon_value_in *in, enum ct_mon_type_kind kind, struct ct_mon_cell *out);
bool ct_mon_value_expression(struct ct_mon_value_in *in, enum ct_mon_type_kind kind, struct ct_mon_cell *out);
/* Reads an expression and appends its value in the format of toString. */
bool ct_mon_value_insertion(struct ct_mon_value_in *in, struct ct_mon_text *t);
