/* Watchpoints by name, one a line, in a small program. What must hold: one that is refused leaves nothing behind and says
 * why, and one that is taken has places, unless it is of no place. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_cfg *cfg;
    struct ct_watches *watches;
    if (size > MOST_BYTES)
        return 0;
    language_program(file);
    require(ct_cfg_load_bytes(ctx, "fuzz", file, sizeof file, NULL, &cfg) == CT_OK);
    const struct ct_watch_program program = {.symbols = ct_cfg_symbols(cfg), .cfg = cfg};
    require(ct_watches_new(ctx, &watches) == CT_OK && ct_watches_add_program(watches, &program) == CT_OK);
    char *text = language_text(data, size);
    char *save;
    for (char *spec = strtok_r(text, "\n", &save); spec; spec = strtok_r(NULL, "\n", &save))
        add(ctx, watches, spec);
    free(text);
    ct_watches_free(watches);
    ct_cfg_free(cfg);
    ct_ctx_free(ctx);
    return 0;
}
