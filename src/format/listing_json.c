/* SPDX-License-Identifier: Apache-2.0 */
#include "format/listing_json.h"

#include <stdlib.h>

struct ct_listing_json *ct_listing_json_new(void)
{
    struct ct_listing_json *json = calloc(1, sizeof *json);
    if (json)
        ct_text_init(&json->lines, NULL);
    return json;
}

void ct_listing_json_free(struct ct_listing_json *json)
{
    if (json)
        free(json->lines.kept);
    free(json);
}

/* ---- members ---- */

/* Returns whether the value of a key is decimal, and so a number. */
static bool is_decimal(const char *key)
{
    static const char *const keys[] = {"bits",   "bytes", "cancel", "cc",    "ccthr",   "commit", "count",
                                       "ea",     "el",    "freq",   "idx",   "last_sz", "n",      "num",
                                       "resume", "spec",  "tc",     "valid", "ver"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(key, keys[i]))
            return true;
    return false;
}

/* Returns whether a text is a JSON number that all readers represent exactly. */
static bool is_number(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return digits && digits <= 15 && !text[digits] && (text[0] != '0' || digits == 1);
}

static void put_key(struct ct_text *t, const char *key)
{
    ct_text_room(t);
    ct_text_lit(t, ",\"");
    ct_text_json(t, key);
    ct_text_lit(t, "\":");
}

static void put_string(struct ct_text *t, const char *key, const char *value)
{
    put_key(t, key);
    ct_text_char(t, '"');
    ct_text_json(t, value);
    ct_text_char(t, '"');
}

static void put_value(struct ct_text *t, const char *key, const char *value)
{
    if (!is_decimal(key) || !is_number(value)) {
        put_string(t, key, value);
        return;
    }
    put_key(t, key);
    ct_text_string(t, value);
}

/* ---- lines ---- */

/* Cuts the text up to a separator off *at and returns it. NULL when nothing is left. */
static char *cut(char **at, char separator)
{
    char *begin = *at;
    if (!begin)
        return NULL;
    char *end = strchr(begin, separator);
    if (end)
        *end++ = '\0';
    *at = end;
    return begin;
}

/* Writes the names of a trace unit's events, by their bits, if the capture has any. */
static void put_names(struct ct_text *t, const struct ct_source *source, unsigned long bits)
{
    bool any = false;
    for (unsigned i = 0; source && i < CT_SOURCE_EVENTS; i++) {
        if (!(bits >> i & 1) || !source->events[i])
            continue;
        if (!any)
            put_key(t, "names");
        ct_text_string(t, any ? ",\"" : "[\"");
        ct_text_json(t, source->events[i]);
        ct_text_char(t, '"');
        any = true;
    }
    if (any)
        ct_text_char(t, ']');
}

/* Cuts the next key with its value off *at, and writes it. Returns false when nothing is left. */
static bool put_field(const struct ct_listing_json *json, struct ct_text *t, char **at)
{
    char *value = cut(at, ' ');
    if (!value)
        return false;
    const char *key = cut(&value, '=');
    put_value(t, key, value ? value : "");
    if (json->source && value && !strcmp(key, "num"))
        put_names(t, json->source, strtoul(value, NULL, 10));
    return true;
}

/* Begins the object of a line. */
static void put_record(const struct ct_listing_json *json, struct ct_text *t, char *line)
{
    char *at = line;
    const char *offset = cut(&at, ' ');
    ct_text_room(t);
    ct_text_lit(t, "{\"offset\":");
    ct_text_string(t, offset);
    if (json->buffer)
        put_string(t, "buffer", json->buffer);
    put_string(t, "id", cut(&at, ' '));
    const char *bytes = json->source ? NULL : cut(&at, ' ');
    if (bytes && strcmp(bytes, "-") != 0)
        put_string(t, "bytes", bytes);
    put_string(t, json->source ? "kind" : "type", cut(&at, ' '));
    while (put_field(json, t, &at)) {
    }
}

/* Writes the source of a line of code, FILE:LINE. */
static void put_source(struct ct_text *t, char *source)
{
    char *line = strrchr(source, ':');
    if (!line)
        return;
    *line++ = '\0';
    put_string(t, "file", source);
    put_key(t, "line");
    ct_text_string(t, line);
}

/* Writes a line of code as an element of the list of such lines. */
static void put_code(const struct ct_listing_json *json, struct ct_text *t, char *line, bool is_first)
{
    char *at = line;
    ct_text_room(t);
    ct_text_string(t, is_first ? ",\"code\":[{\"addr\":\"" : ",{\"addr\":\"");
    ct_text_string(t, cut(&at, '\t'));
    ct_text_char(t, '"');
    if (json->symbols) {
        put_string(t, "name", cut(&at, '\t'));
        put_source(t, cut(&at, '\t'));
    }
    const char *insn = json->insns ? cut(&at, '\t') : NULL;
    if (insn && *insn)
        put_string(t, "instruction", insn);
    ct_text_char(t, '}');
}

/* Returns the end of the last complete line. */
static size_t whole_lines(const struct ct_text *lines)
{
    size_t size = lines->kept_size;
    while (size && lines->kept[size - 1] != '\n')
        size--;
    return size;
}

void ct_listing_json_put(struct ct_listing_json *json, struct ct_text *out)
{
    struct ct_text *lines = &json->lines;
    out->failed |= !ct_text_flush(lines);
    const size_t size = whole_lines(lines);
    if (!size)
        return;
    bool has_code = false;
    for (size_t at = 0; at < size;) {
        char *line = lines->kept + at;
        char *end = memchr(line, '\n', size - at);
        *end++ = '\0';
        at = (size_t)(end - lines->kept);
        const bool is_code = *line == '\t';
        if (is_code)
            put_code(json, out, line + 1, !has_code);
        else
            put_record(json, out, line);
        has_code = is_code;
        ct_text_room(out);
        if (at < size && *end == '\t')
            continue;
        ct_text_string(out, has_code ? "]}\n" : "}\n");
        has_code = false;
    }
    memmove(lines->kept, lines->kept + size, lines->kept_size - size);
    lines->kept_size -= size;
}
