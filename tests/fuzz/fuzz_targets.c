/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the file of targets, for a small program. What must hold: the graph is sound whatever the file says,
 * and a file that is refused is refused with a text. */
#include "cfg_check.h"
#include "fuzz.h"
#include "language_program.h"

#define MOST_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_cfg *cfg;
    if (size > MOST_BYTES)
        return 0;
    char *text = language_text(data, size);
    struct ct_ctx *ctx = ct_ctx_new();
    const struct ct_cfg_options options = {
        .size = sizeof options, .targets = text, .targets_name = "targets"};
    language_program(file);
    if (ct_cfg_load_bytes(ctx, "fuzz", file, sizeof file, &options, &cfg) == CT_OK) {
        check(cfg);
        ct_cfg_free(cfg);
    } else {
        require(strncmp(ct_ctx_error(ctx), "targets:", 8) == 0);
    }
    ct_ctx_free(ctx);
    free(text);
    return 0;
}
