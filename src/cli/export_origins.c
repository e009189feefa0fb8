/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* qsort_r */
#include "cli/export_origins.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fleet.h"

static const struct ct_fleet_capture *capture_at(const struct cli_origins *o, size_t place)
{
    return ct_manifest_at(o->manifest, o->by_path[place]);
}

static int by_path(const void *a, const void *b, void *manifest)
{
    return strcmp(ct_manifest_at(manifest, *(const size_t *)a)->path,
                  ct_manifest_at(manifest, *(const size_t *)b)->path);
}

/* Checks that no path occurs twice, because its results could not be attributed. Returns false after a
 * message. */
static bool check_paths(const struct cli_origins *o)
{
    for (size_t i = 1; i < ct_manifest_count(o->manifest); i++) {
        if (strcmp(capture_at(o, i)->path, capture_at(o, i - 1)->path) != 0)
            continue;
        cli_say("%s: the manifests list this path twice with different contents, so a result cannot be "
                "assigned to one of them; leave one entry out",
                capture_at(o, i)->path);
        return false;
    }
    return true;
}

bool cli_origins_open(struct cli_origins *o, const struct cli_args *args, size_t option)
{
    *o = (struct cli_origins){0};
    if (!args->values[option].given)
        return true;
    if (ct_manifest_new(args->ctx, &o->manifest))
        return cli_library_error(args->ctx), false;
    if (!cli_manifests_read(args->ctx, args, option, o->manifest))
        return false;
    const size_t count = ct_manifest_count(o->manifest);
    o->by_path = calloc(count + 1, sizeof *o->by_path);
    o->taken = calloc(count + 1, sizeof *o->taken);
    if (!o->by_path || !o->taken)
        return cli_no_memory(), false;
    for (size_t i = 0; i < count; i++)
        o->by_path[i] = i;
    qsort_r(o->by_path, count, sizeof *o->by_path, by_path, o->manifest);
    return check_paths(o);
}

void cli_origins_close(struct cli_origins *o)
{
    ct_manifest_free(o->manifest);
    free(o->by_path);
    free(o->taken);
}

/* Finds a capture by the first `size` bytes of `path`. Returns its number, or SIZE_MAX. */
static size_t find(const struct cli_origins *o, const char *path, size_t size)
{
    size_t low = 0, high = ct_manifest_count(o->manifest);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const char *other = capture_at(o, middle)->path;
        const int order = strncmp(other, path, size);
        if (!order && !other[size])
            return o->by_path[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

/* Finds the capture of a run. Its path may be followed by brackets that say which part was taken. */
static size_t find_run(const struct cli_origins *o, const char *run)
{
    size_t number = find(o, run, strlen(run));
    for (const char *bracket = strstr(run, " ("); bracket && number == SIZE_MAX;
         bracket = strstr(bracket + 1, " ("))
        number = find(o, run, (size_t)(bracket - run));
    return number;
}

enum cli_origin cli_origins_find(struct cli_origins *o, const char *result, unsigned kind,
                                 const struct ct_analysis *analysis, const struct ct_fleet_capture **capture)
{
    *capture = NULL;
    if (!o->manifest)
        return CLI_ORIGIN_TAKE;
    const char *run = ct_analysis_run(analysis, 0);
    if (!run || analysis->captures.known != 1 || analysis->captures.unknown) {
        cli_say("%s: the result does not come from exactly one capture, so --manifest cannot describe it; "
                "name the results of single captures, which 'coretap map' keeps in --state",
                result);
        return CLI_ORIGIN_BAD;
    }
    const size_t number = find_run(o, run);
    if (number == SIZE_MAX) {
        o->others++;
        return CLI_ORIGIN_OTHER;
    }
    if (o->taken[number] & 1u << kind) {
        cli_say("%s: another result already has the %s of %s; its rows would count twice; name each result "
                "once, from a single job",
                result, analysis->kind->name, run);
        return CLI_ORIGIN_BAD;
    }
    o->taken[number] |= (uint8_t)(1u << kind);
    *capture = ct_manifest_at(o->manifest, number);
    return CLI_ORIGIN_TAKE;
}

/* most captures without a result that are named */
#define TOLD 8

bool cli_origins_tell(const struct cli_origins *o)
{
    uint64_t lacking = 0;
    const size_t count = ct_manifest_count(o->manifest);
    if (o->others)
        cli_say("%" PRIu64 " result%s of captures that the manifest does not list %s left out; add the "
                "manifest that lists them with --manifest",
                o->others, o->others == 1 ? "" : "s", o->others == 1 ? "is" : "are");
    for (size_t i = 0; i < count; i++)
        lacking += !o->taken[i];
    if (!lacking)
        return true;
    cli_say("%" PRIu64 " of %zu captures have no result, so the tables have no rows of them:", lacking,
            count);
    for (size_t i = 0, told = 0; i < count && told < TOLD; i++)
        if (!o->taken[i]) {
            cli_say("  %s", ct_manifest_at(o->manifest, i)->path);
            told++;
        }
    if (lacking > TOLD)
        cli_say("  and others");
    return false;
}
