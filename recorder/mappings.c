/* SPDX-License-Identifier: Apache-2.0 */
#include "mappings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Parses a line START-END RIGHTS OFFSET DEVICE INODE PATH, with hexadecimal addresses and offset
 * (proc_pid_maps(5)). Returns false when it is another line. */
static bool parse(const char *line, struct mapping *out)
{
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64 " %n", &out->start, &out->end,
               &out->offset, &out->inode, &path) != 4)
        return false;
    snprintf(out->path, sizeof out->path, "%s", path ? line + path : "");
    out->path[strcspn(out->path, "\n")] = 0;
    return true;
}

static bool is_deleted(const char *path)
{
    static const char gone[] = " (deleted)";
    const size_t size = strlen(path), tail = sizeof gone - 1;
    return size > tail && strcmp(path + size - tail, gone) == 0;
}

bool mapping_at(const void *address, struct mapping *out)
{
    const uint64_t at = (uintptr_t)address;
    char line[4400];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof line, maps))
        found = parse(line, out) && out->start <= at && at < out->end;
    if (maps)
        fclose(maps);
    return found && out->path[0] == '/';
}

bool mapping_of_file(const void *address, struct mapping *out)
{
    struct mapping part;
    char line[4400];
    const bool there = mapping_at(address, out) && !is_deleted(out->path);
    FILE *maps = there ? fopen("/proc/self/maps", "re") : NULL;
    if (!maps)
        return false;
    while (fgets(line, sizeof line, maps))
        if (parse(line, &part) && strcmp(part.path, out->path) == 0) {
            out->start = part.start < out->start ? part.start : out->start;
            out->end = part.end > out->end ? part.end : out->end;
        }
    fclose(maps);
    return true;
}
