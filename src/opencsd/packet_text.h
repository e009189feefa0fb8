/* SPDX-License-Identifier: Apache-2.0 */
/* Packets as text, in the words of OpenCSD 1.3.3; those of an ITM in the words of 1.8, as far as listings
 * show them. Each function writes the text of one packet, cut to `size` bytes, and returns its length. */
#pragma once

#include "opencsd/itm_types.h"
#include "opencsd/line.h"

size_t ct_ocsd_etm3_text(const void *packet, char *text, size_t size); /* ocsd_etmv3_pkt */
size_t ct_ocsd_etm4_text(const void *packet, char *text, size_t size); /* ocsd_etmv4_i_pkt */
size_t ct_ocsd_ptm_text(const void *packet, char *text, size_t size);  /* ocsd_ptm_pkt */
size_t ct_ocsd_stm_text(const void *packet, char *text, size_t size);  /* ocsd_stm_pkt */
size_t ct_ocsd_itm_text(const void *packet, char *text, size_t size);  /* struct ct_ocsd_itm_packet */

/* Adds the fields of an element of an ITM, which must be in the library's form. */
void ct_ocsd_itm_element_text(struct ct_ocsd_line *line, const ocsd_generic_trace_elem *element);
