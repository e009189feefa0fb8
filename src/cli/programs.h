/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the command line: those that a capture names, and those that --elf does. */
#ifndef CT_CLI_PROGRAMS_H
#define CT_CLI_PROGRAMS_H

#include "cli/capture.h"
#include "coretap/programs.h"
#include "coretap/watch.h"

#define CLI_ELF_OPTION                                                                                       \
    {                                                                                                        \
        .name = "elf", .letter = 'E', .kind = CLI_LIST, .arg = "FILE[@HEX]",                                 \
        .help = "A program that ran, with its load address if it was relocated. Can be given more than "     \
                "once, and is used in addition to the programs that the capture names. Formats that "        \
                "describe one program describe this one."                                                    \
    }

/* The same option, for commands whose addresses are those of the trace. */
#define CLI_ELF_FILES                                                                                        \
    {                                                                                                        \
        .name = "elf", .letter = 'E', .kind = CLI_LIST, .arg = "FILE[@HEX]",                                 \
        .help = "A program that ran, with its load address if it was relocated and the capture does not "    \
                "give it. Programs that the capture names need not be given."                                \
    }

/* Tells whether a program can be read where a path says that it is: in a file, or in an archive, as in
 * "base.apk!/lib/libx.so". */
bool cli_programs_is_there(const char *path);

/* Makes an empty set that looks for names as the command line says. `targets` is a file for the control flow,
 * or NULL. False after a message. */
bool cli_programs_new(struct ct_programs **programs, const struct cli_args *args, const char *targets);

/* Makes such a set for a command whose addresses are those of the trace: they include load biases, and
 * programs of memories that change are known before they ran. */
bool cli_programs_new_moved(struct ct_programs **programs, const struct cli_args *args, const char *targets);

/* Adds FILE or FILE@HEX, the text of an option. A program that the capture, which may be NULL, does not know
 * is added to the images of each buffer that has no memory where the program is. False after a message. */
bool cli_programs_name(struct ct_programs *programs, const struct cli_args *args, const char *text,
                       struct cli_capture *capture);

/* Makes the set of the programs that list option number `elf` and the capture, which may be NULL, name. Where
 * programs are known by memory, those that ran are found when it is decoded. False after a
 * message. */
bool cli_programs_open(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                       struct cli_capture *capture);

/* Gives watchpoints the names of events that the programs have; names that cannot be used are told. False
 * after a message. */
bool cli_programs_name_events(struct ct_programs *programs, const struct cli_args *args,
                              struct ct_watches *watches);

/* Adds the same programs to an existing set, which may have those of another capture. False after a
 * message. */
bool cli_programs_of(struct ct_programs *programs, const struct cli_args *args, size_t elf,
                     struct cli_capture *capture);

/* Adds what a capture says of programs, sources and contexts to what others said that are one run with it.
 * False after a message. */
bool cli_programs_also_of(struct ct_programs *programs, const struct cli_args *args,
                          const struct cli_capture *capture);

/* Makes the set for a command that opens the capture of `args` itself, or later. Addresses include load
 * biases, programs of memories that change are known at once, and `targets` is a file for the control flow,
 * or NULL. All symbols are loaded. False after a message. */
bool cli_programs_describe(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                           const char *targets);

/* Makes that set with addresses as in the files. A first operand that is a saved file names no program. */
bool cli_programs_describe_unmoved(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                                   const char *targets);

/* Says, unless --quiet, that the functions of a program are not named, and why: ct_ctx_error. */
void cli_programs_tell_unnamed(const struct cli_args *args);

/* Tells whether there are programs. False after a message about the capture, which is open. */
bool cli_programs_any(const struct ct_programs *programs, const struct cli_capture *capture);

#endif
