/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration of OpenCSD's decoders for a trace source. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

#include "coretap/input.h"

union ocsd_config {
    ocsd_etmv4_cfg etm4;
    ocsd_ete_cfg ete;
    ocsd_etmv3_cfg etm3;
    ocsd_ptm_cfg ptm;
    ocsd_stm_cfg stm;
};

/* Fills in the configuration of a source. Returns the name of its decoder, or NULL when there is none. The C
 * interface of 1.3.3 cannot watch the packets of an ETE decoder, but its ETMv4 decoder reads ETE when the
 * version in TRCIDR1 says so: `as_etm4` sets that version. */
const char *ocsd_config(const struct ct_source *source, int as_etm4, union ocsd_config *out);
