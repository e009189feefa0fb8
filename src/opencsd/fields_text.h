/* SPDX-License-Identifier: Apache-2.0 */
/* Text of fields that packets of several protocols have. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

#include "opencsd/line.h"

/* Adds an address, with a question mark for each unknown digit. */
void ct_ocsd_fields_address(struct ct_ocsd_line *line, const ocsd_pkt_vaddr *addr);

/* Adds the bits of an address that its packet contained. */
void ct_ocsd_fields_address_bits(struct ct_ocsd_line *line, const ocsd_pkt_vaddr *addr);

void ct_ocsd_fields_atoms(struct ct_ocsd_line *line, const ocsd_pkt_atom *atom);
