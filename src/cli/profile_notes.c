/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/profile_notes.h"

#include <stdlib.h>
#include <string.h>

#include "cli/monitor_run.h"
#include "cli/output.h"

bool cli_profile_notes_any(const struct cli_profile_notes *n)
{
    return cli_monitors_named(n->places.args, CLI_MONITOR_SPEC + n->shift) > 0;
}

/* ---- results of specifications ---- */

struct finding {
    struct cli_monitor_run run;
    struct cli_profile_notes *notes;
};

/* Returns the notes about the capture with this path. NULL for the only one. */
static struct cli_said *said_of(const struct cli_profile_notes *n, const char *path)
{
    int i = 0;
    while (path && i + 1 < n->places.args->rest_count && strcmp(n->places.args->rest[i], path) != 0)
        i++;
    return &n->said[i];
}

static void free_note(const struct ct_perfetto_note *note)
{
    free((char *)note->buffer);
    free((char *)note->text);
}

/* Inserts a note behind those of the same or an earlier step, because one specification may report a step
 * later than another. Returns false when out of memory. */
static bool add_note(struct cli_said *said, const struct ct_perfetto_note *note)
{
    if (said->count == said->room) {
        const size_t room = said->room ? 2 * said->room : 64;
        struct ct_perfetto_note *notes = realloc(said->notes, room * sizeof *notes);
        if (!notes)
            return false;
        said->notes = notes;
        said->room = room;
    }
    size_t at = said->count++;
    for (; at && said->notes[at - 1].at.step > note->at.step; at--)
        said->notes[at] = said->notes[at - 1];
    said->notes[at] = *note;
    return true;
}

/* Describes a violation as 'monitor' does. The caller frees the text. Returns NULL when out of memory. */
static char *words_of(const struct ct_verdict_origin *origin, const struct ct_verify_result *result)
{
    const char *spec = origin->specs[result->spec];
    const char *slash = strrchr(spec, '/');
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s%s%s = %s%s", origin->named ? slash ? slash + 1 : spec : "",
             origin->named ? ": " : "", result->name, result->core ? "@" : "",
             result->core ? result->core : "", result->value,
             result->uncertain ? ", violation, uncertain" : ", violation");
    return strdup(text);
}

static int on_result(void *user, const struct ct_verify_result *result)
{
    const struct finding *f = user;
    const struct ct_verdict_origin *origin = &f->run.origin;
    struct cli_profile_notes *n = f->notes;
    if (!result->violation)
        return CT_OK;
    if (n->count == CLI_PROFILE_NOTES) {
        n->left_out++;
        return CT_OK;
    }
    const struct ct_verdict_source one = {
        .buffer = origin->buffer, .id = origin->id, .capture = origin->capture};
    const uint16_t number = result->place ? result->place->event.source : 0;
    const struct ct_verdict_source *source = origin->several ? &origin->sources[number] : &one;
    struct ct_perfetto_note note = {.buffer = strdup(source->buffer), .id = source->id};
    note.text = words_of(origin, result);
    if (result->place)
        note.at = result->place->event;
    if (note.buffer && note.text && add_note(said_of(n, source->capture), &note)) {
        n->count++;
        return CT_OK;
    }
    free_note(&note);
    return cli_fail_nomem(n->places.args->ctx, "violations");
}

int cli_profile_notes_find(struct cli_profile_notes *n)
{
    const struct cli_args *args = n->places.args;
    struct finding f = {
        .notes = n,
        .run = {
            .streams = {.read = {.args = args, .elf = n->elf, .threads = cli_threads(args), .untold = true}},
            .apart = n->apart,
            .user = &f,
            .monitors = {.shift = n->shift},
            .result = on_result}};
    n->said = calloc((size_t)args->rest_count, sizeof *n->said);
    int code = n->said ? cli_monitor_run(&f.run) : CLI_FAILED;
    if (!n->said)
        cli_no_memory();
    if (code != CLI_FAILED && n->left_out)
        cli_say("%s: only the first %zu violations are shown, and %llu more are left out; 'coretap monitor' "
                "prints all",
                args->operand, n->count, (unsigned long long)n->left_out);
    n->kept_nothing = f.run.streams.read.kept_nothing;
    if (code != CLI_FAILED) /* losses are reported when the trace is written */
        code = cli_monitor_run_tell(&f.run, f.run.failed ? CLI_DAMAGED : CLI_CLEAN);
    cli_monitor_run_close(&f.run);
    return code;
}

/* ---- the notes of a capture ---- */

bool cli_profile_notes_open(struct cli_profile_notes *n, struct ct_programs *programs)
{
    ct_watches_free(n->watches);
    n->watches = NULL;
    return !cli_watch_places_any(&n->places) || cli_watch_places_open(&n->places, programs, &n->watches);
}

int cli_profile_notes_give(const struct cli_profile_notes *n, const char *path,
                           struct ct_perfetto_writer *writer)
{
    const struct cli_said none = {0};
    const struct cli_said *said = n->said ? said_of(n, path) : &none;
    return ct_perfetto_writer_watch(writer, n->watches, said->notes, said->count);
}

void cli_profile_notes_close(struct cli_profile_notes *n)
{
    ct_watches_free(n->watches);
    for (int i = 0; n->said && i < n->places.args->rest_count; i++) {
        for (size_t k = 0; k < n->said[i].count; k++)
            free_note(&n->said[i].notes[k]);
        free(n->said[i].notes);
    }
    free(n->said);
}
