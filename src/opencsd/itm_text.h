/* SPDX-License-Identifier: Apache-2.0 */
/* Packets and elements of an ITM as text, in the words of OpenCSD 1.8 as far as listings show them. */
#pragma once

#include "opencsd/itm_types.h"
#include "opencsd/line.h"

/* Writes the text of a struct ct_ocsd_itm_packet, cut to `size` bytes. Returns its length. */
size_t ct_ocsd_itm_text(const void *packet, char *text, size_t size);

/* Adds the fields of an element, which must be in the library's form. */
void ct_ocsd_itm_element_text(struct ct_ocsd_line *line, const ocsd_generic_trace_elem *element);
