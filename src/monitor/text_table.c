/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as tables of comma-separated values (docs/tessla-language.md A.9): a row of names, "time" first,
 * then one row per instant. An empty cell is no event. */
#include <stdlib.h>
#include <string.h>

#include "monitor/text_in.h"

bool ct_mon_text_table_begins(const char *p, const char *end)
{
    const char *behind = ct_mon_text_name_end(p, end);
    return behind - p == 4 && memcmp(p, "time", 4) == 0 && behind < end && *behind == ',';
}

int ct_mon_text_table_names(struct ct_monitor *m, const char *p, const char *end)
{
    struct ct_mon_text_reader *r = m->reader;
    size_t count = 1;
    for (const char *q = p; q < end; q++)
        count += *q == ',';
    r->columns = calloc(count, sizeof *r->columns);
    if (!r->columns)
        return ct_fail_nomem(m->ctx, "trace");
    p = ct_mon_text_name_end(p, end);
    while (p < end && *p == ',') {
        const char *name = ct_mon_text_skip(p + 1, end);
        p = ct_mon_text_name_end(name, end);
        if (p == name)
            return ct_mon_text_fail_at(m,
                                       "error: expected the name of a stream in the first row of the table");
        const int32_t input = ct_mon_text_find_input(m, name, (size_t)(p - name));
        if (input < 0)
            ct_mon_text_check_unknown(m, name, (size_t)(p - name));
        r->columns[r->ncolumns++] = input;
        p = ct_mon_text_skip(p, end);
    }
    return p == end || *p == '\r'
               ? CT_OK
               : ct_mon_text_fail_at(m, "error: expected ',' between the names of the table's columns");
}

/* Takes the event of a cell, whose value is read like the rest of a line "TIME: NAME = VALUE". */
static int cell_event(struct ct_monitor *m, int64_t time, uint32_t input, const char *p, const char *end)
{
    struct ct_mon_text line = {0};
    ct_mon_text_add(&line, "= ", 2);
    ct_mon_text_add(&line, p, (size_t)(end - p));
    const int code = line.failed ? ct_fail_nomem(m->ctx, "trace")
                                 : ct_mon_text_event(m, time, input, line.p, line.p + line.n, NULL);
    ct_mon_text_free(&line);
    return code;
}

int ct_mon_text_table_row(struct ct_monitor *m, const char *p, const char *end)
{
    struct ct_mon_text_reader *r = m->reader;
    int64_t time;
    const char *behind = ct_mon_text_time(p, end, &time);
    if (!behind)
        return ct_mon_text_fail_at(m, "error: expected a time of at most 2^63-1 at the beginning of the row");
    p = ct_mon_text_skip(behind, end);
    size_t column = 0;
    for (; p < end && *p == ','; column++) {
        const char *from = ct_mon_text_skip(p + 1, end);
        const char *to = ct_mon_value_end(from, end);
        if (column == r->ncolumns)
            return ct_mon_text_fail_at(m, "error: the row has more cells than the table has columns");
        const int32_t input = r->columns[column];
        const int code =
            to > from && input >= 0 && !r->done ? cell_event(m, time, (uint32_t)input, from, to) : CT_OK;
        if (code)
            return code;
        p = ct_mon_text_skip(to, end);
    }
    return p == end || *p == '\r' ? CT_OK
                                  : ct_mon_text_fail_at(m, "error: expected ',' between the cells of a row");
}
