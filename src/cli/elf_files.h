/* Programs that are named on the command line. */
#ifndef CT_CLI_ELF_FILES_H
#define CT_CLI_ELF_FILES_H

#include "cli/cli.h"
#include "cli/named_elf.h"
#include "coretap/cfg.h"
#include "coretap/input.h"
#include "coretap/source_lines.h"
#include "coretap/watch.h"

/* One program: an ELF file at a load bias. What was not asked for is NULL. */
struct cli_elf {
    const char *path;
    uint64_t bias;
    struct ct_symbols *symbols;
    struct ct_lines *lines;
    struct ct_cfg *cfg;
};

/* What is to be loaded of each program. */
enum cli_elf_part {
    CLI_ELF_SYMBOLS = 1,
    CLI_ELF_LINES = 2,
    CLI_ELF_CFG = 4,
};

struct cli_elfs {
    struct cli_elf *all;
    size_t count;
    struct cli_image_names images;
    const struct ct_symbols *
        *symbols; /* of all programs, where they are loaded, and behind them of the images */
    size_t symbol_count;
    struct ct_arch arch; /* of the core */
    const char *targets; /* file of targets, or NULL */
};

/* The option --elf of subcommands that read a capture and want to know its programs. */
#define CLI_ELF_FILES                                                                                        \
    {                                                                                                        \
        .name = "elf", .letter = 'E', .kind = CLI_LIST, .arg = "FILE[@HEX]",                                 \
        .help = "A program that ran, and its load address when it was moved and the capture does not know. " \
                "Programs that the capture names need not be named."                                         \
    }

/* Loads `parts` (enum cli_elf_part) of the programs that the list option number `elf` names, and of the ELF images of
 * the capture of `args`. False: said why. */
bool cli_elfs_load(struct cli_elfs *programs, const struct cli_args *args, size_t elf, unsigned parts);

/* An empty set of watchpoints that looks places up in them. CT_ERR_NOMEM. */
int cli_elfs_watches(const struct cli_elfs *programs, struct ct_ctx *ctx, struct ct_watches **out);
void cli_elfs_free(struct cli_elfs *programs);

/* Loads the control flow of the program; `targets` is the file of targets, or NULL. False: said why. */
bool cli_cfg_load(const struct cli_args *args, struct cli_elf *program, const char *targets,
                  const struct ct_arch *arch);

/* The whole file with a NUL behind it, to be freed. NULL: said why. */
char *cli_read_text(const char *path);

#endif
