/* SPDX-License-Identifier: Apache-2.0 */
/* Generic elements as text, in the words of OpenCSD 1.3.3. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

/* Prints the line of an element, with trace ID `id`, to the outputs of the logger. */
void ct_ocsd_element_print(ocsd_trc_index_t index, uint8_t id, const ocsd_generic_trace_elem *element);
