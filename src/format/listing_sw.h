/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of software trace in the listing. */
#pragma once

#include "format/listing.h"

/* Appends the line of an element, from its kind on, without the newline. Returns false when it is no element
 * of software trace. */
bool ct_list_sw(struct ct_element_lister *lister, const struct ct_elem *elem);
