/* SPDX-License-Identifier: Apache-2.0 */
/* Where the captures of results are from, as manifests tell. */
#ifndef CT_CLI_EXPORT_ORIGINS_H
#define CT_CLI_EXPORT_ORIGINS_H

#include "cli/cli.h"
#include "coretap/analysis.h"
#include "coretap/fleet.h"

struct cli_origins {
    struct ct_manifest *manifest; /* NULL: none is named, and all results are taken */
    size_t *by_path;              /* numbers of its captures, in the order of their paths */
    uint8_t *taken;               /* by number: which kinds of results were taken, a bit each */
    uint64_t others;              /* results of captures that no manifest names */
};

/* Reads the manifests that list option number `option` names. False after a message. */
bool cli_origins_open(struct cli_origins *origins, const struct cli_args *args, size_t option);
void cli_origins_close(struct cli_origins *origins);

enum cli_origin {
    CLI_ORIGIN_BAD,   /* after a message */
    CLI_ORIGIN_OTHER, /* the result is of a capture that no manifest names, and is left out */
    CLI_ORIGIN_TAKE,
};

/* Finds the capture that a result of kind number `kind`, from 0 to 7, is of. *capture: NULL without
 * manifests. Two results of a kind for one capture are refused, and so is a result of several captures. */
enum cli_origin cli_origins_find(struct cli_origins *origins, const char *result, unsigned kind,
                                 const struct ct_analysis *analysis, const struct ct_fleet_capture **capture);

/* Says how many results were left out, and which captures have none. False when there are such captures. */
bool cli_origins_tell(const struct cli_origins *origins);

#endif
