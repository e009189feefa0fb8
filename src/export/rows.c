/* SPDX-License-Identifier: Apache-2.0 */
#include "export/rows.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/fnv.h"
#include "base/utf8.h"

#define SLOTS (2 * CT_ROWS_WAIT)

void ct_rows_write(struct ct_rows *r, const void *bytes, size_t size)
{
    if (!r->result && size)
        r->result = r->write(r->user, bytes, size);
    r->at += size;
}

void ct_rows_lack(struct ct_rows *r)
{
    if (!r->result)
        r->result = ct_fail_nomem(r->ctx, "table");
}

void ct_rows_note(struct ct_rows *r, const struct ct_grown *grown)
{
    if (grown->failed)
        ct_rows_lack(r);
}

void ct_rows_limit(struct ct_rows *r, uint64_t bytes)
{
    if (bytes > INT_MAX && !r->result)
        r->result =
            ct_fail(r->ctx, CT_ERR_LIMIT,
                    "table: the texts of 65536 rows are longer than 2 GiB, so the table was not written");
}

/* ---- making and freeing ---- */

static bool make_column(struct ct_column_values *c, enum ct_column_type type)
{
    const bool text = type == CT_COLUMN_TEXT;
    c->values = malloc(CT_ROWS_WAIT * sizeof *c->values);
    c->present = malloc(CT_ROWS_WAIT);
    c->dictionary.starts = text ? malloc(CT_ROWS_WAIT * sizeof *c->dictionary.starts) : NULL;
    c->dictionary.slots = text ? calloc(SLOTS, sizeof *c->dictionary.slots) : NULL;
    return c->values && c->present && (!text || (c->dictionary.starts && c->dictionary.slots));
}

static int begin(struct ct_rows *r)
{
    r->columns = calloc(r->count, sizeof *r->columns);
    bool fine = r->columns != NULL;
    for (size_t i = 0; fine && i < r->count; i++)
        fine = make_column(&r->columns[i], r->is[i].type);
    const int rc = fine ? r->format->begin(r) : ct_fail_nomem(r->ctx, "table");
    return rc ? rc : r->result;
}

int ct_rows_new(struct ct_ctx *ctx, const struct ct_rows_format *format, const struct ct_column *columns,
                size_t count, ct_write_fn *write, void *user, struct ct_rows **out)
{
    struct ct_rows *r = calloc(1, format->size);
    if (!r)
        return ct_fail_nomem(ctx, "table");
    *r = (struct ct_rows){
        .ctx = ctx, .format = format, .is = columns, .count = count, .write = write, .user = user};
    const int rc = begin(r);
    if (rc)
        ct_rows_free(r);
    else
        *out = r;
    return rc;
}

void ct_rows_free(struct ct_rows *r)
{
    if (!r)
        return;
    for (size_t i = 0; r->columns && i < r->count; i++) {
        struct ct_column_values *c = &r->columns[i];
        free(c->values);
        free(c->present);
        free(c->dictionary.starts);
        free(c->dictionary.slots);
        ct_grown_free(&c->dictionary.texts);
    }
    free(r->columns);
    r->format->clear(r);
    free(r);
}

/* ---- texts ---- */

/* Appends a text with its length before it, and U+FFFD for each byte that is not UTF-8. */
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

/* Returns the number of the text that was appended last. If an equal one is there already, the new one is
 * removed. */
static uint32_t number_of(struct ct_dictionary *d, size_t begin)
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

static void forget_texts(struct ct_dictionary *d)
{
    d->texts.size = 0;
    d->count = 0;
    memset(d->slots, 0, SLOTS * sizeof *d->slots);
}

/* ---- rows ---- */

void ct_rows_put_bits(struct ct_grown *to, const struct ct_column_values *c, uint32_t rows)
{
    uint8_t *bits = ct_grown_add(to, (rows + 7) / 8);
    if (bits)
        memset(bits, 0, (rows + 7) / 8);
    for (uint32_t i = 0; bits && i < rows; i++)
        bits[i / 8] |= (uint8_t)(c->present[i] << i % 8);
}

/* Passes the waiting rows to the format, and clears them. */
static void put_rows(struct ct_rows *r)
{
    r->format->put(r);
    r->written += r->waiting;
    r->waiting = 0;
    for (size_t i = 0; i < r->count; i++) {
        r->columns[i].count = 0;
        if (r->is[i].type == CT_COLUMN_TEXT)
            forget_texts(&r->columns[i].dictionary);
    }
}

/* Ends a value. The next one belongs to the next column or, after the last column, to the next row. */
static void end_value(struct ct_rows *r, bool present)
{
    r->columns[r->next].present[r->waiting] = present;
    r->next = (r->next + 1) % r->count;
    r->waiting += r->next == 0;
    if (r->waiting == CT_ROWS_WAIT)
        put_rows(r);
}

static void add_value(struct ct_rows *r, uint64_t value)
{
    struct ct_column_values *c = &r->columns[r->next];
    c->values[c->count++] = value;
    end_value(r, true);
}

void ct_rows_text(struct ct_rows *r, const char *text)
{
    struct ct_dictionary *d = &r->columns[r->next].dictionary;
    const size_t begin = d->texts.size;
    if (text && !r->result) {
        append_text(&d->texts, text, strlen(text));
        ct_rows_note(r, &d->texts);
        ct_rows_limit(r, d->texts.size);
    }
    if (!text || r->result)
        end_value(r, false);
    else
        add_value(r, number_of(d, begin));
}

void ct_rows_number(struct ct_rows *r, uint64_t number)
{
    add_value(r, number);
}

void ct_rows_real(struct ct_rows *r, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    add_value(r, bits);
}

void ct_rows_nothing(struct ct_rows *r)
{
    end_value(r, false);
}

uint64_t ct_rows_count(const struct ct_rows *r)
{
    return r->written + r->waiting;
}

int ct_rows_result(const struct ct_rows *r)
{
    return r->result;
}

int ct_rows_finish(struct ct_rows *r)
{
    if (r->waiting)
        put_rows(r);
    r->format->end(r);
    return r->result;
}
