/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes watchpoints by name, one per line, in a small program. What must hold: a refused one leaves nothing
 * behind and has an error text, and an accepted one has places, unless its kind has none. */
#include "cfg_check.h"
#include "coretap/watch.h"
#include "fuzz.h"
#include "language_program.h"

#define MOST_BYTES 4096

static void add(struct ct_ctx *ctx, struct ct_watches *watches, const char *spec)
{
    uint32_t before, first, count, all;
    ct_watches_all(watches, &before);
    int rc = ct_watches_add(watches, spec, &first, &count);
    const struct ct_watchpoint *points = ct_watches_all(watches, &all);
    if (rc) {
        require(all == before && strstr(ct_ctx_error(ctx), spec) != NULL);
        return;
    }
    require(first == before && count > 0 && all == before + count);
    for (uint32_t i = first; i < all; i++)
        require(points[i].places > 0 || points[i].kind >= CT_WATCH_EXCEPTION);
}

/* Returns the program, created once, with everything that earlier inputs looked up in it. */
static struct ct_programs *the_programs(void)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    static struct ct_programs *programs;
    const struct ct_programs_options options = {.size = sizeof options};
    char path[40];
    if (programs)
        return programs;
    language_program(file);
    require(test_file(file, ELF_SIZE, path) && ct_programs_new(NULL, &options, &programs) == CT_OK &&
            ct_programs_add(programs, path, NULL, NULL, NULL) == CT_OK);
    return programs;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ct_watches *watches;
    if (size > MOST_BYTES)
        return 0;
    struct ct_ctx *ctx = ct_ctx_new();
    require(ct_watches_new(ctx, the_programs(), &watches) == CT_OK);
    char *text = language_text(data, size);
    char *save;
    for (char *spec = strtok_r(text, "\n", &save); spec; spec = strtok_r(NULL, "\n", &save))
        add(ctx, watches, spec);
    free(text);
    ct_watches_free(watches);
    ct_ctx_free(ctx);
    return 0;
}
