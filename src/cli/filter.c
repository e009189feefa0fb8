/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/filter.h"
#include "cli/output.h"
#include "coretap/merge.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The options of the filter, and the syntax of lists of numbers. */
static const struct list {
    const char *name;
    uint8_t base; /* of numbers; 0: names */
    uint32_t most;
} lists[] = {
    {"pid", 10, UINT32_MAX}, {"tid", 10, UINT32_MAX}, {"context", 16, UINT32_MAX},
    {"el", 10, 3},           {"module", 0, 0},        {"function", 0, 0},
};

/* Returns whether row i of a table is the filter's option `name`. A row --function is the filter's only
 * directly behind --module; otherwise it is the command's own. */
static bool is_row(const struct cli_option *options, size_t i, const char *name, enum cli_kind kind)
{
    const bool follows = i && strcmp(options[i - 1].name, "module") == 0;
    return strcmp(options[i].name, name) == 0 && options[i].kind == kind &&
           (follows || strcmp(name, "function") != 0);
}

/* Returns the index of an option of the filter, or the number of options when the command lacks it. */
static size_t index_of(const struct cli_args *args, const char *name, enum cli_kind kind)
{
    size_t i = 0;
    while (i < args->command->option_count && !is_row(args->command->options, i, name, kind))
        i++;
    return i;
}

/* Returns the value of an option of the filter if it was given, else NULL. */
static const struct cli_value *given(const struct cli_args *args, const char *name, enum cli_kind kind)
{
    const size_t i = index_of(args, name, kind);
    return i < args->command->option_count && args->values[i].given ? &args->values[i] : NULL;
}

/* ---- lists ---- */

static bool read_number(const struct cli_args *args, const struct list *list, const char *text,
                        uint32_t *number)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, list->base);
    if (isxdigit((unsigned char)*text) && *end == '\0' && errno == 0 && value <= list->most) {
        *number = (uint32_t)value;
        return true;
    }
    if (list->base == 16)
        cli_usage_error(args->command, "--%s: '%s' is not a hexadecimal number from 0 to %" PRIx32,
                        list->name, text, list->most);
    else
        cli_usage_error(args->command, "--%s: '%s' is not a number from 0 to %" PRIu32, list->name, text,
                        list->most);
    return false;
}

static bool is_full(const struct cli_args *args, size_t count)
{
    if (count == CLI_FILTER_MOST)
        cli_usage_error(args->command, "more than %d threads, contexts or names are selected; select fewer",
                        CLI_FILTER_MOST);
    return count == CLI_FILTER_MOST;
}

/* Appends the values of a list option to those of other lists. Returns false after a message. */
static bool read_list(struct cli_filter *f, const struct cli_args *args, const struct list *list)
{
    const size_t option = index_of(args, list->name, CLI_LIST);
    for (size_t i = 0; i < args->list_count; i++) {
        if (args->list[i].option != option)
            continue;
        if (is_full(args, list->base ? f->number_count : f->name_count))
            return false;
        if (!list->base)
            f->names[f->name_count++] = args->list[i].text;
        else if (!read_number(args, list, args->list[i].text, &f->numbers[f->number_count++]))
            return false;
    }
    return true;
}

static bool read_lists(struct cli_filter *f, const struct cli_args *args)
{
    size_t begin[sizeof lists / sizeof *lists + 1];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        begin[i] = lists[i].base ? f->number_count : f->name_count;
        if (!read_list(f, args, &lists[i]))
            return false;
    }
    f->filter.pids = f->numbers + begin[0];
    f->filter.pid_count = begin[1] - begin[0];
    f->filter.tids = f->numbers + begin[1];
    f->filter.tid_count = begin[2] - begin[1];
    f->filter.contexts = f->numbers + begin[2];
    f->filter.context_count = begin[3] - begin[2];
    for (size_t i = begin[3]; i < f->number_count; i++)
        f->filter.levels |= (uint8_t)(1u << f->numbers[i]);
    f->filter.modules = f->names;
    f->filter.module_count = begin[5];
    f->filter.functions = f->names + begin[5];
    f->filter.function_count = f->name_count - begin[5];
    return true;
}

/* ---- the window ---- */

static bool is_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool read_slice(const struct cli_args *args, const char *name, const char *text, uint64_t *number)
{
    errno = 0;
    *number = strtoull(text, NULL, 10);
    if (errno == 0)
        return true;
    cli_usage_error(args->command, "--%s: the number '%s' is too large; give at most 18446744073709551615",
                    name, text);
    return false;
}

/* Reads an end of the window: `end` is 0 for --from, 1 for --to. Returns false after a message. */
static bool read_point(struct cli_filter *f, const struct cli_args *args, int end, bool slices)
{
    const char *name = end ? "to" : "from";
    struct ct_filter_point *point = end ? &f->filter.to : &f->filter.from;
    char **copy = end ? &f->to : &f->from;
    const struct cli_value *value = given(args, name, CLI_TEXT);
    if (!value)
        return true;
    if (slices && is_digits(value->text)) {
        return read_slice(args, name, value->text, &f->slices[end]);
    }
    *copy = strdup(value->text);
    if (!*copy) {
        cli_no_memory();
        return false;
    }
    if (ct_filter_point_parse(args->ctx, *copy, point) == CT_OK)
        return true;
    cli_usage_error(args->command, "--%s: %s", name, ct_ctx_error(args->ctx));
    return false;
}

static bool is_clock(const struct ct_filter_point *point)
{
    return point->kind != CT_POINT_NONE && point->kind != CT_POINT_PLACE;
}

/* Checks that an index can be used: the window must begin at a clock value, and every capture must be a file.
 * Returns false after a message. */
static bool has_use_for_index(const struct cli_filter *f, const struct cli_args *args)
{
    if (f->index && (!is_clock(&f->filter.from) || f->filter.to.kind == CT_POINT_PLACE)) {
        cli_usage_error(args->command, "--index needs a --from with a time, ticks, cycles or instructions, "
                                       "and a --to that is not a place; change them, or leave --index out");
        return false;
    }
    for (int i = 0; f->index && i < args->rest_count; i++) {
        if (strcmp(args->rest[i], "-") != 0)
            continue;
        cli_usage_error(args->command,
                        "--index cannot be used with standard input, because the index is kept beside the "
                        "trace file; save the capture to a file, or leave --index out");
        return false;
    }
    return true;
}

/* ---- the whole filter ---- */

bool cli_filter_read(struct cli_filter *f, const struct cli_args *args, bool slices)
{
    const struct cli_value *core = given(args, "core", CLI_TEXT);
    const struct cli_value *frequency = given(args, "frequency", CLI_NUMBER);
    *f = (struct cli_filter){.filter.size = sizeof f->filter};
    f->filter.core = core ? core->text : NULL;
    f->index = given(args, "index", CLI_FLAG) != NULL;
    f->filter.frequency = frequency ? frequency->number : 0;
    f->slices[1] = UINT64_MAX;
    if (!read_lists(f, args) || !read_point(f, args, 0, slices) || !read_point(f, args, 1, slices) ||
        !has_use_for_index(f, args))
        return false;
    if (!f->slices[1]) /* an empty window; the library takes an end of 0 for no end */
        f->slices[0] = f->slices[1] = UINT64_MAX;
    return true;
}

void cli_filter_free(struct cli_filter *f)
{
    free(f->from);
    free(f->to);
    f->from = f->to = NULL;
}

const struct ct_filter *cli_filter_of(const struct cli_filter *f)
{
    return f->filter.core || ct_filter_steps(&f->filter) ? &f->filter : NULL;
}

/* Returns the name of a given option of the filter, other than `but`. NULL when there is none. */
static const char *any_given(const struct cli_filter *f, const struct cli_args *args, const char *but)
{
    if (f->filter.from.kind || f->filter.to.kind)
        return f->filter.from.kind ? "from" : "to";
    if (f->filter.core)
        return "core";
    if (f->index)
        return "index";
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (given(args, lists[i].name, CLI_LIST) && (!but || strcmp(lists[i].name, but) != 0))
            return lists[i].name;
    return NULL;
}

static void put_option(char **text, size_t *size, const char *name, const char *value)
{
    const int length = snprintf(*text, *size, " --%s %s", name, value);
    const size_t step = length < 0 ? 0 : (size_t)length < *size ? (size_t)length : *size - 1;
    *text += step;
    *size -= step;
}

void cli_filter_words(const struct cli_filter *f, const struct cli_args *args, char *text, size_t size)
{
    static const char *const names[] = {"buffer", "id",      "from", "to",     "core",    "pid",
                                        "tid",    "context", "el",   "module", "function"};
    char *begin = text;
    *text = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const bool is_list = i > 4;
        const size_t option = index_of(args, names[i], is_list ? CLI_LIST : CLI_TEXT);
        const struct cli_value *value = is_list ? NULL : given(args, names[i], CLI_TEXT);
        if (value && (i < 2 || cli_filter_of(f)))
            put_option(&text, &size, names[i], value->text);
        for (size_t k = 0; is_list && k < args->list_count; k++)
            if (args->list[k].option == option)
                put_option(&text, &size, names[i], args->list[k].text);
    }
    if (*begin)
        memmove(begin, begin + 1, strlen(begin)); /* removes the first space */
}

bool cli_filter_refuse(const struct cli_filter *f, const struct cli_args *args, const char *but,
                       const char *why)
{
    const char *name = any_given(f, args, but);
    if (name)
        cli_usage_error(args->command, "--%s cannot be applied: %s", name, why);
    return name == NULL;
}

bool cli_filter_none(const struct cli_args *args, const char *why)
{
    struct cli_filter f;
    const bool fine = cli_filter_read(&f, args, false) && cli_filter_refuse(&f, args, NULL, why);
    cli_filter_free(&f);
    return fine;
}

/* ---- nothing was kept ---- */

bool cli_filter_kept_nothing(const struct cli_filter *f, const struct cli_args *args,
                             const struct ct_ran *ran)
{
    if (!f->seen.steps || f->seen.kept)
        return false;
    (void)cli_empty(args, &(struct ct_empty_options){.sieved = &f->seen, .ran = ran});
    return true;
}

/* ---- a merge ---- */

bool cli_filter_count_merge(struct cli_filter *f, struct cli_capture *capture, struct ct_merge *merge,
                            struct ct_ran *ran, const struct ct_programs *programs)
{
    size_t count;
    const struct ct_merge_source *sources = ct_merge_sources(merge, &count);
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        if (sources[i].chain && (!i || sources[i].buffer != sources[i - 1].buffer))
            cli_capture_tell_frames(capture, sources[i].chain);
        fine &= !sources[i].chain ||
                ct_ran_add(ran, capture->capture, sources[i].buffer, sources[i].chain, programs) == CT_OK;
    }
    capture->seen = *ct_merge_seen(merge);
    ct_sieve_seen_add(&f->seen, ct_merge_sieved(merge));
    if (!fine)
        cli_no_memory();
    return fine;
}
