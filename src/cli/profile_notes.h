/* SPDX-License-Identifier: Apache-2.0 */
/* What 'profile --format perfetto' shows beside the functions that ran: events of watchpoints, and violations
 * of specifications. */
#pragma once

#include "cli/watch_places.h"
#include "coretap/format.h"

/* most violations that are shown */
#define CLI_PROFILE_NOTES ((size_t)1 << 18)

/* The violations in one capture. */
struct cli_said {
    struct ct_perfetto_note *notes;
    size_t count, room;
};

struct cli_profile_notes {
    struct cli_watch_places places; /* set by the caller */
    size_t elf;                     /* set by the caller: number of the option that names programs */
    size_t shift;                   /* set by the caller: as in struct cli_monitors */
    bool apart;                     /* set by the caller: each capture is a separate run */
    struct ct_watches *watches;     /* for the open capture; NULL: nothing is watched */
    struct cli_said *said;          /* by operand */
    size_t count;
    uint64_t left_out;
    bool kept_nothing; /* the filter kept nothing, which was reported */
};

/* Returns whether the command line names specifications. */
bool cli_profile_notes_any(const struct cli_profile_notes *notes);

/* Runs the specifications over all captures, and stores their violations. Returns an enum cli_exit. */
int cli_profile_notes_find(struct cli_profile_notes *notes);

/* Makes the watchpoints of a capture whose programs are known. Returns false after a message. */
bool cli_profile_notes_open(struct cli_profile_notes *notes, struct ct_programs *programs);

/* Passes the watchpoints and violations of the open capture, given by its path, to the writer. Returns an
 * enum ct_error. */
int cli_profile_notes_give(const struct cli_profile_notes *notes, const char *path,
                           struct ct_perfetto_writer *writer);
void cli_profile_notes_close(struct cli_profile_notes *notes);
