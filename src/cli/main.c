/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/guard.h"

int main(int argc, char **argv)
{
    cli_guard();
    return cli_guard_end(cli_main(argc, argv));
}
