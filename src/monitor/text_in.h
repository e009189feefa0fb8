/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of textual traces (docs/tessla-language.md A.9). */
#ifndef CT_MONITOR_TEXT_IN_H
#define CT_MONITOR_TEXT_IN_H

#include "monitor/run.h"

/* Events of one line that are still to come: one of a plain line, any number of a range. */
struct ct_mon_text_range {
    int64_t next, step, last;
    char *variable; /* what the time is called in the value */
    char *value;    /* the text behind '=', or NULL */
    uint64_t line;
    uint32_t input;
};

struct ct_mon_text_reader {
    struct ct_mon_text rest; /* of a line cut by the end of a chunk */
    char *name;              /* of the trace, for messages */
    uint64_t line, events, limit;
    bool done; /* the event limit was reached */
    struct ct_mon_text_range *ranges;
    size_t nranges, ranges_cap;
    int32_t *columns; /* of a table: the input of each column, or -1 */
    size_t ncolumns;
    struct {
        uint32_t hash, input; /* input + 1; 0: free */
    } * table;
    uint32_t mask;
};

/* Reads a value of the type at *p; on failure *actual describes what stands there. */
struct ct_mon_value_in {
    const char *p, *end;
    struct ct_mon_heap *heap;
    int depth;
    const char *variable; /* stands for `bound`; NULL: there is none */
    int64_t bound;
    enum ct_mon_value_error error; /* of an expression */
    /* of a string, the name inserted that is not `variable`; NULL: there is none */
    const char *unknown;
    size_t unknown_size;
    /* where it went wrong: the member, the type found there and its text */
    const struct ct_mon_type *expected;
    const char *found_type;
    const char *found;
    size_t found_size;
    char path[128];
};
bool ct_mon_value_read(struct ct_mon_value_in *in, const struct ct_mon_type *type, struct ct_mon_cell *out);
/* Finds the end of the value that begins at p: the bracket or comma of what it is a part of, or the end of
 * the line. */
const char *ct_mon_value_end(const char *p, const char *end);

/* ---- the reader's own parts ---- */

int ct_mon_text_fail_syntax(struct ct_monitor *m, const char *expected);
int ct_mon_text_fail_at(struct ct_monitor *m, const char *text);
int32_t ct_mon_text_find_input(const struct ct_monitor *m, const char *p, size_t n);
const char *ct_mon_text_skip(const char *p, const char *end);
/* Reads the time at p. Result: the place behind it; NULL: there is none, or it is beyond 2^63-1. */
const char *ct_mon_text_time(const char *p, const char *end, int64_t *time);
/* Finds the end of the name of a stream that begins at p. */
const char *ct_mon_text_name_end(const char *p, const char *end);
/* Takes the event whose value is at p, behind the stream's name. `variable` may be NULL. */
int ct_mon_text_event(struct ct_monitor *m, int64_t time, uint32_t input, const char *p, const char *end,
                      const char *variable);

/* Keeps a line whose time is a range. p is behind its first number. */
int ct_mon_text_range_line(struct ct_monitor *m, int64_t first, const char *p, const char *end);
/* Keeps a plain line, since ranges before it have events to come. */
int ct_mon_text_range_plain(struct ct_monitor *m, int64_t time, uint32_t input, const char *p,
                            const char *end);
/* Takes the earliest event of the lines that are kept. */
int ct_mon_text_range_next(struct ct_monitor *m);
void ct_mon_text_ranges_free(struct ct_mon_text_reader *r);

/* Tells whether this is the first line of a table, "time,NAME,..". */
bool ct_mon_text_table_begins(const char *p, const char *end);
int ct_mon_text_table_names(struct ct_monitor *m, const char *p, const char *end);
int ct_mon_text_table_row(struct ct_monitor *m, const char *p, const char *end);
void ct_mon_value_skip_blank(struct ct_mon_value_in *in);
bool ct_mon_value_accept_word(struct ct_mon_value_in *in, const char *word);
/* Reads a value of type Int, Float, Bool or String: a literal, or an expression with operators. */
bool ct_mon_value_literal(struct ct_mon_value_in *in, enum ct_mon_type_kind kind, struct ct_mon_cell *out);
bool ct_mon_value_expression(struct ct_mon_value_in *in, enum ct_mon_type_kind kind, struct ct_mon_cell *out);
/* Adds the value of an expression as toString makes it. */
bool ct_mon_value_insertion(struct ct_mon_value_in *in, struct ct_mon_text *t);

#endif
