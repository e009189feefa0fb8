/* SPDX-License-Identifier: Apache-2.0 */
/* Writes listings to a receiver. */
#include "coretap/format.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/table_memory.h"
#include "format/listing_code.h"
#include "format/listing_json.h"
#include "format/listing.h"
#include "base/out.h"

void ct_list_heading(struct ct_text *text, const char *buffer, int id)
{
    if (buffer) {
        ct_text_room(text);
        ct_text_lit(text, "# buffer ");
        ct_text_json(text, buffer);
        ct_text_char(text, '\n');
    }
    if (id >= 0) {
        ct_text_room(text);
        ct_text_lit(text, "# id ");
        ct_text_hex_digits(text, (uint64_t)id, 2);
        ct_text_char(text, '\n');
    }
}

/* how many records ahead the line of a range is prefetched */
#define LINES_AHEAD 6u

struct ct_lister {
    struct ct_ctx *ctx;
    struct ct_element_lister lines;
    struct ct_out *out;           /* NULL for a part, whose text stays in memory */
    const char *buffer;           /* heading to be written before the next line */
    struct ct_listing_json *json; /* turns lines into JSON objects; NULL: they stay text */
    int id;
    pthread_mutex_t lock;    /* protects `spare` */
    struct ct_lister *spare; /* list of unused parts, linked by `next` */
    struct ct_lister *next;
    struct ct_text text;
    _Alignas(64) struct ct_packet_line packets[CT_PACKET_LINES];
    _Alignas(64) struct ct_range_line ranges[1u << CT_RANGE_LINE_BITS];
};

static struct ct_lister *make(struct ct_ctx *ctx)
{
    struct ct_lister *lister = ct_table_of_records(1, sizeof *lister);
    if (!lister)
        return NULL;
    memset(lister->packets, 0, sizeof lister->packets);
    memset(lister->ranges, 0, sizeof lister->ranges);
    lister->ctx = ctx;
    lister->lines = (struct ct_element_lister){.text = &lister->text, .ranges = lister->ranges};
    lister->out = NULL;
    lister->buffer = NULL;
    lister->json = NULL;
    lister->id = -1;
    lister->spare = lister->next = NULL;
    pthread_mutex_init(&lister->lock, NULL);
    ct_text_init(&lister->text, NULL);
    return lister;
}

int ct_lister_new(struct ct_ctx *ctx, ct_write_fn *write, void *user, struct ct_lister **out)
{
    CT_REQUIRE_OUT(ctx, out, write);
    struct ct_lister *lister = make(ctx);
    struct ct_out *to = malloc(sizeof *to);
    if (!lister || !to) {
        free(to);
        ct_lister_free(lister);
        return ct_fail_nomem(ctx, "listing");
    }
    const int rc = ct_out_open(to, ctx, write, user);
    if (rc) {
        free(to);
        ct_lister_free(lister);
        return rc;
    }
    lister->out = to;
    lister->text.out = to->file;
    *out = lister;
    return CT_OK;
}

/* Returns the result of an append or a flush. */
static int result_of(const struct ct_lister *lister)
{
    if (lister->out && lister->out->result)
        return lister->out->result;
    if (lister->lines.code && lister->lines.code->result)
        return lister->lines.code->result;
    return lister->text.failed ? ct_fail_nomem(lister->out ? lister->ctx : NULL, "listing") : CT_OK;
}

int ct_lister_json(struct ct_lister *lister)
{
    CT_REQUIRE(NULL, lister);
    if (lister->json || lister->lines.open || lister->text.used)
        return ct_fail(lister->ctx, CT_ERR_ARG, "%s: the listing has begun", __func__);
    lister->json = ct_listing_json_new();
    if (!lister->json)
        return ct_fail_nomem(lister->ctx, "listing");
    lister->lines.text = &lister->json->lines;
    lister->lines.names_apart = true;
    return CT_OK;
}

int ct_lister_code(struct ct_lister *lister, const struct ct_lister_code_options *options)
{
    struct ct_lister_code_options mine;
    CT_REQUIRE(NULL, lister);
    if (ct_options_read(lister->ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    if (lister->lines.code || lister->lines.open || !(mine.symbols || mine.insns))
        return ct_fail(lister->ctx, CT_ERR_ARG, "%s: %s", __func__,
                       mine.symbols || mine.insns ? "the listing has begun" : "nothing is asked for");
    return ct_listing_code_new(lister->ctx, &mine, &lister->lines.code);
}

void ct_lister_free(struct ct_lister *lister)
{
    if (!lister)
        return;
    if (lister->out) {
        ct_text_flush(&lister->text);
        (void)ct_out_close(lister->out, CT_OK);
    }
    while (lister->spare) {
        struct ct_lister *part = lister->spare;
        lister->spare = part->next;
        ct_lister_free(part);
    }
    ct_listing_code_free(lister->lines.code);
    ct_listing_json_free(lister->json);
    pthread_mutex_destroy(&lister->lock);
    free(lister->out);
    free(lister->text.kept);
    free(lister);
}

int ct_lister_heading(struct ct_lister *lister, const char *buffer, int id)
{
    CT_REQUIRE(NULL, lister);
    if (id < -1 || id > 127)
        return ct_fail(lister->ctx, CT_ERR_ARG, "%s: %d is not a trace ID; nothing was written", __func__,
                       id);
    if (buffer)
        lister->buffer = buffer;
    lister->id = id;
    return CT_OK;
}

static void put_heading(struct ct_lister *lister)
{
    if (lister->json) {
        lister->json->buffer = lister->buffer;
        return;
    }
    ct_list_heading(&lister->text, lister->buffer, lister->id);
    lister->buffer = NULL;
    lister->id = -1;
}

/* Turns finished lines into objects, if wanted. `source` is the source of elements; NULL for packets. */
static void put_objects(struct ct_lister *lister, const struct ct_source *source)
{
    if (!lister->json)
        return;
    lister->json->source = source;
    if (lister->lines.code) {
        lister->json->symbols = lister->lines.code->symbols;
        lister->json->insns = lister->lines.code->insns;
    }
    ct_listing_json_put(lister->json, &lister->text);
}

int ct_lister_packets(struct ct_lister *lister, const struct ct_stream *stream,
                      const struct ct_packet_batch *batch)
{
    CT_REQUIRE_OF(lister, stream, batch);
    put_heading(lister);
    lister->lines.open = false;
    ct_list_packets(lister->lines.text, lister->packets, stream, batch);
    put_objects(lister, NULL);
    return result_of(lister);
}

int ct_lister_flow(struct ct_lister *lister, const struct ct_stream *stream,
                   const struct ct_flow_batch *batch)
{
    CT_REQUIRE_OF(lister, stream, batch);
    put_heading(lister);
    lister->lines.id = stream->id;
    lister->lines.of = stream->source;
    lister->lines.memory = batch->memory;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->count - i > LINES_AHEAD)
            ct_list_flow_soon(&lister->lines, &batch->records[i + LINES_AHEAD]);
        ct_list_flow(&lister->lines, &batch->records[i]);
    }
    put_objects(lister, stream->source);
    return result_of(lister);
}

int ct_lister_flush(struct ct_lister *lister)
{
    CT_REQUIRE(NULL, lister);
    ct_text_flush(&lister->text);
    if (lister->out)
        fflush(lister->out->file);
    return result_of(lister);
}

int ct_lister_end(struct ct_lister *lister)
{
    CT_REQUIRE(NULL, lister);
    ct_list_flow_end(&lister->lines);
    put_objects(lister, lister->lines.of);
    return ct_lister_flush(lister);
}

/* ---- parts ---- */

int ct_lister_part(struct ct_lister *whole, struct ct_lister **part)
{
    CT_REQUIRE_OUT(whole ? whole->ctx : NULL, part, whole);
    if (whole->lines.code || whole->json)
        return CT_ERR_UNSUPPORTED;
    pthread_mutex_lock(&whole->lock);
    struct ct_lister *made = whole->spare;
    if (made)
        whole->spare = made->next;
    pthread_mutex_unlock(&whole->lock);
    if (!made)
        made = make(NULL);
    if (!made)
        return CT_ERR_NOMEM;
    made->text.kept_size = 0;
    /* the last line before the part may be unfinished, and the part may continue it */
    made->lines = (struct ct_element_lister){.text = &made->text, .ranges = made->ranges, .open = true};
    *part = made;
    return CT_OK;
}

static void put_part(struct ct_lister *whole, const struct ct_lister *part)
{
    const struct ct_text *text = &part->text;
    /* before the very first line there is no line to end */
    const size_t skip = !whole->lines.open && text->kept[0] == '\n';
    put_heading(whole);
    ct_text_flush(&whole->text);
    fwrite(text->kept + skip, 1, text->kept_size - skip, whole->text.out);
    whole->text.failed |= ferror(whole->text.out) != 0;
    whole->lines.open = part->lines.open;
    whole->lines.last_fields = part->lines.last_fields;
}

int ct_lister_join(struct ct_lister *whole, struct ct_lister *part, int keep)
{
    CT_REQUIRE_OF(whole, part, whole->out, !part->out);
    whole->text.failed |= !ct_text_flush(&part->text);
    if (keep && part->text.kept_size)
        put_part(whole, part);
    pthread_mutex_lock(&whole->lock);
    part->next = whole->spare;
    whole->spare = part;
    pthread_mutex_unlock(&whole->lock);
    return result_of(whole);
}
