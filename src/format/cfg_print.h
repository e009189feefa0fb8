/* SPDX-License-Identifier: Apache-2.0 */
/* A control flow graph as text, in graphviz's language, and as JSON; what was
 * learnt of it as a file of targets. */
#ifndef CT_FORMAT_CFG_PRINT_H
#define CT_FORMAT_CFG_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "coretap/cfg.h"

/* `function`: only this one, or CT_CFG_NONE for all. */
void ct_cfg_print_text(FILE *out, const struct ct_cfg *cfg, uint32_t function);
void ct_cfg_print_dot(FILE *out, const struct ct_cfg *cfg, uint32_t function);
void ct_cfg_print_json(FILE *out, const struct ct_cfg *cfg, uint32_t function);

/* Prints what was learnt, as a file of targets. False: nothing was. */
bool ct_cfg_print_learnt(FILE *out, const struct ct_cfg *cfg, uint32_t function);

#endif
