/* SPDX-License-Identifier: Apache-2.0 */
#include "live/check.h"

#include <stdbool.h>

#define MOST 100 /* most errors and warnings reported */

/* Writes errors and warnings. Returns whether there is an error. */
static bool put_diagnostics(struct ct_json *j, const struct ct_monitor_spec *spec)
{
    struct ct_monitor_diag d;
    bool wrong = false;
    ct_json_array(j, "diagnostics");
    for (size_t i = 0; ct_monitor_diag_get(spec, i, &d) == CT_OK; i++) {
        wrong |= !d.warning;
        if (i >= MOST)
            continue;
        ct_json_object(j, NULL);
        ct_json_number(j, "line", d.line);
        ct_json_number(j, "column", d.column);
        ct_json_number(j, "end_line", d.end_line);
        ct_json_number(j, "end_column", d.end_column);
        ct_json_bool(j, "warning", d.warning);
        ct_json_text(j, "text", d.text);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
    return wrong;
}

static void put_inputs(struct ct_json *j, const struct ct_monitor_spec *spec)
{
    struct ct_monitor_stream in;
    char place[512];
    ct_json_array(j, "inputs");
    for (size_t i = 0; ct_monitor_input(spec, i, &in) == CT_OK; i++) {
        const bool known = ct_verify_input_place(&in, place, sizeof place) == CT_OK;
        ct_json_object(j, NULL);
        ct_json_text(j, "name", in.name);
        ct_json_text(j, "type", in.type_text);
        ct_json_text(j, "place", known ? place : NULL);
        ct_json_bool(j, "fixed", in.source != NULL);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}

void ct_live_put_check(struct ct_json *j, const struct ct_monitor_spec *spec)
{
    struct ct_monitor_stream out;
    if (put_diagnostics(j, spec))
        return;
    put_inputs(j, spec);
    ct_json_array(j, "outputs");
    for (size_t i = 0; ct_monitor_output(spec, i, &out) == CT_OK; i++) {
        ct_json_object(j, NULL);
        ct_json_text(j, "name", out.name);
        ct_json_text(j, "type", out.type_text);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}
