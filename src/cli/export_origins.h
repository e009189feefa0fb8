/* SPDX-License-Identifier: Apache-2.0 */
/* The captures that results come from, according to manifests. */
#pragma once

#include "cli/cli.h"
#include "coretap/analysis.h"
#include "coretap/fleet.h"

struct cli_origins {
    struct ct_manifest *manifest; /* NULL: no manifest was named, and all results are taken */
    size_t *by_path;              /* numbers of the captures, sorted by path */
    uint8_t *taken;               /* by number: bit mask of the kinds of results that were taken */
    uint64_t others;              /* results of captures that no manifest names */
};

/* Reads the manifests listed by option number `option`. Returns false after a message. */
bool cli_origins_open(struct cli_origins *origins, const struct cli_args *args, size_t option);
void cli_origins_close(struct cli_origins *origins);

enum cli_origin {
    CLI_ORIGIN_BAD,   /* after a message */
    CLI_ORIGIN_OTHER, /* no manifest names the capture of the result, which is left out */
    CLI_ORIGIN_TAKE,
};

/* Finds the capture of a result of kind number `kind`, 0 to 7. *capture is NULL without manifests. Refuses a
 * second result of a kind for one capture, and a result of several captures. */
enum cli_origin cli_origins_find(struct cli_origins *origins, const char *result, unsigned kind,
                                 const struct ct_analysis *analysis, const struct ct_fleet_capture **capture);

/* Reports how many results were left out, and which captures have none. Returns false when there are such
 * captures. */
bool cli_origins_tell(const struct cli_origins *origins);
