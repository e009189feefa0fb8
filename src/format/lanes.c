/* SPDX-License-Identifier: Apache-2.0 */
#include "format/lanes.h"
#include "coretap/base.h"

#include <stdlib.h>

#include "format/json.h"
#include "format/xml.h"

/* Writes the names that bars have, their colours and, for functions, their numbers in the report. */
static void put_names(struct ct_json *json, const struct ct_lanes *lanes, const uint32_t *short_of)
{
    ct_json_array(json, "names");
    for (size_t i = 0; i < lanes->name_count; i++)
        if (short_of[i])
            ct_json_text(json, NULL, lanes->names[i]);
    ct_json_array_end(json);
    ct_json_array(json, "colours");
    for (size_t i = 0; i < lanes->name_count; i++)
        if (short_of[i])
            ct_json_number(json, NULL, i % 10);
    ct_json_array_end(json);
    if (!lanes->functions)
        return;
    ct_json_array(json, "functions");
    for (size_t i = 0; i < lanes->name_count; i++)
        if (short_of[i])
            ct_json_number(json, NULL, i);
    ct_json_array_end(json);
}

static void put_lane(struct ct_json *json, const struct ct_chart_lane *lane, const uint32_t *short_of)
{
    ct_json_object(json, NULL);
    ct_json_text(json, "title", lane->title);
    ct_json_text(json, "core", lane->core);
    ct_json_text(json, "thread", lane->thread);
    if (lane->weight)
        ct_json_number(json, "weight", lane->weight);
    ct_json_array(json, "bars");
    for (size_t i = 0; i < lane->count; i++) {
        ct_json_number(json, NULL, short_of[lane->bars[i].name] - 1);
        ct_json_number(json, NULL, lane->bars[i].depth);
        ct_json_number(json, NULL, lane->bars[i].from);
        ct_json_number(json, NULL, lane->bars[i].to);
    }
    ct_json_array_end(json);
    ct_json_object_end(json);
}

static void put_data(FILE *out, const struct ct_lanes *lanes, const uint32_t *short_of)
{
    struct ct_json json = {.out = out, .script = true};
    ct_json_object(&json, NULL);
    ct_json_text(&json, "unit", lanes->unit);
    ct_json_text(&json, "kind", lanes->kind);
    put_names(&json, lanes, short_of);
    ct_json_array(&json, "lanes");
    for (size_t i = 0; i < lanes->lane_count; i++)
        put_lane(&json, &lanes->lanes[i], short_of);
    ct_json_array_end(&json);
    ct_json_object_end(&json);
}

/* Returns an array that maps each name to its number, from 1, among the names that bars have; others to 0.
 * The caller frees it. Returns NULL when out of memory. */
static uint32_t *number_names(const struct ct_lanes *lanes)
{
    uint32_t *short_of = calloc(lanes->name_count + 1, sizeof *short_of);
    for (size_t i = 0; short_of && i < lanes->lane_count; i++)
        for (size_t k = 0; k < lanes->lanes[i].count; k++)
            short_of[lanes->lanes[i].bars[k].name] = 1;
    uint32_t count = 0;
    for (size_t i = 0; short_of && i < lanes->name_count; i++)
        if (short_of[i])
            short_of[i] = ++count;
    return short_of;
}

int ct_lanes_html(FILE *out, const struct ct_lanes *lanes)
{
    uint32_t *short_of = number_names(lanes);
    if (!short_of)
        return CT_ERR_NOMEM;
    fputs("<div class=\"lanes\" tabindex=\"0\" role=\"figure\" aria-label=\"", out);
    ct_xml_text(out, lanes->label);
    fputs("\">\n", out);
    fputs("<script type=\"application/json\">", out);
    put_data(out, lanes, short_of);
    fputs("</script>\n<noscript><p>This chart is drawn by a script; the tables say the same.</p></noscript>\n"
          "</div>\n",
          out);
    free(short_of);
    return CT_OK;
}
