/* SPDX-License-Identifier: Apache-2.0 */
/* Writes coverage as JSON. */
#include "format/cover.h"
#include "format/json.h"

#include <string.h>

static void ratio(struct ct_json *json, const char *key, struct ct_cover_ratio ratio)
{
    ct_json_object(json, key);
    ct_json_number(json, "seen", ratio.seen);
    ct_json_number(json, "all", ratio.all);
    ct_json_object_end(json);
}

static void known(struct ct_json *json, const char *key, bool is_known, uint32_t value)
{
    if (is_known)
        ct_json_number(json, key, value);
    else
        ct_json_text(json, key, NULL);
}

static void unobservable(struct ct_json *json, uint64_t executed, uint64_t all)
{
    ct_json_object(json, "unobservable_conditions");
    ct_json_number(json, "executed", executed);
    ct_json_number(json, "all", all);
    ct_json_object_end(json);
}

static void sums(struct ct_json *json, const struct ct_cover_sums *sums)
{
    ct_json_object(json, "sums");
    ratio(json, "functions", sums->functions);
    ratio(json, "lines", sums->lines);
    ratio(json, "instructions", sums->insns);
    ratio(json, "branches", sums->branches);
    ratio(json, "conditions", sums->conditions);
    ratio(json, "calls", sums->calls);
    ct_json_number(json, "partial_lines", sums->partial_lines);
    ct_json_number(json, "joined_lines", sums->joined_lines);
    unobservable(json, sums->hidden.seen, sums->hidden.all);
    ct_json_object_end(json);
}

static void units(struct ct_json *json, const struct ct_cover_report *report)
{
    ct_json_object(json, "compile_units");
    ct_json_number(json, "optimised", report->optimised_units);
    ct_json_number(json, "all", report->units);
    ct_json_object_end(json);
}

static void contexts(struct ct_json *json, const struct ct_cover_view *view)
{
    ct_json_array(json, "contexts");
    for (size_t i = 0; i < view->context_count; i++) {
        const struct ct_edge_context *c = &view->contexts[i].context;
        ct_json_object(json, NULL);
        known(json, "context_id", c->known & CT_CONTEXT_CTXT, c->ctxt);
        known(json, "vmid", c->known & CT_CONTEXT_VMID, c->vmid);
        known(json, "exception_level", c->known & CT_CONTEXT_EL, c->el_sec & 3u);
        ct_json_bool(json, "others", c->others);
        sums(json, &view->contexts[i].sums);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

static void functions(struct ct_json *json, const struct ct_cover_view *view)
{
    ct_json_array(json, "functions");
    for (size_t i = 0; i < view->report->function_count; i++) {
        const struct ct_cover_function *f = &view->report->functions[i];
        ct_json_object(json, NULL);
        ct_json_text(json, "name", f->name);
        if (strcmp(f->name, f->linkage_name) != 0)
            ct_json_text(json, "linkage_name", f->linkage_name);
        ct_json_number(json, "address", f->addr);
        ct_json_text(json, "file", ct_lines_file(view->lines, f->file));
        ct_json_number(json, "line", f->line);
        ct_json_number(json, "count", f->count);
        ratio(json, "instructions", (struct ct_cover_ratio){f->insns_run, f->insns});
        ratio(json, "lines", (struct ct_cover_ratio){f->lines_run, f->lines});
        ratio(json, "branches", (struct ct_cover_ratio){f->branches_run, f->branches});
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

static void branch(struct ct_json *json, const struct ct_cover_insn *insn)
{
    ct_json_object(json, NULL);
    ct_json_number(json, "address", insn->addr);
    ct_json_number(json, "taken", insn->taken);
    ct_json_number(json, "not_taken", insn->not_taken);
    ct_json_object_end(json);
}

static void line(struct ct_json *json, const struct ct_cover_report *report, const struct ct_cover_line *line)
{
    ct_json_object(json, NULL);
    ct_json_number(json, "line", line->line);
    ct_json_number(json, "count", line->count);
    ct_json_number(json, "instructions", line->insns);
    ct_json_number(json, "instructions_run", line->insns_run);
    if (line->branches) {
        ct_json_array(json, "branches");
        for (uint32_t i = 0; i < line->branches; i++)
            branch(json, &report->insns[report->branches[line->first_branch + i]]);
        ct_json_array_end(json);
    }
    if (line->joined)
        ct_json_number(json, "joined_conditions", line->joined);
    if (line->hidden)
        unobservable(json, line->hidden_run, line->hidden);
    ct_json_object_end(json);
}

static void files(struct ct_json *json, const struct ct_cover_view *view)
{
    struct ct_cover_slice slice = {0};
    ct_json_array(json, "files");
    while (ct_cover_next_file(view, &slice)) {
        struct ct_cover_sums file = ct_cover_file_sums(view, &slice);
        ct_json_object(json, NULL);
        ct_json_text(json, "path", slice.path);
        ratio(json, "covered_lines", file.lines);
        ct_json_array(json, "lines");
        for (size_t i = 0; i < slice.count; i++)
            line(json, view->report, &slice.lines[i]);
        ct_json_array_end(json);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

/* Writes the calls and jumps whose instruction does not tell the target, with their targets. */
static void arcs(struct ct_json *json, const struct ct_cover_view *view)
{
    ct_json_array(json, "calls");
    for (size_t i = 0; i < view->report->arc_count; i++) {
        const struct ct_cover_arc *arc = &view->report->arcs[i];
        ct_json_object(json, NULL);
        ct_json_number(json, "from", arc->from);
        ct_json_number(json, "to", arc->to);
        ct_json_number(json, "count", arc->count);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

/* Writes how many instructions ran, and the addresses of those in no program. */
static void share(struct ct_json *json, const struct ct_cover_share *share)
{
    const struct ct_holes *outside = &share->outside;
    ct_json_number(json, "instructions", share->ran);
    ct_json_object(json, "outside");
    ct_json_number(json, "instructions", ct_holes_total(outside));
    ct_json_array(json, "regions");
    for (uint64_t i = 0; i < outside->count; i++) {
        ct_json_object(json, NULL);
        ct_json_number(json, "low", outside->all[i].low);
        ct_json_number(json, "high", outside->all[i].high);
        ct_json_number(json, "instructions", outside->all[i].count);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
    ct_json_number(json, "elsewhere", outside->others);
    if (share->untold)
        ct_json_bool(json, "untold", true);
    ct_json_object_end(json);
}

void ct_cover_json(FILE *out, const struct ct_cover_views *views)
{
    struct ct_json json = {.out = out};
    ct_json_object(&json, NULL);
    ct_json_array(&json, "programs");
    for (size_t i = 0; i < views->count; i++) {
        const struct ct_cover_view *view = &views->views[i];
        ct_json_object(&json, NULL);
        ct_json_text(&json, "program", view->program);
        ct_json_bool(&json, "ran", view->report->sums.insns.seen || view->report->elsewhere);
        sums(&json, &view->report->sums);
        units(&json, view->report);
        ct_json_number(&json, "unread_files", view->report->unread_files);
        if (view->contexts)
            contexts(&json, view);
        functions(&json, view);
        files(&json, view);
        arcs(&json, view);
        ct_json_object_end(&json);
    }
    ct_json_array_end(&json);
    share(&json, &views->share);
    if (views->captures.known)
        ct_losses_json(&json, &views->captures.losses, CT_LOSSES_PROGRAM);
    if (views->captures.unknown)
        ct_json_number(&json, "losses_unknown", views->captures.unknown);
    ct_json_object_end(&json);
    fputc('\n', out);
}
