/* SPDX-License-Identifier: Apache-2.0 */
/* Describes what STM, ITM and DWT trace. */
#pragma once

#include <stddef.h>

#include "coretap/event.h"

/* Writes everything about a CT_EVENT_SW or CT_EVENT_DWT except its payload. */
void ct_software_note(const struct ct_event *event, const struct ct_source *source, char *note, size_t size);
