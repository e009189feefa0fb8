/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the plugins for QEMU. A command and a plugin of different builds may disagree on the layout
 * of the memory that they share, so each tells the other what it knows:
 *
 * - The file of a plugin has an ELF note (`readelf -n`). The command reads it before it starts QEMU.
 * - The command gives the plugin the option layout=HEX. The plugin refuses other ones, and unknown options.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "coretap/base.h"

/* The layouts: hashes of trace_stream.h, and of access_ring.h with coretap/access.h. tools/check-plugins
 * --write updates them when these headers change. */
#define PLUGIN_TRACE_LAYOUT  0xe51e006f
#define PLUGIN_ACCESS_LAYOUT 0x52529dd5

/* The note: its name, its types, and its description, which is a version behind four bytes of layout. */
#define PLUGIN_NOTE_NAME   "coretap"
#define PLUGIN_NOTE_TRACE  1
#define PLUGIN_NOTE_ACCESS 2

#define PLUGIN_TEXT_OF(x) #x
#define PLUGIN_TEXT(x)    PLUGIN_TEXT_OF(x)
#define PLUGIN_VERSION                                                                                       \
    PLUGIN_TEXT(CT_VERSION_MAJOR) "." PLUGIN_TEXT(CT_VERSION_MINOR) "." PLUGIN_TEXT(CT_VERSION_PATCH)

/* Puts the note into the file. Assembler is needed because gcc gives a variable's section no type of its own,
 * and only sections of notes become a segment of notes. 8 is the size of the name. */
#define PLUGIN_NOTE(type, layout)                                                                            \
    __asm__(".pushsection .note.coretap, \"a\", %note\n"                                                     \
            ".balign 4\n"                                                                                    \
            ".long 8, 2f - 1f, " PLUGIN_TEXT(type) "\n"                                                      \
                                                   ".asciz \"" PLUGIN_NOTE_NAME "\"\n"                       \
                                                   "1: .long " PLUGIN_TEXT(                                  \
                                                       layout) "\n"                                          \
                                                               ".asciz \"" PLUGIN_VERSION "\"\n"             \
                                                               "2: .balign 4\n"                              \
                                                               ".popsection")

/* Returns whether the value of the option layout= is this layout. */
static inline bool plugin_layout_is(const char *hex, uint32_t layout)
{
    char *end;
    return *hex && strtoull(hex, &end, 16) == layout && !*end;
}

/* Writes to standard error why the plugin `file` does not run. `option` is the one that it does not know, or
 * NULL when the command is of another build. Returns what qemu_plugin_install returns then. */
int plugin_refuse(const char *file, const char *option);
