/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal: the table of its subcommands, and the register map. */
#include "cli/fractal.h"
#include "cli/commands.h"

static int print_registers(const struct cli_args *args)
{
    (void)args;
    struct ct_fractal_reg_info r;
    printf("%-6s %-14s %-4s %-4s %s\n", "offset", "name", "bits", "", "meaning");
    for (unsigned i = 0; !ct_fractal_reg_describe(i, &r); i++)
        printf("0x%03x  %-14s %-4d %-4s %s\n", r.offset, r.name, r.bytes * 8, r.writable ? "rw" : "ro",
               r.text);
    return CLI_CLEAN;
}

static const struct cli_command fractal_regs = {
    .name = "fractal regs",
    .summary = "the register map of the configuration port",
    .about = "Prints the registers of FRACTAL's configuration port, as software on the target or a probe "
             "sees them.",
    .examples = "coretap fractal regs\n",
    .exit_text = "0: done. 2: wrong usage, or they could not be printed.",
    .run = print_registers,
};

static const struct cli_command *const parts[] = {
    &cli_fractal_run, &cli_fractal_replay, &cli_fractal_report, &cli_fractal_overhead, &fractal_regs, NULL,
};

const struct cli_command cli_command_fractal = {
    .name = "fractal",
    .summary = "trace the memory accesses of one process at the coherent interconnect",
    .about = "FRACTAL listens to the coherence traffic of a processor cluster and finds the virtual address "
             "of each last-level cache miss of one process. Without a board, 'run' executes an ordinary Arm "
             "program on a simulated cluster; 'replay' reads recorded messages of a real port.",
    .parts = parts,
};
