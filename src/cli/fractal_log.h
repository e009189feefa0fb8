/* SPDX-License-Identifier: Apache-2.0 */
/* An event log that is looked at: its reader, the names of its addresses, and what belongs to what. */
#ifndef CT_CLI_FRACTAL_LOG_H
#define CT_CLI_FRACTAL_LOG_H

#include "cli/fractal.h"
#include "coretap/fractal_sums.h"

#define FRACTAL_POINTS 4096 /* numbers of observation points that are told of */

/* A region that the log tells of. */
struct cli_fractal_region {
    uint64_t low;
    char name[64];
    char area[80]; /* the name, and from the second one of that name on a number: in the order of the log */
};

struct cli_fractal_log {
    const struct cli_args *args;
    const char *path;
    struct ct_fractal_reader *reader;
    const struct ct_fractal_log_info *info;
    struct cli_names *names;
    uint64_t bias;
    struct cli_fractal_region *regions;
    size_t region_count;
    char *point_names[FRACTAL_POINTS]; /* that were asked for; NULL: not yet */
};

/* Opens a log. Start with all zero; it is to be closed in any case. False: said why. */
bool cli_fractal_log_open(struct cli_fractal_log *log, const struct cli_args *args, const char *path);
void cli_fractal_log_close(struct cli_fractal_log *log);

/* Names its addresses by a program (NULL: none) that was loaded at `bias`, unless the log says where (NULL).
 * All of the log has been read: it tells regions at its end. False: said why. */
bool cli_fractal_log_name(struct cli_fractal_log *log, const char *elf, const uint64_t *bias);

/* Writes the name of the program that the log is of, the last part of its path, which a call of another log
 * leaves as it is. An empty text: the log does not say. */
void cli_fractal_log_program(const struct cli_fractal_log *log, char program[256]);

/* Returns what an observation point at an address is called. NULL: said that memory ran out. */
const char *cli_fractal_log_point(struct cli_fractal_log *log, uint32_t point, uint64_t va);

/* Says what an event belongs to, by what is the same in all runs. False: said why. */
bool cli_fractal_log_place(struct cli_fractal_log *log, const struct ct_fractal_event *event,
                           struct ct_fractal_place *place);

#endif
