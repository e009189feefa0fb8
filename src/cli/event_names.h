/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the addresses of events. */
#ifndef CT_CLI_EVENT_NAMES_H
#define CT_CLI_EVENT_NAMES_H

#include "cli/programs.h"
#include "format/address_name.h"

/* All zero without names. */
struct cli_event_names {
    const struct cli_args *args;
    struct ct_programs *programs;
    size_t known; /* of the programs: those whose names were loaded, as far as they are there */
    struct ct_address_names *names; /* NULL: none are wanted */
    const struct ct_maps *maps;     /* what is loaded when its memory comes, or NULL */
    uint8_t *loaded;                /* by number of the memory */
    size_t loaded_count;
    uint32_t memory; /* the last one that came */
};

/* Loads the programs of the capture, and those of the list option number `elf`; these are added to the images
 * of the capture, too. A program of the capture that is not there is left out with a note. Without `wanted`
 * there are no names, and only the latter is done. False: said why. */
bool cli_event_names_open(struct cli_event_names *names, const struct cli_args *args, size_t elf, bool wanted,
                          struct cli_capture *capture);

/* Loads what lay in the memory of a batch. False: said why. */
bool cli_event_names_in(struct cli_event_names *names, uint32_t memory);
void cli_event_names_close(struct cli_event_names *names);

#endif
