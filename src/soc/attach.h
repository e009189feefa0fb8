/* SPDX-License-Identifier: Apache-2.0 */
/* A FRACTAL on a cluster's port: the loop that the library leaves to its caller. */
#ifndef CT_SOC_ATTACH_H
#define CT_SOC_ATTACH_H

#include "soc/soc.h"

/* Attaches f. Returns the number of its tap, or an error of ct_soc_attach. */
int ct_soc_attach_fractal(struct ct_soc *soc, struct ct_fractal *f);

#endif
