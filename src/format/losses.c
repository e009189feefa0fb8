/* SPDX-License-Identifier: Apache-2.0 */
#include "coretap/format.h"
#include "base/require.h"
#include "coretap/json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

struct row {
    const char *key;
    uint64_t count;
    const char *one, *many;
    bool of_gaps; /* also counted as a gap */
    enum ct_losses_known from;
};

enum {
    ROWS = 6
};

static void fill(struct row rows[ROWS], const struct ct_losses *l)
{
    rows[0] = (struct row){"gaps", l->gaps, "gap", "gaps", false, CT_LOSSES_TRACE};
    rows[1] = (struct row){"overflows", l->overflows,   "trace unit overflow", "trace unit overflows",
                           true,        CT_LOSSES_TRACE};
    rows[2] = (struct row){"contradictions",
                           l->contradictions,
                           "contradiction with the program",
                           "contradictions with the program",
                           true,
                           CT_LOSSES_PROGRAM};
    rows[3] = (struct row){
        "bad_packets", l->bad_packets, "invalid or truncated packet", "invalid or truncated packets",
        false,         CT_LOSSES_TRACE};
    rows[4] = (struct row){
        "lost_bytes", l->lost_bytes,   "byte that could not be used", "bytes that could not be used",
        false,        CT_LOSSES_FRAMES};
    rows[5] = (struct row){"no_access",
                           l->no_access,
                           "time code ran that is in no memory image",
                           "times code ran that is in no memory image",
                           false,
                           CT_LOSSES_PROGRAM};
}

const char *ct_losses_words(char text[CT_LOSSES_WORDS], const struct ct_losses *losses)
{
    struct row rows[ROWS];
    int used = 0;
    bool inside = false;
    if (!text || !losses)
        return NULL;
    fill(rows, losses);
    snprintf(text, CT_LOSSES_WORDS, "none");
    for (size_t i = 0; i < ROWS; i++) {
        if (!rows[i].count)
            continue;
        const char *before = !used                        ? ""
                             : rows[i].of_gaps && !inside ? " ("
                             : !rows[i].of_gaps && inside ? "), "
                                                          : ", ";
        inside = rows[i].of_gaps;
        used += snprintf(text + used, CT_LOSSES_WORDS - (size_t)used, "%s%" PRIu64 " %s", before,
                         rows[i].count, rows[i].count == 1 ? rows[i].one : rows[i].many);
    }
    if (inside)
        snprintf(text + used, CT_LOSSES_WORDS - (size_t)used, ")");
    return text;
}

int ct_losses_keys(const struct ct_losses *losses, enum ct_losses_known known, char gap, ct_write_fn *write,
                   void *user)
{
    struct row rows[ROWS];
    int rc = CT_OK;
    CT_REQUIRE(NULL, losses, write);
    fill(rows, losses);
    for (size_t i = 0, told = 0; i < ROWS && !rc; i++) {
        char text[64];
        if (known < rows[i].from)
            continue;
        const int size =
            snprintf(text, sizeof text, "%.*s%s=%" PRIu64, told++ > 0, &gap, rows[i].key, rows[i].count);
        rc = write(user, text, (size_t)size);
    }
    return rc;
}

void ct_losses_members(struct ct_json *json, const struct ct_losses *losses, enum ct_losses_known known)
{
    struct row rows[ROWS];
    if (!losses)
        return;
    fill(rows, losses);
    for (size_t i = 0; i < ROWS; i++)
        if (known >= rows[i].from)
            ct_json_number(json, rows[i].key, rows[i].count);
}

void ct_losses_json(struct ct_json *json, const struct ct_losses *losses, enum ct_losses_known known)
{
    ct_json_object(json, "losses");
    ct_losses_members(json, losses, known);
    ct_json_object_end(json);
}
