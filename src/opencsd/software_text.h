/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of software trace as text, in the words of OpenCSD 1.3.3. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

#include "opencsd/line.h"

/* Adds the fields of a software trace element. */
void ct_ocsd_software_text(struct ct_ocsd_line *line, const ocsd_generic_trace_elem *element);
