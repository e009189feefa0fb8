/* SPDX-License-Identifier: Apache-2.0 */
/* Saved results of all kinds, for targets that read them. */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/saved.h"
#include "base/fnv.h"
#include "base/word_sum.h"
#include "coretap/counts.h"
#include "coretap/cover.h"
#include "coretap/fractal_sums.h"
#include "coretap/stacks.h"
#include "coretap/timing.h"
#include "coretap/verify_sums.h"
#include "session/shard.h"
#include "written.h"

#define SAVED_MOST_BYTES 65536
#define SAVED_SHARDS     8

/* Saves an analysis into memory. */
static inline struct written saved_text(struct ct_analysis *analysis)
{
    struct written text = {0};
    require(ct_analysis_save(analysis, written_append, &text) == CT_OK);
    return text;
}

static inline int saved_is_shard(const struct ct_analysis *analysis)
{
    return analysis->kind->name && strcmp(analysis->kind->name, "shard") == 0;
}

/* Makes an empty analysis of the kind that a file says it is of, else of times. */
static inline struct ct_analysis *saved_new(const void *data, size_t size)
{
    struct ct_stack_sums *stacks;
    struct ct_timing_sums *times;
    struct ct_verify_sums *results;
    struct ct_fractal_sums *logs;
    struct ct_counts *counts;
    struct ct_cover *cover;
    struct ct_shard *shard;
    require(ct_shard_new(NULL, 0, SAVED_SHARDS, &shard) == CT_OK);
    if (ct_analysis_is_saved(shard->analysis.kind, data, size))
        return &shard->analysis;
    ct_shard_free(shard);
    if (ct_analysis_is_saved(ct_cover_kind(), data, size))
        return ct_cover_new(NULL, &cover) ? NULL : ct_cover_analysis(cover);
    if (ct_analysis_is_saved(ct_fractal_sums_kind(), data, size))
        return ct_fractal_sums_new(NULL, &logs) ? NULL : ct_fractal_sums_analysis(logs);
    if (ct_analysis_is_saved(ct_verify_sums_kind(), data, size))
        return ct_verify_sums_new(NULL, NULL, &results) ? NULL : ct_verify_sums_analysis(results);
    if (ct_analysis_is_saved(ct_stack_sums_kind(), data, size))
        return ct_stack_sums_new(NULL, NULL, &stacks) ? NULL : ct_stack_sums_analysis(stacks);
    if (ct_analysis_is_saved(ct_watch_counts_kind(), data, size))
        return ct_watch_counts_new(NULL, &counts) ? NULL : ct_counts_analysis(counts);
    if (ct_analysis_is_saved(ct_event_counts_kind(), data, size))
        return ct_event_counts_new(NULL, &counts) ? NULL : ct_counts_analysis(counts);
    if (ct_analysis_is_saved(ct_total_counts_kind(), data, size))
        return ct_total_counts_new(NULL, &counts) ? NULL : ct_counts_analysis(counts);
    return ct_timing_sums_new(NULL, NULL, &times) ? NULL : ct_timing_sums_analysis(times);
}

/* Returns the sum that a file of this version of its kind has after these bytes. */
static inline uint64_t saved_sum(const uint8_t *data, size_t size)
{
    struct ct_analysis *of = saved_new(data, size);
    struct ct_word_sum words = {0};
    char head[64] = "";
    unsigned version = 0;
    require(of != NULL);
    memcpy(head, data, size < sizeof head ? size : sizeof head - 1);
    sscanf(head, "%*s %u", &version);
    const bool in_words = ct_saved_has_words(of->kind, version);
    ct_analysis_free(of);
    ct_word_sum_add(&words, (const char *)data, size);
    return in_words ? ct_word_sum_end(&words) : ct_fnv(CT_FNV_BEGIN, data, size);
}

/* Returns a file up to its last line, with the end that belongs there: its sum is right. */
static inline struct written saved_mended(const uint8_t *data, size_t size)
{
    struct written mended = {0};
    char end[32];
    while (size && data[size - 1] == '\n')
        size--;
    while (size && data[size - 1] != '\n')
        size--;
    const int length = snprintf(end, sizeof end, "end %016" PRIx64 "\n", saved_sum(data, size));
    require(!written_append(&mended, data, size) && !written_append(&mended, end, (size_t)length));
    return mended;
}
