/* ELF files that --elf names, and those that a capture names. */
#ifndef CT_CLI_NAMED_ELF_H
#define CT_CLI_NAMED_ELF_H

#include "cli/cli.h"
#include "coretap/input.h"
#include "coretap/program.h"

/* FILE or FILE@HEX. */
struct cli_named_elf {
    char *path; /* to be freed */
    uint64_t bias;
    bool has_bias;
};

/* Where the names of a program come from, as the command line says. */
struct ct_symbol_options cli_symbol_options(const struct cli_args *args, uint64_t bias);

/* Names of memory that no ELF file says anything of: the images of `capture` that are none. */
struct cli_image_names {
    struct ct_symbols **all;
    size_t count;
};

/* False: said why. */
bool cli_image_names_load(struct cli_image_names *names, const struct cli_args *args,
                          const struct ct_capture *capture);
void cli_image_names_free(struct cli_image_names *names);

/* False: said why. */
bool cli_named_elf_parse(const struct cli_args *args, const char *text, struct cli_named_elf *out);

/* The image or program of the capture that is the file at `path`: of this path, or of this name. NULL: there is none. */
const struct ct_image *cli_named_elf_find(const struct ct_capture *capture, const char *path);

/* Whether a file that was named is a copy of a program that the capture names: of the same name, or at the same load bias
 * unless that is 0, since two files cannot be at one. */
bool cli_is_copy(const char *path, uint64_t bias, const struct ct_image *ran);

/* The last part of a path. */
const char *cli_base_name(const char *path);

#endif
