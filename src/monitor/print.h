/* SPDX-License-Identifier: Apache-2.0 */
/* Prints values as text (docs/tessla-language.md A.6) into a growing buffer. */
#pragma once

#include "monitor/type.h"
#include "monitor/value.h"

struct ct_mon_text {
    char *p;
    size_t n, cap;
    size_t limit;              /* longest text, 0: none; beyond it `failed` is set and the text is cut */
    struct ct_mon_heap *payer; /* heap to which the work is charged, with the same effect at its limit; or
                                * NULL */
    bool failed;
    bool lacked_memory; /* it failed because memory ran out */
};

void ct_mon_text_free(struct ct_mon_text *t);
void ct_mon_text_add(struct ct_mon_text *t, const char *p, size_t n);
/* Appends text as part of one line: control characters become \n, \r, \t, \a or the \xHH of their bytes, and
 * so do bytes that are not UTF-8. `lines`: keep line breaks and tabs. */
void ct_mon_text_add_printable(struct ct_mon_text *t, const char *p, size_t n, bool lines);
void ct_mon_text_add_z(struct ct_mon_text *t, const char *p);
void ct_mon_text_printf(struct ct_mon_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints an integer into at most 20 bytes. Returns the end. */
char *ct_mon_print_int(char *p, int64_t i);
char *ct_mon_print_u64(char *p, uint64_t i);

/* Prints a value. Strings are in quotes; with `bare` the outermost value is not. */
void ct_mon_print_value(struct ct_mon_text *t, const struct ct_mon_cell *c, const struct ct_mon_type *type,
                        bool bare);

/* Types that a conversion of java.util.Formatter, such as %-5.2f, can be applied to. */
enum ct_mon_format_need {
    FORMAT_INT,
    FORMAT_FLOAT,
    FORMAT_ANY,
    FORMAT_BAD,
};
enum ct_mon_format_need ct_mon_format_check(const char *format, size_t size);
void ct_mon_format_value(struct ct_mon_text *t, const char *format, size_t size, const struct ct_mon_cell *c,
                         const struct ct_mon_type *type);
