/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the command line: those that a capture names, and those that --elf does. */
#ifndef CT_CLI_PROGRAMS_H
#define CT_CLI_PROGRAMS_H

#include "cli/capture.h"
#include "coretap/programs.h"

#define CLI_ELF_OPTION                                                                                       \
    {                                                                                                        \
        .name = "elf", .letter = 'E', .kind = CLI_LIST, .arg = "FILE[@HEX]",                                 \
        .help = "A program that ran, with its load address when it was moved. Can be given more than once. " \
                "What the capture names is known besides; formats of one program are of this one."           \
    }

/* The same of commands whose addresses are those of the trace. */
#define CLI_ELF_FILES                                                                                        \
    {                                                                                                        \
        .name = "elf", .letter = 'E', .kind = CLI_LIST, .arg = "FILE[@HEX]",                                 \
        .help = "A program that ran, and its load address when it was moved and the capture does not know. " \
                "Programs that the capture names need not be named."                                         \
    }

/* An empty set that looks for names as the command line says; `targets`, a file or NULL, is for control flow.
 * False: said why. */
bool cli_programs_new(struct ct_programs **programs, const struct cli_args *args, const char *targets);

/* The same of a command whose addresses are those of the trace: they include load biases, and programs of
 * memories that change are there before they ran. */
bool cli_programs_new_moved(struct ct_programs **programs, const struct cli_args *args, const char *targets);

/* Adds FILE or FILE@HEX, the text of an option. A program that the capture, which may be NULL, does not know
 * is added to the images of each buffer that says nothing of the memory where it is. False: said why. */
bool cli_programs_name(struct ct_programs *programs, const struct cli_args *args, const char *text,
                       struct cli_capture *capture);

/* Makes the set of what list option number `elf` names and of what the capture does, which may be
 * NULL. Where programs are known by memory, those that ran are found once it is decoded:
 * cli_programs_in. False: said why. */
bool cli_programs_open(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                       struct cli_capture *capture);

/* The same with a set that was made, and may have the programs of another capture. False: said why. */
bool cli_programs_of(struct ct_programs *programs, const struct cli_args *args, size_t elf,
                     struct cli_capture *capture);

/* The same for a command that opens the capture of `args` itself, or later: addresses include load biases,
 * programs of memories that change are there at once, and `targets`, a file or NULL, is for control flow. The
 * symbols of all are loaded. False: said why. */
bool cli_programs_describe(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                           const char *targets);

/* The same with addresses as in the files. A first operand that is a saved file says of no program. */
bool cli_programs_describe_unmoved(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                                   const char *targets);

/* Adds what lay in a memory, by the number that nodes have. False: said why. */
bool cli_programs_in(struct ct_programs *programs, const struct cli_args *args, const struct ct_maps *maps,
                     uint32_t memory);

/* False, with a message about the capture: there is none. */
bool cli_programs_any(const struct ct_programs *programs, const char *capture);

#endif
