/* SPDX-License-Identifier: Apache-2.0 */
/* coretap named: the names of the events that a program writes to an ITM or STM with the header
 * coretap/itm.h. They are in the section coretap_events of its ELF file.
 *
 *     ct_named_table_load(ctx, "firmware.elf", &table);
 *     const struct ct_named_entry *entries = ct_named_table_entries(table, &count);
 *     for (size_t i = 0; i < count; i++)
 *         printf("%u: %s\n", entries[i].number, entries[i].text);
 *     ct_named_table_free(table); */
#ifndef CORETAP_NAMED_H
#define CORETAP_NAMED_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_named_kind {
    CT_NAMED_TEXT,  /* text: a printf format */
    CT_NAMED_VALUE, /* text: the name of the value, which is the only argument */
    CT_NAMED_BEGIN, /* text: the name of a span of time that begins */
    CT_NAMED_END,   /* text: the name of a span that ends: the innermost open one with this name */
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

/* The description of an event in the program's file. */
struct ct_named_entry {
    const char *text;
    uint16_t number;                   /* as written to the port */
    uint8_t kind;                      /* enum ct_named_kind */
    uint8_t count;                     /* arguments */
    uint8_t types[CT_NAMED_ARGUMENTS]; /* enum ct_named_type */
    uint8_t words;                     /* number of 32-bit words in which its arguments are written */
    uint8_t pointer_words;             /* number of 32-bit words of a pointer */
    uint8_t pad[4];                    /* 0 */
};

/* Returns the number of 32-bit words of an argument; the low word is written first. */
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

/* The event names of one ELF file. Immutable once loaded: any number of threads may use it. */
struct ct_named_table;

/* Reads the event names of the ELF file at `path`. The caller owns the table, which is empty for a file
 * without names. CT_ERR_IO, CT_ERR_FORMAT (no ELF file, or a damaged section), CT_ERR_UNSUPPORTED,
 * CT_ERR_LIMIT (the section is longer than its numbers can reach), CT_ERR_NOMEM, CT_ERR_ARG. */
CT_API int ct_named_table_load(struct ct_ctx *ctx, const char *path, struct ct_named_table **out);
CT_API void ct_named_table_free(struct ct_named_table *table);

/* Returns the entries by number, and their count in *count. */
CT_API const struct ct_named_entry *ct_named_table_entries(const struct ct_named_table *table, size_t *count);

/* Returns the entry with a number; NULL: none. */
CT_API const struct ct_named_entry *ct_named_table_find(const struct ct_named_table *table, uint32_t number);

/* Returns the text at an address of the file's constant data; NULL: there is none, or it is not
 * terminated. */
CT_API const char *ct_named_table_string(const struct ct_named_table *table, uint64_t addr);

#ifdef __cplusplus
}
#endif
#endif
