/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of the analyses while trace comes in: made between two pieces of it, so that nothing is lost. */
#include "live/fractal.h"
#include "live/live.h"
#include "live/one_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answer(struct ct_live_command *c, bool fine, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void answer(struct ct_live_command *c, bool fine, const char *fmt, ...)
{
    va_list ap;
    c->fine = fine;
    va_start(ap, fmt);
    vsnprintf(c->text, sizeof c->text, fmt, ap);
    va_end(ap);
}

/* Answers with the error text of the context. */
static void answer_failed(const struct ct_live *l, struct ct_live_command *c, int rc)
{
    c->lacking = rc == CT_ERR_NOMEM;
    answer(c, false, "%s", ct_ctx_error(l->ctx));
}

/* ---- watchpoints ---- */

static uint16_t find_place(const struct ct_live *l, const char *text)
{
    for (uint16_t i = 0; i < l->place_count; i++)
        if (strcmp(l->places[i].text, text) == 0)
            return i;
    return LIVE_NONE;
}

/* Removes the last place, which some streams do not know. */
static void forget_place(struct ct_live *l, uint16_t number)
{
    for (size_t i = 0; i < 128; i++) {
        struct ct_live_stream *s = l->streams[i];
        for (size_t k = 0; s && k < s->watch_count; k++)
            if (s->place_of[k] == number)
                s->place_of[k] = LIVE_NONE;
    }
    free((char *)l->places[number].text);
    l->places[number] = (struct ct_live_place){0};
    l->place_count--;
}

int ct_live_place_known(struct ct_live *l, const char *text, uint16_t *number)
{
    *number = find_place(l, text);
    if (*number != LIVE_NONE)
        return CT_OK;
    if (l->place_count == LIVE_PLACES)
        return ct_fail(l->ctx, CT_ERR_LIMIT,
                       "%s: the run has already had %d different watchpoints, which is the limit; it is not "
                       "added; start a new run to watch others",
                       text, LIVE_PLACES);
    int rc = l->options.log ? ct_live_log_allows(l, text) : CT_OK;
    if (!rc)
        rc = ct_watches_add(l->watches, text, NULL, NULL);
    if (rc)
        return rc;
    char *copy = strdup(text);
    if (!copy)
        return ct_fail_nomem(l->ctx, text);
    *number = l->place_count++;
    l->places[*number] = (struct ct_live_place){.text = copy};
    for (size_t i = 0; !rc && i < 128; i++)
        rc = l->streams[i] ? ct_live_stream_place(l->streams[i], *number) : CT_OK;
    if (rc)
        forget_place(l, *number);
    return rc;
}

void ct_live_switch(struct ct_live *l, uint16_t place, bool on)
{
    struct ct_live_place *p = &l->places[place];
    if (p->on == on)
        return;
    p->on = on;
    p->since = l->analysed;
    p->hits = 0;
}

static bool know_all(struct ct_live *l, struct ct_live_command *c)
{
    for (size_t i = 0; i < c->add_count; i++) {
        uint16_t number;
        const int rc = ct_live_place_known(l, c->add[i], &number);
        if (rc) {
            answer_failed(l, c, rc);
            return false;
        }
    }
    return true;
}

static size_t count_on(const struct ct_live *l)
{
    size_t on = 0;
    for (size_t i = 0; i < l->place_count; i++)
        on += l->places[i].on;
    return on;
}

static void exchange_places(struct ct_live *l, struct ct_live_command *c)
{
    bool wanted[LIVE_PLACES] = {false};
    for (size_t i = 0; i < c->remove_count; i++) {
        const uint16_t number = find_place(l, c->remove[i]);
        if (number == LIVE_NONE || !l->places[number].on) {
            answer(c, false, "%s: this is not a watchpoint of this run; nothing is changed", c->remove[i]);
            return;
        }
    }
    if (!know_all(l, c))
        return;
    for (size_t i = 0; i < l->place_count; i++)
        wanted[i] = l->places[i].on && !c->whole;
    for (size_t i = 0; i < c->remove_count; i++)
        wanted[find_place(l, c->remove[i])] = false;
    for (size_t i = 0; i < c->add_count; i++)
        wanted[find_place(l, c->add[i])] = true;
    for (uint16_t i = 0; i < l->place_count; i++)
        ct_live_switch(l, i, wanted[i]);
    answer(c, true, "%zu watchpoint%s", count_on(l), count_on(l) == 1 ? "" : "s");
}

/* ---- specifications ---- */

uint16_t ct_live_find_spec(const struct ct_live *l, const char *name)
{
    for (uint16_t i = 0; i < l->spec_count; i++)
        if (l->specs[i].name && strcmp(l->specs[i].name, name) == 0)
            return i;
    return LIVE_NONE;
}

static void clear(struct ct_live_spec *s)
{
    free(s->name);
    ct_monitor_spec_free(s->spec);
    free(s->binds);
    ct_live_view_free(s->view);
    *s = (struct ct_live_spec){0};
}

/* Returns the number that a slot has in the verifier of a stream. */
static uint32_t number_in(const struct ct_live_stream *s, uint16_t slot)
{
    uint32_t number = 0;
    while (number < LIVE_SPECS && s->slot_of[number] != slot)
        number++;
    return number;
}

/* Ends a specification in all verifiers, even if it fails in its last instants. */
static void end_spec(struct ct_live *l, uint16_t slot)
{
    for (size_t i = 0; i < 128; i++) {
        struct ct_live_stream *s = l->streams[i];
        const uint32_t number = s ? number_in(s, slot) : LIVE_SPECS;
        if (number == LIVE_SPECS)
            continue;
        ct_verifier_remove(s->verifier, number);
        s->slot_of[number] = LIVE_NONE;
        s->names[number] = NULL;
    }
    ct_verifier_remove(l->verifier, slot);
    (void)ct_live_one_renew(l); /* fewer places are watched, so this needs no memory */
}

/* Returns whether an error of a replacement is only that the old specification failed in its last instants;
 * then the new one runs. */
static bool is_of_old(const struct ct_verifier *verifier, uint32_t number, int rc)
{
    return rc == CT_ERR_FORMAT || (rc == CT_ERR_LIMIT && !ct_verifier_failure(verifier, number));
}

/* Updates the run of all IDs, if there is one, and its violations, after specifications were added. */
static int one_run_changed(struct ct_live *l)
{
    const int rc = l->one ? ct_live_set_violations(l, l->verifier) : CT_OK;
    return rc ? rc : ct_live_one_renew(l);
}

struct ct_live_binds *ct_live_binds_copy(const struct ct_verify_bind *binds, size_t count)
{
    size_t size = sizeof(struct ct_live_binds) + count * sizeof *binds;
    for (size_t i = 0; i < count; i++)
        size += strlen(binds[i].input) + strlen(binds[i].place) + 2;
    struct ct_live_binds *copy = malloc(size);
    if (!copy)
        return NULL;
    char *at = (char *)&copy->pairs[count];
    copy->count = count;
    for (size_t i = 0; i < count; i++) {
        char *place = stpcpy(at, binds[i].input) + 1;
        copy->pairs[i] = (struct ct_verify_bind){at, place};
        at = stpcpy(place, binds[i].place) + 1;
    }
    return copy;
}

/* Frees the run's own parts of a specification, but not the specification, which still belongs to the
 * caller. */
static void forget(struct ct_live_spec *s)
{
    free(s->name);
    ct_live_view_free(s->view);
    *s = (struct ct_live_spec){0};
}

int ct_live_begin_spec(struct ct_live *l, const char *name, struct ct_monitor_spec *spec,
                       struct ct_live_binds *binds)
{
    uint16_t slot = 0;
    while (slot < l->spec_count && l->specs[slot].name)
        slot++;
    if (slot == LIVE_SPECS)
        return CT_ERR_LIMIT;
    struct ct_live_spec made = {.name = strdup(name),
                                .spec = spec,
                                .binds = binds,
                                .view = ct_live_view_new(spec),
                                .number = l->spec_number + 1,
                                .since = l->analysed};
    const bool whole = made.name && made.view;
    int rc = whole ? ct_verifier_add(l->verifier, spec, name, binds->pairs, binds->count)
                   : ct_fail_nomem(l->ctx, name);
    if (rc) {
        forget(&made);
        return rc;
    }
    if (slot == l->spec_count)
        l->spec_count++;
    l->spec_number++;
    l->specs[slot] = made;
    for (size_t i = 0; !rc && i < 128; i++)
        rc = l->streams[i] && !l->one ? ct_live_stream_spec(l->streams[i], slot) : CT_OK;
    if (!rc)
        rc = one_run_changed(l);
    if (rc) {
        end_spec(l, slot);
        forget(&l->specs[slot]);
    }
    return rc;
}

/* Keeps the text of a specification. If out of memory, reports that and does not show the text. */
static void keep_text(struct ct_live *l, uint16_t slot, const struct ct_live_command *c)
{
    if (c->source && !ct_live_view_text(l->specs[slot].view, c->source, c->source_size))
        ct_live_lack(&l->say);
}

static void add_spec(struct ct_live *l, struct ct_live_command *c)
{
    if (ct_live_find_spec(l, c->name) != LIVE_NONE) {
        answer(c, false,
               "%s: a specification with this name is already running; nothing is added; replace "
               "it, or choose another name",
               c->name);
        return;
    }
    const int rc = ct_live_begin_spec(l, c->name, c->spec, c->binds);
    if (rc == CT_ERR_LIMIT) {
        answer(c, false,
               "%s: %d specifications are running, which is the limit; it is not added; remove one "
               "first",
               c->name, LIVE_SPECS);
    } else if (rc) {
        answer_failed(l, c, rc);
    } else {
        c->spec = NULL;
        c->binds = NULL;
        keep_text(l, ct_live_find_spec(l, c->name), c);
        answer(c, true, "%s runs", c->name);
    }
}

static void remove_spec(struct ct_live *l, struct ct_live_command *c)
{
    const uint16_t slot = ct_live_find_spec(l, c->name);
    if (slot == LIVE_NONE) {
        answer(c, false, LIVE_NO_SPEC, c->name);
        return;
    }
    struct ct_live_spec *spec = &l->specs[slot];
    end_spec(l, slot);
    answer(c, true, "%s was removed: %" PRIu64 " violations in %" PRIu64 " results", c->name,
           spec->violations, spec->results);
    clear(spec);
}

/* Replaces a specification. Binds the new one before the old one ends, so that a faulty one changes
 * nothing. */
static void replace_spec(struct ct_live *l, struct ct_live_command *c)
{
    const uint16_t slot = ct_live_find_spec(l, c->name);
    if (slot == LIVE_NONE) {
        answer(c, false, "%s: no specification with this name is running, so nothing is replaced; add it",
               c->name);
        return;
    }
    struct ct_live_view *view = ct_live_view_new(c->spec);
    int rc = view
                 ? ct_verifier_exchange(l->verifier, slot, c->spec, c->name, c->binds->pairs, c->binds->count)
                 : ct_fail_nomem(l->ctx, c->name);
    const bool begun = view != NULL;
    if (l->one && is_of_old(l->verifier, slot, rc))
        rc = CT_OK;
    if (!rc)
        rc = one_run_changed(l);
    for (size_t i = 0; !rc && i < 128; i++) {
        struct ct_live_stream *s = l->streams[i];
        if (!s || l->one)
            continue;
        rc = ct_verifier_exchange(s->verifier, number_in(s, slot), c->spec, c->name, c->binds->pairs,
                                  c->binds->count);
        if (is_of_old(s->verifier, number_in(s, slot), rc))
            rc = CT_OK;
        if (!rc)
            rc = ct_live_stream_renew(s);
    }
    struct ct_live_spec *spec = &l->specs[slot];
    if (rc)
        ct_live_view_free(view);
    if (begun && rc == CT_ERR_NOMEM) { /* some streams have the new specification, others the old one */
        end_spec(l, slot);
        c->lacking = true;
        answer(c, false,
               "%s; neither the new specification nor the old one is running any more; add it "
               "again",
               ct_ctx_error(l->ctx));
        clear(spec);
        return;
    }
    if (rc) {
        answer_failed(l, c, rc);
        return;
    }
    ct_monitor_spec_free(spec->spec);
    free(spec->binds);
    ct_live_view_free(spec->view);
    *spec = (struct ct_live_spec){.name = spec->name,
                                  .spec = c->spec,
                                  .binds = c->binds,
                                  .view = view,
                                  .number = spec->number,
                                  .since = l->analysed};
    c->spec = NULL;
    c->binds = NULL;
    keep_text(l, slot, c);
    answer(c, true, "%s runs and replaces the old one", c->name);
}

/* ---- filters ---- */

/* Restricts decoding to what passes the filter, unless coverage or times need everything. Sources that others
 * wait for still report their clocks. */
static void narrow(struct ct_live *l, struct ct_live_command *c)
{
    const struct ct_live_filter *f = &l->filter;
    const struct ct_chain_want want = {.size = sizeof want,
                                       .ids = {f->ids[0], f->ids[1]},
                                       .contexts = f->contexts,
                                       .context_count = f->context_count,
                                       .levels = (uint8_t)f->levels,
                                       .keep_clocks = l->one != NULL};
    int rc = ct_live_one_filter(l);
    if (!rc && (l->options.timing || l->options.covered)) {
        answer(c, true,
               "the filter is set; all trace is still decoded, because coverage and times are of "
               "the whole trace");
        return;
    }
    if (!rc)
        rc = ct_chain_narrow(l->chain, &want);
    if (rc)
        answer_failed(l, c, rc);
    else if (f->ids[0] | f->ids[1] || f->context_count || f->levels)
        answer(c, true, "the filter is set; trace outside of it is not decoded");
    else
        answer(c, true, "the filter is removed; all trace is decoded");
}

void ct_live_tell_resumed(struct ct_live *l)
{
    uint64_t offset;
    uint8_t id;
    while (ct_chain_resumed(l->chain, &id, &offset))
        ct_live_say(&l->say, CT_LOG_NOTE,
                    "ID %02x: passes the filter again and is decoded from byte %" PRIu64 " of the input on, "
                    "its next synchronization point",
                    id, offset);
}

/* ---- dispatch ---- */

void ct_live_exchange(struct ct_live *l, struct ct_live_command *c)
{
    c->at = l->analysed;
    switch (c->action) {
    case LIVE_WATCH:
        exchange_places(l, c);
        break;
    case LIVE_MONITOR_ADD:
        add_spec(l, c);
        break;
    case LIVE_MONITOR_REPLACE:
        replace_spec(l, c);
        break;
    case LIVE_MONITOR_REMOVE:
        remove_spec(l, c);
        break;
    case LIVE_FILTER:
        l->filter = c->filter;
        narrow(l, c);
        break;
    case LIVE_STOP:
        answer(c, true, "stops");
        break;
    case LIVE_READ_MONITOR:
    case LIVE_READ_OUTPUTS:
        break; /* ct_live_read answers these requests */
    }
}
