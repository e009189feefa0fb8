/* SPDX-License-Identifier: Apache-2.0 */
/* Software and hardware trace of STM, ITM and DWT in words. */
#ifndef CT_FORMAT_SOFTWARE_NOTE_H
#define CT_FORMAT_SOFTWARE_NOTE_H

#include <stddef.h>

#include "coretap/event.h"

/* What there is to say of a CT_EVENT_SW or CT_EVENT_DWT beside its payload. */
void ct_software_note(const struct ct_event *event, const struct ct_source *source, char *note, size_t size);

#endif
