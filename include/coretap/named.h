/* SPDX-License-Identifier: Apache-2.0 */
/* coretap named: the names of events that a program writes to an ITM or STM with the header coretap/itm.h.
 * They stand in its ELF file, in the section coretap_events. */
#ifndef CORETAP_NAMED_H
#define CORETAP_NAMED_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_named_kind {
    CT_NAMED_TEXT,  /* text: a format as printf has them */
    CT_NAMED_VALUE, /* text: the name of the value, which is the only argument */
    CT_NAMED_BEGIN, /* text: the name of a span of time that begins */
    CT_NAMED_END,   /* text: the name of a span that ends, the innermost of this name that is open */
};

enum ct_named_type {
    CT_NAMED_FLOAT, /* 32 bits */
    CT_NAMED_DOUBLE,
    CT_NAMED_INT, /* 32 bits */
    CT_NAMED_UINT,
    CT_NAMED_LONG, /* 64 bits */
    CT_NAMED_ULONG,
    CT_NAMED_POINTER, /* as wide as the program's addresses */
};

#define CT_NAMED_ARGUMENTS 6

/* What the program says of an event. */
struct ct_named_entry {
    const char *text;
    uint16_t number;                   /* as it is written to the port */
    uint8_t kind;                      /* enum ct_named_kind */
    uint8_t count;                     /* arguments */
    uint8_t types[CT_NAMED_ARGUMENTS]; /* enum ct_named_type */
    uint8_t words;                     /* number of words of 32 bits that its arguments are written in */
    uint8_t pointer_words;             /* number of words of 32 bits of a pointer */
    uint8_t pad[4];                    /* 0 */
};

/* Returns how many words of 32 bits an argument is written in; the low one comes first. */
static inline unsigned ct_named_words(const struct ct_named_entry *entry, unsigned argument)
{
    switch (entry->types[argument]) {
    case CT_NAMED_DOUBLE:
    case CT_NAMED_LONG:
    case CT_NAMED_ULONG:
        return 2;
    case CT_NAMED_POINTER:
        return entry->pointer_words;
    default:
        return 1;
    }
}

/* The names of one ELF file. Immutable once loaded: any number of threads may ask. */
struct ct_named_table;

/* Reads the names of the ELF file at `path`; a file without any gives an empty table, which belongs to the
 * caller. CT_ERR_IO, CT_ERR_FORMAT (no ELF file, or a section that is damaged), CT_ERR_UNSUPPORTED,
 * CT_ERR_LIMIT (numbers do not reach to the end of the section), CT_ERR_NOMEM, CT_ERR_ARG. */
CT_API int ct_named_table_load(struct ct_ctx *ctx, const char *path, struct ct_named_table **out);
CT_API void ct_named_table_free(struct ct_named_table *table);

/* Returns the entries by number; *count is how many there are. */
CT_API const struct ct_named_entry *ct_named_table_entries(const struct ct_named_table *table, size_t *count);

/* Returns the entry with a number; NULL: there is none. */
CT_API const struct ct_named_entry *ct_named_table_find(const struct ct_named_table *table, uint32_t number);

/* Returns the text at an address of the file that the program cannot change; NULL: there is none that ends.
 */
CT_API const char *ct_named_table_string(const struct ct_named_table *table, uint64_t addr);

#ifdef __cplusplus
}
#endif
#endif
