/* SPDX-License-Identifier: Apache-2.0 */
#include "export/arrow.h"

#include <string.h>

#include "base/ctx.h"
#include "export/flatbuffer.h"

/* Values from Schema.fbs and Message.fbs. */
enum {
    VERSION_5 = 4,
    HEADER_SCHEMA = 1,
    HEADER_BATCH = 3,
    TYPE_INT = 2,
    TYPE_FLOAT = 3,
    TYPE_UTF8 = 5,
    PRECISION_DOUBLE = 2,
};

#define ALIGNMENT    8
#define CONTINUATION 0xffffffffu /* before the size of each message */

/* The position of a buffer in the body of a batch. */
struct extent {
    uint64_t at, size;
};

struct ct_arrow {
    struct ct_rows rows;        /* must be the first member */
    struct ct_grown head, body; /* of the current message */
    struct ct_grown extents;    /* by buffer of the body: struct extent */
};

static struct ct_arrow *of(struct ct_rows *rows)
{
    return (struct ct_arrow *)rows;
}

/* ---- messages ---- */

/* Begins the metadata of a message whose header has this type. Returns the position of the field that points
 * to the header. */
static size_t begin_message(struct ct_arrow *a, struct ct_flat *flat, uint8_t type)
{
    struct ct_flat_field message[] = {
        {.size = 2, .value = VERSION_5}, {.size = 1, .value = type}, {.size = 4}, {.size = 8}};
    message[3].value = a->body.size;
    a->head.size = 0;
    ct_grown_put32(&a->head, CONTINUATION);
    ct_grown_put32(&a->head, 0);
    ct_flat_begin(flat, &a->head);
    ct_flat_table(flat, CT_FLAT_ROOT, message, sizeof message / sizeof *message);
    return message[2].at;
}

/* Writes a message with complete metadata, and its body. */
static void put_message(struct ct_arrow *a, struct ct_flat *flat)
{
    ct_flat_align(flat, ALIGNMENT);
    ct_rows_note(&a->rows, &a->head);
    ct_rows_note(&a->rows, &a->body);
    if (a->rows.result)
        return;
    struct ct_grown size = {.bytes = a->head.bytes + 4, .room = 4};
    ct_grown_put32(&size, (uint32_t)(a->head.size - 8));
    ct_rows_write(&a->rows, a->head.bytes, a->head.size);
    ct_rows_write(&a->rows, a->body.bytes, a->body.size);
}

/* ---- the schema ---- */

static void put_type(struct ct_flat *flat, size_t from, enum ct_column_type type)
{
    struct ct_flat_field number[] = {{.size = 4, .value = 64}, {.size = 0}}; /* unsigned */
    struct ct_flat_field real[] = {{.size = 2, .value = PRECISION_DOUBLE}};
    if (type == CT_COLUMN_NUMBER)
        ct_flat_table(flat, from, number, 2);
    else
        ct_flat_table(flat, from, real, type == CT_COLUMN_REAL ? 1 : 0);
}

static void put_field(struct ct_flat *flat, size_t from, const struct ct_column *is)
{
    static const uint8_t types[] = {
        [CT_COLUMN_TEXT] = TYPE_UTF8, [CT_COLUMN_NUMBER] = TYPE_INT, [CT_COLUMN_REAL] = TYPE_FLOAT};
    enum {
        NAME,
        NULLABLE,
        TYPE,
        TYPE_TABLE,
        DICTIONARY,
        CHILDREN,
        FIELDS
    };
    struct ct_flat_field field[FIELDS] = {
        [NAME] = {.size = 4},
        [NULLABLE] = {.size = 1, .value = is->optional},
        [TYPE] = {.size = 1, .value = types[is->type]},
        [TYPE_TABLE] = {.size = 4},
        [CHILDREN] = {.size = 4},
    };
    ct_flat_table(flat, from, field, FIELDS);
    ct_flat_text(flat, field[NAME].at, is->name);
    put_type(flat, field[TYPE_TABLE].at, is->type);
    ct_flat_list(flat, field[CHILDREN].at, 0, 4);
}

static int begin(struct ct_rows *rows)
{
    struct ct_flat flat;
    struct ct_flat_field schema[] = {{.size = 0}, {.size = 4}}; /* little-endian */
    const size_t header = begin_message(of(rows), &flat, HEADER_SCHEMA);
    ct_flat_table(&flat, header, schema, 2);
    const size_t first = ct_flat_list(&flat, schema[1].at, rows->count, 4);
    for (size_t i = 0; i < rows->count; i++)
        put_field(&flat, first + 4 * i, &rows->is[i]);
    put_message(of(rows), &flat);
    return rows->result;
}

/* ---- batches ---- */

/* Ends a buffer of the body that began at `at`. */
static void end_buffer(struct ct_arrow *a, size_t at)
{
    const struct extent extent = {at, a->body.size - at};
    static const uint8_t zeros[ALIGNMENT];
    ct_grown_put(&a->extents, &extent, sizeof extent);
    ct_grown_put(&a->body, zeros, (ALIGNMENT - a->body.size % ALIGNMENT) % ALIGNMENT);
}

/* Writes the bitmap of the rows that have a value; nothing when all have one. */
static void put_present(struct ct_arrow *a, const struct ct_column_values *c)
{
    const size_t at = a->body.size;
    if (c->count < a->rows.waiting)
        ct_rows_put_bits(&a->body, c, a->rows.waiting);
    end_buffer(a, at);
}

/* Writes a number for each row, and 0 for a row without one. */
static void put_numbers(struct ct_arrow *a, const struct ct_column_values *c)
{
    const size_t at = a->body.size;
    uint32_t next = 0;
    for (uint32_t i = 0; i < a->rows.waiting; i++)
        ct_grown_put64(&a->body, c->present[i] ? c->values[next++] : 0);
    end_buffer(a, at);
}

/* Returns a text of a dictionary, without the length before it. */
static const uint8_t *text_at(const struct ct_dictionary *d, uint64_t number, size_t *size)
{
    const size_t end = number + 1 < d->count ? d->starts[number + 1] : d->texts.size;
    *size = end - d->starts[number] - 4;
    return d->texts.bytes + d->starts[number] + 4;
}

/* Writes the end of each row's text, and the texts. */
static void put_texts(struct ct_arrow *a, const struct ct_column_values *c)
{
    size_t size, at = a->body.size;
    uint64_t end = 0;
    uint32_t next = 0;
    ct_grown_put32(&a->body, 0);
    for (uint32_t i = 0; i < a->rows.waiting; i++) {
        if (c->present[i]) {
            text_at(&c->dictionary, c->values[next++], &size);
            end += size;
        }
        ct_grown_put32(&a->body, (uint32_t)end);
    }
    end_buffer(a, at);
    ct_rows_limit(&a->rows, end);
    at = a->body.size;
    for (uint32_t i = 0; i < c->count && !a->rows.result; i++) {
        const uint8_t *text = text_at(&c->dictionary, c->values[i], &size);
        ct_grown_put(&a->body, text, size);
    }
    end_buffer(a, at);
}

/* Writes a struct of two numbers of 64 bits into a list. */
static void fill(struct ct_flat *flat, size_t at, uint64_t first, uint64_t second)
{
    if (flat->to->failed)
        return;
    struct ct_grown room = {.bytes = flat->to->bytes + flat->begin + at, .room = 16};
    ct_grown_put64(&room, first);
    ct_grown_put64(&room, second);
}

/* Writes the metadata of the batch. Its body is complete. */
static void put_batch(struct ct_arrow *a)
{
    struct ct_flat flat;
    struct ct_flat_field batch[] = {{.size = 8, .value = a->rows.waiting}, {.size = 4}, {.size = 4}};
    const size_t extents = a->extents.size / sizeof(struct extent);
    const size_t header = begin_message(a, &flat, HEADER_BATCH);
    ct_flat_table(&flat, header, batch, 3);
    const size_t nodes = ct_flat_list(&flat, batch[1].at, a->rows.count, 16);
    for (size_t i = 0; i < a->rows.count; i++)
        fill(&flat, nodes + 16 * i, a->rows.waiting, a->rows.waiting - a->rows.columns[i].count);
    const size_t buffers = ct_flat_list(&flat, batch[2].at, extents, 16);
    for (size_t i = 0; i < extents && !a->extents.failed; i++) {
        struct extent extent;
        memcpy(&extent, a->extents.bytes + i * sizeof extent, sizeof extent);
        fill(&flat, buffers + 16 * i, extent.at, extent.size);
    }
    put_message(a, &flat);
}

static void put_rows(struct ct_rows *rows)
{
    struct ct_arrow *a = of(rows);
    a->body.size = a->extents.size = 0;
    for (size_t i = 0; i < rows->count; i++) {
        put_present(a, &rows->columns[i]);
        if (rows->is[i].type == CT_COLUMN_TEXT)
            put_texts(a, &rows->columns[i]);
        else
            put_numbers(a, &rows->columns[i]);
    }
    ct_rows_note(rows, &a->extents);
    put_batch(a);
}

/* ---- the stream ---- */

static void end(struct ct_rows *rows)
{
    static const uint8_t mark[8] = {0xff, 0xff, 0xff, 0xff};
    ct_rows_write(rows, mark, sizeof mark);
}

static void clear(struct ct_rows *rows)
{
    ct_grown_free(&of(rows)->head);
    ct_grown_free(&of(rows)->body);
    ct_grown_free(&of(rows)->extents);
}

static const struct ct_rows_format format = {
    .size = sizeof(struct ct_arrow), .begin = begin, .put = put_rows, .end = end, .clear = clear};

int ct_arrow_new(struct ct_ctx *ctx, const struct ct_column *columns, size_t count, ct_write_fn *write,
                 void *user, struct ct_rows **out)
{
    return ct_rows_new(ctx, &format, columns, count, write, user, out);
}
