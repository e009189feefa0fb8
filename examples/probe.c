/* SPDX-License-Identifier: Apache-2.0 */
/* Times functions in a stream of trace that no file describes, as a host with a probe gets it: the registers
 * of the trace unit are in this program, and the bytes come in pieces of any size.
 *
 *     probe ELF INPUT
 *
 * ELF is the program that ran, INPUT a file, FIFO or device. Damage in the trace is no error, but numbers. */
#include <inttypes.h>
#include <stdio.h>

#include <coretap/decode.h>
#include <coretap/programs.h>
#include <coretap/timing.h>

static void say(void *user, enum ct_log_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    (void)stream; /* there is only one */
    return ct_timing_add(user, batch);
}

static int decode(struct ct_chain *chain, FILE *input)
{
    unsigned char piece[1000];
    size_t size;
    int rc = CT_OK;
    while (!rc && (size = fread(piece, 1, sizeof piece, input)) > 0)
        rc = ct_chain_push(chain, piece, size);
    return rc ? rc : ct_chain_finish(chain);
}

static void print(const struct ct_chain *chain, const struct ct_timing *timing)
{
    size_t count;
    const struct ct_losses lost = ct_chain_losses(chain);
    const struct ct_timing_function *all = ct_timing_functions(timing, &count);
    for (size_t i = 0; i < count; i++)
        if (all[i].inclusive.count)
            printf("%s: %" PRIu64 " times, at most %" PRIu64 " cycles\n", all[i].label,
                   all[i].inclusive.count, all[i].inclusive.max);
    printf("%" PRIu64 " gaps, %" PRIu64 " bytes lost\n", lost.gaps, lost.lost_bytes);
}

static int run(struct ct_ctx *ctx, struct ct_programs *programs, const struct ct_buffer *buffer, FILE *input)
{
    const struct ct_capture capture = {.buffer_count = 1, .buffers = buffer};
    const struct ct_chain_options options = {
        .size = sizeof options, .level = CT_LEVEL_STEPS, .ids = {UINT64_C(1) << buffer->sources[0].trace_id}};
    struct ct_timing_options what = {.size = sizeof what};
    struct ct_chain_sink sink = {.steps = on_steps};
    struct ct_timing *timing = NULL;
    struct ct_chain *chain = NULL;
    int rc = ct_programs_add_capture(programs, &capture);
    if (!rc)
        rc = ct_programs_places(programs, &what.programs, &what.program_count);
    if (!rc)
        rc = ct_timing_new(ctx, &what, &timing);
    sink.user = timing;
    if (!rc)
        rc = ct_chain_new(ctx, buffer, &options, &sink, &chain);
    if (!rc)
        rc = decode(chain, input);
    if (!rc)
        print(chain, timing);
    ct_chain_free(chain);
    ct_timing_free(timing);
    return rc;
}

int main(int argc, char **argv)
{
    FILE *input = argc == 3 ? fopen(argv[2], "rb") : NULL;
    if (!input) {
        fprintf(stderr, "usage: probe ELF INPUT, which can be read\n");
        return 2;
    }
    /* cycle counts, context IDs, timestamps and a return stack, as in examples/quickstart */
    struct ct_source source = {
        .name = "ETM_0",
        .protocol = CT_PROTOCOL_ETM4,
        .trace_id = 0x10,
        .regs = {.configr = 0x1851, .traceidr = 0x10, .idr0 = 0x28000ea1, .idr1 = 0x4100f400, .idr2 = 0x488}};
    const struct ct_image image = {.path = argv[1], .space = CT_SPACE_ANY, .is_elf = 1};
    const struct ct_buffer buffer = {.name = "probe",
                                     .framing = CT_FRAMING_FRAMES,
                                     .source_count = 1,
                                     .sources = &source,
                                     .image_count = 1,
                                     .images = &image};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_programs *programs = NULL;
    int rc = ct_arch_by_name("Cortex-A53", &source.arch);
    ct_ctx_set_log(ctx, say, NULL, CT_LOG_WARNING);
    if (!rc)
        rc = ct_programs_new(ctx, NULL, &programs);
    if (!rc)
        rc = run(ctx, programs, &buffer, input);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ct_ctx_error(ctx));
    ct_programs_free(programs);
    ct_ctx_free(ctx);
    fclose(input);
    return rc ? 1 : 0;
}
