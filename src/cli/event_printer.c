/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/event_printer.h"

static void on_line(void *user, const struct ct_port_line *line)
{
    struct cli_event_printer *p = user;
    ct_event_text_line(p->text, p->format, &p->origin, line);
}

void cli_event_print(struct cli_event_printer *p, const struct ct_event *event)
{
    if (p->text_ports && ct_port_text_wants(event)) {
        ct_port_text_add(&p->ports, event, on_line, p);
        return;
    }
    if (event->type == CT_EVENT_END)
        ct_port_text_end(&p->ports, on_line, p);
    ct_event_line(p->text, p->format, &p->origin, event);
}
