/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the decoders of PTM and ETMv3 between two packets. */
#pragma once

#include "base/seam.h"

/* Saves the state on which the decoding of later bytes depends. `decoder` belongs to the protocol. */
void ct_ptm_decoder_seam(const void *decoder, struct ct_seam *seam);
void ct_etm3_decoder_seam(const void *decoder, struct ct_seam *seam);
