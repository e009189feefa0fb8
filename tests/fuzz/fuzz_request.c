/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes requests to the page of a live run: a byte that selects the request, then the JSON. What must hold:
 * a refused request has an error text, and an accepted one can be carried out: lists have texts, names fit,
 * filters name what exists. */
#include <string.h>

#include "fuzz.h"
#include "live/request.h"

#define MOST_BYTES 16384
#define NAME_MOST  255

static void look_at_texts(const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        require(strlen(texts[i]) < MOST_BYTES);
}

static void look_at(const struct ct_live_command *c)
{
    look_at_texts(c->add, c->add_count);
    look_at_texts(c->remove, c->remove_count);
    require(!c->spec == !c->source);
    if (c->name && c->action != LIVE_WATCH && c->binds)
        require(*c->name && strlen(c->name) <= NAME_MOST);
    for (size_t i = 0; c->binds && i < c->binds->count; i++)
        require(strlen(c->binds->pairs[i].input) < MOST_BYTES &&
                strlen(c->binds->pairs[i].place) < MOST_BYTES);
    require(c->filter.levels < 1u << 4 && c->filter.context_count <= LIVE_CONTEXTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const asked[] = {"watch", "monitors", "check", "filter", "stop"};
    struct ct_live_command command;
    char why[1024] = "";
    if (!size || size > MOST_BYTES)
        return 0;
    /* of just its size and without a NUL after it, as from a connection */
    char *text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    struct ct_live_posted *posted = ct_live_posted_read(asked[data[0] % (sizeof asked / sizeof *asked)], text,
                                                        size - 1, NULL, &command, why, sizeof why);
    if (posted) {
        look_at(&command);
        ct_live_posted_free(posted, &command);
    } else {
        require(*why && strlen(why) < sizeof why && !command.lacking);
        require(!command.faulty == !command.spec);
        ct_monitor_spec_free(command.spec);
    }
    free(text);
    return 0;
}
