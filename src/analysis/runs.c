/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the runs that a result is of, sorted, each once. Of very many names those at the beginning of
 * the alphabet are kept, so that the order in which they are added does not matter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/saved.h"
#include "base/ctx.h"
#include "base/printable.h"
#include "base/search.h"

/* Returns the index of `name`, or the one where it belongs. */
static size_t place_of(const struct ct_analysis_runs *runs, const char *name, bool *found)
{
    size_t low = CT_COUNT_WHILE(runs->count, i, strcmp(runs->names[i], name) < 0);
    *found = low < runs->count && !strcmp(runs->names[low], name);
    return low;
}

static int insert(struct ct_analysis_runs *runs, size_t at, const char *name)
{
    char **names = realloc(runs->names, (runs->count + 1) * sizeof *names);
    if (!names)
        return CT_ERR_NOMEM;
    runs->names = names;
    char *copy = strdup(name);
    if (!copy)
        return CT_ERR_NOMEM;
    memmove(names + at + 1, names + at, (runs->count - at) * sizeof *names);
    names[at] = copy;
    if (++runs->count > CT_ANALYSIS_RUNS)
        free(names[--runs->count]);
    return CT_OK;
}

/* Adds a name; *found says whether it was there. */
static int add(struct ct_analysis *analysis, const char *name, bool *found)
{
    const size_t at = place_of(&analysis->runs, name, found);
    if (*found || at == CT_ANALYSIS_RUNS)
        return CT_OK;
    return insert(&analysis->runs, at, name) ? ct_fail_nomem(analysis->ctx, name) : CT_OK;
}

/* Warns that a run is counted twice. That may be meant, because two captures can have one name. */
static void tell_twice(const struct ct_analysis *analysis, const char *name, size_t more)
{
    char others[48] = "";
    if (more)
        snprintf(others, sizeof others, " and %zu others", more);
    ct_log(analysis->ctx, CT_LOG_WARNING,
           "%s: %.700s%s: added more than once, which counts more than once; leave one out, unless these are "
           "captures of one name",
           analysis->kind->name, name, others);
}

int ct_analysis_add_run(struct ct_analysis *analysis, const char *name)
{
    bool found = false;
    if (!analysis || !name || !*name || strlen(name) > CT_ANALYSIS_RUN_NAME)
        return CT_ERR_ARG;
    const int rc = add(analysis, name, &found);
    if (found)
        tell_twice(analysis, name, 0);
    return rc;
}

const char *ct_analysis_run(const struct ct_analysis *analysis, size_t number)
{
    return analysis && number < analysis->runs.count ? analysis->runs.names[number] : NULL;
}

int ct_runs_add(struct ct_analysis *into, const struct ct_analysis *from)
{
    const char *first = NULL;
    size_t twice = 0;
    int rc = CT_OK;
    for (size_t i = 0; i < from->runs.count && !rc; i++) {
        bool found;
        rc = add(into, from->runs.names[i], &found);
        twice += found;
        if (found && !first)
            first = from->runs.names[i];
    }
    if (first)
        tell_twice(into, first, twice - 1);
    return rc;
}

void ct_runs_free(struct ct_analysis *analysis)
{
    for (size_t i = 0; i < analysis->runs.count; i++)
        free(analysis->runs.names[i]);
    free(analysis->runs.names);
    analysis->runs = (struct ct_analysis_runs){0};
}

void ct_save_runs(struct ct_save *to, const struct ct_analysis *analysis)
{
    char text[CT_PRINTABLE_ROOM(CT_ANALYSIS_RUN_NAME + 1)];
    for (size_t i = 0; i < analysis->runs.count; i++) {
        ct_escape_to_read(analysis->runs.names[i], text);
        ct_save_line(to, "capture %s", text);
    }
}

/* Reads a line: capture NAME */
int ct_load_run(struct ct_load *load, struct ct_analysis *analysis)
{
    char name[CT_PRINTABLE_ROOM(CT_ANALYSIS_RUN_NAME) + 1];
    if (!ct_load_is(load, 0, "capture"))
        return 0;
    ct_load_split(load, 2);
    const struct ct_load_word *word = &load->words[1];
    const bool fits = load->word_count == 2 && word->size && word->size < sizeof name &&
                      !memchr(word->text, '\0', word->size);
    if (fits) {
        memcpy(name, word->text, word->size);
        name[word->size] = '\0';
    }
    if (!fits || !ct_unescape(name) || !*name || strlen(name) > CT_ANALYSIS_RUN_NAME)
        return ct_load_bad(load, "a capture is 'capture NAME', with a name of 1 to 4096 bytes");
    bool found;
    const int rc = add(analysis, name, &found);
    return rc ? rc : 1;
}
