/* SPDX-License-Identifier: Apache-2.0 */
#include "format/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/printable.h"
#include "base/require.h"
#include "base/utf8.h"
#include "base/out.h"

/* Passes the bytes of one character to a receiver, escaped if necessary. */
static int write_character(uint32_t c, const char *text, size_t size, bool script, ct_write_fn *write,
                           void *user)
{
    char escaped[8];
    if (c == '"' || c == '\\')
        snprintf(escaped, sizeof escaped, "\\%c", *text);
    else if (!ct_printable_length(text, size) || (script && c == '<'))
        snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)c & 0xffffu);
    else
        return write(user, text, size);
    return write(user, escaped, strlen(escaped));
}

int ct_json_write(const char *text, bool script, ct_write_fn *write, void *user)
{
    int rc = CT_OK;
    for (size_t left = strlen(text), length; left && !rc; text += length, left -= length) {
        const uint32_t c = ct_utf8_read(text, left, &length);
        rc = write_character(c, text, length, script, write, user);
    }
    return rc;
}

static void put_string(const struct ct_json *json, const char *text)
{
    fputc('"', json->out);
    (void)ct_json_write(text, json->script, ct_write_file, json->out);
    fputc('"', json->out);
}

/* ---- the object ---- */

int ct_json_new(struct ct_ctx *ctx, const struct ct_json_options *options, ct_write_fn *write, void *user,
                struct ct_json **out)
{
    struct ct_json_options mine;
    CT_REQUIRE_OUT(ctx, out, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    struct ct_json *json = malloc(sizeof *json);
    struct ct_out *own = malloc(sizeof *own);
    if (!json || !own) {
        free(json);
        free(own);
        return ct_fail_nomem(ctx, "JSON");
    }
    const int rc = ct_out_open(own, ctx, write, user);
    if (rc) {
        free(json);
        free(own);
        return rc;
    }
    *json = (struct ct_json){.out = own->file, .script = mine.script, .own = own};
    *out = json;
    return CT_OK;
}

void ct_json_free(struct ct_json *json)
{
    if (!json)
        return;
    (void)ct_out_close(json->own, CT_OK);
    free(json->own);
    free(json);
}

int ct_json_flush(struct ct_json *json)
{
    CT_REQUIRE(NULL, json);
    fflush(json->out);
    return json->own->result;
}

/* ---- values ---- */

/* Writes what precedes every value. Returns false when there is no writer. */
static bool begin_value(struct ct_json *json, const char *key)
{
    if (!json)
        return false;
    if (json->depth && !json->first)
        fputc(',', json->out);
    if (json->depth && !json->script)
        fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
    json->first = false;
    if (key) {
        put_string(json, key);
        fputs(json->script ? ":" : ": ", json->out);
    }
    return true;
}

static void open_level(struct ct_json *json, const char *key, char bracket)
{
    if (!begin_value(json, key))
        return;
    fputc(bracket, json->out);
    json->depth++;
    json->first = true;
}

static void close_level(struct ct_json *json, char bracket)
{
    if (!json || !json->depth)
        return;
    json->depth--;
    if (!json->first && !json->script)
        fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
    fputc(bracket, json->out);
    json->first = false;
    if (!json->depth)
        fputc('\n', json->out);
}

void ct_json_object(struct ct_json *json, const char *key)
{
    open_level(json, key, '{');
}

void ct_json_array(struct ct_json *json, const char *key)
{
    open_level(json, key, '[');
}

void ct_json_object_end(struct ct_json *json)
{
    close_level(json, '}');
}

void ct_json_array_end(struct ct_json *json)
{
    close_level(json, ']');
}

void ct_json_text(struct ct_json *json, const char *key, const char *text)
{
    if (!begin_value(json, key))
        return;
    if (text)
        put_string(json, text);
    else
        fputs("null", json->out);
}

void ct_json_address(struct ct_json *json, const char *key, uint64_t addr)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, addr);
    ct_json_text(json, key, text);
}

void ct_json_number(struct ct_json *json, const char *key, uint64_t value)
{
    if (begin_value(json, key))
        fprintf(json->out, "%" PRIu64, value);
}

void ct_json_real(struct ct_json *json, const char *key, double value)
{
    CT_C_LOCALE;
    if (begin_value(json, key))
        fprintf(json->out, "%.6g", value);
}

void ct_json_bool(struct ct_json *json, const char *key, int value)
{
    if (begin_value(json, key))
        fputs(value ? "true" : "false", json->out);
}
