/* SPDX-License-Identifier: Apache-2.0 */
#include "export/parquet.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/ctx.h"
#include "base/fnv.h"
#include "base/utf8.h"
#include "export/thrift.h"

/* Numbers of parquet.thrift. */
enum {
    TYPE_INT64 = 2,
    TYPE_DOUBLE = 5,
    TYPE_BYTE_ARRAY = 6,
    CONVERTED_UTF8 = 0,
    CONVERTED_UINT_64 = 14,
    LOGICAL_STRING = 1,
    LOGICAL_INTEGER = 10,
    ENCODING_PLAIN = 0,
    ENCODING_RLE = 3,
    ENCODING_RLE_DICTIONARY = 8,
    CODEC_ZSTD = 6,
    PAGE_DATA = 0,
    PAGE_DICTIONARY = 2,
};

#define MAGIC     "PAR1"
#define ZSTD_TIME 3 /* level of compression */

/* The texts of a column, each once. */
struct dictionary {
    struct ct_grown texts; /* as a page has them: length in 32 bits, and bytes */
    uint32_t *starts;      /* of each text in them; CT_PARQUET_ROWS of them */
    uint32_t *slots;       /* hash table: number of the text and 1, or 0; SLOTS of them */
    uint32_t count;
};

#define SLOTS (2 * CT_PARQUET_ROWS)

/* Values of a column that are not written yet. */
struct column {
    uint64_t *values; /* of the rows that have one, one behind the other: a number, the bits of a real number,
                         or the number of a text */
    uint8_t *present; /* by row: 1 where there is one */
    uint32_t count;   /* of values */
    struct dictionary dictionary; /* of texts */
};

/* The values of a column in a row group, as the end of the file tells of them. */
struct chunk {
    uint64_t dictionary_at, data_at; /* offsets of its pages; dictionary_at is 0 when it has none */
    uint64_t plain, packed;          /* bytes of its pages, not compressed and compressed */
    uint64_t rows, empty;            /* values, and how many of them are none */
    uint64_t least, most;            /* of a column of numbers */
};

struct ct_parquet {
    struct ct_ctx *ctx;
    const struct ct_parquet_column *is;
    size_t count; /* of columns */
    ct_write_fn *write;
    void *user;
    uint64_t at;      /* bytes that were written */
    int result;       /* the first error */
    uint64_t rows;    /* of the row groups that were written */
    uint32_t waiting; /* rows that were not */
    size_t next;      /* column of the row in work */
    struct column *columns;
    struct ct_grown chunks; /* struct chunk: the columns of the first row group, of the second, … */
    struct ct_grown page, packed, header; /* of the page in work */
    ZSTD_CCtx *zstd;
};

static void put_bytes(struct ct_parquet *p, const void *bytes, size_t size)
{
    if (!p->result && size)
        p->result = p->write(p->user, bytes, size);
    p->at += size;
}

static void note_failed(struct ct_parquet *p, const struct ct_grown *grown)
{
    if (grown->failed && !p->result)
        p->result = ct_fail_nomem(p->ctx, "table");
}

/* ---- making and freeing ---- */

static bool make_column(struct column *c, enum ct_parquet_type type)
{
    const bool text = type == CT_PARQUET_TEXT;
    c->values = malloc(CT_PARQUET_ROWS * sizeof *c->values);
    c->present = malloc(CT_PARQUET_ROWS);
    c->dictionary.starts = text ? malloc(CT_PARQUET_ROWS * sizeof *c->dictionary.starts) : NULL;
    c->dictionary.slots = text ? calloc(SLOTS, sizeof *c->dictionary.slots) : NULL;
    return c->values && c->present && (!text || (c->dictionary.starts && c->dictionary.slots));
}

int ct_parquet_new(struct ct_ctx *ctx, const struct ct_parquet_column *columns, size_t count,
                   ct_write_fn *write, void *user, struct ct_parquet **out)
{
    struct ct_parquet *p = calloc(1, sizeof *p);
    if (!p)
        return ct_fail_nomem(ctx, "table");
    *p = (struct ct_parquet){.ctx = ctx, .is = columns, .count = count, .write = write, .user = user};
    p->columns = calloc(count, sizeof *p->columns);
    p->zstd = ZSTD_createCCtx();
    bool fine = p->columns && p->zstd;
    for (size_t i = 0; fine && i < count; i++)
        fine = make_column(&p->columns[i], columns[i].type);
    if (fine)
        put_bytes(p, MAGIC, 4);
    const int rc = fine ? p->result : ct_fail_nomem(ctx, "table");
    if (rc) {
        ct_parquet_free(p);
        return rc;
    }
    *out = p;
    return CT_OK;
}

void ct_parquet_free(struct ct_parquet *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->columns && i < p->count; i++) {
        struct column *c = &p->columns[i];
        free(c->values);
        free(c->present);
        free(c->dictionary.starts);
        free(c->dictionary.slots);
        ct_grown_free(&c->dictionary.texts);
    }
    free(p->columns);
    ct_grown_free(&p->chunks);
    ct_grown_free(&p->page);
    ct_grown_free(&p->packed);
    ct_grown_free(&p->header);
    ZSTD_freeCCtx(p->zstd);
    free(p);
}

/* ---- texts ---- */

/* Adds a text behind the others, its length before it, with U+FFFD in the place of what is no UTF-8. */
static void append_text(struct ct_grown *texts, const char *text, size_t size)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const size_t begin = texts->size;
    ct_grown_put32(texts, 0);
    for (size_t i = 0; i < size;) {
        const size_t length = ct_utf8_length((const unsigned char *)text + i, size - i);
        ct_grown_put(texts, length ? text + i : replacement, length ? length : 3);
        i += length ? length : 1;
    }
    if (texts->failed)
        return;
    struct ct_grown head = {.bytes = texts->bytes + begin, .room = 4};
    ct_grown_put32(&head, (uint32_t)(texts->size - begin - 4));
}

/* Returns the number of the text that was appended last: that of an equal one before it, in whose favour it
 * is taken off again, or a new one. */
static uint32_t number_of(struct dictionary *d, size_t begin)
{
    const uint8_t *text = d->texts.bytes + begin;
    const size_t size = d->texts.size - begin;
    size_t slot = ct_fnv(CT_FNV_BEGIN, text, size) % SLOTS;
    for (; d->slots[slot]; slot = (slot + 1) % SLOTS) {
        const uint32_t number = d->slots[slot] - 1;
        const size_t end = number + 1 < d->count ? d->starts[number + 1] : begin;
        if (end - d->starts[number] == size && memcmp(d->texts.bytes + d->starts[number], text, size) == 0) {
            d->texts.size = begin;
            return number;
        }
    }
    d->starts[d->count] = (uint32_t)begin;
    d->slots[slot] = d->count + 1;
    return d->count++;
}

static void forget_texts(struct dictionary *d)
{
    d->texts.size = 0;
    d->count = 0;
    memset(d->slots, 0, SLOTS * sizeof *d->slots);
}

/* ---- pages ---- */

/* Writes bits as one run: of the same number, or of numbers of `width` bits each, eight by eight. */
static void put_run(struct ct_grown *to, const uint64_t *numbers, uint32_t count, unsigned width)
{
    const uint32_t eights = (count + 7) / 8;
    bool same = true;
    for (uint32_t i = 1; same && i < count; i++)
        same = numbers[i] == numbers[0];
    if (same) {
        ct_grown_put_varint(to, (uint64_t)count << 1);
        for (unsigned bit = 0; bit < width; bit += 8)
            ct_grown_put(to, &(uint8_t){(uint8_t)(numbers[0] >> bit)}, 1);
        return;
    }
    ct_grown_put_varint(to, (uint64_t)eights << 1 | 1);
    uint8_t *packed = ct_grown_add(to, (size_t)eights * width);
    if (!packed)
        return;
    memset(packed, 0, (size_t)eights * width);
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t bit = 0, place = i * width; bit < width; bit++, place++)
            packed[place / 8] |= (uint8_t)((numbers[i] >> bit & 1) << place % 8);
}

/* Writes which rows have a value: its length in 32 bits, and a run of single bits. */
static void put_present(struct ct_parquet *p, const struct column *c)
{
    struct ct_grown *page = &p->page;
    const size_t begin = page->size;
    ct_grown_put32(page, 0);
    const uint32_t eights = (p->waiting + 7) / 8;
    if (c->count == p->waiting || !c->count) {
        ct_grown_put_varint(page, (uint64_t)p->waiting << 1);
        const uint8_t present = c->count > 0;
        ct_grown_put(page, &present, 1);
    } else {
        ct_grown_put_varint(page, (uint64_t)eights << 1 | 1);
        uint8_t *bits = ct_grown_add(page, eights);
        if (bits)
            memset(bits, 0, eights);
        for (uint32_t i = 0; bits && i < p->waiting; i++)
            bits[i / 8] |= (uint8_t)(c->present[i] << i % 8);
    }
    if (page->failed)
        return;
    struct ct_grown head = {.bytes = page->bytes + begin, .room = 4};
    ct_grown_put32(&head, (uint32_t)(page->size - begin - 4));
}

/* Compresses the page in work and writes it behind its header. */
static void put_page(struct ct_parquet *p, struct chunk *chunk, bool is_dictionary, uint32_t values)
{
    const size_t bound = ZSTD_compressBound(p->page.size);
    p->packed.size = p->header.size = 0;
    uint8_t *room = ct_grown_add(&p->packed, bound);
    note_failed(p, &p->page);
    note_failed(p, &p->packed);
    if (p->result)
        return;
    const size_t size =
        ZSTD_compressCCtx(p->zstd, room, bound, p->page.size ? p->page.bytes : room, p->page.size, ZSTD_TIME);
    if (ZSTD_isError(size) || p->page.size > INT_MAX || size > INT_MAX) {
        p->result = ct_fail_nomem(p->ctx, "table");
        return;
    }
    struct ct_thrift t = {.to = &p->header};
    ct_thrift_begin(&t);
    ct_thrift_field_i32(&t, 1, is_dictionary ? PAGE_DICTIONARY : PAGE_DATA);
    ct_thrift_field_i32(&t, 2, (int32_t)p->page.size);
    ct_thrift_field_i32(&t, 3, (int32_t)size);
    ct_thrift_field_struct(&t, is_dictionary ? 7 : 5);
    ct_thrift_field_i32(&t, 1, (int32_t)values);
    if (is_dictionary) {
        ct_thrift_field_i32(&t, 2, ENCODING_PLAIN);
    } else {
        ct_thrift_field_i32(&t, 2, chunk->dictionary_at ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN);
        ct_thrift_field_i32(&t, 3, ENCODING_RLE); /* of which rows have a value */
        ct_thrift_field_i32(&t, 4, ENCODING_RLE); /* of repetitions, which there are none of */
    }
    ct_thrift_end(&t);
    ct_thrift_end(&t);
    note_failed(p, &p->header);
    chunk->plain += p->header.size + p->page.size;
    chunk->packed += p->header.size + size;
    put_bytes(p, p->header.bytes, p->header.size);
    put_bytes(p, p->packed.bytes, size);
}

/* Returns how many bits numbers below `count` have, at least one. */
static unsigned width_of(uint32_t count)
{
    unsigned width = 1;
    while ((count - 1) >> width)
        width++;
    return width;
}

static void put_values(struct ct_parquet *p, const struct column *c, enum ct_parquet_type type)
{
    if (type == CT_PARQUET_TEXT) {
        const unsigned width = width_of(c->dictionary.count ? c->dictionary.count : 1);
        ct_grown_put(&p->page, &(uint8_t){(uint8_t)width}, 1);
        if (c->count)
            put_run(&p->page, c->values, c->count, width);
        return;
    }
    for (uint32_t i = 0; i < c->count; i++)
        ct_grown_put64(&p->page, c->values[i]);
}

static struct chunk put_column(struct ct_parquet *p, struct column *c, const struct ct_parquet_column *is)
{
    struct chunk chunk = {.rows = p->waiting, .empty = p->waiting - c->count, .least = UINT64_MAX};
    for (uint32_t i = 0; i < c->count; i++) {
        chunk.least = c->values[i] < chunk.least ? c->values[i] : chunk.least;
        chunk.most = c->values[i] > chunk.most ? c->values[i] : chunk.most;
    }
    if (is->type == CT_PARQUET_TEXT) {
        chunk.dictionary_at = p->at;
        p->page.size = 0;
        ct_grown_put(&p->page, c->dictionary.texts.bytes, c->dictionary.texts.size);
        put_page(p, &chunk, true, c->dictionary.count);
    }
    chunk.data_at = p->at;
    p->page.size = 0;
    if (is->optional)
        put_present(p, c);
    put_values(p, c, is->type);
    put_page(p, &chunk, false, p->waiting);
    c->count = 0;
    if (is->type == CT_PARQUET_TEXT)
        forget_texts(&c->dictionary);
    return chunk;
}

/* Writes the rows that wait as a row group. */
static void put_rows(struct ct_parquet *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct chunk chunk = put_column(p, &p->columns[i], &p->is[i]);
        ct_grown_put(&p->chunks, &chunk, sizeof chunk);
    }
    note_failed(p, &p->chunks);
    p->rows += p->waiting;
    p->waiting = 0;
}

/* ---- values ---- */

/* Ends the column: the next one is that of the same row or, behind the last, the first of another. */
static void end_value(struct ct_parquet *p, bool present)
{
    p->columns[p->next].present[p->waiting] = present;
    p->next = (p->next + 1) % p->count;
    p->waiting += p->next == 0;
    if (p->waiting == CT_PARQUET_ROWS)
        put_rows(p);
}

static void add_value(struct ct_parquet *p, uint64_t value)
{
    struct column *c = &p->columns[p->next];
    c->values[c->count++] = value;
    end_value(p, true);
}

void ct_parquet_text(struct ct_parquet *p, const char *text)
{
    struct dictionary *d = &p->columns[p->next].dictionary;
    const size_t begin = d->texts.size;
    if (text && !p->result) {
        append_text(&d->texts, text, strlen(text));
        note_failed(p, &d->texts);
        if (!p->result && d->texts.size > INT_MAX)
            p->result = ct_fail(p->ctx, CT_ERR_LIMIT,
                                "table: the texts of 65536 rows have more than 2 GiB; nothing is written");
    }
    if (!text || p->result)
        end_value(p, false);
    else
        add_value(p, number_of(d, begin));
}

void ct_parquet_number(struct ct_parquet *p, uint64_t number)
{
    add_value(p, number);
}

void ct_parquet_real(struct ct_parquet *p, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    add_value(p, bits);
}

void ct_parquet_nothing(struct ct_parquet *p)
{
    end_value(p, false);
}

uint64_t ct_parquet_rows(const struct ct_parquet *p)
{
    return p->rows + p->waiting;
}

int ct_parquet_result(const struct ct_parquet *p)
{
    return p->result;
}

/* ---- the end of the file ---- */

static int32_t type_of(enum ct_parquet_type type)
{
    return type == CT_PARQUET_TEXT ? TYPE_BYTE_ARRAY : type == CT_PARQUET_NUMBER ? TYPE_INT64 : TYPE_DOUBLE;
}

static void put_column_schema(struct ct_thrift *t, const struct ct_parquet_column *is)
{
    ct_thrift_begin(t);
    ct_thrift_field_i32(t, 1, type_of(is->type));
    ct_thrift_field_i32(t, 3, is->optional); /* REQUIRED is 0, OPTIONAL 1 */
    ct_thrift_field_text(t, 4, is->name);
    if (is->type != CT_PARQUET_REAL) {
        const bool text = is->type == CT_PARQUET_TEXT;
        ct_thrift_field_i32(t, 6, text ? CONVERTED_UTF8 : CONVERTED_UINT_64);
        ct_thrift_field_struct(t, 10);
        ct_thrift_field_struct(t, text ? LOGICAL_STRING : LOGICAL_INTEGER);
        if (!text) {
            ct_thrift_field_i8(t, 1, 64);
            ct_thrift_field_bool(t, 2, false); /* without a sign */
        }
        ct_thrift_end(t);
        ct_thrift_end(t);
    }
    ct_thrift_end(t);
}

static void put_schema(struct ct_parquet *p, struct ct_thrift *t)
{
    ct_thrift_field_structs(t, 2, p->count + 1);
    ct_thrift_begin(t);
    ct_thrift_field_text(t, 4, "schema");
    ct_thrift_field_i32(t, 5, (int32_t)p->count);
    ct_thrift_end(t);
    for (size_t i = 0; i < p->count; i++)
        put_column_schema(t, &p->is[i]);
}

/* Writes what readers pass over row groups by: how many rows have nothing, least and largest number. */
static void put_statistics(struct ct_thrift *t, const struct chunk *chunk, enum ct_parquet_type type)
{
    ct_thrift_field_struct(t, 12);
    ct_thrift_field_i64(t, 3, (int64_t)chunk->empty);
    if (type == CT_PARQUET_NUMBER && chunk->empty < chunk->rows) {
        uint8_t bytes[2][8];
        for (unsigned i = 0; i < 8; i++) {
            bytes[0][i] = (uint8_t)(chunk->most >> 8 * i);
            bytes[1][i] = (uint8_t)(chunk->least >> 8 * i);
        }
        ct_thrift_field_bytes(t, 5, bytes[0], 8);
        ct_thrift_field_bytes(t, 6, bytes[1], 8);
    }
    ct_thrift_end(t);
}

static void put_chunk(struct ct_thrift *t, const struct chunk *chunk, const struct ct_parquet_column *is)
{
    const bool text = is->type == CT_PARQUET_TEXT;
    ct_thrift_begin(t);
    ct_thrift_field_i64(t, 2, (int64_t)(text ? chunk->dictionary_at : chunk->data_at));
    ct_thrift_field_struct(t, 3);
    ct_thrift_field_i32(t, 1, type_of(is->type));
    ct_thrift_field_i32s(t, 2, text ? 3 : 2);
    ct_thrift_i32(t, ENCODING_PLAIN);
    ct_thrift_i32(t, ENCODING_RLE);
    if (text)
        ct_thrift_i32(t, ENCODING_RLE_DICTIONARY);
    ct_thrift_field_texts(t, 3, 1);
    ct_thrift_text(t, is->name);
    ct_thrift_field_i32(t, 4, CODEC_ZSTD);
    ct_thrift_field_i64(t, 5, (int64_t)chunk->rows);
    ct_thrift_field_i64(t, 6, (int64_t)chunk->plain);
    ct_thrift_field_i64(t, 7, (int64_t)chunk->packed);
    ct_thrift_field_i64(t, 9, (int64_t)chunk->data_at);
    if (text)
        ct_thrift_field_i64(t, 11, (int64_t)chunk->dictionary_at);
    put_statistics(t, chunk, is->type);
    ct_thrift_end(t);
    ct_thrift_end(t);
}

static void put_row_groups(struct ct_parquet *p, struct ct_thrift *t)
{
    const size_t groups = p->chunks.size / sizeof(struct chunk) / p->count;
    ct_thrift_field_structs(t, 4, groups);
    for (size_t g = 0; g < groups; g++) {
        struct chunk chunk = {0};
        uint64_t plain = 0;
        ct_thrift_begin(t);
        ct_thrift_field_structs(t, 1, p->count);
        for (size_t i = 0; i < p->count; i++) {
            memcpy(&chunk, p->chunks.bytes + (g * p->count + i) * sizeof chunk, sizeof chunk);
            put_chunk(t, &chunk, &p->is[i]);
            plain += chunk.plain;
        }
        ct_thrift_field_i64(t, 2, (int64_t)plain);
        ct_thrift_field_i64(t, 3, (int64_t)chunk.rows);
        ct_thrift_end(t);
    }
}

/* Writes by which order the least and the largest values are told: that of the type. */
static void put_orders(struct ct_parquet *p, struct ct_thrift *t)
{
    ct_thrift_field_structs(t, 7, p->count);
    for (size_t i = 0; i < p->count; i++) {
        ct_thrift_begin(t);
        ct_thrift_field_struct(t, 1);
        ct_thrift_end(t);
        ct_thrift_end(t);
    }
}

int ct_parquet_finish(struct ct_parquet *p)
{
    if (p->waiting)
        put_rows(p);
    char writer[64];
    p->header.size = 0;
    struct ct_thrift t = {.to = &p->header};
    ct_thrift_begin(&t);
    ct_thrift_field_i32(&t, 1, 2); /* version of the format */
    put_schema(p, &t);
    ct_thrift_field_i64(&t, 3, (int64_t)p->rows);
    put_row_groups(p, &t);
    snprintf(writer, sizeof writer, "coretap version %s", ct_version());
    ct_thrift_field_text(&t, 6, writer);
    put_orders(p, &t);
    ct_thrift_end(&t);
    ct_grown_put32(&p->header, (uint32_t)p->header.size);
    note_failed(p, &p->header);
    put_bytes(p, p->header.bytes, p->header.size);
    put_bytes(p, MAGIC, 4);
    return p->result;
}
