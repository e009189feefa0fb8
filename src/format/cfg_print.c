/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a control flow graph as text, for graphviz and as JSON, and the learnt targets as a file. */
#include "coretap/format.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "format/dot.h"
#include "format/json.h"
#include "base/out.h"

/* The arrays of a graph. */
struct view {
    FILE *out;
    const struct ct_cfg_function *functions;
    const struct ct_cfg_block *blocks;
    const struct ct_cfg_edge *edges;
    const struct ct_cfg_loop *loops;
    const uint32_t *members;
    size_t function_count, block_count, edge_count, loop_count;
    uint32_t only;
};

static struct view look(FILE *out, const struct ct_cfg *cfg, uint32_t only)
{
    size_t members;
    struct view v = {.out = out, .only = only};
    v.functions = ct_cfg_functions(cfg, &v.function_count);
    v.blocks = ct_cfg_blocks(cfg, &v.block_count);
    v.edges = ct_cfg_edges(cfg, &v.edge_count);
    v.loops = ct_cfg_loops(cfg, &v.loop_count);
    v.members = ct_cfg_members(cfg, &members);
    return v;
}

static bool is_wanted(const struct view *v, uint32_t function)
{
    return v->only == CT_CFG_NONE ? v->functions[function].count > 0 : v->only == function;
}

static const char *isa_name(unsigned isa)
{
    static const char *const names[] = {"A64", "A32", "T32"};
    return isa <= CT_ISA_T32 ? names[isa] : "?";
}

static const char *edge_kind(const struct ct_cfg_edge *edge)
{
    return ct_cfg_kind_name((enum ct_cfg_kind)edge->kind);
}

static const char *edge_origin(const struct ct_cfg_edge *edge)
{
    return ct_cfg_origin_name((enum ct_cfg_origin)edge->origin);
}

/* ---- text ---- */

static void text_edge(const struct view *v, uint32_t number)
{
    const struct ct_cfg_edge *edge = &v->edges[number];
    fprintf(v->out, "    e%" PRIu32 " %s", number, edge_kind(edge));
    if (edge->target)
        fprintf(v->out, " 0x%" PRIx64, edge->target);
    if (edge->to != CT_CFG_NONE)
        fprintf(v->out, " b%" PRIu32, edge->to);
    if (edge->to != CT_CFG_NONE && (edge->kind == CT_CFG_CALL || edge->kind == CT_CFG_TAIL))
        fprintf(v->out, " %s", v->functions[v->blocks[edge->to].function].label);
    if (edge->origin != CT_CFG_CODE)
        fprintf(v->out, " (%s)", edge_origin(edge));
    fputs(edge->back ? " (back)\n" : "\n", v->out);
}

static void text_block(const struct view *v, uint32_t number)
{
    const struct ct_cfg_block *block = &v->blocks[number];
    fprintf(v->out, "  b%" PRIu32 " 0x%" PRIx64 "..0x%" PRIx64 " n=%" PRIu32, number, block->start,
            block->last, block->n);
    if (block->loop != CT_CFG_NONE)
        fprintf(v->out, " %s=l%" PRIu32, block->head ? "head" : "loop", block->loop);
    fputc('\n', v->out);
    for (uint32_t e = block->first_out; e != CT_CFG_NONE; e = v->edges[e].next_out)
        text_edge(v, e);
}

static void text_function(const struct view *v, uint32_t number)
{
    const struct ct_cfg_function *f = &v->functions[number];
    fprintf(v->out, "%s 0x%" PRIx64 " %s blocks=%" PRIu32 "%s%s%s%s\n", f->label, f->entry, isa_name(f->isa),
            f->count, f->found ? " (found)" : "", f->no_return ? " (never returns)" : "",
            f->incomplete ? " (targets unknown)" : "", f->irreducible ? " (irreducible)" : "");
    for (uint32_t i = 0; i < f->count; i++)
        text_block(v, v->members[f->first + i]);
}

static void text_loops(const struct view *v)
{
    for (uint32_t i = 0; i < v->loop_count; i++) {
        const struct ct_cfg_loop *loop = &v->loops[i];
        if (!is_wanted(v, loop->function))
            continue;
        fprintf(v->out, "l%" PRIu32 " %s head=b%" PRIu32 " depth=%" PRIu32 " blocks=%" PRIu32, i,
                v->functions[loop->function].label, loop->head, loop->depth, loop->blocks);
        if (loop->parent != CT_CFG_NONE)
            fprintf(v->out, " in=l%" PRIu32, loop->parent);
        fputs(loop->irreducible ? " (irreducible)\n" : "\n", v->out);
    }
}

static void print_text(FILE *out, const struct ct_cfg *cfg, uint32_t function)
{
    struct view v = look(out, cfg, function);
    fprintf(out, "# functions=%zu blocks=%zu edges=%zu loops=%zu\n", v.function_count, v.block_count,
            v.edge_count, v.loop_count);
    for (uint32_t i = 0; i < v.function_count; i++)
        if (is_wanted(&v, i))
            text_function(&v, i);
    text_loops(&v);
}

/* ---- the file of targets ---- */

static bool has_learnt(const struct view *v, const struct ct_cfg_block *block)
{
    for (uint32_t e = block->first_out; e != CT_CFG_NONE; e = v->edges[e].next_out)
        if (v->edges[e].origin == CT_CFG_LEARNT)
            return true;
    return false;
}

/* Returns an address with bit 0 set for T32 code, as in a symbol of the program. */
static uint64_t marked(const struct ct_cfg_block *block, uint64_t addr)
{
    return block->isa == CT_ISA_T32 ? addr | 1 : addr;
}

static void learnt_line(const struct view *v, const struct ct_cfg_block *block)
{
    const struct ct_cfg_function *f = &v->functions[block->function];
    fprintf(v->out, "learnt 0x%" PRIx64 ":", marked(block, block->last));
    for (uint32_t e = block->first_out; e != CT_CFG_NONE; e = v->edges[e].next_out)
        if (v->edges[e].origin == CT_CFG_LEARNT)
            fprintf(v->out, " 0x%" PRIx64, marked(&v->blocks[v->edges[e].to], v->edges[e].target));
    fprintf(v->out, " # %s+0x%" PRIx64 "\n", f->label, block->last - f->entry);
}

static void print_learnt(FILE *out, const struct ct_cfg *cfg, uint32_t function)
{
    struct view v = look(out, cfg, function);
    for (uint32_t i = 0; i < v.function_count; i++)
        for (uint32_t k = 0; is_wanted(&v, i) && k < v.functions[i].count; k++) {
            const struct ct_cfg_block *block = &v.blocks[v.members[v.functions[i].first + k]];
            if (has_learnt(&v, block))
                learnt_line(&v, block);
        }
}

/* ---- graphviz ---- */

static void dot_block(const struct view *v, uint32_t number)
{
    const struct ct_cfg_block *block = &v->blocks[number];
    fprintf(v->out,
            "    b%" PRIu32 " [label=\"b%" PRIu32 "\\n0x%" PRIx64 "..0x%" PRIx64 "\\n%" PRIu32
            " instructions\"%s];\n",
            number, number, block->start, block->last, block->n, block->head ? ", peripheries=2" : "");
}

static void dot_edge(const struct view *v, uint32_t number)
{
    static const char *const styles[] = {
        [CT_CFG_NEXT] = "solid",    [CT_CFG_BRANCH] = "bold", [CT_CFG_CALL] = "dashed",
        [CT_CFG_CALLED] = "dotted", [CT_CFG_TAIL] = "dashed", [CT_CFG_RETURN] = "dotted",
        [CT_CFG_UNKNOWN] = "dotted"};
    const struct ct_cfg_edge *edge = &v->edges[number];
    fprintf(v->out, "  b%" PRIu32 " -> ", edge->from);
    if (edge->to != CT_CFG_NONE && is_wanted(v, v->blocks[edge->to].function))
        fprintf(v->out, "b%" PRIu32, edge->to);
    else if (edge->to != CT_CFG_NONE)
        fprintf(v->out, "f%" PRIu32, v->blocks[edge->to].function);
    else
        fputs(edge->kind == CT_CFG_RETURN ? "return" : "unknown", v->out);
    fprintf(v->out, " [label=\"e%" PRIu32, number);
    if (edge->origin != CT_CFG_CODE)
        fprintf(v->out, " %s", edge_origin(edge));
    fprintf(v->out, "\", style=%s%s];\n", styles[edge->kind], edge->back ? ", constraint=false" : "");
}

static void dot_function(const struct view *v, uint32_t number)
{
    const struct ct_cfg_function *f = &v->functions[number];
    fprintf(v->out, "  subgraph cluster_%" PRIu32 " {\n    label=\"", number);
    ct_dot_text(v->out, f->label);
    fputs("\";\n", v->out);
    for (uint32_t i = 0; i < f->count; i++)
        dot_block(v, v->members[f->first + i]);
    fputs("  }\n", v->out);
}

/* Writes one node for each other function that edges enter, when the graph shows a single function. */
static void dot_others(const struct view *v)
{
    for (size_t e = 0; e < v->edge_count && v->only != CT_CFG_NONE; e++) {
        const struct ct_cfg_edge *edge = &v->edges[e];
        if (edge->to == CT_CFG_NONE || v->blocks[edge->from].function != v->only ||
            v->blocks[edge->to].function == v->only)
            continue;
        fprintf(v->out, "  f%" PRIu32 " [label=\"", v->blocks[edge->to].function);
        ct_dot_text(v->out, v->functions[v->blocks[edge->to].function].label);
        fputs("\", shape=ellipse];\n", v->out);
    }
}

static void print_dot(FILE *out, const struct ct_cfg *cfg, uint32_t function)
{
    struct view v = look(out, cfg, function);
    fputs("digraph program {\n  node [shape=box, fontname=monospace];\n"
          "  return [shape=plaintext];\n  unknown [shape=plaintext, label=\"?\"];\n",
          out);
    for (uint32_t i = 0; i < v.function_count; i++)
        if (is_wanted(&v, i))
            dot_function(&v, i);
    dot_others(&v);
    for (uint32_t e = 0; e < v.edge_count; e++)
        if (is_wanted(&v, v.blocks[v.edges[e].from].function))
            dot_edge(&v, e);
    fputs("}\n", out);
}

/* ---- JSON ---- */

static void json_number(struct ct_json *json, const char *key, uint32_t number)
{
    if (number == CT_CFG_NONE)
        ct_json_text(json, key, NULL);
    else
        ct_json_number(json, key, number);
}

static void json_edge(const struct view *v, struct ct_json *json, uint32_t number)
{
    const struct ct_cfg_edge *edge = &v->edges[number];
    ct_json_object(json, NULL);
    ct_json_number(json, "id", number);
    ct_json_text(json, "kind", edge_kind(edge));
    ct_json_text(json, "origin", edge_origin(edge));
    json_number(json, "to", edge->to);
    if (edge->target)
        ct_json_address(json, "target", edge->target);
    ct_json_bool(json, "back", edge->back);
    ct_json_object_end(json);
}

static void json_block(const struct view *v, struct ct_json *json, uint32_t number)
{
    const struct ct_cfg_block *block = &v->blocks[number];
    ct_json_object(json, NULL);
    ct_json_number(json, "id", number);
    ct_json_address(json, "start", block->start);
    ct_json_address(json, "last", block->last);
    ct_json_address(json, "end", block->end);
    ct_json_number(json, "instructions", block->n);
    json_number(json, "loop", block->loop);
    json_number(json, "dominator", block->dominator);
    ct_json_array(json, "edges");
    for (uint32_t e = block->first_out; e != CT_CFG_NONE; e = v->edges[e].next_out)
        json_edge(v, json, e);
    ct_json_array_end(json);
    ct_json_object_end(json);
}

static void json_function(const struct view *v, struct ct_json *json, uint32_t number)
{
    const struct ct_cfg_function *f = &v->functions[number];
    ct_json_object(json, NULL);
    ct_json_number(json, "id", number);
    ct_json_text(json, "name", f->label);
    ct_json_address(json, "entry", f->entry);
    ct_json_text(json, "isa", isa_name(f->isa));
    ct_json_bool(json, "symbol", !f->found);
    ct_json_bool(json, "returns", !f->no_return);
    ct_json_bool(json, "complete", !f->incomplete);
    ct_json_array(json, "blocks");
    for (uint32_t i = 0; i < f->count; i++)
        json_block(v, json, v->members[f->first + i]);
    ct_json_array_end(json);
    ct_json_object_end(json);
}

static void json_loop(const struct view *v, struct ct_json *json, uint32_t number)
{
    const struct ct_cfg_loop *loop = &v->loops[number];
    ct_json_object(json, NULL);
    ct_json_number(json, "id", number);
    ct_json_number(json, "function", loop->function);
    ct_json_number(json, "head", loop->head);
    json_number(json, "parent", loop->parent);
    ct_json_number(json, "depth", loop->depth);
    ct_json_number(json, "blocks", loop->blocks);
    ct_json_bool(json, "irreducible", loop->irreducible);
    ct_json_object_end(json);
}

static void print_json(FILE *out, const struct ct_cfg *cfg, uint32_t function)
{
    struct view v = look(out, cfg, function);
    struct ct_json json = {.out = out};
    ct_json_object(&json, NULL);
    ct_json_array(&json, "functions");
    for (uint32_t i = 0; i < v.function_count; i++)
        if (is_wanted(&v, i))
            json_function(&v, &json, i);
    ct_json_array_end(&json);
    ct_json_array(&json, "loops");
    for (uint32_t i = 0; i < v.loop_count; i++)
        if (is_wanted(&v, v.loops[i].function))
            json_loop(&v, &json, i);
    ct_json_array_end(&json);
    ct_json_object_end(&json);
}

/* ---- writing to a receiver ---- */

static void write_as(FILE *out, const struct ct_cfg *cfg, uint32_t function, unsigned format)
{
    switch (format) {
    case CT_CFG_FORMAT_DOT:
        print_dot(out, cfg, function);
        break;
    case CT_CFG_FORMAT_JSON:
        print_json(out, cfg, function);
        break;
    case CT_CFG_FORMAT_LEARNT:
        print_learnt(out, cfg, function);
        break;
    default:
        print_text(out, cfg, function);
        break;
    }
}

int ct_cfg_write(struct ct_ctx *ctx, const struct ct_cfg *cfg, const struct ct_cfg_write_options *options,
                 ct_write_fn *write, void *user)
{
    struct ct_cfg_write_options mine;
    struct ct_out out;
    size_t count;
    CT_REQUIRE(ctx, cfg, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    if (mine.format > CT_CFG_FORMAT_LEARNT)
        return ct_fail(ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                       mine.format);
    const struct ct_cfg_function *functions = ct_cfg_functions(cfg, &count);
    const uint32_t function = mine.function ? (uint32_t)(mine.function - functions) : CT_CFG_NONE;
    if (mine.function && function >= count)
        return ct_fail(ctx, CT_ERR_ARG, "%s: the function is not in the graph; nothing was written",
                       __func__);
    const int rc = ct_out_open(&out, ctx, write, user);
    if (rc)
        return rc;
    write_as(out.file, cfg, function, mine.format);
    return ct_out_close(&out, CT_OK);
}
