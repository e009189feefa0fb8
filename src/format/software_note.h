/* SPDX-License-Identifier: Apache-2.0 */
/* Says in words what STM, ITM and DWT trace. */
#ifndef CT_FORMAT_SOFTWARE_NOTE_H
#define CT_FORMAT_SOFTWARE_NOTE_H

#include <stddef.h>

#include "coretap/event.h"

/* Writes what there is to say of a CT_EVENT_SW or CT_EVENT_DWT besides its payload. */
void ct_software_note(const struct ct_event *event, const struct ct_source *source, char *note, size_t size);

#endif
