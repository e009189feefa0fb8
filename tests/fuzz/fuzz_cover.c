/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes coverage files. What must hold: what was read can be retrieved in order, each place once, and
 * reading it a second time only adds up. */
#include <stdbool.h>
#include <stdlib.h>

#include "coretap/cover.h"
#include "fuzz.h"

#define MOST_BYTES 65536

static bool is_before(const struct ct_cover_item *a, const struct ct_cover_item *b)
{
    return a->kind != b->kind   ? a->kind < b->kind
           : a->from != b->from ? a->from < b->from
           : a->to != b->to     ? a->to < b->to
                                : a->isa < b->isa;
}

static uint64_t check_items(struct ct_cover *cover, size_t *places)
{
    uint64_t sum = 0;
    *places = 0;
    for (uint32_t p = 0; p < ct_cover_programs(cover); p++) {
        struct ct_cover_item *items;
        size_t count;
        require(ct_cover_items(cover, p, CT_EDGES_ALL, &items, &count) == CT_OK);
        for (size_t i = 0; i < count; i++) {
            require(items[i].kind <= CT_COVER_NOT);
            require(i == 0 || is_before(&items[i - 1], &items[i]));
            sum += items[i].count;
        }
        *places += count;
        free(items);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ct_cover *cover;
    if (size > MOST_BYTES || ct_cover_new(NULL, &cover) != CT_OK)
        return 0;
    int first = ct_analysis_load(ct_cover_analysis(cover), "fuzz", data, size);
    size_t once;
    size_t twice;
    check_items(cover, &once);
    require(ct_analysis_load(ct_cover_analysis(cover), "fuzz", data, size) == first);
    check_items(cover, &twice);
    require(once == twice);
    ct_cover_free(cover);
    return 0;
}
