/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* basename */
#include "cli/raw_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/results.h"
#include "coretap/probe.h"

/* Reports what was found. Returns false when that is nothing. */
static bool tell(const char *path, const struct ct_probe *probe)
{
    if (probe->trouble)
        cli_say("%s: %s", path, probe->trouble);
    if (!probe->count)
        return probe->trouble != NULL;
    cli_say(
        "%s: these are bytes of a trace without their description, so they cannot be decoded; they look like "
        "%s; write the description into a file beside it, such as trace.ini, with the values in place of ?, "
        "and name that file (docs/formats.md, \"Raw traces\"):",
        path,
        probe->framing == CT_FRAMING_NONE ? "the trace of one source"
                                          : "CoreSight frames with the trace of these IDs");
    fputc('\n', stderr);
    (void)ct_probe_write(probe, basename(path), cli_output_write, stderr);
    return true;
}

bool cli_raw_bytes_tell(const char *path)
{
    struct ct_probe probe;
    uint8_t *data = malloc(CT_PROBE_ENOUGH);
    const size_t size = data ? cli_results_begin(path, data, CT_PROBE_ENOUGH) : 0;
    const bool told = ct_probe_bytes(NULL, data, size, &probe) == CT_OK && tell(path, &probe);
    free(data);
    return told;
}
