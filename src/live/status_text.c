/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the content of a live run's page in words. */
#include <inttypes.h>

#include "live/live.h"
#include "base/require.h"
#include "live/progress.h"

/* Writes a ratio, rounded down like in other reports, so that incomplete coverage is never 100 %. */
static void say_ratio(struct ct_live_text *out, const char *name, struct ct_cover_ratio r)
{
    const uint64_t tenths = r.all ? r.seen * 1000 / r.all : 0;
    ct_live_text_print(out, "  %-10s %" PRIu64 " of %" PRIu64 " (%" PRIu64 ".%" PRIu64 " %%)\n", name, r.seen,
                       r.all, tenths / 10, tenths % 10);
}

static void say_place(struct ct_live_text *out, const struct ct_live_place *place)
{
    ct_live_text_print(out, "watchpoint ");
    ct_live_text_put(out, place->text);
    ct_live_text_print(out, ": %" PRIu64 " hits\n", place->hits);
}

static void say_sum(struct ct_live_text *out, const char *place, uint64_t hits, const char *kind)
{
    ct_live_text_print(out, "%" PRIu64 "\t", hits);
    ct_live_text_put(out, place);
    ct_live_text_print(out, "%s%s\n", *kind ? " " : "", kind);
}

/* Writes the lines of a place as sums of watchpoints have them: entries and returns of a function apart. A
 * place that nothing came by has no kind. */
static void say_sums(struct ct_live_text *out, const struct ct_live_place *place)
{
    const uint64_t others = place->hits - place->returns;
    const enum ct_watch_kind kind = place->first.kind == CT_WATCH_RETURN ? CT_WATCH_ENTRY : place->first.kind;
    if (others || !place->hits)
        say_sum(out, place->text, others, others ? ct_watch_kind_name(kind) : "");
    if (place->returns)
        say_sum(out, place->text, place->returns, ct_watch_kind_name(CT_WATCH_RETURN));
}

int ct_live_places_write(struct ct_live *l, ct_write_fn *write, void *user)
{
    struct ct_live_text text = {0};
    CT_REQUIRE_OF(l, write);
    for (size_t i = 0; i < l->place_count; i++)
        if (l->places[i].on)
            say_sums(&text, &l->places[i]);
    return ct_live_text_give(&text, l->ctx, "watchpoints", write, user);
}

static void say_spec(struct ct_live_text *out, const struct ct_live_spec *spec)
{
    ct_live_text_print(out, "monitor ");
    ct_live_text_put(out, spec->name);
    ct_live_text_print(out, ": %" PRIu64 " violations in %" PRIu64 " results", spec->violations,
                       spec->results);
    uint64_t since;
    if (spec->failure[0]) {
        ct_live_text_print(out, "; failed: ");
        ct_live_text_put(out, spec->failure);
    } else if (ct_live_view_doubt(spec->view, &since)) {
        ct_live_text_print(out, "; uncertain since %" PRIu64, since);
    }
    ct_live_text_print(out, "\n");
}

static void say_kept(struct ct_live_text *out, const struct ct_live_intake *intake)
{
    ct_live_text_print(out, "kept: %" PRIu64 " bytes in ", intake->kept);
    ct_live_text_put(out, intake->tee);
    ct_live_text_print(out, "%s%s\n", intake->trouble ? "; cannot be written any more: " : "",
                       intake->trouble ? intake->trouble : "");
}

static void say_intake(struct ct_live_text *out, const struct ct_live_ring_state *input)
{
    const struct ct_live_intake *intake = &input->intake;
    const double seconds = ct_live_now() - intake->since;
    if (intake->waits && !input->ended)
        ct_live_text_print(out, "connection: none, for %.1f s, %" PRIu64 " attempts; %" PRIu64 " before\n",
                           seconds, intake->tries, intake->connections);
    else if (intake->connects)
        ct_live_text_print(out,
                           "connection: number %" PRIu64 ", for %.1f s; %" PRIu64 " breaks in the trace\n",
                           intake->connections, seconds, input->breaks);
    if (intake->tee)
        say_kept(out, intake);
}

void ct_live_status_text(struct ct_live *l, struct ct_live_text *out)
{
    const struct ct_live_ring_state input = ct_live_look(l);
    ct_live_text_put(out, ct_live_name_of(l));
    ct_live_text_print(out, ": %" PRIu64 " bytes analysed in %.1f s, %.1f MB/s, %zu of %zu bytes waiting\n",
                       l->analysed, ct_live_now() - l->begun, l->rate / 1e6, input.fill, input.size);
    const struct ct_losses losses = ct_chain_losses(l->chain);
    char words[CT_LOSSES_WORDS];
    ct_live_text_print(out, "losses: %s\n", ct_losses_words(words, &losses));
    ct_live_text_print(out, "dropped: %" PRIu64 " bytes at %" PRIu64 " places\n", input.lost, input.losses);
    say_intake(out, &input);
    if (l->options.covered) {
        ct_live_text_print(out, "coverage:\n");
        say_ratio(out, "functions", l->sums.functions);
        say_ratio(out, "lines", l->sums.lines);
        say_ratio(out, "branches", l->sums.branches);
        if (ct_live_outside(l).seen)
            say_ratio(out, "instructions in no program", ct_live_outside(l));
    }
    for (size_t i = 0; i < l->place_count; i++)
        if (l->places[i].on)
            say_place(out, &l->places[i]);
    ct_live_say_progress(l, out);
    for (size_t i = 0; i < l->spec_count; i++)
        if (l->specs[i].name)
            say_spec(out, &l->specs[i]);
}
