/* SPDX-License-Identifier: Apache-2.0 */
#include "format/json.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static void put_string(const struct ct_json *json, const char *text)
{
    FILE *out = json->out;
    fputc('"', out);
    for (size_t left = strlen(text), length; left; text += length, left -= length) {
        const uint32_t c = ct_utf8_read(text, left, &length);
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", *text);
        else if (!ct_printable_length(text, length) || (json->script && c == '<'))
            fprintf(out, "\\u%04x", (unsigned)c);
        else
            fwrite(text, 1, length, out);
    }
    fputc('"', out);
}

/* What stands before every value. */
static void begin_value(struct ct_json *json, const char *key)
{
    if (json->depth && !json->first)
        fputc(',', json->out);
    if (json->depth && !json->script)
        fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
    json->first = false;
    if (key) {
        put_string(json, key);
        fputs(json->script ? ":" : ": ", json->out);
    }
}

static void open_level(struct ct_json *json, const char *key, char bracket)
{
    begin_value(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->first = true;
}

static void close_level(struct ct_json *json, char bracket)
{
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
    begin_value(json, key);
    if (text)
        put_string(json, text);
    else
        fputs("null", json->out);
}

void ct_json_number(struct ct_json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void ct_json_real(struct ct_json *json, const char *key, double value)
{
    begin_value(json, key);
    fprintf(json->out, "%.6g", value);
}

void ct_json_bool(struct ct_json *json, const char *key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", json->out);
}
