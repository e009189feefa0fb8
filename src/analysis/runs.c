/* SPDX-License-Identifier: Apache-2.0 */
/* The texts that a result has beside its sums: the names of its runs and of the captures that failed, with
 * the reasons. They are sorted and without duplicates. When there are too many, the first by alphabet are
 * kept, so that the order of insertion does not matter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/saved.h"
#include "base/ctx.h"
#include "base/printable.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"
#include "base/search.h"

/* Returns the index of `name`, or the index at which to insert it. */
static size_t place_of(const struct ct_analysis_runs *runs, const char *name, bool *found)
{
    size_t low = CT_COUNT_WHILE(runs->count, i, strcmp(runs->names[i], name) < 0);
    *found = low < runs->count && !strcmp(runs->names[low], name);
    return low;
}

static int insert(struct ct_analysis_runs *runs, size_t at, const char *name)
{
    char *copy = CT_PUSH_ROOM(runs->names, runs->count) ? strdup(name) : NULL;
    char **names = runs->names;
    if (!copy)
        return CT_ERR_NOMEM;
    memmove(names + at + 1, names + at, (runs->count - at) * sizeof *names);
    names[at] = copy;
    if (++runs->count > CT_ANALYSIS_RUNS)
        free(names[--runs->count]);
    return CT_OK;
}

/* Adds a text to one of the lists of an analysis. Sets *found when the list has it already. CT_ERR_NOMEM. */
static int add(struct ct_analysis *analysis, struct ct_analysis_runs *list, const char *name, bool *found)
{
    const size_t at = place_of(list, name, found);
    if (*found || at == CT_ANALYSIS_RUNS)
        return CT_OK;
    return insert(list, at, name) ? ct_fail_nomem(analysis->ctx, name) : CT_OK;
}

/* Warns that a run is counted twice. This is no error, because two captures can have one name. */
static void tell_twice(const struct ct_analysis *analysis, const char *name, size_t more)
{
    char others[48] = "";
    if (more)
        snprintf(others, sizeof others, " and %zu others", more);
    ct_log(analysis->ctx, CT_LOG_WARNING,
           "%s: %.700s%s: this was added more than once, so its counts are multiplied; omit the repetition, "
           "unless these are different captures with the same name",
           analysis->kind->name, name, others);
}

static bool fits(const char *name)
{
    return name && *name && strlen(name) <= CT_ANALYSIS_RUN_NAME;
}

int ct_analysis_add_run(struct ct_analysis *analysis, const char *name)
{
    bool found = false;
    CT_REQUIRE_OF(analysis, name, *name, strlen(name) <= CT_ANALYSIS_RUN_NAME);
    const int rc = add(analysis, &analysis->runs, name, &found);
    if (found)
        tell_twice(analysis, name, 0);
    return rc;
}

const char *ct_analysis_run(const struct ct_analysis *analysis, size_t number)
{
    return analysis && number < analysis->runs.count ? analysis->runs.names[number] : NULL;
}

int ct_analysis_add_failure(struct ct_analysis *analysis, const char *text)
{
    bool found;
    CT_REQUIRE_OF(analysis, text, *text, strlen(text) <= CT_ANALYSIS_RUN_NAME);
    const int rc = add(analysis, &analysis->failures, text, &found);
    if (!rc)
        ct_add_up(&analysis->captures.failed, 1);
    return rc;
}

const char *ct_analysis_failure(const struct ct_analysis *analysis, size_t number)
{
    return analysis && number < analysis->failures.count ? analysis->failures.names[number] : NULL;
}

int ct_runs_add(struct ct_analysis *into, const struct ct_analysis *from)
{
    const char *first = NULL;
    size_t twice = 0;
    bool found;
    int rc = CT_OK;
    for (size_t i = 0; i < from->runs.count && !rc; i++) {
        rc = add(into, &into->runs, from->runs.names[i], &found);
        twice += found;
        if (found && !first)
            first = from->runs.names[i];
    }
    if (first)
        tell_twice(into, first, twice - 1);
    for (size_t i = 0; i < from->failures.count && !rc; i++)
        rc = add(into, &into->failures, from->failures.names[i], &found);
    return rc;
}

static void free_list(struct ct_analysis_runs *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct ct_analysis_runs){0};
}

void ct_runs_free(struct ct_analysis *analysis)
{
    free_list(&analysis->runs);
    free_list(&analysis->failures);
}

static void save_list(struct ct_save *to, const char *word, const struct ct_analysis_runs *list)
{
    char text[CT_PRINTABLE_ROOM(CT_ANALYSIS_RUN_NAME + 1)];
    for (size_t i = 0; i < list->count; i++) {
        ct_escape_to_read(list->names[i], text);
        ct_save_line(to, "%s %s", word, text);
    }
}

void ct_save_runs(struct ct_save *to, const struct ct_analysis *analysis)
{
    save_list(to, "capture", &analysis->runs);
    save_list(to, "failure", &analysis->failures);
}

/* Reads a line: capture NAME, or failure TEXT */
int ct_load_run(struct ct_load *load, struct ct_analysis *analysis)
{
    char name[CT_PRINTABLE_ROOM(CT_ANALYSIS_RUN_NAME) + 1];
    const bool is_run = ct_load_is(load, 0, "capture");
    if (!is_run && !ct_load_is(load, 0, "failure"))
        return 0;
    ct_load_split(load, 2);
    const struct ct_load_word *word = &load->words[1];
    const bool has_text = load->word_count == 2 && word->size && word->size < sizeof name &&
                          !memchr(word->text, '\0', word->size);
    if (has_text) {
        memcpy(name, word->text, word->size);
        name[word->size] = '\0';
    }
    if (!has_text || !ct_unescape(name) || !fits(name))
        return ct_load_bad(load,
                           is_run ? "the line is not 'capture NAME' with a name of 1 to 4096 bytes"
                                  : "the line is not 'failure NAME: REASON' with a text of 1 to 4096 bytes");
    bool found;
    const int rc = add(analysis, is_run ? &analysis->runs : &analysis->failures, name, &found);
    return rc ? rc : 1;
}
