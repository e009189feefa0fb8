#include "cli/cover_print.h"
#include "cli/cover_views.h"

#include <time.h>

static void print(FILE *out, const struct ct_cover_views *views, enum cli_cover_format format, bool functions)
{
    switch (format) {
    case CLI_COVER_TEXT:
        ct_cover_text(out, views, functions);
        break;
    case CLI_COVER_LCOV:
        ct_cover_lcov(out, views);
        break;
    case CLI_COVER_COBERTURA:
        ct_cover_cobertura(out, views, (uint64_t)time(NULL));
        break;
    case CLI_COVER_JSON:
        ct_cover_json(out, views);
        break;
    case CLI_COVER_HTML:
        ct_cover_html(out, views);
        break;
    case CLI_COVER_DATA:
        break;
    }
}

int cli_cover_print(FILE *out, struct cli_counts *c, enum cli_cover_format format, bool functions)
{
    if (format == CLI_COVER_DATA)
        return ct_cover_write(out, c->cover) == CT_OK ? CLI_CLEAN : cli_library_error(c->args->ctx);
    struct cli_cover_views views;
    const bool made = cli_cover_views_make(c, &views);
    if (made)
        print(out, &views.list, format, functions);
    cli_cover_views_free(&views);
    return made ? CLI_CLEAN : CLI_FAILED;
}
