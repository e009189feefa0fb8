/* What ran in the trace that a command read: told when the command has nothing to say of it, since an empty answer is one only
 * when nothing ran. */
#ifndef CT_CLI_RAN_H
#define CT_CLI_RAN_H

#include "cli/elf_files.h"
#include "cli/programs.h"
#include "coretap/decode.h"

/* Code that has a name: a program at a place. */
struct cli_module {
    const char *path;
    const struct ct_symbols *symbols;
    uint64_t bias; /* of what the symbols do not include */
    struct ct_memory_set memories;
};

#define CLI_RAN_NAMES 32

struct cli_ran {
    uint64_t instructions;
    char names[CLI_RAN_NAMES][64]; /* of modules: the last part of their paths */
    size_t count;                  /* of all; those that `names` has no room for count too */
};

/* The programs as modules, to be freed; NULL without memory. */
struct cli_module *cli_modules_of_programs(const struct cli_programs *programs);
struct cli_module *cli_modules_of_elfs(const struct cli_elfs *programs);

/* Whether a place of the trace is in the module. */
bool cli_module_has(const struct cli_module *module, const struct ct_node *node);

/* Takes what ran in the streams of a chain of level STEPS. Names are those of modules, and of the buffer's images where no
 * module is. False without memory. */
bool cli_ran_add(struct cli_ran *ran, const struct ct_capture *capture, const struct ct_buffer *buffer,
                 const struct ct_chain *chain, const struct cli_module *modules, size_t count);

/* Says that `result` of args->operand is empty although instructions ran: their number, the modules, `why` (what is missing) and
 * `remedy`. Result: the worse of `code` and CLI_DAMAGED; `code`, without a word, when nothing ran. */
int cli_ran_but_empty(const struct cli_ran *ran, const struct cli_args *args, int code, const char *result,
                      const char *why, const char *remedy);

#endif
