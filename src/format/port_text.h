/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles the text that a program writes to a stimulus port or channel, a few bytes at a time, to lines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coretap/event.h"

#define CT_PORT_LINE_SIZE 120
#define CT_PORT_LINES     64

/* A line without its newline, or as much of one as fits. Offset and cycle count are those of its last
 * piece. */
struct ct_port_line {
    uint64_t port; /* CT_SW_PORT */
    uint64_t offset;
    uint64_t cycle;
    uint64_t last_use;
    uint16_t size; /* 0: the entry is free */
    char text[CT_PORT_LINE_SIZE];
};

/* The unfinished lines. */
struct ct_port_text {
    uint64_t now;
    struct ct_port_line lines[CT_PORT_LINES];
};

typedef void ct_port_line_fn(void *user, const struct ct_port_line *line);

/* Returns whether the payload of an event may be text: data of an STM, or a write to a stimulus port. */
bool ct_port_text_wants(const struct ct_event *event);

/* Takes the payload of an event, lowest byte first and without NULs. Passes completed lines to fn(user, …). A
 * line is also complete when it is full, or when more than CT_PORT_LINES ports have one. */
void ct_port_text_add(struct ct_port_text *text, const struct ct_event *event, ct_port_line_fn *fn,
                      void *user);

/* Passes on the remaining lines, by port. */
void ct_port_text_end(struct ct_port_text *text, ct_port_line_fn *fn, void *user);
