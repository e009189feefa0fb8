/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles of stacks: folded lines, and slices of time for Chrome's and Perfetto's viewers. */
#include "base/ctx.h"
#include "base/options.h"
#include "coretap/format.h"
#include "base/out.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

/* Writes a name without the characters that have a meaning in a folded line. */
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

/* ---- slices ---- */

struct ct_slice_writer {
    struct ct_ctx *ctx;
    struct ct_out out;
    struct ct_slice_write_options options;
    uint64_t count; /* slices that were written */
};

static void begin(const struct ct_slice_writer *writer)
{
    fprintf(writer->out.file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"%s\"},\"traceEvents\":[",
            writer->options.cycles ? "cycles" : "instructions");
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

static void put_slice(struct ct_slice_writer *writer, const struct ct_stacks *stacks,
                      const struct ct_stack_slice *slice)
{
    const struct ct_slice_write_options *o = &writer->options;
    FILE *out = writer->out.file;
    uint64_t from = o->cycles ? slice->cycles_from : slice->insns_from;
    uint64_t to = o->cycles ? slice->cycles_to : slice->insns_to;
    from = from < o->from ? o->from : from;
    to = to > o->to ? o->to : to;
    if (from >= to)
        return;
    if (!writer->count)
        begin(writer);
    fprintf(out, "%s\n{\"ph\":\"X\",\"name\":\"", writer->count ? "," : "");
    put_json_name(out, ct_stacks_name(stacks, slice->function));
    fprintf(out, "\",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "}", from,
            to - from, slice->lane, slice->ctxt);
    writer->count++;
}

int ct_slice_writer_new(struct ct_ctx *ctx, const struct ct_slice_write_options *options, ct_write_fn *write,
                        void *user, struct ct_slice_writer **out)
{
    struct ct_slice_write_options o;
    if (!write || !out)
        return ct_fail_null(ctx, __func__);
    int rc = ct_options_read(ctx, __func__, options, &o, sizeof o);
    if (rc)
        return rc;
    struct ct_slice_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return ct_fail_nomem(ctx, "slices");
    writer->ctx = ctx;
    writer->options = o;
    writer->options.to = o.to ? o.to : UINT64_MAX;
    rc = ct_out_open(&writer->out, ctx, write, user);
    if (rc)
        free(writer);
    else
        *out = writer;
    return rc;
}

void ct_slice_writer_free(struct ct_slice_writer *writer)
{
    if (writer)
        ct_out_close(&writer->out, CT_OK);
    free(writer);
}

int ct_slice_writer_add(struct ct_slice_writer *writer, const struct ct_stacks *stacks)
{
    size_t count;
    if (!writer || !stacks)
        return ct_fail_null(writer ? writer->ctx : NULL, __func__);
    const struct ct_stack_slice *slices = ct_stacks_slices(stacks, &count);
    for (size_t i = 0; i < count; i++)
        put_slice(writer, stacks, &slices[i]);
    return writer->out.result;
}

int ct_slice_writer_end(struct ct_slice_writer *writer)
{
    if (!writer)
        return ct_fail_null(NULL, __func__);
    if (!writer->count)
        begin(writer);
    fputs("\n]}\n", writer->out.file);
    fflush(writer->out.file);
    return writer->out.result;
}

uint64_t ct_slice_writer_count(const struct ct_slice_writer *writer)
{
    return writer ? writer->count : 0;
}
