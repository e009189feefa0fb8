/* SPDX-License-Identifier: Apache-2.0 */
/* Writes coverage as SonarQube's generic XML (sonar-generic-coverage.xsd, version 1), which has neither
 * counts nor functions. */
#include "format/cover.h"
#include "format/xml.h"

static void line(FILE *out, const struct ct_cover_report *report, const struct ct_cover_line *line)
{
    const struct ct_cover_ratio branches = ct_cover_line_branches(report, line);
    fprintf(out, "    <lineToCover lineNumber=\"%" PRIu32 "\" covered=\"%s\"", line->line,
            line->count ? "true" : "false");
    if (branches.all)
        fprintf(out, " branchesToCover=\"%" PRIu64 "\" coveredBranches=\"%" PRIu64 "\"", branches.all,
                branches.seen);
    fprintf(out, "/>\n");
}

void ct_cover_sonarqube(FILE *out, const struct ct_cover_views *views)
{
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<coverage version=\"1\">\n");
    for (size_t i = 0; i < views->count; i++) {
        struct ct_cover_slice slice = {0};
        while (ct_cover_next_file(&views->views[i], &slice)) {
            fprintf(out, "  <file path=\"");
            ct_xml_text(out, slice.path);
            fprintf(out, "\">\n");
            for (size_t k = 0; k < slice.count; k++)
                line(out, views->views[i].report, &slice.lines[k]);
            fprintf(out, "  </file>\n");
        }
    }
    fprintf(out, "</coverage>\n");
}
