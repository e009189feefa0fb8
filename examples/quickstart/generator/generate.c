/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the capture of the example: two cores run the firmware of machine.c, one watched by an ETMv4 with
 * cycle counts and a return stack, one by an ETE; both end in one buffer of CoreSight frames.
 *
 * usage: generate FOLDER        writes firmware.bin and trace.bin; the .ini files beside them are text.
 *                               Prints the number of instructions that each core ran, which a decode has to
 *                               find */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/encode.h"
#include "machine.h"

#define TRACE_MAX    (1u << 20)
#define CC_THRESHOLD 16
#define STACK_DEPTH  16
#define CONTEXT_ID   0x2a

enum {
    EXCEPTION_CALL = 2,
    EXCEPTION_IRQ = 14
}; /* IHI 0064H, table 6-14 */

/* A core, its trace unit and the trace so far. */
struct core {
    struct ct_source source;
    uint64_t rounds;
    unsigned interrupt_every; /* instructions between interrupts */
    unsigned timestamp_every;
    size_t sync_every; /* bytes between synchronisations; 0: only at the start */

    struct machine machine;
    struct ct_etm4_encoder *encoder;
    uint32_t atoms; /* not written yet, oldest in bit 0 */
    unsigned atom_count;
    uint32_t cycles; /* since the last cycle count */
    uint64_t time;
    uint64_t instructions;
    uint64_t address; /* last address traced */
    uint64_t stack[STACK_DEPTH];
    size_t depth;

    uint8_t trace[TRACE_MAX];
    size_t trace_size;
    size_t sync_at;
};

static void die(const char *what)
{
    fprintf(stderr, "generate: %s\n", what);
    exit(2);
}

static bool is_on(const struct core *core, unsigned configr_bit)
{
    return core->source.regs.configr >> configr_bit & 1;
}

static void put(struct core *core, struct ct_etm4_packet packet)
{
    size_t length;
    if (ct_etm4_encode_packet(core->encoder, &packet, core->trace + core->trace_size,
                              TRACE_MAX - core->trace_size, &length))
        die("a packet cannot be encoded");
    core->trace_size += length;
}

/* Writes atoms in the fewest packets: a run of E and the atom after it in format 6, else three, two or one at
 * a time. */
static void flush_atoms(struct core *core)
{
    while (core->atom_count) {
        unsigned run = 0;
        while (run < core->atom_count && run < 23 && core->atoms >> run & 1)
            run++;
        unsigned n = core->atom_count < 3 ? core->atom_count : 3;
        uint8_t type = (uint8_t)(CT_ETM4_ATOM_F1 + n - 1);
        if (run > 3) {
            type = CT_ETM4_ATOM_F6;
            n = run < core->atom_count ? run + 1 : run;
        }
        put(core, (struct ct_etm4_packet){
                      .type = type, .natoms = (uint8_t)n, .atoms = core->atoms & ((1u << n) - 1)});
        core->atoms >>= n;
        core->atom_count -= n;
    }
}

static void put_atom(struct core *core, bool taken)
{
    core->atoms |= (uint32_t)taken << core->atom_count++;
    if (core->atom_count == 24)
        flush_atoms(core);
}

/* Writes an address: a short packet when only bits 16:2 changed. */
static void put_address(struct core *core, uint64_t address)
{
    flush_atoms(core);
    const bool near = core->address >> 17 == address >> 17;
    put(core, (struct ct_etm4_packet){
                  .type = near ? CT_ETM4_ADDR_S_IS0 : CT_ETM4_ADDR_L_64IS0, .value = address, .valid = 64});
    core->address = address;
}

/* Writes that execution continues at `address`, in the current exception level. */
static void put_context(struct core *core, uint64_t address)
{
    flush_atoms(core);
    put(core, (struct ct_etm4_packet){.type = CT_ETM4_ADDR_CTXT_L_64IS0,
                                      .value = address,
                                      .valid = 64,
                                      .flags = CT_ETM4_HAS_CONTEXT | CT_ETM4_HAS_CTXT | CT_ETM4_SF,
                                      .ctxt = CONTEXT_ID,
                                      .el_sec = (uint8_t)(core->machine.el | CT_SEC_NS << 4)});
    core->address = address;
}

static void put_exception(struct core *core, uint16_t number, uint64_t back)
{
    flush_atoms(core);
    put(core, (struct ct_etm4_packet){.type = CT_ETM4_EXCEPT, .info = number, .idx = 1});
    put_address(core, back);
    put_context(core, core->machine.pc);
}

/* Writes the cycles since the last count, after a waypoint, when there are enough for a packet. */
static void put_cycles(struct core *core)
{
    if (!is_on(core, 4) || core->cycles < CC_THRESHOLD)
        return;
    flush_atoms(core);
    put(core,
        (struct ct_etm4_packet){.type = CT_ETM4_CCNT_F1, .flags = CT_ETM4_HAS_COUNT, .count = core->cycles});
    core->cycles = 0;
}

/* Writes a synchronisation: alignment, trace info, and the current address. All history is forgotten. */
static void put_sync(struct core *core)
{
    flush_atoms(core);
    const bool counts = is_on(core, 4);
    core->sync_at = core->trace_size;
    put(core, (struct ct_etm4_packet){.type = CT_ETM4_ASYNC});
    put(core, (struct ct_etm4_packet){.type = CT_ETM4_TRACE_INFO,
                                      .flags = counts ? CT_ETM4_HAS_CCTHR : 0,
                                      .info = counts,
                                      .count = counts ? CC_THRESHOLD : 0});
    core->depth = 0;
    if (!core->sync_at)
        put(core, (struct ct_etm4_packet){.type = CT_ETM4_TRACE_ON});
    put_context(core, core->machine.pc);
}

/* Returns whether the return stack has the target of an indirect branch, which is then left out (IHI 0064H
 * 5.3). */
static bool pop_matches(struct core *core, uint64_t target)
{
    if (!is_on(core, 12) || !core->depth || core->stack[core->depth - 1] != target)
        return false;
    core->depth--;
    return true;
}

static void push(struct core *core, uint64_t address)
{
    if (core->depth == STACK_DEPTH)
        memmove(core->stack, core->stack + 1, sizeof core->stack[0] * --core->depth);
    core->stack[core->depth++] = address;
}

static void trace_step(struct core *core, const struct step *step)
{
    switch (step->kind) {
    case STEP_DIRECT:
        put_atom(core, step->taken);
        break;
    case STEP_INDIRECT:
        put_atom(core, true);
        if (!pop_matches(core, step->next))
            put_address(core, step->next);
        break;
    case STEP_ERET:
        put_atom(core, true);
        flush_atoms(core);
        /* An ETE leaves this to the decoder, which sees the ERET in the program. */
        if (core->source.protocol == CT_PROTOCOL_ETM4)
            put(core, (struct ct_etm4_packet){.type = CT_ETM4_EXCEPT_RTN});
        put_context(core, step->next);
        break;
    case STEP_CALL:
        put_exception(core, EXCEPTION_CALL, step->pc + 4);
        break;
    default:
        return;
    }
    if (step->link && step->taken)
        push(core, step->pc + 4);
    put_cycles(core);
    if (core->sync_every && core->trace_size - core->sync_at >= core->sync_every)
        put_sync(core);
}

static void run(struct ct_ctx *ctx, struct core *core)
{
    if (ct_etm4_encoder_new(ctx, &core->source, &core->encoder))
        die(ct_ctx_error(ctx));
    machine_init(&core->machine, core->rounds);
    put_sync(core);
    for (unsigned n = 1;; n++) {
        if (n % core->interrupt_every == 0 && core->machine.el == 0) {
            const uint64_t back = core->machine.pc;
            machine_interrupt(&core->machine);
            put_exception(core, EXCEPTION_IRQ, back);
        }
        const struct step step = machine_step(&core->machine);
        if (step.kind == STEP_STOP)
            break;
        core->instructions++;
        const unsigned cost = step.kind != STEP_PLAIN && step.taken ? 4 : 1;
        core->cycles += cost;
        core->time += cost;
        trace_step(core, &step);
        if (n % core->timestamp_every == 0) {
            flush_atoms(core);
            put(core,
                (struct ct_etm4_packet){.type = CT_ETM4_TIMESTAMP, .value = 0x1000000 + core->time / 4});
        }
    }
    flush_atoms(core);
    ct_etm4_encoder_free(core->encoder);
}

static void frame_bytes(struct ct_framer *framer, const struct core *core, size_t *done, size_t want,
                        FILE *out)
{
    size_t left = core->trace_size - *done < want ? core->trace_size - *done : want;
    while (left) {
        uint8_t frames[1024];
        size_t used;
        size_t length;
        if (ct_framer_push(framer, core->source.trace_id, core->trace + *done, left, &used, frames,
                           sizeof frames, &length))
            die("the framer refused");
        fwrite(frames, 1, length, out);
        *done += used;
        left -= used;
    }
}

/* Writes both streams into one buffer, alternating in pieces of changing length as from a funnel. */
static void frame(struct ct_ctx *ctx, const struct core *a, const struct core *b, FILE *out)
{
    const struct ct_framer_options options = {.size = sizeof options, .framing = CT_FRAMING_FRAMES};
    struct ct_framer *framer;
    if (ct_framer_new(ctx, &options, &framer))
        die(ct_ctx_error(ctx));
    size_t done_a = 0;
    size_t done_b = 0;
    for (unsigned turn = 0; done_a < a->trace_size || done_b < b->trace_size; turn++) {
        frame_bytes(framer, a, &done_a, 5 + turn * 7 % 23, out);
        frame_bytes(framer, b, &done_b, 3 + turn * 5 % 19, out);
    }
    uint8_t rest[1024];
    size_t length;
    if (ct_framer_finish(framer, rest, sizeof rest, &length))
        die(ct_ctx_error(ctx));
    fwrite(rest, 1, length, out);
    ct_framer_free(framer);
}

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(2);
    }
    return file;
}

static void finish(FILE *file)
{
    if (fclose(file)) {
        perror("generate");
        exit(2);
    }
}

/* The registers are those of device_0.ini and device_1.ini. */
static struct core cores[] = {
    {.source = {.name = "ETM_0",
                .protocol = CT_PROTOCOL_ETM4,
                .trace_id = 0x10,
                .arch = {8, 0, CT_PROFILE_A, 0},
                .regs = {.configr = 0x1851,
                         .traceidr = 0x10,
                         .idr0 = 0x28000ea1,
                         .idr1 = 0x4100f400,
                         .idr2 = 0x488}},
     .rounds = 12,
     .interrupt_every = 211,
     .timestamp_every = 97},
    {.source = {.name = "ETE_1",
                .protocol = CT_PROTOCOL_ETE,
                .trace_id = 0x11,
                .arch = {9, 0, CT_PROFILE_A, 0},
                .regs = {.configr = 0x841,
                         .traceidr = 0x11,
                         .idr0 = 0x28000ea1,
                         .idr1 = 0x4100fff0,
                         .idr2 = 0x488,
                         .devarch = 0x47705a13}},
     .rounds = 40,
     .interrupt_every = 331,
     .timestamp_every = 500,
     .sync_every = 512},
};

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage: generate FOLDER");
    uint8_t firmware[FIRMWARE_BYTES];
    firmware_assemble(firmware);
    FILE *file = create(argv[1], "firmware.bin");
    fwrite(firmware, 1, sizeof firmware, file);
    finish(file);

    struct ct_ctx *ctx = ct_ctx_new();
    for (size_t i = 0; i < 2; i++)
        run(ctx, &cores[i]);
    for (size_t i = 0; i < 2; i++)
        printf("%s %" PRIu64 "\n", cores[i].source.name, cores[i].instructions);
    file = create(argv[1], "trace.bin");
    frame(ctx, &cores[0], &cores[1], file);
    finish(file);
    ct_ctx_free(ctx);
    return 0;
}
