/* SPDX-License-Identifier: Apache-2.0 */
/* What was lost, in the one form that all commands and pages print it in. */
#ifndef CT_FORMAT_LOSSES_H
#define CT_FORMAT_LOSSES_H

#include "coretap/format.h"
#include "format/json.h"

/* What was decoded. */
enum ct_losses_known {
    CT_LOSSES_FRAMES,
    CT_LOSSES_TRACE,   /* packets at least */
    CT_LOSSES_PROGRAM, /* … along the program */
};

/* As key=value, each but the first one behind `gap`: those that are known. */
void ct_losses_keys(FILE *out, char gap, const struct ct_losses *losses, enum ct_losses_known known);

/* The same keys in the JSON object that is open, and in an object "losses" of their own. */
void ct_losses_members(struct ct_json *json, const struct ct_losses *losses);
void ct_losses_json(struct ct_json *json, const struct ct_losses *losses);

#endif
