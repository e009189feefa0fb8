/* Coverage files, which ct_cover_read reads (docs/formats.md). */
#include "report/cover.h"
#include "base/printable.h"

#include <inttypes.h>
#include <stdlib.h>

static void head(FILE *out, const struct ct_cover_program *program)
{
    fprintf(out, "program %" PRIx64 " %" PRIx64 " ", program->low, program->high);
    for (size_t i = 0; i < program->build_id_size; i++)
        fprintf(out, "%02x", program->build_id[i]);
    fputs(program->build_id_size ? " " : "- ", out);
    ct_put_escaped(out, program->name);
    fputc('\n', out);
}

static void item(FILE *out, const struct ct_cover_item *item)
{
    static const char *const words[] = {"run", "taken", "not"};
    fprintf(out, "%s %" PRIx64, words[item->kind], item->from);
    if (item->kind != CT_COVER_NOT)
        fprintf(out, " %" PRIx64, item->to);
    const char *isa = item->kind == CT_COVER_RUN && item->isa == CT_ISA_A32   ? " a32"
                      : item->kind == CT_COVER_RUN && item->isa == CT_ISA_T32 ? " t32"
                                                                              : "";
    fprintf(out, " %" PRIu64 "%s\n", item->count, isa);
}

static int program(FILE *out, struct ct_cover *cover, uint32_t number)
{
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(cover, &contexts);
    struct ct_cover_program program = ct_cover_program_at(cover, number);
    head(out, &program);
    for (size_t i = 0; i < contexts; i++) {
        struct ct_cover_item *items;
        size_t count;
        int result = ct_cover_items(cover, number, i, &items, &count);
        if (result != CT_OK)
            return result;
        if (count)
            fprintf(out, "context %x %" PRIx32 " %" PRIx32 " %x %x\n", all[i].known, all[i].ctxt, all[i].vmid,
                    all[i].el_sec, all[i].others);
        for (size_t k = 0; k < count; k++)
            item(out, &items[k]);
        free(items);
    }
    return CT_OK;
}

static void lost(FILE *out, const char *kind, uint64_t count)
{
    if (count)
        fprintf(out, "lost %s %" PRIu64 "\n", kind, count);
}

/* Numbers of 0 are left out, but for that of all captures. */
static void captures(FILE *out, const struct ct_cover_captures *c)
{
    fprintf(out, "captures %" PRIu64 "\n", c->known);
    if (c->damaged)
        fprintf(out, "damaged %" PRIu64 "\n", c->damaged);
    if (c->unknown)
        fprintf(out, "unknown %" PRIu64 "\n", c->unknown);
    lost(out, "gaps", c->losses.gaps);
    lost(out, "overflows", c->losses.overflows);
    lost(out, "contradictions", c->losses.contradictions);
    lost(out, "bad_packets", c->losses.bad_packets);
    lost(out, "lost_bytes", c->losses.lost_bytes);
    lost(out, "no_access", c->losses.no_access);
}

int ct_cover_write(FILE *out, struct ct_cover *cover)
{
    int result = CT_OK;
    const struct ct_cover_captures all = ct_cover_captures(cover);
    fprintf(out, "coretap-coverage 2\n");
    captures(out, &all);
    for (uint32_t i = 0; i < ct_cover_programs(cover) && result == CT_OK; i++)
        result = program(out, cover, i);
    return result;
}
