/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of the command line: those that a capture names, and those of --elf. */
#pragma once

#include "cli/capture.h"
#include "coretap/programs.h"
#include "coretap/watch.h"

#define CLI_ELF_OPTION                                                                                       \
    CLI_LIST_OPTION("elf", 'E', "FILE[@HEX]",                                                                \
                    "A program that ran, with its load address if it was relocated. Can be given more than " \
                    "once, and is used in addition to the programs that the capture names. Formats that "    \
                    "describe one program describe this one.")

/* The same option, for commands that use the addresses of the trace. */
#define CLI_ELF_FILES                                                                                        \
    CLI_LIST_OPTION("elf", 'E', "FILE[@HEX]",                                                                \
                    "A program that ran, with its load address if it was relocated and the capture does "    \
                    "not give it. Programs that the capture names need not be given.")

/* Returns whether a program can be read at a path: in a file, or in an archive, as in
 * "base.apk!/lib/libx.so". */
bool cli_programs_is_there(const char *path);

/* Makes an empty set with the command line's options about names. `targets` is a file for the control flow,
 * or NULL. Returns false after a message. */
bool cli_programs_new(struct ct_programs **programs, const struct cli_args *args, const char *targets);

/* Makes such a set for a command that uses the addresses of the trace: they include load biases, and programs
 * of changing memories are known before they ran. */
bool cli_programs_new_moved(struct ct_programs **programs, const struct cli_args *args, const char *targets);

/* Adds FILE or FILE@HEX, the value of an option. A program unknown to the capture (may be NULL) is also added
 * to the images of each buffer without memory at its address. Returns false after a message. */
bool cli_programs_name(struct ct_programs *programs, const struct cli_args *args, const char *text,
                       struct cli_capture *capture);

/* Reads the files of list option number `elf`, before many captures are decoded with them. Returns false
 * after a message. */
bool cli_programs_check(const struct cli_args *args, size_t elf);

/* Makes the set of the programs that list option number `elf` and the capture (may be NULL) name. Programs
 * that are identified by memory are found during decoding. Returns false after a message. */
bool cli_programs_open(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                       struct cli_capture *capture);

/* Gives watchpoints the programs' names of events. Reports names that cannot be used. Returns false after a
 * message. */
bool cli_programs_name_events(struct ct_programs *programs, const struct cli_args *args,
                              struct ct_watches *watches);

/* Adds the same programs to an existing set, which may have those of another capture. Returns false after a
 * message. */
bool cli_programs_of(struct ct_programs *programs, const struct cli_args *args, size_t elf,
                     struct cli_capture *capture);

/* Adds what a capture tells of programs, sources and contexts to a set of other captures of the same run.
 * Returns false after a message. */
bool cli_programs_also_of(struct ct_programs *programs, const struct cli_args *args,
                          const struct cli_capture *capture);

/* Makes the set for a command that opens the capture of `args` itself. Addresses include load biases,
 * programs of changing memories are known at once, and all symbols are loaded. `targets` is a file for the
 * control flow, or NULL. Returns false after a message. */
bool cli_programs_describe(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                           const char *targets);

/* Makes the same set with addresses as in the files. A saved file as first operand names no program. */
bool cli_programs_describe_unmoved(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                                   const char *targets);

/* Notes, unless --quiet, that the functions of a program have no names, and why: ct_ctx_error. */
void cli_programs_tell_unnamed(const struct cli_args *args);

/* Returns whether there are programs, or names of generated code. Returns false after a message about the
 * open capture. */
bool cli_programs_any(const struct ct_programs *programs, const struct cli_args *args,
                      const struct cli_capture *capture);
