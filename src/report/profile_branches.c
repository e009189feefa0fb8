/* Profiles of branches: what create_llvm_prof (AutoFDO) and perf2bolt (BOLT) take as text. */
#include "report/profile.h"

#include <inttypes.h>

/* Address of the last instruction of a run. */
static uint64_t last_of(const struct ct_profile_view *view, const struct ct_cover_item *run)
{
    const struct ct_cover_report *report = view->report;
    size_t low = 0;
    size_t high = report->insn_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (report->insns[middle].addr < run->to)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && report->insns[low - 1].addr >= run->from)
        return report->insns[low - 1].addr;
    return run->to - 4;
}

static size_t count_kind(const struct ct_profile_view *view, uint32_t kind)
{
    size_t n = 0;
    for (size_t i = 0; i < view->item_count; i++)
        n += view->items[i].kind == kind && (kind != CT_COVER_TAKEN || view->items[i].to);
    return n;
}

/* Three lists with their lengths: ranges, addresses (of samples, which a whole trace does not need), branches. AutoFDO's
 * tools add the address of the first segment that the file loads. */
void ct_profile_autofdo(FILE *out, const struct ct_profile_view *view)
{
    const uint64_t base = ct_symbols_base(view->symbols);
    fprintf(out, "%zu\n", count_kind(view, CT_COVER_RUN));
    for (size_t i = 0; i < view->item_count; i++) {
        const struct ct_cover_item *item = &view->items[i];
        if (item->kind == CT_COVER_RUN)
            fprintf(out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", item->from - base,
                    last_of(view, item) - base, item->count);
    }
    fprintf(out, "0\n%zu\n", count_kind(view, CT_COVER_TAKEN));
    for (size_t i = 0; i < view->item_count; i++) {
        const struct ct_cover_item *item = &view->items[i];
        if (item->kind == CT_COVER_TAKEN && item->to)
            fprintf(out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", item->from - base, item->to - base,
                    item->count);
    }
}

void ct_profile_bolt(FILE *out, const struct ct_profile_view *view)
{
    for (size_t i = 0; i < view->item_count; i++) {
        const struct ct_cover_item *item = &view->items[i];
        if (item->kind == CT_COVER_TAKEN && item->to)
            fprintf(out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", item->from, item->to, item->count);
        if (item->kind == CT_COVER_RUN)
            fprintf(out, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", item->from, last_of(view, item),
                    item->count);
    }
}
