/* SPDX-License-Identifier: Apache-2.0 */
#include "export/parquet.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/ctx.h"
#include "export/thrift.h"

/* Values from parquet.thrift. */
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
#define ZSTD_TIME 3 /* compression level */

/* The values of a column in a row group, as the footer describes them. */
struct chunk {
    uint64_t dictionary_at, data_at; /* offsets of its pages; dictionary_at is 0 without a dictionary */
    uint64_t plain, packed;          /* bytes of its pages, uncompressed and compressed */
    uint64_t rows, empty;            /* values, and how many of them are null */
    uint64_t least, most;            /* for a column of numbers */
};

struct ct_parquet {
    struct ct_rows rows;    /* must be the first member */
    struct ct_grown chunks; /* struct chunk: all columns of the first row group, then of the next one */
    struct ct_grown page, packed, header; /* of the current page */
    ZSTD_CCtx *zstd;
};

static struct ct_parquet *of(struct ct_rows *rows)
{
    return (struct ct_parquet *)rows;
}

static int begin(struct ct_rows *rows)
{
    of(rows)->zstd = ZSTD_createCCtx();
    if (!of(rows)->zstd)
        return ct_fail_nomem(rows->ctx, "table");
    ct_rows_write(rows, MAGIC, 4);
    return CT_OK;
}

static void clear(struct ct_rows *rows)
{
    struct ct_parquet *p = of(rows);
    ct_grown_free(&p->chunks);
    ct_grown_free(&p->page);
    ct_grown_free(&p->packed);
    ct_grown_free(&p->header);
    ZSTD_freeCCtx(p->zstd);
}

/* ---- pages ---- */

/* Writes one run: a repeated number if all are equal, otherwise numbers of `width` bits each in groups of
 * eight. */
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

/* Writes the definition levels: their length in 32 bits, and a run of single bits, 1 for a row with a
 * value. */
static void put_present(struct ct_parquet *p, const struct ct_column_values *c)
{
    struct ct_grown *page = &p->page;
    const size_t begin = page->size;
    ct_grown_put32(page, 0);
    if (c->count == p->rows.waiting || !c->count) {
        ct_grown_put_varint(page, (uint64_t)p->rows.waiting << 1);
        const uint8_t present = c->count > 0;
        ct_grown_put(page, &present, 1);
    } else {
        ct_grown_put_varint(page, (uint64_t)((p->rows.waiting + 7) / 8) << 1 | 1);
        ct_rows_put_bits(page, c, p->rows.waiting);
    }
    if (page->failed)
        return;
    struct ct_grown head = {.bytes = page->bytes + begin, .room = 4};
    ct_grown_put32(&head, (uint32_t)(page->size - begin - 4));
}

/* Compresses the current page and writes it behind its header. */
static void put_page(struct ct_parquet *p, struct chunk *chunk, bool is_dictionary, uint32_t values)
{
    const size_t bound = ZSTD_compressBound(p->page.size);
    p->packed.size = p->header.size = 0;
    uint8_t *room = ct_grown_add(&p->packed, bound);
    ct_rows_note(&p->rows, &p->page);
    ct_rows_note(&p->rows, &p->packed);
    if (p->rows.result)
        return;
    const size_t size =
        ZSTD_compressCCtx(p->zstd, room, bound, p->page.size ? p->page.bytes : room, p->page.size, ZSTD_TIME);
    if (ZSTD_isError(size) || p->page.size > INT_MAX || size > INT_MAX) {
        ct_rows_lack(&p->rows);
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
        ct_thrift_field_i32(&t, 3, ENCODING_RLE); /* definition levels */
        ct_thrift_field_i32(&t, 4, ENCODING_RLE); /* repetition levels, of which there are none */
    }
    ct_thrift_end(&t);
    ct_thrift_end(&t);
    ct_rows_note(&p->rows, &p->header);
    chunk->plain += p->header.size + p->page.size;
    chunk->packed += p->header.size + size;
    ct_rows_write(&p->rows, p->header.bytes, p->header.size);
    ct_rows_write(&p->rows, p->packed.bytes, size);
}

/* Returns how many bits a number below `count` needs, at least one. */
static unsigned width_of(uint32_t count)
{
    unsigned width = 1;
    while ((count - 1) >> width)
        width++;
    return width;
}

static void put_values(struct ct_parquet *p, const struct ct_column_values *c, enum ct_column_type type)
{
    if (type == CT_COLUMN_TEXT) {
        const unsigned width = width_of(c->dictionary.count ? c->dictionary.count : 1);
        ct_grown_put(&p->page, &(uint8_t){(uint8_t)width}, 1);
        if (c->count)
            put_run(&p->page, c->values, c->count, width);
        return;
    }
    for (uint32_t i = 0; i < c->count; i++)
        ct_grown_put64(&p->page, c->values[i]);
}

static struct chunk put_column(struct ct_parquet *p, struct ct_column_values *c, const struct ct_column *is)
{
    struct chunk chunk = {.rows = p->rows.waiting, .empty = p->rows.waiting - c->count, .least = UINT64_MAX};
    for (uint32_t i = 0; i < c->count; i++) {
        chunk.least = c->values[i] < chunk.least ? c->values[i] : chunk.least;
        chunk.most = c->values[i] > chunk.most ? c->values[i] : chunk.most;
    }
    if (is->type == CT_COLUMN_TEXT) {
        chunk.dictionary_at = p->rows.at;
        p->page.size = 0;
        ct_grown_put(&p->page, c->dictionary.texts.bytes, c->dictionary.texts.size);
        put_page(p, &chunk, true, c->dictionary.count);
    }
    chunk.data_at = p->rows.at;
    p->page.size = 0;
    if (is->optional)
        put_present(p, c);
    put_values(p, c, is->type);
    put_page(p, &chunk, false, p->rows.waiting);
    return chunk;
}

/* Writes the waiting rows as a row group. */
static void put_rows(struct ct_rows *rows)
{
    struct ct_parquet *p = of(rows);
    for (size_t i = 0; i < rows->count; i++) {
        const struct chunk chunk = put_column(p, &rows->columns[i], &rows->is[i]);
        ct_grown_put(&p->chunks, &chunk, sizeof chunk);
    }
    ct_rows_note(rows, &p->chunks);
}

/* ---- the end of the file ---- */

static int32_t type_of(enum ct_column_type type)
{
    return type == CT_COLUMN_TEXT ? TYPE_BYTE_ARRAY : type == CT_COLUMN_NUMBER ? TYPE_INT64 : TYPE_DOUBLE;
}

static void put_column_schema(struct ct_thrift *t, const struct ct_column *is)
{
    ct_thrift_begin(t);
    ct_thrift_field_i32(t, 1, type_of(is->type));
    ct_thrift_field_i32(t, 3, is->optional); /* REQUIRED is 0, OPTIONAL 1 */
    ct_thrift_field_text(t, 4, is->name);
    if (is->type != CT_COLUMN_REAL) {
        const bool text = is->type == CT_COLUMN_TEXT;
        ct_thrift_field_i32(t, 6, text ? CONVERTED_UTF8 : CONVERTED_UINT_64);
        ct_thrift_field_struct(t, 10);
        ct_thrift_field_struct(t, text ? LOGICAL_STRING : LOGICAL_INTEGER);
        if (!text) {
            ct_thrift_field_i8(t, 1, 64);
            ct_thrift_field_bool(t, 2, false); /* unsigned */
        }
        ct_thrift_end(t);
        ct_thrift_end(t);
    }
    ct_thrift_end(t);
}

static void put_schema(struct ct_parquet *p, struct ct_thrift *t)
{
    ct_thrift_field_structs(t, 2, p->rows.count + 1);
    ct_thrift_begin(t);
    ct_thrift_field_text(t, 4, "schema");
    ct_thrift_field_i32(t, 5, (int32_t)p->rows.count);
    ct_thrift_end(t);
    for (size_t i = 0; i < p->rows.count; i++)
        put_column_schema(t, &p->rows.is[i]);
}

/* Writes the statistics that let readers skip row groups: the null count, the least and the largest
 * number. */
static void put_statistics(struct ct_thrift *t, const struct chunk *chunk, enum ct_column_type type)
{
    ct_thrift_field_struct(t, 12);
    ct_thrift_field_i64(t, 3, (int64_t)chunk->empty);
    if (type == CT_COLUMN_NUMBER && chunk->empty < chunk->rows) {
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

static void put_chunk(struct ct_thrift *t, const struct chunk *chunk, const struct ct_column *is)
{
    const bool text = is->type == CT_COLUMN_TEXT;
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
    const size_t groups = p->chunks.size / sizeof(struct chunk) / p->rows.count;
    ct_thrift_field_structs(t, 4, groups);
    for (size_t g = 0; g < groups; g++) {
        struct chunk chunk = {0};
        uint64_t plain = 0;
        ct_thrift_begin(t);
        ct_thrift_field_structs(t, 1, p->rows.count);
        for (size_t i = 0; i < p->rows.count; i++) {
            memcpy(&chunk, p->chunks.bytes + (g * p->rows.count + i) * sizeof chunk, sizeof chunk);
            put_chunk(t, &chunk, &p->rows.is[i]);
            plain += chunk.plain;
        }
        ct_thrift_field_i64(t, 2, (int64_t)plain);
        ct_thrift_field_i64(t, 3, (int64_t)chunk.rows);
        ct_thrift_end(t);
    }
}

/* Writes the order behind the least and the largest values: the type's own. */
static void put_orders(struct ct_parquet *p, struct ct_thrift *t)
{
    ct_thrift_field_structs(t, 7, p->rows.count);
    for (size_t i = 0; i < p->rows.count; i++) {
        ct_thrift_begin(t);
        ct_thrift_field_struct(t, 1);
        ct_thrift_end(t);
        ct_thrift_end(t);
    }
}

static void end(struct ct_rows *rows)
{
    struct ct_parquet *p = of(rows);
    char writer[64];
    p->header.size = 0;
    struct ct_thrift t = {.to = &p->header};
    ct_thrift_begin(&t);
    ct_thrift_field_i32(&t, 1, 2); /* format version */
    put_schema(p, &t);
    ct_thrift_field_i64(&t, 3, (int64_t)p->rows.written);
    put_row_groups(p, &t);
    snprintf(writer, sizeof writer, "coretap version %s", ct_version());
    ct_thrift_field_text(&t, 6, writer);
    put_orders(p, &t);
    ct_thrift_end(&t);
    ct_grown_put32(&p->header, (uint32_t)p->header.size);
    ct_rows_note(&p->rows, &p->header);
    ct_rows_write(&p->rows, p->header.bytes, p->header.size);
    ct_rows_write(&p->rows, MAGIC, 4);
}

static const struct ct_rows_format format = {
    .size = sizeof(struct ct_parquet), .begin = begin, .put = put_rows, .end = end, .clear = clear};

int ct_parquet_new(struct ct_ctx *ctx, const struct ct_column *columns, size_t count, ct_write_fn *write,
                   void *user, struct ct_rows **out)
{
    return ct_rows_new(ctx, &format, columns, count, write, user, out);
}
