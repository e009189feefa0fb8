/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage of all programs of a capture, ready to be printed. */
#ifndef CT_CLI_COVER_VIEWS_H
#define CT_CLI_COVER_VIEWS_H

#include "cli/counts.h"
#include "format/cover.h"

struct cli_cover_views {
    struct ct_cover_views list;
    struct ct_cover_view *views;
    struct ct_cover_source *sources;
    struct ct_cover_report **reports; /* of `count` programs, NULL where there is none */
    size_t count;
    char several[4200]; /* what several captures are called together */
};

/* Works them out of the counts, which have to stay. False: said why; it is to be freed all the same. */
bool cli_cover_views_make(struct cli_counts *counts, struct cli_cover_views *out);
void cli_cover_views_free(struct cli_cover_views *views);

#endif
