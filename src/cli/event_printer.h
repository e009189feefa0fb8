/* SPDX-License-Identifier: Apache-2.0 */
/* Events of one source on their way to standard output, text of stimulus ports put
 * together to lines where wanted. */
#ifndef CT_CLI_EVENT_PRINTER_H
#define CT_CLI_EVENT_PRINTER_H

#include "format/event_text.h"

struct cli_event_printer {
    struct ct_text *text;
    enum ct_event_format format;
    bool text_ports;
    struct ct_event_origin origin; /* of the next event */
    struct ct_port_text ports;
};

/* A line of text stands where the event does that completes it: the write of its end, a write that makes
 * room, or the END. Merged, it has the time of that event. */
void cli_event_print(struct cli_event_printer *printer, const struct ct_event *event);

#endif
