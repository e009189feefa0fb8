/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/stalker.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define NONE UINT32_MAX

/* Stage 1 descriptors, DDI 0487 D8.3. */
#define DESC_VALID  1u
#define DESC_TABLE  2u /* at the last level: a page */
#define DESC_AF     (1u << 10)
#define DESC_CONTIG (UINT64_C(1) << 52)
#define PA_BITS     48

int ct_stalker_init(struct ct_stalker *s, uint32_t watermarks, const struct ct_ranges *ranges,
                    struct ct_helper *helper, struct ct_address_filter *filter)
{
    memset(s, 0, sizeof *s);
    s->marks = watermarks;
    s->buckets = 256;
    while (s->buckets < watermarks * 4)
        s->buckets *= 2;
    s->ranges = ranges;
    s->helper = helper;
    s->filter = filter;
    s->mark = calloc(s->marks, sizeof *s->mark);
    s->bucket = malloc(s->buckets * sizeof *s->bucket);
    if (!s->mark || !s->bucket)
        return CT_ERR_NOMEM;
    return ct_stalker_start(s, 0, 12, 39) ? CT_OK : CT_ERR_ARG;
}

void ct_stalker_free(struct ct_stalker *s)
{
    free(s->mark);
    free(s->bucket);
}

size_t ct_stalker_bytes(const struct ct_stalker *s)
{
    return sizeof *s + s->marks * sizeof *s->mark + s->buckets * sizeof *s->bucket;
}

/* Returns how many address bits one descriptor of this level maps. */
static unsigned level_shift(const struct ct_stalker *s, unsigned level)
{
    return s->granule + (3 - level) * (s->granule - 3u);
}

/* Returns the number of descriptors in a table of this level. The top table can be shorter than a page. */
static uint64_t level_entries(const struct ct_stalker *s, unsigned level)
{
    const unsigned bits = level == s->top_level ? s->va_bits - level_shift(s, level) : s->granule - 3u;
    return UINT64_C(1) << bits;
}

static uint64_t mark_span(const struct ct_stalker *s, const struct ct_watermark *w)
{
    return level_entries(s, w->level) << level_shift(s, w->level);
}

/* Returns log2 of the number of descriptors joined by the contiguous hint, D8.6.1. */
static unsigned contig_bits(const struct ct_stalker *s, unsigned level)
{
    static const uint8_t last[] = {4, 7, 5}, block[] = {4, 5, 5};
    const unsigned g = (s->granule - 12u) / 2;
    return level == 3 ? last[g] : block[g];
}

/* Returns the size, minus 1, of the addresses that any descriptor of a contiguous group can bring into the
 * TLB. */
static uint64_t group_mask(const struct ct_stalker *s, unsigned level)
{
    return ct_mask64(level_shift(s, level) + contig_bits(s, level));
}

/* Returns whether the descriptors for [va, va + size) at a level are needed for the traced ranges. */
static int overlaps(const struct ct_stalker *s, unsigned level, uint64_t va, uint64_t size)
{
    const uint64_t group = group_mask(s, level);
    return ct_ranges_touch(s->ranges, va & ~group, (va + size - 1) | group);
}

/* Finds the part of [va, va + size) that is needed at a level: from the first to the last address of a traced
 * range. Returns 0 if there is none. */
static int followed(const struct ct_stalker *s, unsigned level, uint64_t va, uint64_t size, uint64_t *lo,
                    uint64_t *hi)
{
    const uint64_t group = group_mask(s, level), last = (va + size - 1) | group;
    const struct ct_ranges *r = s->ranges;
    const uint32_t first = ct_ranges_first(r, va & ~group);
    uint32_t end = first;
    while (end < r->count && r->range[end].lo <= last)
        end++;
    if (end == first)
        return 0;
    *lo = r->range[first].lo & ~group;
    *hi = ((r->range[end - 1].hi - 1) | group) + 1;
    return 1;
}

static void insert(struct ct_stalker *s, uint32_t index)
{
    uint32_t *head = &s->bucket[ct_stalker_hash(s, s->mark[index].base)];
    s->mark[index].next = *head;
    *head = index;
    ct_address_filter_add_table(s->filter, s->mark[index].base & ~ct_mask64(s->granule), s->granule);
}

void ct_stalker_announce(struct ct_stalker *s)
{
    for (uint32_t i = 0; i < s->high; i++)
        if (s->mark[i].used)
            ct_address_filter_add_table(s->filter, s->mark[i].base & ~ct_mask64(s->granule), s->granule);
}

void ct_stalker_forget(struct ct_stalker *s, uint32_t index)
{
    struct ct_watermark *w = &s->mark[index];
    uint32_t *link = &s->bucket[ct_stalker_hash(s, w->base)];
    while (*link != index)
        link = &s->mark[*link].next;
    *link = w->next;
    s->dying -= w->dying;
    w->used = w->dying = 0;
    w->next = s->free;
    s->free = index;
}

/* Drops a table and all tables below it. Tables are matched by the descriptor that links them, so those below
 * a new table for the same addresses stay. */
static void forget_tree(struct ct_stalker *s, uint32_t index)
{
    const struct ct_watermark top = s->mark[index];
    const uint64_t size = level_entries(s, top.level) * 8, span = mark_span(s, &top);
    ct_stalker_forget(s, index);
    if (top.level == 3)
        return;
    for (uint32_t i = 0; i < s->high; i++) {
        const struct ct_watermark *w = &s->mark[i];
        if (w->used && w->level == top.level + 1 && w->parent - top.base < size && w->va - top.va < span)
            forget_tree(s, i);
    }
}

/* Evicts the lines of a table from the caches, from the first to the last that maps part of a traced range,
 * by a single request. */
static void clean_table(struct ct_stalker *s, const struct ct_watermark *w)
{
    const uint64_t span = mark_span(s, w);
    uint64_t lo, hi;
    if (!followed(s, w->level, w->va, span, &lo, &hi))
        return;
    const unsigned shift = level_shift(s, w->level);
    const uint64_t first = lo > w->va ? (lo - w->va) >> shift : 0;
    const uint64_t end = hi - w->va < span ? ((hi - w->va - 1) >> shift) + 1 : span >> shift;
    const uint64_t line = (w->base + first * 8) & ~UINT64_C(63);
    const uint64_t last = (w->base + (end - 1) * 8) & ~UINT64_C(63);
    ct_helper_clean(s->helper, line, (uint32_t)((last - line) / CT_FRACTAL_LINE + 1));
}

/* Drops a watermark, in turn, when all are in use, so that the next walk through it is visible again from the
 * descriptor that links it. Drops leaf tables first, the root never. */
static void give_up_one(struct ct_stalker *s)
{
    uint32_t victim = NONE;
    for (uint32_t n = 0; n < s->marks; n++) {
        const uint32_t i = s->turn;
        s->turn = i + 1 == s->marks ? 0 : i + 1;
        if (s->mark[i].used && i != s->root_mark && s->mark[i].level == 3) {
            victim = i;
            break;
        }
    }
    for (uint32_t i = 0; victim == NONE && i < s->high; i++)
        if (s->mark[i].used && i != s->root_mark)
            victim = i;
    const struct ct_watermark w = s->mark[victim];
    forget_tree(s, victim);
    if (!s->track)
        return;
    clean_table(s, &w);
    ct_helper_clean(s->helper, w.parent & ~UINT64_C(63), 1);
    ct_helper_tlbi_asid(s->helper);
}

static void watch(struct ct_stalker *s, uint64_t base, uint64_t va, unsigned level, uint64_t parent)
{
    for (uint32_t i = s->bucket[ct_stalker_hash(s, base)]; i != NONE; i = s->mark[i].next) {
        struct ct_watermark *w = &s->mark[i];
        if (w->base == base && w->va == va && w->level == level) {
            s->dying -= w->dying;
            w->dying = 0;
            w->parent = parent;
            return;
        }
    }
    if (s->free == NONE)
        give_up_one(s);
    const uint32_t index = s->free;
    s->free = s->mark[index].next;
    if (s->high <= index)
        s->high = index + 1;
    s->mark[index] =
        (struct ct_watermark){.base = base, .va = va, .parent = parent, .level = (uint8_t)level, .used = 1};
    insert(s, index);
    if (s->track)
        clean_table(s, &s->mark[index]);
}

int ct_stalker_start(struct ct_stalker *s, uint64_t root, unsigned granule, unsigned va_bits)
{
    if ((granule != 12 && granule != 14 && granule != 16) || va_bits < 25 || va_bits > 48)
        return 0;
    const unsigned stride = granule - 3, levels = (va_bits - granule + stride - 1) / stride;
    s->granule = (uint8_t)granule;
    s->va_bits = (uint8_t)va_bits;
    s->top_level = (uint8_t)(4 - levels);
    memset(s->bucket, 0xff, s->buckets * sizeof *s->bucket);
    for (uint32_t i = 0; i < s->marks; i++)
        s->mark[i] = (struct ct_watermark){.next = i + 1 < s->marks ? i + 1 : NONE};
    s->free = s->dying = s->turn = s->high = s->pending_count = 0;
    s->root_mark = 0;
    watch(s, root, 0, s->top_level, ~UINT64_C(0));
    return 1;
}

/* Returns the index of the watermark's descriptor at pa, or -1 if pa is outside the table or the ranges. */
static int64_t line_index(const struct ct_stalker *s, const struct ct_watermark *w, uint64_t pa)
{
    const uint64_t index = (pa - w->base) / 8;
    if (pa < w->base || index >= level_entries(s, w->level))
        return -1;
    const unsigned shift = level_shift(s, w->level);
    return overlaps(s, w->level, w->va + (index << shift), UINT64_C(8) << shift) ? (int64_t)index : -1;
}

void ct_stalker_touch(struct ct_stalker *s, uint64_t pa)
{
    pa &= ~UINT64_C(63);
    for (uint32_t i = s->bucket[ct_stalker_hash(s, pa)]; i != NONE; i = s->mark[i].next) {
        if (line_index(s, &s->mark[i], pa) < 0)
            continue;
        s->walks++;
        if (s->pending_count == CT_STALKER_PENDING) {
            s->lost = 1;
            return;
        }
        s->pending[s->pending_count++] = pa;
        ct_helper_read(s->helper, pa, !s->track);
        return;
    }
}

/* Makes a mapping of a leaf descriptor. Returns 0 if it maps nothing that a TLB may hold. */
static int leaf(const struct ct_stalker *s, unsigned level, uint64_t desc, uint64_t desc_pa, uint64_t va,
                struct ct_fractal_mapping *out)
{
    /* blocks, D8.3.1: levels 1 and 2 with 4 KB granule, else level 2 */
    const int block = level == 2 || (level == 1 && s->granule == 12);
    if (!(desc & DESC_VALID) || !(desc & DESC_AF) || (level == 3) != !!(desc & DESC_TABLE) ||
        (level < 3 && !block))
        return 0;
    const unsigned page_shift = level_shift(s, level);
    const unsigned more = desc & DESC_CONTIG ? contig_bits(s, level) : 0;
    const unsigned shift = page_shift + more;
    const uint64_t group = UINT64_C(8) << more;
    *out = (struct ct_fractal_mapping){
        .va = va & ~ct_mask64(shift),
        .pa = desc & ct_mask64(PA_BITS) & ~ct_mask64(shift),
        .desc = desc_pa & ~(group - 1) & ~UINT64_C(63),
        .desc_lines = (uint16_t)(group > CT_FRACTAL_LINE ? group / CT_FRACTAL_LINE : 1),
        .shift = (uint8_t)shift,
        .page_shift = (uint8_t)page_shift,
    };
    return 1;
}

/* Marks the tables linked by the descriptor at desc_pa as dying, except the one at `base`. */
static void unlink_others(struct ct_stalker *s, uint64_t desc_pa, uint64_t base)
{
    for (uint32_t i = 0; i < s->high; i++) {
        struct ct_watermark *w = &s->mark[i];
        if (w->used && !w->dying && w->parent == desc_pa && w->base != base) {
            w->dying = 1;
            s->dying++;
        }
    }
}

static unsigned read_line(struct ct_stalker *s, const struct ct_watermark *w, uint64_t pa,
                          const uint64_t *line, struct ct_fractal_mapping *out, unsigned count)
{
    const unsigned shift = level_shift(s, w->level);
    const uint64_t first = (pa - w->base) / 8, entries = level_entries(s, w->level);
    for (unsigned i = 0; i < CT_FRACTAL_LINE_WORDS && first + i < entries; i++) {
        const uint64_t va = w->va + ((first + i) << shift), desc_pa = pa + i * 8;
        if (!overlaps(s, w->level, va, UINT64_C(1) << shift))
            continue;
        const int table = w->level < 3 && (line[i] & (DESC_VALID | DESC_TABLE)) == (DESC_VALID | DESC_TABLE);
        const uint64_t base = table ? line[i] & ct_mask64(PA_BITS) & ~ct_mask64(s->granule) : ~UINT64_C(0);
        if (w->level < 3)
            unlink_others(s, desc_pa, base);
        if (table)
            watch(s, base, va, w->level + 1u, desc_pa);
        else if (count < CT_MAPPINGS_MAX && leaf(s, w->level, line[i], desc_pa, va, &out[count]))
            count += !count || out[count].va != out[count - 1].va || out[count].pa != out[count - 1].pa;
    }
    return count;
}

int ct_stalker_data(struct ct_stalker *s, uint64_t pa, const uint64_t line[CT_FRACTAL_LINE_WORDS],
                    struct ct_fractal_mapping *out)
{
    uint32_t p = 0;
    while (p < s->pending_count && s->pending[p] != pa)
        p++;
    if (p == s->pending_count)
        return -1;
    s->pending[p] = s->pending[--s->pending_count];
    /* reading may add watermarks to the chain, so copy the matching ones first */
    struct ct_watermark meant[CT_MAPPINGS_MAX / CT_FRACTAL_LINE_WORDS];
    unsigned count = 0, places = 0;
    for (uint32_t i = s->bucket[ct_stalker_hash(s, pa)]; i != NONE; i = s->mark[i].next) {
        if (line_index(s, &s->mark[i], pa) < 0)
            continue;
        if (places < sizeof meant / sizeof meant[0])
            meant[places++] = s->mark[i];
        else
            s->lost = 1;
    }
    for (unsigned i = 0; i < places; i++)
        count = read_line(s, &meant[i], pa, line, out, count);
    return (int)count;
}

void ct_stalker_invalidated(struct ct_stalker *s, uint64_t va, int all)
{
    for (uint32_t i = 0; s->dying && i < s->high; i++) {
        const struct ct_watermark *w = &s->mark[i];
        if (w->used && w->dying && (all || va - w->va < mark_span(s, w)))
            forget_tree(s, i);
    }
}

void ct_stalker_expose(struct ct_stalker *s, uint64_t va)
{
    for (uint32_t i = 0; i < s->high; i++) {
        const struct ct_watermark *w = &s->mark[i];
        if (!w->used || va - w->va >= mark_span(s, w))
            continue;
        /* with the contiguous hint the walk may end at any descriptor of the group */
        const uint64_t group = UINT64_C(8) << contig_bits(s, w->level),
                       table = level_entries(s, w->level) * 8;
        const uint64_t size = group < table ? group : table;
        const uint64_t index = (va - w->va) >> level_shift(s, w->level);
        ct_helper_clean(s->helper, (w->base + (index * 8 & ~(size - 1))) & ~UINT64_C(63),
                        size > CT_FRACTAL_LINE ? (uint32_t)(size / CT_FRACTAL_LINE) : 1);
    }
}

void ct_stalker_ranges_changed(struct ct_stalker *s)
{
    for (uint32_t i = 0; i < s->high; i++) {
        const struct ct_watermark *w = &s->mark[i];
        if (!w->used)
            continue;
        if (i != s->root_mark && !overlaps(s, w->level, w->va, mark_span(s, w)))
            forget_tree(s, i);
        else if (s->track)
            clean_table(s, w);
    }
    if (s->track)
        ct_helper_tlbi_asid(s->helper);
}
