/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin_note.h"

#include <stdio.h>

int plugin_refuse(const char *file, const char *option)
{
    if (option)
        fprintf(stderr,
                "%s (coretap " PLUGIN_VERSION
                "): the option '%s' is unknown, so nothing is recorded; use the "
                "plugin with the coretap command of the same build\n",
                file, option);
    else
        fprintf(stderr,
                "%s (coretap " PLUGIN_VERSION "): the command that started QEMU is not of the same build as "
                "this plugin, so nothing is recorded; use the plugin with the coretap command of the same "
                "build\n",
                file);
    return -1;
}
