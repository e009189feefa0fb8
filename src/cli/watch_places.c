/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/watch_places.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/text_file.h"
#include "coretap/verify.h"

/* Calls `add_place` for each line of the file. Returns false after a message. */
static bool each_line(const char *path, bool (*add_place)(void *to, const char *place), void *to)
{
    char *text = cli_read_text(path);
    char *save = NULL;
    bool fine = text != NULL;
    for (char *line = fine ? strtok_r(text, "\n", &save) : NULL; fine && line;
         line = strtok_r(NULL, "\n", &save)) {
        line[strcspn(line, "#\r")] = '\0';
        line += strspn(line, " \t");
        size_t length = strlen(line);
        while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
            line[--length] = '\0';
        fine = !length || add_place(to, line);
    }
    free(text);
    return fine;
}

bool cli_watch_places_any(const struct cli_watch_places *p)
{
    bool any = p->args->values[p->at + 1].given;
    for (size_t i = 0; !any && i < p->args->list_count; i++)
        any = p->args->list[i].option == p->at;
    return any;
}

bool cli_watch_places_each(const struct cli_watch_places *p, bool (*add)(void *to, const char *place),
                           void *to)
{
    const struct cli_value *list = &p->args->values[p->at + 1];
    bool fine = true;
    for (size_t i = 0; fine && i < p->args->list_count; i++)
        fine = p->args->list[i].option != p->at || add(to, p->args->list[i].text);
    return fine && (!list->given || each_line(list->text, add, to));
}

static bool look_for_software(void *to, const char *place)
{
    *(bool *)to |= ct_verify_place_is_software(place) != 0;
    return true;
}

struct adding {
    const struct cli_args *args;
    struct ct_watches *watches;
};

static bool watch_place(void *to, const char *place)
{
    const struct adding *adding = to;
    const bool fine = ct_watches_add(adding->watches, place, NULL, NULL) == CT_OK;
    if (!fine)
        cli_library_error(adding->args->ctx);
    return fine;
}

bool cli_watch_places_open(const struct cli_watch_places *p, struct ct_programs *programs,
                           struct ct_watches **watches)
{
    bool software = false;
    if (ct_watches_new(p->args->ctx, programs, watches) != CT_OK) {
        cli_library_error(p->args->ctx);
        return false;
    }
    struct adding adding = {p->args, *watches};
    return cli_watch_places_each(p, look_for_software, &software) &&
           (!software || cli_programs_name_events(programs, p->args, *watches)) &&
           cli_watch_places_each(p, watch_place, &adding);
}
