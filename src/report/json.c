#include "report/json.h"

#include <inttypes.h>
#include <stddef.h>

/* Bytes of the UTF-8 sequence at `s` (RFC 3629), or 0 when it is none. */
static size_t utf8_length(const unsigned char *s)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char low, high;   /* of the second */
        unsigned char length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    if (s[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (s[0] < forms[i].first || s[0] > forms[i].last)
            continue;
        if (s[1] < forms[i].low || s[1] > forms[i].high)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++) {
            if ((s[k] & 0xc0) != 0x80)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const size_t length = utf8_length(s);
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20)
            fprintf(out, "\\u%04x", *s);
        else if (length)
            fwrite(s, 1, length, out);
        else
            fputs("\\ufffd", out);
        s += length ? length : 1;
    }
    fputc('"', out);
}

/* What stands before every value. */
static void begin_value(struct ct_json *json, const char *key)
{
    if (json->depth)
        fprintf(json->out, "%s\n%*s", json->first ? "" : ",", (int)(2 * json->depth), "");
    json->first = false;
    if (key) {
        put_string(json->out, key);
        fputs(": ", json->out);
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
    if (!json->first)
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
        put_string(json->out, text);
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
