/* Writes the capture of the example: two cores run the firmware of machine.c, one watched by an ETMv4 with
 * cycle counts and a return stack, one by an ETE; both end in one buffer of CoreSight frames.
 *
 * usage: generate FOLDER        writes firmware.bin and trace.bin; the .ini files beside them are text */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/encode.h"
#include "machine.h"

#define ELEM_MAX     65536
#define TRACE_MAX    (1u << 20)
#define CC_THRESHOLD 16
#define STACK_DEPTH  16

/* One core, its trace unit and what that has said so far. */
struct core {
    struct ct_source source;
    uint64_t rounds;
    unsigned interrupt_every; /* instructions */
    unsigned timestamp_every;
    uint32_t sync_period; /* bytes */

    struct machine machine;
    struct ct_elem elems[ELEM_MAX];
    size_t elem_count;
    uint32_t atoms;
    unsigned atom_count;
    uint32_t cycles; /* since the last count */
    uint64_t time;
    uint64_t stack[STACK_DEPTH];
    size_t depth;

    uint8_t trace[TRACE_MAX];
    size_t trace_size;
};

static void die(const char *what)
{
    fprintf(stderr, "generate: %s\n", what);
    exit(2);
}

static void put(struct core *core, struct ct_elem elem)
{
    if (core->elem_count == ELEM_MAX)
        die("more elements than there is room for");
    core->elems[core->elem_count++] = elem;
}

static void flush_atoms(struct core *core)
{
    if (core->atom_count)
        put(core, (struct ct_elem){.kind = CT_ELEM_ATOMS, .n = (uint8_t)core->atom_count, .v = core->atoms});
    core->atoms = 0;
    core->atom_count = 0;
}

static void put_atom(struct core *core, bool taken)
{
    core->atoms |= (uint32_t)taken << core->atom_count++;
    if (core->atom_count == 32)
        flush_atoms(core);
}

static void put_address(struct core *core, uint64_t address)
{
    flush_atoms(core);
    put(core, (struct ct_elem){.kind = CT_ELEM_ADDRESS, .n = CT_IS0, .aux = 64, .v = address});
}

/* The exception level changed: it is part of the address packet that follows. */
static void put_context(struct core *core)
{
    flush_atoms(core);
    put(core, (struct ct_elem){.kind = CT_ELEM_CONTEXT,
                               .n = (uint8_t)(core->machine.el | CT_SEC_NS << 4),
                               .aux = CT_CONTEXT_SF | CT_CONTEXT_EL | CT_CONTEXT_CTXT,
                               .v = 0x2a});
    put_address(core, core->machine.pc);
}

static void put_exception(struct core *core, unsigned number, uint64_t back)
{
    flush_atoms(core);
    put(core, (struct ct_elem){
                  .kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .aux = (uint16_t)number, .v = back});
    put_context(core);
}

static bool is_on(const struct core *core, unsigned configr_bit)
{
    return core->source.regs.configr >> configr_bit & 1;
}

/* After a waypoint: cycles since the last count, once they are worth a packet. */
static void put_cycles(struct core *core)
{
    if (!is_on(core, 4) || core->cycles < CC_THRESHOLD)
        return;
    flush_atoms(core);
    put(core, (struct ct_elem){.kind = CT_ELEM_CYCLES, .v = core->cycles});
    core->cycles = 0;
}

/* IHI 0064H 5.3: the target of an indirect branch is left out when the return stack knows it. */
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
        /* An ETE leaves this to who walks the program: the ERET is there to be seen. */
        if (core->source.protocol == CT_PROTOCOL_ETM4)
            put(core, (struct ct_elem){.kind = CT_ELEM_RETURN});
        put_context(core);
        break;
    case STEP_CALL:
        put_exception(core, 2, step->pc + 4);
        break;
    default:
        return;
    }
    if (step->link && step->taken)
        push(core, step->pc + 4);
    put_cycles(core);
}

static void begin(struct core *core)
{
    machine_init(&core->machine, core->rounds);
    put(core, (struct ct_elem){.kind = CT_ELEM_TRACE_ON, .n = CT_TRACE_ON_FILTER});
    put_context(core);
}

static void run(struct core *core)
{
    begin(core);
    for (unsigned n = 1;; n++) {
        if (n % core->interrupt_every == 0 && core->machine.el == 0) {
            const uint64_t back = core->machine.pc;
            machine_interrupt(&core->machine);
            put_exception(core, 0xe, back);
        }
        const struct step step = machine_step(&core->machine);
        if (step.kind == STEP_STOP)
            break;
        const unsigned cost = step.kind != STEP_PLAIN && step.taken ? 4 : 1;
        core->cycles += cost;
        core->time += cost;
        trace_step(core, &step);
        if (n % core->timestamp_every == 0) {
            flush_atoms(core);
            put(core, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .v = 0x1000000 + core->time / 4});
        }
    }
    flush_atoms(core);
}

static void encode(struct ct_ctx *ctx, struct core *core)
{
    const struct ct_etm4_emit_options options = {.size = sizeof options,
                                                 .sync_period = core->sync_period,
                                                 .cc_threshold = is_on(core, 4) ? CC_THRESHOLD : 0};
    struct ct_etm4_emitter *emitter;
    if (ct_etm4_emitter_new(ctx, &core->source, &options, &emitter))
        die(ct_ctx_error(ctx));
    size_t done = 0;
    size_t length;
    do {
        size_t taken;
        if (TRACE_MAX - core->trace_size < CT_ETM4_EMIT_MAX)
            die("more trace than there is room for");
        if (ct_etm4_emit(emitter, core->elems + done, core->elem_count - done, 1, &taken,
                         core->trace + core->trace_size, TRACE_MAX - core->trace_size, &length))
            die(ct_ctx_error(ctx));
        done += taken;
        core->trace_size += length;
    } while (done < core->elem_count || length);
    ct_etm4_emitter_free(emitter);
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

/* Both streams into one buffer, in turns of changing length as a funnel gives them. */
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
     .sync_period = 512},
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
    for (size_t i = 0; i < 2; i++) {
        run(&cores[i]);
        encode(ctx, &cores[i]);
    }
    file = create(argv[1], "trace.bin");
    frame(ctx, &cores[0], &cores[1], file);
    finish(file);
    ct_ctx_free(ctx);
    return 0;
}
