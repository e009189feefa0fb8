/* SPDX-License-Identifier: Apache-2.0 */
/* An analysis of one's own: how many instructions ran in each page of code. It only fills in a table of
 * functions (coretap/analysis.h), and gets threads, several captures, merging and saving for free:
 *
 *     pages CAPTURE...            prints the pages, of all captures together
 *     pages -o FILE CAPTURE...    saves them; a saved file may be given instead of a capture */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coretap/analysis.h>
#include <coretap/session.h>

#define PAGE UINT64_C(4096)

struct page {
    uint64_t addr, insns;
};

struct pages {
    struct ct_analysis analysis; /* must be the first member */
    struct page *all;            /* sorted by address */
    size_t count;
};

static const struct ct_analysis_kind kind;

static struct pages *of(struct ct_analysis *analysis)
{
    return (struct pages *)analysis;
}

static int add(struct pages *p, uint64_t addr, uint64_t insns)
{
    size_t at = 0;
    while (at < p->count && p->all[at].addr < addr)
        at++;
    if (at < p->count && p->all[at].addr == addr) {
        p->all[at].insns += insns;
        return CT_OK;
    }
    struct page *all = realloc(p->all, (p->count + 1) * sizeof *all);
    if (!all)
        return CT_ERR_NOMEM;
    memmove(all + at + 1, all + at, (p->count - at) * sizeof *all);
    all[at] = (struct page){addr, insns};
    p->all = all;
    p->count++;
    return CT_OK;
}

static int new_pages(struct ct_ctx *ctx, struct ct_analysis **out)
{
    struct pages *p = calloc(1, sizeof *p);
    if (!p)
        return CT_ERR_NOMEM;
    p->analysis.kind = &kind;
    p->analysis.ctx = ctx;
    *out = &p->analysis;
    return CT_OK;
}

static int part(const struct ct_analysis *whole, struct ct_analysis **out)
{
    return new_pages(whole->ctx, out);
}

/* Adds how often each edge of the program was taken. Its node is straight code that ran as often. */
static int take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    uint32_t node_count, edge_count;
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &node_count);
    const struct ct_edge *edges = ct_graph_edges(batch->graph, &edge_count);
    int rc = CT_OK;
    for (uint32_t i = 0; i < edge_count && !rc; i++) {
        const struct ct_node *node = &nodes[edges[i].from];
        const uint64_t count = ct_edges_get(batch->edges, CT_EDGES_ALL, i).count;
        if (count)
            rc = add(of(analysis), node->start & ~(PAGE - 1), count * node->n);
    }
    return rc;
}

static int merge(struct ct_analysis *into, struct ct_analysis *from)
{
    int rc = CT_OK;
    for (size_t i = 0; i < of(from)->count && !rc; i++)
        rc = add(of(into), of(from)->all[i].addr, of(from)->all[i].insns);
    return rc;
}

static int save(struct ct_analysis *analysis, struct ct_save *to)
{
    int rc = CT_OK;
    for (size_t i = 0; i < of(analysis)->count && !rc; i++)
        rc = ct_save_line(to, "page %" PRIx64 " %" PRIu64, of(analysis)->all[i].addr,
                          of(analysis)->all[i].insns);
    return rc;
}

static int load(struct ct_analysis *analysis, struct ct_load *from)
{
    uint64_t addr, insns;
    int rc = CT_OK;
    while (!rc && ct_load_line(from)) {
        if (!ct_load_is(from, 0, "page") || from->word_count != 3 || !ct_load_number(from, 1, 16, &addr) ||
            !ct_load_number(from, 2, 10, &insns))
            return ct_load_bad(from, "a page is 'page ADDRESS INSTRUCTIONS'");
        rc = add(of(analysis), addr, insns);
    }
    return rc;
}

static void free_pages(struct ct_analysis *analysis)
{
    free(of(analysis)->all);
    free(analysis);
}

static const struct ct_analysis_kind kind = {
    .size = sizeof(struct ct_analysis_kind),
    .name = "pages",
    .writer = "pages -o",
    .version = 1,
    .inputs = CT_INPUT_COUNTS,
    .part = part,
    .take = take,
    .merge = merge,
    .save = save,
    .load = load,
    .free = free_pages,
};

/* ---- the program around it ---- */

static int write_piece(void *file, const void *data, size_t size)
{
    return fwrite(data, 1, size, file) == size ? CT_OK : CT_ERR_IO;
}

/* Returns whether the file is a saved analysis, and then copies it to `bytes`. */
static int read_saved(const char *path, char *bytes, size_t room, size_t *size)
{
    FILE *file = fopen(path, "rb");
    *size = file ? fread(bytes, 1, room, file) : 0;
    if (file)
        fclose(file);
    return ct_analysis_is_saved(&kind, bytes, *size);
}

static int read_one(struct ct_ctx *ctx, struct ct_session *session, struct ct_analysis *pages,
                    const char *path)
{
    static char bytes[1 << 20];
    size_t size;
    if (read_saved(path, bytes, sizeof bytes, &size))
        return ct_analysis_load(pages, path, bytes, size);
    struct ct_capture *capture = NULL;
    int rc = ct_capture_open(ctx, path, &capture);
    if (!rc)
        rc = ct_session_run(session, capture, capture->buffers, capture->buffer_count);
    ct_capture_free(capture);
    return rc;
}

static int show(struct ct_analysis *pages, const char *output)
{
    FILE *file = output ? fopen(output, "wb") : NULL;
    int rc = output && !file ? CT_ERR_IO : CT_OK;
    if (file) {
        rc = ct_analysis_save(pages, write_piece, file);
        if (fclose(file) != 0)
            rc = CT_ERR_IO;
    }
    for (size_t i = 0; !output && i < of(pages)->count; i++)
        printf("%#" PRIx64 " %" PRIu64 "\n", of(pages)->all[i].addr, of(pages)->all[i].insns);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: pages [-o FILE] CAPTURE...\n");
        return 2;
    }
    const char *output = argc > 2 && strcmp(argv[1], "-o") == 0 ? argv[2] : NULL;
    struct ct_ctx *ctx = ct_ctx_new();
    const struct ct_session_options options = {.size = sizeof options, .threads = 4};
    struct ct_session *session = NULL;
    struct ct_analysis *pages = NULL;
    int rc = ctx ? new_pages(ctx, &pages) : CT_ERR_NOMEM;
    if (!rc)
        rc = ct_session_new(ctx, &options, &session);
    if (!rc)
        rc = ct_session_add(session, pages);
    for (int i = output ? 3 : 1; i < argc && !rc; i++)
        rc = read_one(ctx, session, pages, argv[i]);
    if (!rc)
        rc = show(pages, output);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_session_free(session);
    ct_analysis_free(pages);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
