/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests as JSON lines, with an object for each capture. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/path.h"
#include "base/require.h"
#include "base/utf8.h"
#include "fleet/digest.h"
#include "fleet/manifest.h"

/* ---- reading ---- */

struct line {
    struct ct_manifest *manifest;
    const char *name; /* of the file */
    size_t number;    /* of the line, from 1 */
    json_t *object;
};

static int refuse(const struct line *l, const char *what)
{
    return ct_fail(l->manifest->ctx, CT_ERR_FORMAT,
                   "%s:%zu: %s; the manifest is not used; correct the line, or write the manifest again with "
                   "'coretap manifest'",
                   l->name, l->number, what);
}

/* Reads a text that may be missing or null. */
static int read_text(const struct line *l, const char *key, const char **out)
{
    const json_t *value = json_object_get(l->object, key);
    *out = json_string_value(value);
    if (*out || !value || json_is_null(value))
        return CT_OK;
    char what[80];
    snprintf(what, sizeof what, "\"%s\" is not a string", key);
    return refuse(l, what);
}

static int read_build_ids(const struct line *l, struct ct_fleet_capture *capture, const char ***list)
{
    const json_t *array = json_object_get(l->object, "build_ids");
    const size_t count = json_array_size(array);
    if (array && !json_is_array(array))
        return refuse(l, "\"build_ids\" is not an array");
    *list = calloc(count + 1, sizeof **list);
    if (!*list)
        return ct_fail_nomem(l->manifest->ctx, l->name);
    for (size_t i = 0; i < count; i++) {
        (*list)[i] = json_string_value(json_array_get(array, i));
        if (!(*list)[i])
            return refuse(l, "\"build_ids\" contains a value that is not a string");
    }
    capture->build_ids = *list;
    capture->build_id_count = count;
    return CT_OK;
}

static int read_size(const struct line *l, uint64_t *size)
{
    const json_t *value = json_object_get(l->object, "size");
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return refuse(l, "\"size\" is missing or not a number of bytes");
    *size = (uint64_t)json_integer_value(value);
    return CT_OK;
}

/* Adds the capture. A path that does not begin with a slash is relative to the manifest's folder. */
static int add(const struct line *l, struct ct_fleet_capture *capture)
{
    struct ct_manifest *m = l->manifest;
    const size_t folder = (size_t)(ct_base_name(l->name) - l->name);
    char *whole = NULL;
    if (*capture->path != '/' && folder) {
        whole = malloc(folder + strlen(capture->path) + 1);
        if (!whole)
            return ct_fail_nomem(m->ctx, l->name);
        memcpy(whole, l->name, folder);
        memcpy(whole + folder, capture->path, strlen(capture->path) + 1);
        capture->path = whole;
    }
    const struct ct_fleet_capture *same = ct_manifest_same(m, capture->digest);
    char what[512];
    if (same)
        snprintf(what, sizeof what, "%.200s has the same contents as %.200s, so it would count twice",
                 capture->path, same->path);
    const int rc = same ? refuse(l, what) : ct_manifest_add(m, capture);
    free(whole);
    return rc;
}

static int read_capture(const struct line *l)
{
    struct ct_fleet_capture capture = {0};
    const char **ids = NULL;
    const char *digest;
    int rc = read_text(l, "path", &capture.path);
    if (!rc && (!capture.path || !*capture.path))
        rc = refuse(l, "\"path\" is missing");
    if (!rc)
        rc = read_size(l, &capture.size);
    if (!rc)
        rc = read_text(l, "sha256", &digest);
    if (!rc && (!digest || !ct_digest_read(digest, capture.digest)))
        rc = refuse(l, "\"sha256\" is missing or not 64 hexadecimal digits");
    if (!rc)
        rc = read_text(l, "machine", &capture.machine);
    if (!rc)
        rc = read_text(l, "test", &capture.test);
    if (!rc)
        rc = read_text(l, "time", &capture.time);
    if (!rc)
        rc = read_build_ids(l, &capture, &ids);
    if (!rc)
        rc = add(l, &capture);
    free(ids);
    return rc;
}

/* Parses a line twice. When memory is missing, jansson may report a syntax error or drop a character of a
 * string. errno does not help, because parsing numbers resets it; but then the two results differ. Returns
 * whether memory sufficed. */
static bool parse(struct line *l, const char *text, size_t size, json_error_t *error)
{
    json_error_t again;
    l->object = json_loadb(text, size, JSON_REJECT_DUPLICATES, error);
    json_t *other = json_loadb(text, size, JSON_REJECT_DUPLICATES, &again);
    const bool same = l->object ? json_equal(l->object, other) : !other;
    json_decref(other);
    return same && (l->object || json_error_code(error) != json_error_out_of_memory);
}

static int read_line(struct line *l, const char *text, size_t size)
{
    json_error_t error;
    char what[JSON_ERROR_TEXT_LENGTH + 64];
    const bool had_memory = parse(l, text, size, &error);
    snprintf(what, sizeof what, "the line is not a JSON object%s%s", l->object ? "" : ": ",
             l->object ? "" : error.text);
    const int rc = !had_memory                 ? ct_fail_nomem(l->manifest->ctx, l->name)
                   : json_is_object(l->object) ? read_capture(l)
                                               : refuse(l, what);
    json_decref(l->object);
    return rc;
}

/* Returns whether a line has white space only. */
static bool is_empty(const char *text, size_t size)
{
    while (size && strchr(" \t\r", text[size - 1]) && text[size - 1])
        size--;
    return !size;
}

int ct_manifest_read(struct ct_manifest *m, const char *name, const void *data, size_t size)
{
    CT_REQUIRE_OF(m, name, data || !size);
    struct line l = {.manifest = m, .name = name};
    const char *text = data;
    static const char mark[] = "\xef\xbb\xbf"; /* of the byte order, from an editor */
    const size_t skipped = sizeof mark - 1;
    int rc = CT_OK;
    for (size_t at = size >= skipped && !memcmp(text, mark, skipped) ? skipped : 0; at < size && !rc;) {
        const char *newline = memchr(text + at, '\n', size - at);
        const size_t end = newline ? (size_t)(newline - text) : size;
        l.number++;
        if (!is_empty(text + at, end - at))
            rc = read_line(&l, text + at, end - at);
        at = end + 1;
    }
    return rc;
}

/* ---- writing ---- */

static bool is_utf8(const char *text)
{
    size_t length = strlen(text);
    for (size_t step; length; text += step, length -= step)
        if (!(step = ct_utf8_length((const unsigned char *)text, length)))
            return false;
    return true;
}

static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static bool set_text(json_t *object, const char *key, const char *text)
{
    return set(object, key, text ? json_string(text) : json_null());
}

static bool set_ids(json_t *object, const struct ct_fleet_capture *capture)
{
    json_t *list = json_array();
    bool fine = set(object, "build_ids", list);
    for (size_t i = 0; i < capture->build_id_count && fine; i++)
        fine = json_array_append_new(list, json_string(capture->build_ids[i])) == 0;
    return fine;
}

static bool describe(json_t *object, const struct ct_fleet_capture *capture)
{
    char digest[CT_DIGEST_TEXT];
    ct_digest_text(capture->digest, digest);
    return set_text(object, "path", capture->path) &&
           set(object, "size", json_integer((json_int_t)capture->size)) &&
           set_text(object, "sha256", digest) && set_ids(object, capture) &&
           set_text(object, "machine", capture->machine) && set_text(object, "time", capture->time) &&
           set_text(object, "test", capture->test);
}

static int write_capture(const struct ct_manifest *m, const struct ct_fleet_capture *capture,
                         ct_write_fn *write, void *user)
{
    const char *const texts[] = {capture->machine, capture->test};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] && !is_utf8(texts[i]))
            return ct_fail(m->ctx, CT_ERR_ARG,
                           "%s: the name '%s' is not valid UTF-8, so JSON cannot hold "
                           "it; give a name in UTF-8",
                           capture->path, texts[i]);
    json_t *object = json_object();
    char *text = object && describe(object, capture) ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (!text)
        return ct_fail_nomem(m->ctx, capture->path);
    int rc = write(user, text, strlen(text)) ?: write(user, "\n", 1);
    free(text);
    return rc;
}

int ct_manifest_write(const struct ct_manifest *m, ct_write_fn *write, void *user)
{
    CT_REQUIRE_OF(m, write);
    int rc = CT_OK;
    size_t nameless = 0;
    for (size_t i = 0; i < m->count && !rc; i++) {
        if (is_utf8(m->captures[i].path)) {
            rc = write_capture(m, &m->captures[i], write, user);
            continue;
        }
        nameless++;
        ct_log(m->ctx, CT_LOG_WARNING,
               "%s: its name is not valid UTF-8, so JSON cannot hold it; it is not "
               "listed; rename it",
               m->captures[i].path);
    }
    if (rc || !nameless)
        return rc;
    return ct_fail(m->ctx, CT_ERR_FORMAT,
                   "%zu of %zu captures are not listed, because their names are not "
                   "valid UTF-8; rename them",
                   nameless, m->count);
}
