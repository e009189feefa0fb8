/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes files of bounds for a small program, and bounds in comments of sources. What must hold: bounds are
 * numbers that a model can have, a refused text is refused with its line, and each line of a source has its
 * place. */
#include "cfg_check.h"
#include "analysis/wcet.h"
#include "fuzz.h"
#include "language_program.h"

#define MOST_BYTES 4096

static void check_rules(const struct ct_wcet *w)
{
    size_t blocks, edges, functions, count;
    ct_cfg_blocks(w->cfg, &blocks);
    ct_cfg_edges(w->cfg, &edges);
    ct_cfg_functions(w->cfg, &functions);
    const struct ct_wcet_loop *loops = ct_wcet_loops(w, &count);
    for (size_t i = 0; i < count; i++)
        require(loops[i].bound <= INT32_MAX);
    for (size_t i = 0; i < w->depth_count; i++)
        require(w->depths[i].function < functions && w->depths[i].runs <= INT32_MAX);
    for (size_t i = 0; i < w->rule_count; i++)
        require(w->rules[i].sense <= CT_ILP_GE && w->rules[i].first + w->rules[i].count <= w->term_count);
    for (size_t i = 0; i < w->term_count; i++)
        require(w->terms[i].block < blocks || (w->terms[i].block == CT_CFG_NONE && w->terms[i].edge < edges));
}

static void check_file(const char *text)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_cfg *cfg;
    struct ct_wcet *w;
    language_program(file);
    require(ct_cfg_load_bytes(ctx, "fuzz", file, sizeof file, NULL, &cfg) == CT_OK);
    require(ct_wcet_new(ctx, cfg, NULL, &w) == CT_OK);
    if (ct_wcet_bounds(w, "bounds", text) == CT_OK)
        check_rules(w);
    else
        require(strncmp(ct_ctx_error(ctx), "bounds:", 7) == 0);
    ct_wcet_free(w);
    ct_cfg_free(cfg);
    ct_ctx_free(ctx);
}

static void check_comments(const char *text, size_t size)
{
    struct ct_wcet_comment *bounds;
    uint32_t count;
    uint32_t lines = size && text[size - 1] != '\n';
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    require(ct_wcet_comment_bounds(text, size, &bounds, &count) == CT_OK && count == lines);
    for (uint32_t i = 0; i < count; i++)
        require(bounds[i].bound <= INT32_MAX);
    free(bounds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MOST_BYTES)
        return 0;
    char *text = language_text(data, size);
    check_file(text);
    check_comments(text, size);
    free(text);
    return 0;
}
