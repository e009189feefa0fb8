/* SPDX-License-Identifier: Apache-2.0 */
/* Packets and elements of the library as lines to compare with the oracle. */
#include <stdlib.h>
#include <string.h>

#include "support/list_bytes.h"
#include "oracle/v7/v7_ocsd.h"

/* Removes a field " name=value" from a line. */
static void drop_field(char *line, const char *name)
{
    char *at = strstr(line, name);
    if (!at)
        return;
    const char *end = strchr(at + 1, ' ');
    memmove(at, end ? end : at + strlen(at), end ? strlen(end) + 1 : 1);
}

/* Adds a line without its ID and without what OpenCSD 1.3.3 does not report: bytes, memory spaces, current
 * addresses, the kind of impossible data packets, the instruction set of a context. */
static void add_line(struct v7_lines *lines, char *line, int packets)
{
    char *rest = strchr(line, ' ');
    *rest++ = 0;
    rest = strchr(rest, ' ');
    if (packets)
        rest = strchr(rest + 1, ' ');
    drop_field(rest, " space=");
    drop_field(rest, " bytes=");
    drop_field(rest, " curr=");
    if (strstr(rest, " bad_tracemode "))
        drop_field(rest, " err=");
    if (strstr(rest, " pe_context "))
        drop_field(rest, " isa=");
    v7_add(lines, "%s%s\n", line, rest);
}

static int run(struct v7_lines *lines, const struct ct_source *source, const struct list_region *regions,
               unsigned region_count, const uint8_t *bytes, size_t size, enum ct_level level)
{
    char *save = NULL, *text = list_bytes(source, regions, region_count, bytes, size, level, NULL);
    lines->size = 0;
    if (!text)
        return 1;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        add_line(lines, line, level == CT_LEVEL_PACKET);
    free(text);
    return 0;
}

int v7_coretap_packets(struct v7_lines *lines, const struct ct_source *source, const uint8_t *bytes,
                       size_t size)
{
    return run(lines, source, NULL, 0, bytes, size, CT_LEVEL_PACKET);
}

int v7_coretap_elems(struct v7_lines *lines, const struct ct_source *source, const struct v7_region *regions,
                     unsigned region_count, const uint8_t *bytes, size_t size)
{
    struct list_region *list = calloc(region_count + 1, sizeof *list);
    if (!list)
        return 1;
    for (unsigned i = 0; i < region_count; i++)
        list[i] = (struct list_region){regions[i].addr, regions[i].bytes, regions[i].size};
    const int err = run(lines, source, list, region_count, bytes, size, CT_LEVEL_FLOW);
    free(list);
    return err;
}
