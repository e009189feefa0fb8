/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of stacks: folded lines, and slices of time for Chrome's and Perfetto's viewers. */
#include "base/ctx.h"
#include "base/options.h"
#include "coretap/format.h"
#include "format/out.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>

/* A name without what has a meaning in a folded line. */
static void put_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(*name == ';' || (unsigned char)*name <= ' ' ? '_' : *name, out);
}

static int put_folded(FILE *out, const struct ct_stack_found *found, bool cycles)
{
    const struct ct_stack_place *places = found->places;
    uint32_t *path = malloc((found->place_count + 1) * sizeof *path);
    if (!path)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < found->place_count; i++) {
        const uint64_t weight = cycles ? places[i].cycles : places[i].insns;
        size_t depth = 0;
        if (weight == 0)
            continue;
        for (uint32_t at = (uint32_t)i; at != CT_STACK_NONE; at = places[at].parent)
            path[depth++] = at;
        while (depth) {
            put_name(out, found->functions[places[path[--depth]].function].label);
            if (depth)
                fputc(';', out);
        }
        fprintf(out, " %" PRIu64 "\n", weight);
    }
    free(path);
    return CT_OK;
}

int ct_stack_sums_write(struct ct_stack_sums *sums, const struct ct_stack_write_options *options,
                        ct_write_fn *write, void *user)
{
    const struct ct_analysis *analysis = ct_stack_sums_analysis(sums);
    struct ct_ctx *ctx = analysis ? analysis->ctx : NULL;
    struct ct_stack_write_options mine;
    struct ct_stack_found found;
    struct ct_out out;
    if (!analysis || !write)
        return ct_fail_null(ctx, __func__);
    int rc = ct_options_read(ctx, __func__, options, &mine, sizeof mine);
    if (!rc)
        rc = ct_stack_sums_find(sums, &found);
    if (!rc)
        rc = ct_out_open(&out, ctx, write, user);
    return rc ? rc : ct_out_close(&out, put_folded(out.file, &found, mine.cycles));
}

static void begin(const struct ct_profile_slices *slices)
{
    fprintf(slices->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"%s\"},\"traceEvents\":[",
            slices->cycles ? "cycles" : "instructions");
}

static void put_json_name(FILE *out, const char *name)
{
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
}

void ct_profile_slices(struct ct_profile_slices *slices, const struct ct_stacks *stacks)
{
    size_t count;
    const struct ct_stack_slice *all = ct_stacks_slices(stacks, &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t from = slices->cycles ? all[i].cycles_from : all[i].insns_from;
        uint64_t to = slices->cycles ? all[i].cycles_to : all[i].insns_to;
        from = from < slices->from ? slices->from : from;
        to = to > slices->to ? slices->to : to;
        if (from >= to)
            continue;
        if (!slices->any)
            begin(slices);
        fprintf(slices->out, "%s\n{\"ph\":\"X\",\"name\":\"", slices->any ? "," : "");
        put_json_name(slices->out, ct_stacks_name(stacks, all[i].function));
        fprintf(slices->out,
                "\",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "}", from,
                to - from, all[i].lane, all[i].ctxt);
        slices->any = true;
    }
}

void ct_profile_slices_end(struct ct_profile_slices *slices)
{
    if (!slices->any)
        begin(slices);
    fputs("\n]}\n", slices->out);
}
