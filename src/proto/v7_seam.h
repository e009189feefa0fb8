/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of PTM and ETMv3 between two packets. */
#ifndef CT_PROTO_V7_SEAM_H
#define CT_PROTO_V7_SEAM_H

#include "base/seam.h"

/* All that what comes depends on; `decoder` is one of the protocol's. */
void ct_ptm_decoder_seam(const void *decoder, struct ct_seam *seam);
void ct_etm3_decoder_seam(const void *decoder, struct ct_seam *seam);

#endif
