/* SPDX-License-Identifier: Apache-2.0 */
#include "format/software_note.h"

#include <stdio.h>
#include <string.h>

#include "format/exception_name.h"

static void append(char *note, size_t size, const char *text)
{
    size_t used = strlen(note);
    snprintf(note + used, size - used, "%s%s", used ? ", " : "", text);
}

/* Writes the names of the counters that wrapped, one bit each (DDI 0403E D4.3.1). */
static void event_counters(unsigned bits, char *note, size_t size)
{
    static const char *const names[6] = {"CPI", "exception", "sleep", "LSU", "fold", "cycle"};
    for (unsigned i = 0; i < 6; i++)
        if (bits >> i & 1)
            append(note, size, names[i]);
    size_t used = strlen(note);
    snprintf(note + used, size - used, "%scounter wrapped", used ? " " : "");
}

/* Writes an exception: its number in bits 8:0, what happened in 13:12 (DDI 0403E D4.3.2). */
static void exception(uint64_t value, const struct ct_source *source, char *note, size_t size)
{
    static const char *const done[4] = {"did something reserved", "entered", "exited", "returned to"};
    unsigned number = value & 0x1ff;
    char buffer[32];
    const char *name =
        number ? ct_exception_name(source, number, buffer, sizeof buffer) : "thread mode"; /* number 0 is
                                                                                              thread mode, as
                                                                                              in IPSR */
    snprintf(note, size, "%s %s", name, done[value >> 12 & 3]);
}

/* Writes a data trace packet: bits 4:3 are what is traced, 2:1 the comparator, 0 which of two (DDI 0403E
 * D4.3.4). */
static void data_trace(unsigned discriminator, unsigned bits, char *note, size_t size)
{
    static const char *const what[4] = {"instruction address", "data address, low half", "data read",
                                        "data written"};
    unsigned kind = (discriminator >> 3 & 3) - 1;
    const char *text = what[2 * kind + (discriminator & 1)];
    if (kind == 0 && bits == 8)
        text = "match"; /* Armv8-M */
    else if (kind == 0 && discriminator & 1 && bits == 32)
        text = "data address"; /* Armv8-M */
    snprintf(note, size, "comparator %u: %s", discriminator >> 1 & 3, text);
}

static void dwt(const struct ct_event *e, const struct ct_source *source, char *note, size_t size)
{
    unsigned bits = e->b & CT_SW_BITS;
    if (e->a == 0)
        event_counters((unsigned)e->value, note, size);
    else if (e->a == 1)
        exception(e->value, source, note, size);
    else if (e->a == 2 && bits == 32)
        snprintf(note, size, "PC sample");
    else if (e->a == 2)
        snprintf(note, size, e->value ? "PC sampling not allowed" : "PC sample: asleep");
    else if (e->a >= 8 && e->a < 24)
        data_trace(e->a, bits, note, size);
    else
        snprintf(note, size, "hardware source %u", e->a);
}

static void software(const struct ct_event *e, char *note, size_t size)
{
    static const char *const words[] = {
        [CT_SW_DATA] = "",
        [CT_SW_FLAG] = "flag",
        [CT_SW_TRIGGER] = "trigger",
        [CT_SW_FREQUENCY] = "Hz, frequency of timestamps",
        [CT_SW_TIME] = "",
        [CT_SW_ERROR] = "error of the master",
        [CT_SW_ERROR_ANY] = "error of a master that is not known",
        [CT_SW_USER] = "user",
        [CT_SW_XSYNC] = "cross-synchronisation",
        [CT_SW_STIMULUS] = "",
    };
    if (e->a == CT_SW_STIMULUS)
        snprintf(note, size, "port %u", (unsigned)e->extra);
    else if (e->extra != CT_SW_PORT_UNKNOWN)
        snprintf(note, size, "master 0x%x channel 0x%x", (unsigned)(e->extra >> 16),
                 (unsigned)(e->extra & 0xffff));
    if (*words[e->a])
        append(note, size, words[e->a]);
    if (e->b & CT_SW_MARKED && e->a != CT_SW_FLAG)
        append(note, size, "marked");
}

void ct_software_note(const struct ct_event *e, const struct ct_source *source, char *note, size_t size)
{
    note[0] = 0;
    if (e->type == CT_EVENT_DWT)
        dwt(e, source, note, size);
    else
        software(e, note, size);
}
