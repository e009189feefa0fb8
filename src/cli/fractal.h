/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of coretap fractal share. */
#ifndef CT_CLI_FRACTAL_H
#define CT_CLI_FRACTAL_H

#include "cli/cli.h"
#include "cli/output.h"
#include "coretap/fractal.h"
#include "coretap/soc.h"

extern const struct cli_command cli_fractal_run;
extern const struct cli_command cli_fractal_replay;
extern const struct cli_command cli_fractal_report;
extern const struct cli_command cli_fractal_overhead;
extern const struct cli_command cli_fractal_regs;

/* ---- names of addresses (fractal_names.c) ---- */

struct cli_names;

enum cli_name_kind {
    NAME_FUNCTION,
    NAME_OBJECT,
    NAME_SECTION,
    NAME_REGION, /* heap, stack, mapping */
    NAME_UNKNOWN,
};

struct cli_name {
    uint64_t lo, hi;
    const char *text; /* for people */
    const char *raw;  /* of a function: as it is in the file; else NULL */
    enum cli_name_kind kind;
};

/* The functions (ct_symbols_all), objects and sections of an ELF file, `bias`
 * added. NULL after a message in ctx. */
struct cli_names *cli_names_load(const struct cli_args *args, const char *path, uint64_t bias);
void cli_names_free(struct cli_names *names);
/* Moves all names of the file; before cli_names_region. */
void cli_names_move(struct cli_names *names, uint64_t by);
/* Adds a region; regions count where no symbol does. 0 without memory. */
int cli_names_region(struct cli_names *names, uint64_t lo, uint64_t hi, const char *text);
/* What lies at va: the symbol, else the section or region; never NULL. Its index is stable until the
 * next cli_names_region. */
const struct cli_name *cli_names_at(const struct cli_names *names, uint64_t va);
/* By name, readable or as in the file: a symbol or, with `section`, a section. NULL: none. */
const struct cli_name *cli_names_find(const struct cli_names *names, const char *text, bool section);
/* Lowest address of its code as linked, plus the bias. */
uint64_t cli_names_code(const struct cli_names *names);
/* End of what its file holds of it. */
uint64_t cli_names_end(const struct cli_names *names);
/* All names, for tables by index (cli_names_at's result minus this). The last one stands for the unknown. */
const struct cli_name *cli_names_all(const struct cli_names *names, size_t *count);

/* "time,va,pa,op,initiator,kind,symbol" and one line of it. */
#define FRACTAL_CSV_HEADER "time,va,pa,op,initiator,kind,symbol\n"
void cli_fractal_csv_line(FILE *out, const struct ct_fractal_event *e, const struct cli_names *names);

/* "400000..402000", both hexadecimal, with or without 0x; also "all". False when it is neither. */
bool cli_fractal_parse_range(const char *text, uint64_t *lo, uint64_t *hi);

/* As cli_output_open; "-" is standard output. To be closed with cli_output_close_all. */
FILE *cli_fractal_output_open(struct cli_output *output, const char *path);

extern const char *const cli_fractal_modes[]; /* in the order of enum ct_fractal_mode */

/* ---- a program under QEMU as a stream of accesses (fractal_feed.c) ---- */

struct cli_feed {
    int fd;
    int child;
    size_t at, count;
    uint64_t words[8192];
};

/* Starts `argv` under the QEMU of its architecture with the access plugin. CLI_CLEAN or CLI_FAILED. */
int cli_feed_start(struct ct_ctx *ctx, struct cli_feed *feed, char *const *argv);
/* The next word; false at the end of the program. */
bool cli_feed_next(struct cli_feed *feed, uint64_t *word);
/* Waits for the program. Its exit code, or -1 with a message when it was killed or could not be run. */
int cli_feed_finish(struct cli_feed *feed);
/* The same for a program that was told to stop. */
void cli_feed_quiet(struct cli_feed *feed);

/* Cluster configuration: file of "key = value", NULL for none. CLI_CLEAN or CLI_FAILED. */
int cli_fractal_read_config(const char *path, struct ct_soc_config *config);

#endif
