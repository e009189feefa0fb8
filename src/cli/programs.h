/* Programs with their functions and source lines: those that a capture names, and those that --elf does. */
#ifndef CT_CLI_PROGRAMS_H
#define CT_CLI_PROGRAMS_H

#include "cli/capture.h"
#include "cli/named_elf.h"
#include "coretap/graph.h"
#include "coretap/program.h"
#include "coretap/source_lines.h"
#include "coretap/stacks.h"

#define CLI_ELF_OPTION                                                                                       \
    {                                                                                                        \
        .name = "elf", .letter = 'E', .kind = CLI_LIST, .arg = "FILE[@HEX]",                                 \
        .help = "A program that ran, with its load address when it was moved. Can be given more than once. " \
                "What the capture names is known besides; formats of one program are of this one."           \
    }

struct cli_program {
    const char *path;
    uint64_t bias;
    struct ct_symbols *symbols; /* all without the bias */
    struct ct_lines *lines;
    struct ct_memory *memory;
    uint64_t low, high; /* code is in [low, high) */
    uint8_t *in_memory; /* by number: 1 for those that it lay in; NULL: all */
    size_t memory_count;
    const char *ran_as; /* of one that was named: its path in the capture */
    bool named;         /* with --elf */
    bool started;       /* not loaded by another one, as far as the capture says */
};

static inline struct ct_memory_set cli_program_memories(const struct cli_program *program)
{
    return (struct ct_memory_set){program->in_memory, program->memory_count};
}

struct cli_programs {
    const struct cli_args *args;
    struct cli_image_names names; /* of memory that no program is in */
    struct cli_program *programs;
    size_t count;
    bool only_names;          /* set before they are opened: symbols alone, of the programs that are there */
    struct ct_image **images; /* lists of buffers, with what --elf adds */
    size_t image_lists;
};

/* Loads them. `elf` is the index of the option; `capture` may be NULL. A program that --elf names, and the capture does
 * not, is added to the images of each buffer that says nothing of the memory where it is. Where programs are known by memory,
 * those that ran are found once it is decoded: cli_programs_in. False: said why. */
bool cli_programs_open(struct cli_programs *programs, const struct cli_args *args, size_t elf,
                       struct cli_capture *capture);
/* Whether what ran is known for each memory of the capture by itself. */
bool cli_programs_by_memory(const struct ct_capture *capture);
/* Loads what lay in a memory, by the number that nodes have. False: said why. */
bool cli_programs_in(struct cli_programs *programs, const struct ct_maps *maps, uint32_t memory);
/* False, with a message: there is none. */
bool cli_programs_any(const struct cli_programs *programs);
/* Loads FILE or FILE@HEX, the text of an option, and adds it to the images of the buffers as above. False: said why. */
bool cli_programs_name(struct cli_programs *programs, const struct cli_args *args, const char *text,
                       struct cli_capture *capture);

/* What stacks of functions are made with: the programs, and behind them the memory that none is in; *count of them, to be
 * freed. NULL without memory. */
struct ct_stack_program *cli_programs_for_stacks(const struct cli_programs *programs, size_t *count);

/* Loads one more. False: said why. */
bool cli_programs_add(struct cli_programs *programs, const char *path);
void cli_programs_close(struct cli_programs *programs);

/* The architecture of the first core of the capture; of a newest A profile without a capture. */
struct ct_arch cli_programs_arch(const struct cli_capture *capture);

#endif
