/* SPDX-License-Identifier: Apache-2.0 */
/* Converts requests of the page's API from JSON to commands. */
#include "live/request.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEC_NAME_MAX 255

struct ct_live_posted {
    struct ct_ctx *ctx; /* context of the specification */
    json_t *root;
    const char **texts; /* elements of all lists */
    size_t text_count;  /* elements read so far */
    char *why;
    size_t why_size;
};

static bool refuse(struct ct_live_posted *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(struct ct_live_posted *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->why, r->why_size, fmt, ap);
    va_end(ap);
    return false;
}

static bool lack(struct ct_live_posted *r, struct ct_live_command *c)
{
    c->lacking = true;
    return refuse(r, "out of memory; send the request again");
}

/* Refuses unknown keys, because a mistyped key would otherwise be ignored silently. `keys` ends with NULL. */
static bool check_keys(struct ct_live_posted *r, const char *what, const char *const *keys)
{
    const char *key;
    json_t *value;
    json_object_foreach(r->root, key, value)
    {
        size_t i = 0;
        while (keys[i] && strcmp(keys[i], key) != 0)
            i++;
        if (!keys[i])
            return refuse(r, "%s: the key \"%.60s\" is unknown", what, key);
    }
    return true;
}

/* Reads a list of texts, stored after those read before. A missing list is empty. */
static bool read_list(struct ct_live_posted *r, const char *key, const char ***list, size_t *count)
{
    json_t *array = json_object_get(r->root, key), *text;
    size_t i;
    *list = r->texts + r->text_count;
    *count = 0;
    if (!array)
        return true;
    bool fits = json_is_array(array);
    json_array_foreach(array, i, text)
    {
        fits &= json_is_string(text);
        (*list)[(*count)++] = json_string_value(text);
    }
    r->text_count += *count;
    return fits || refuse(r, "\"%s\" must be an array of strings", key);
}

static bool read_watch(struct ct_live_posted *r, struct ct_live_command *c)
{
    static const char *const keys[] = {"set", "add", "remove", NULL};
    c->action = LIVE_WATCH;
    c->whole = json_object_get(r->root, "set") != NULL;
    if (!check_keys(r, "watch", keys))
        return false;
    if (c->whole && json_object_size(r->root) > 1)
        return refuse(r, "watch: \"set\" replaces all watchpoints, so \"add\" and \"remove\" cannot be used "
                         "with it");
    if (!json_object_size(r->root))
        return refuse(r, "watch: one of the keys \"set\", \"add\" and \"remove\" is required");
    return read_list(r, c->whole ? "set" : "add", &c->add, &c->add_count) &&
           read_list(r, "remove", &c->remove, &c->remove_count);
}

/* ---- specifications ---- */

static bool compile(struct ct_live_posted *r, struct ct_live_command *c, json_t *text,
                    const struct ct_monitor_options *options)
{
    if (!json_is_string(text))
        return refuse(r, "%s: \"text\" must be a string with the specification", c->name);
    const int rc = ct_monitor_compile(r->ctx, c->name, json_string_value(text), json_string_length(text),
                                      options, &c->spec);
    c->source = json_string_value(text);
    c->source_size = json_string_length(text);
    if (ct_ctx_lacked_memory(r->ctx)) /* reports this instead of follow-up errors of the compiler */
        return lack(r, c);
    if (!rc)
        return true;
    refuse(r, "%s: %s", c->name, ct_ctx_error(r->ctx));
    c->faulty = c->spec != NULL;
    for (size_t i = 0, used = 0; c->spec && i < ct_monitor_diag_count(c->spec); i++) {
        if (used + 1 >= r->why_size)
            break;
        ct_monitor_diag_print(c->spec, i, r->why + used, r->why_size - used);
        used += strlen(r->why + used);
    }
    return false;
}

static bool read_binds(struct ct_live_posted *r, struct ct_live_command *c, json_t *object)
{
    const char *input;
    json_t *place;
    size_t count = 0;
    if (object && !json_is_object(object))
        return refuse(r, "\"bind\" must be an object whose keys are inputs and whose values are their "
                         "places");
    struct ct_verify_bind *binds = calloc(json_object_size(object) + 1, sizeof *binds);
    if (!binds)
        return lack(r, c);
    bool fine = true;
    json_object_foreach(object, input, place)
    {
        if (fine && !json_is_string(place))
            fine = refuse(r, "\"bind\": the place of %.60s must be a string", input);
        else if (fine)
            binds[count++] = (struct ct_verify_bind){input, json_string_value(place)};
    }
    c->binds = fine ? ct_live_binds_copy(binds, count) : NULL;
    free(binds);
    return fine && (c->binds || lack(r, c));
}

static bool read_monitor(struct ct_live_posted *r, struct ct_live_command *c,
                         const struct ct_monitor_options *options)
{
    static const char *const keys[] = {"action", "name", "text", "bind", NULL};
    static const struct {
        const char *name;
        enum ct_live_action action;
    } actions[] = {
        {"add", LIVE_MONITOR_ADD}, {"replace", LIVE_MONITOR_REPLACE}, {"remove", LIVE_MONITOR_REMOVE}};
    const size_t count = sizeof actions / sizeof *actions;
    const char *action = json_string_value(json_object_get(r->root, "action"));
    size_t i = 0;
    if (!check_keys(r, "monitors", keys))
        return false;
    while (i < count && (!action || strcmp(action, actions[i].name) != 0))
        i++;
    if (i == count)
        return refuse(r, "\"action\" must be \"add\", \"replace\" or \"remove\"");
    c->action = actions[i].action;
    c->name = json_string_value(json_object_get(r->root, "name"));
    if (!c->name || !*c->name || strlen(c->name) > SPEC_NAME_MAX)
        return refuse(r, "\"name\" must be the name of the specification, with 1 to %d bytes", SPEC_NAME_MAX);
    return c->action == LIVE_MONITOR_REMOVE || (compile(r, c, json_object_get(r->root, "text"), options) &&
                                                read_binds(r, c, json_object_get(r->root, "bind")));
}

/* Reads a specification that is only to be checked. */
static bool read_check(struct ct_live_posted *r, struct ct_live_command *c,
                       const struct ct_monitor_options *options)
{
    static const char *const keys[] = {"name", "text", NULL};
    json_t *name = json_object_get(r->root, "name");
    c->name = json_is_string(name) ? json_string_value(name) : "specification";
    return check_keys(r, "check", keys) && compile(r, c, json_object_get(r->root, "text"), options);
}

/* ---- filters ---- */

static bool read_hex(struct ct_live_posted *r, const char *key, const char *text, uint64_t most,
                     uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, 16);
    if (!*text || *end || strchr(text, '-') || *out > most)
        return refuse(r, "\"%s\": '%.40s' is not a hexadecimal number up to %llx", key, text,
                      (unsigned long long)most);
    return true;
}

static bool read_levels(struct ct_live_posted *r, struct ct_live_filter *f)
{
    json_t *array = json_object_get(r->root, "levels"), *level;
    size_t i;
    bool fits = !array || json_is_array(array);
    json_array_foreach(array, i, level)
    {
        const json_int_t number = json_is_integer(level) ? json_integer_value(level) : -1;
        fits &= number >= 0 && number <= 3;
        f->levels |= 1u << (number & 3);
    }
    return fits || refuse(r, "\"levels\" must be an array of exception levels, 0 to 3");
}

static bool read_filter(struct ct_live_posted *r, struct ct_live_command *c)
{
    static const char *const keys[] = {"ids", "contexts", "levels", NULL};
    struct ct_live_filter *f = &c->filter;
    const char **texts;
    size_t count;
    uint64_t number;
    c->action = LIVE_FILTER;
    if (!check_keys(r, "filter", keys) || !read_list(r, "ids", &texts, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!read_hex(r, "ids", texts[i], 0x7f, &number))
            return false;
        f->ids[number / 64] |= UINT64_C(1) << (number % 64);
    }
    if (!read_list(r, "contexts", &texts, &count))
        return false;
    if (count > LIVE_CONTEXTS)
        return refuse(r, "\"contexts\" must have at most %d elements", LIVE_CONTEXTS);
    for (size_t i = 0; i < count; i++) {
        if (!read_hex(r, "contexts", texts[i], UINT32_MAX, &number))
            return false;
        f->contexts[f->context_count++] = (uint32_t)number;
    }
    return read_levels(r, f);
}

/* ---- dispatch ---- */

static size_t count_texts(const json_t *root)
{
    const char *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach((json_t *)root, key, value) count += json_array_size(value);
    return count;
}

static bool read(struct ct_live_posted *r, const char *what, const char *text, size_t size,
                 const struct ct_monitor_options *options, struct ct_live_command *c)
{
    static const char *const none[] = {NULL};
    json_error_t error;
    /* when out of memory, jansson reports a syntax error, or omits a character of a string */
    errno = 0;
    r->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (errno == ENOMEM || (!r->root && json_error_code(&error) == json_error_out_of_memory))
        return lack(r, c);
    if (!r->root)
        return refuse(r, "the request is not valid JSON: line %d, column %d: %.100s", error.line,
                      error.column, error.text);
    if (!json_is_object(r->root))
        return refuse(r, "the request must be a JSON object");
    r->texts = calloc(count_texts(r->root) + 1, sizeof *r->texts);
    r->ctx = ct_ctx_new();
    if (!r->texts || !r->ctx)
        return lack(r, c);
    if (strcmp(what, "watch") == 0)
        return read_watch(r, c);
    if (strcmp(what, "monitors") == 0)
        return read_monitor(r, c, options);
    if (strcmp(what, "filter") == 0)
        return read_filter(r, c);
    if (strcmp(what, "check") == 0)
        return read_check(r, c, options);
    c->action = LIVE_STOP;
    return check_keys(r, "stop", none);
}

struct ct_live_posted *ct_live_posted_read(const char *what, const char *text, size_t size,
                                           const struct ct_monitor_options *options,
                                           struct ct_live_command *c, char *why, size_t why_size)
{
    struct ct_live_posted *r = calloc(1, sizeof *r);
    *c = (struct ct_live_command){0};
    struct ct_live_posted nothing = {.why = why, .why_size = why_size};
    if (!r) {
        lack(&nothing, c);
        return NULL;
    }
    *r = nothing;
    const bool fine = read(r, what, text, size, options, c);
    if (fine)
        return r;
    struct ct_monitor_spec *faulty = c->faulty ? c->spec : NULL;
    c->spec = faulty ? NULL : c->spec;
    ct_live_posted_free(r, c);
    c->spec = faulty; /* contains the diagnostics */
    return NULL;
}

void ct_live_posted_free(struct ct_live_posted *r, struct ct_live_command *c)
{
    if (!r)
        return;
    ct_monitor_spec_free(c->spec);
    free(c->binds);
    free(r->texts);
    json_decref(r->root);
    ct_ctx_free(r->ctx);
    free(r);
}
