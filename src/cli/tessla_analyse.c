/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tessla_analyse.h"

#include <inttypes.h>

#include "cli/output.h"
#include "coretap/json.h"
#include "coretap/verify.h"

/* What can feed an input of a specification from a capture. */
struct feed {
    struct ct_monitor_stream stream;
    char place[512]; /* the place that feeds it by default; empty: it has to be bound */
    bool is_free;    /* false when no place gives values of its type */
};

static struct feed feed_of(const struct ct_monitor_spec *spec, size_t input)
{
    struct feed f;
    ct_monitor_input(spec, input, &f.stream);
    f.is_free = ct_verify_input_place(&f.stream, f.place, sizeof f.place) != CT_ERR_ARG;
    return f;
}

/* ---- text ---- */

static void print_input(const struct ct_monitor_spec *spec, size_t input, uint64_t operations)
{
    const struct feed f = feed_of(spec, input);
    printf("  needs %s: Events[%s], %" PRIu64 " operations an event; ", f.stream.name, f.stream.type_text,
           operations);
    if (!f.is_free)
        puts("no place of a capture gives such values, only events of your own");
    else if (f.place[0])
        printf("along a capture: %s\n", f.place);
    else
        printf("along a capture: monitor --bind %s=%s\n", f.stream.name,
               f.stream.type == CT_MONITOR_FLOAT || f.stream.type == CT_MONITOR_BOOL
                   ? "PLACE with values: itm:PORT, stm:CHANNEL or dwt:COMPARATOR"
                   : "PLACE");
}

static void print_growth(const struct ct_monitor_spec *spec, size_t output)
{
    char text[2000];
    if (ct_monitor_output_growth_print(spec, output, text, sizeof text))
        fputs(text, stdout);
}

static int print_output(struct ct_ctx *ctx, const struct ct_monitor_spec *spec, size_t output)
{
    struct ct_monitor_stream s;
    struct ct_monitor_cost cost;
    ct_monitor_output(spec, output, &s);
    int rc = ct_monitor_output_cost(spec, output, &cost);
    if (rc)
        return cli_fail_nomem(ctx, "costs");
    printf("out %s: Events[%s]\n  keeps %" PRIu32 " values%s\n  %s\n", s.name, s.type_text, cost.kept,
           cost.may_grow ? ", and they may grow" : " of bounded size",
           cost.own_instants ? "has events when its inputs have, and at instants that a delay makes"
                             : "has events only when its inputs have, known when the instant is over");
    print_growth(spec, output);
    printf("  %" PRIu32 " streams, at most %" PRIu64 " operations an event\n", cost.streams, cost.operations);
    for (size_t i = 0; i < ct_monitor_input_count(spec) && !rc; i++) {
        uint64_t operations;
        rc = ct_monitor_output_needs(spec, output, i, &operations);
        if (!rc && operations)
            print_input(spec, i, operations);
    }
    return rc ? cli_fail_nomem(ctx, "costs") : CT_OK;
}

/* ---- JSON ---- */

static void write_input(struct ct_json *json, const struct ct_monitor_spec *spec, size_t input,
                        uint64_t operations)
{
    const struct feed f = feed_of(spec, input);
    ct_json_object(json, NULL);
    ct_json_text(json, "name", f.stream.name);
    ct_json_text(json, "type", f.stream.type_text);
    ct_json_number(json, "operations", operations);
    ct_json_text(json, "place", f.place[0] ? f.place : NULL);
    ct_json_bool(json, "can_be_bound", f.is_free);
    ct_json_object_end(json);
}

static int write_output(struct ct_ctx *ctx, struct ct_json *json, const struct ct_monitor_spec *spec,
                        size_t output)
{
    struct ct_monitor_stream s;
    struct ct_monitor_cost cost;
    char text[2000];
    ct_monitor_output(spec, output, &s);
    int rc = ct_monitor_output_cost(spec, output, &cost);
    if (rc)
        return cli_fail_nomem(ctx, "costs");
    const bool grows = ct_monitor_output_growth_print(spec, output, text, sizeof text) > 0;
    ct_json_object(json, NULL);
    ct_json_text(json, "name", s.name);
    ct_json_text(json, "type", s.type_text);
    ct_json_number(json, "values_kept", cost.kept);
    ct_json_bool(json, "may_grow", cost.may_grow);
    ct_json_text(json, "growth", grows ? text : NULL);
    ct_json_bool(json, "own_instants", cost.own_instants);
    ct_json_number(json, "streams", cost.streams);
    ct_json_number(json, "operations", cost.operations);
    ct_json_array(json, "inputs");
    for (size_t i = 0; i < ct_monitor_input_count(spec) && !rc; i++) {
        uint64_t operations;
        rc = ct_monitor_output_needs(spec, output, i, &operations);
        if (!rc && operations)
            write_input(json, spec, i, operations);
    }
    ct_json_array_end(json);
    ct_json_object_end(json);
    return rc ? cli_fail_nomem(ctx, "costs") : CT_OK;
}

int cli_tessla_analyse(struct ct_ctx *ctx, const struct ct_monitor_spec *spec, bool json)
{
    struct ct_json *out = json ? cli_json_open(ctx, stdout, false) : NULL;
    int rc = json && !out ? CT_ERR_NOMEM : CT_OK;
    ct_json_array(out, NULL);
    for (size_t i = 0; i < ct_monitor_output_count(spec) && !rc; i++)
        rc = json ? write_output(ctx, out, spec, i) : print_output(ctx, spec, i);
    ct_json_array_end(out);
    ct_json_free(out);
    return rc ? cli_library_error(ctx) : CLI_CLEAN;
}
