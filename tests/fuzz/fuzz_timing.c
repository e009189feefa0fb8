/* SPDX-License-Identifier: Apache-2.0 */
/* Files of times. What must hold: what was read is written as a file that says the same, and read again it is
 * that file, to the byte. */
#include <stdlib.h>
#include <string.h>

#include "coretap/timing.h"
#include "fuzz.h"

#define MOST_BYTES 65536

static void require(int truth)
{
    if (!truth)
        abort();
}

struct text {
    char *bytes;
    size_t size;
};

static int append(void *user, const void *data, size_t size)
{
    struct text *text = user;
    char *bytes = realloc(text->bytes, text->size + size + 1);
    if (!bytes)
        return CT_ERR_NOMEM;
    memcpy(bytes + text->size, data, size);
    text->bytes = bytes;
    text->size += size;
    return CT_OK;
}

static struct text saved(struct ct_timing_sums *sums)
{
    struct text text = {0};
    require(ct_analysis_save(ct_timing_sums_analysis(sums), append, &text) == CT_OK);
    return text;
}

/* Numbers of programs and names are good to print whatever was read. */
static void look(struct ct_timing_sums *sums)
{
    struct ct_timing_found all;
    require(ct_timing_sums_find(sums, &all) == CT_OK);
    for (size_t i = 0; i < all.function_count; i++) {
        require(all.functions[i].label && *all.functions[i].name);
        require(all.functions[i].program == CT_TIMING_NO_PROGRAM ||
                all.functions[i].program < all.program_count);
        require(ct_dist_quantile(&all.functions[i].self, 0.5) <= all.functions[i].self.max);
    }
    for (size_t i = 0; i < all.edge_count; i++)
        require(all.edges[i].program == CT_TIMING_NO_PROGRAM || all.edges[i].program < all.program_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ct_timing_sums *first;
    struct ct_timing_sums *again;
    if (size > MOST_BYTES || ct_timing_sums_new(NULL, NULL, &first) != CT_OK)
        return 0;
    require(ct_timing_sums_new(NULL, NULL, &again) == CT_OK);
    ct_analysis_load(ct_timing_sums_analysis(first), "fuzz", data, size);
    look(first);
    struct text once = saved(first);
    require(ct_analysis_load(ct_timing_sums_analysis(again), "fuzz", once.bytes, once.size) == CT_OK);
    struct text twice = saved(again);
    require(once.size == twice.size && memcmp(once.bytes, twice.bytes, once.size) == 0);
    free(once.bytes);
    free(twice.bytes);
    ct_timing_sums_free(again);
    ct_timing_sums_free(first);
    return 0;
}
