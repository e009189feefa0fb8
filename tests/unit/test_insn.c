/* SPDX-License-Identifier: Apache-2.0 */
/* Checks selected encodings from the architecture manuals, and how a trace unit treats them. */
#include <string.h>

#include "coretap/program.h"
#include "program/insn_a64.h"
#include "support/unit.h"

struct sample {
    const char *text;
    uint32_t op;
    uint8_t type;
    uint8_t sub;
    uint8_t cond;
    uint8_t isa; /* at the target of a direct branch */
    uint64_t target;
};

typedef void decode_fn(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out);

static struct ct_arch arch_of(const char *model)
{
    struct ct_arch arch;
    assert_int_equal(ct_arch_by_name(model, &arch), CT_OK);
    return arch;
}

/* Returns whether a sample is a conditional WLS or LE, by their common bits. */
static bool is_loop(enum ct_isa own, const struct sample *s)
{
    return own == CT_ISA_T32 && s->cond && (s->op & 0xf800f001) == 0xf000c001;
}

static void check(decode_fn *decode, const char *model, enum ct_isa own, uint64_t addr,
                  const struct sample *samples, size_t count)
{
    struct ct_arch arch = arch_of(model);
    for (size_t i = 0; i < count; i++) {
        const struct sample *s = &samples[i];
        struct ct_insn insn;
        decode(s->op, addr, &arch, &insn);
        uint8_t size = own == CT_ISA_T32 && s->op >> 27 < 29 ? 2 : 4;
        uint8_t isa = s->type == CT_INSN_BR ? s->isa : (uint8_t)own;
        if (insn.type != s->type || insn.sub != s->sub || insn.cond != s->cond || insn.isa != isa ||
            insn.target != s->target || insn.size != size || insn.loop != is_loop(own, s))
            fail_msg("%s (0x%08x): type %u sub %u cond %u isa %u size %u target 0x%llx", s->text, s->op,
                     insn.type, insn.sub, insn.cond, insn.isa, insn.size, (unsigned long long)insn.target);
    }
}

#define CHECK(decode, model, own, addr, samples)                                                             \
    check(decode, model, own, addr, samples, sizeof(samples) / sizeof(samples)[0])

#define OTHER   CT_INSN_OTHER, CT_INSN_SUB_NONE
#define IBR     CT_INSN_IBR, CT_INSN_SUB_NONE
#define BR      CT_INSN_BR, CT_INSN_SUB_NONE
#define BR_LINK CT_INSN_BR, CT_INSN_SUB_LINK
#define ISB     CT_INSN_ISB, CT_INSN_SUB_NONE
#define DSB     CT_INSN_DSB_DMB, CT_INSN_SUB_NONE
#define WFI     CT_INSN_WFI_WFE, CT_INSN_SUB_NONE
#define V7_RET  CT_INSN_IBR, CT_INSN_SUB_V7_RET
#define LINK    CT_INSN_IBR, CT_INSN_SUB_LINK

TEST(a64)
{
    static const struct sample samples[] = {
        {"b .", 0x14000000, BR, 0, CT_ISA_A64, 0xffff000000080000},
        {"b .-4", 0x17ffffff, BR, 0, CT_ISA_A64, 0xffff00000007fffc},
        {"b .+0x7fffffc", 0x15ffffff, BR, 0, CT_ISA_A64, 0xffff00000807fffc},
        {"bl .-0x8000000", 0x96000000, BR_LINK, 0, CT_ISA_A64, 0xfffefffff8080000},
        {"b.eq .+8", 0x54000040, BR, 1, CT_ISA_A64, 0xffff000000080008},
        {"b.al .+8", 0x5400004e, BR, 1, CT_ISA_A64, 0xffff000000080008},
        {"b.ne .-0x100000", 0x54800001, BR, 1, CT_ISA_A64, 0xfffefffffff80000},
        {"cbz x3, .+0xffffc", 0xb47fffe3, BR, 1, CT_ISA_A64, 0xffff00000017fffc},
        {"cbnz w0, .-4", 0x35ffffe0, BR, 1, CT_ISA_A64, 0xffff00000007fffc},
        {"tbz w1, #3, .+0x7ffc", 0x361bffe1, BR, 1, CT_ISA_A64, 0xffff000000087ffc},
        {"tbnz x1, #35, .-0x8000", 0xb71c0001, BR, 1, CT_ISA_A64, 0xffff000000078000},
        {"br x16", 0xd61f0200, IBR, 0, 0, 0},
        {"blr x8", 0xd63f0100, LINK, 0, 0, 0},
        {"ret", 0xd65f03c0, CT_INSN_IBR, CT_INSN_SUB_RET, 0, 0, 0},
        {"ret x5", 0xd65f00a0, CT_INSN_IBR, CT_INSN_SUB_RET, 0, 0, 0},
        {"eret", 0xd69f03e0, CT_INSN_IBR, CT_INSN_SUB_ERET, 0, 0, 0},
        {"drps", 0xd6bf03e0, OTHER, 0, 0, 0},
        {"isb", 0xd5033fdf, ISB, 0, 0, 0},
        {"isb #0", 0xd50330df, ISB, 0, 0, 0},
        {"dsb sy", 0xd5033f9f, DSB, 0, 0, 0},
        {"dmb ish", 0xd5033bbf, DSB, 0, 0, 0},
        {"ssbb", 0xd503309f, DSB, 0, 0, 0},
        {"sb", 0xd50330ff, OTHER, 0, 0, 0},
        {"clrex", 0xd5033f5f, OTHER, 0, 0, 0},
        {"wfe", 0xd503205f, WFI, 0, 0, 0},
        {"wfi", 0xd503207f, WFI, 0, 0, 0},
        {"nop", 0xd503201f, OTHER, 0, 0, 0},
        {"sev", 0xd503209f, OTHER, 0, 0, 0},
        {"bti jc", 0xd50324df, OTHER, 0, 0, 0},
        {"paciasp", 0xd503233f, OTHER, 0, 0, 0},
        {"svc #0", 0xd4000001, OTHER, 0, 0, 0},
        {"hvc #0", 0xd4000002, OTHER, 0, 0, 0},
        {"smc #0", 0xd4000003, OTHER, 0, 0, 0},
        {"brk #1", 0xd4200020, OTHER, 0, 0, 0},
        {"udf #0", 0x00000000, OTHER, 0, 0, 0},
        {"adr x0, .", 0x10000000, OTHER, 0, 0, 0},
        {"mrs x0, currentel", 0xd5384240, OTHER, 0, 0, 0},
        /* they do not exist before later versions */
        {"retaa", 0xd65f0bff, OTHER, 0, 0, 0},
        {"braa x0, x1", 0xd71f0801, OTHER, 0, 0, 0},
        {"blraaz x0", 0xd63f081f, OTHER, 0, 0, 0},
        {"eretaa", 0xd69f0bff, OTHER, 0, 0, 0},
        {"wfet x0", 0xd5031000, OTHER, 0, 0, 0},
        {"bc.eq .+8", 0x54000050, OTHER, 0, 0, 0},
        {"tstart x0", 0xd5233060, OTHER, 0, 0, 0},
        {"cbgt w0, w1, .+8", 0x74010040, OTHER, 0, 0, 0},
    };
    CHECK(ct_insn_decode_a64, "Cortex-A53", CT_ISA_A64, 0xffff000000080000, samples);
}

TEST(a64_newer)
{
    static const struct sample v8_3[] = {
        {"braa x0, x1", 0xd71f0801, IBR, 0, 0, 0},
        {"brab x0, x1", 0xd71f0c01, IBR, 0, 0, 0},
        {"blraa x0, x1", 0xd73f0801, LINK, 0, 0, 0},
        {"blrab x0, x1", 0xd73f0c01, LINK, 0, 0, 0},
        {"braaz x2", 0xd61f085f, IBR, 0, 0, 0},
        {"brabz x2", 0xd61f0c5f, IBR, 0, 0, 0},
        {"blraaz x2", 0xd63f085f, LINK, 0, 0, 0},
        {"blrabz x2", 0xd63f0c5f, LINK, 0, 0, 0},
        {"retaa", 0xd65f0bff, CT_INSN_IBR, CT_INSN_SUB_RET, 0, 0, 0},
        {"retab", 0xd65f0fff, CT_INSN_IBR, CT_INSN_SUB_RET, 0, 0, 0},
        {"eretaa", 0xd69f0bff, CT_INSN_IBR, CT_INSN_SUB_ERET, 0, 0, 0},
        {"eretab", 0xd69f0fff, CT_INSN_IBR, CT_INSN_SUB_ERET, 0, 0, 0},
        {"braaz with Rm", 0xd61f085e, OTHER, 0, 0, 0},
        {"retaasppcr x3", 0xd65f0be3, OTHER, 0, 0, 0},
        {"tstart x0", 0xd5233060, OTHER, 0, 0, 0},
    };
    CHECK(ct_insn_decode_a64, "ARMv8.3-A", CT_ISA_A64, 0x1000, v8_3);
    static const struct sample newest[] = {
        {"wfet x7", 0xd5031007, WFI, 0, 0, 0},
        {"wfit x7", 0xd5031027, WFI, 0, 0, 0},
        {"dsb synxs", 0xd5033e3f, DSB, 0, 0, 0},
        {"bc.lt .+12", 0x5400007b, BR, 1, CT_ISA_A64, 0x100c},
        {"tstart x9", 0xd5233069, CT_INSN_TSTART, CT_INSN_SUB_NONE, 0, 0, 0},
        {"ttest x9", 0xd5233169, OTHER, 0, 0, 0},
        {"tcommit", 0xd503307f, OTHER, 0, 0, 0},
        {"retaasppc .-16", 0x5500009f, CT_INSN_IBR, CT_INSN_SUB_RET, 0, 0, 0},
        {"retabsppc .-16", 0x5520009f, CT_INSN_IBR, CT_INSN_SUB_RET, 0, 0, 0},
        {"retaasppcr x3", 0xd65f0be3, CT_INSN_IBR, CT_INSN_SUB_RET, 0, 0, 0},
        {"retabsppcr x3", 0xd65f0fe3, CT_INSN_IBR, CT_INSN_SUB_RET, 0, 0, 0},
        {"cbgt w0, w1, .+8", 0x74010040, BR, 1, CT_ISA_A64, 0x1008},
        {"cbne x0, x1, .-1024", 0xf4e12000, BR, 1, CT_ISA_A64, 0xc00},
        {"cbbhi w2, w3, .+1020", 0x74439fe2, BR, 1, CT_ISA_A64, 0x13fc},
        {"cbheq w2, w3, .+4", 0x74c3c022, BR, 1, CT_ISA_A64, 0x1004},
        {"cblo x0, #63, .+4", 0xf57f8020, BR, 1, CT_ISA_A64, 0x1004},
        {"compare and branch, cc 4", 0x74810040, OTHER, 0, 0, 0},
        {"compare and branch, size 1", 0x74014040, OTHER, 0, 0, 0},
        {"cbb with 64 bits", 0xf4018040, OTHER, 0, 0, 0},
        {"cb #imm, bit 14", 0x75004040, OTHER, 0, 0, 0},
        {"beyond cb #imm", 0x76000040, OTHER, 0, 0, 0},
    };
    CHECK(ct_insn_decode_a64, "ARM-AA64", CT_ISA_A64, 0x1000, newest);
    CHECK(ct_insn_decode_a64, "ARMv9.5-A", CT_ISA_A64, 0x1000, newest);
    static const struct sample tev[] = {
        {"texit", 0xd6ff03e0, CT_INSN_IBR, CT_INSN_SUB_ERET, 0, 0, 0},
        {"texit nb", 0xd6ff07e0, CT_INSN_IBR, CT_INSN_SUB_ERET, 0, 0, 0},
        {"beside texit", 0xd6ff0be0, OTHER, 0, 0, 0},
        {"beside texit", 0xd6ff03c0, OTHER, 0, 0, 0},
        {"tenter #32", 0xd4e00400, OTHER, 0, 0, 0},
        {"tenter #32, nb", 0xd4e20400, OTHER, 0, 0, 0},
        {"tchangef x0, x1", 0xd5800020, OTHER, 0, 0, 0},
        {"gcspopcx", 0xd50877bf, OTHER, 0, 0, 0},
        {"gcsb dsync", 0xd503227f, OTHER, 0, 0, 0},
        {"brb iall", 0xd509729f, OTHER, 0, 0, 0},
        {"cpyfp [x0]!, [x1]!, x2!", 0x19010440, OTHER, 0, 0, 0},
        {"svc #0", 0xd4000001, OTHER, 0, 0, 0},
        {"hvc #0", 0xd4000002, OTHER, 0, 0, 0},
        {"smc #0", 0xd4000003, OTHER, 0, 0, 0},
        {"brk #0", 0xd4200000, OTHER, 0, 0, 0},
        {"udf #0", 0x00000000, OTHER, 0, 0, 0},
        {"drps", 0xd6bf03e0, OTHER, 0, 0, 0},
    };
    CHECK(ct_insn_decode_a64, "ARM-AA64", CT_ISA_A64, 0x1000, tev);
    CHECK(ct_insn_decode_a64, "ARMv9.6-A", CT_ISA_A64, 0x1000, tev);
}

/* The look-up by groups equals that through the whole table, for words with each value of bits 31 to 21 and
 * many values of the others. */
TEST(the_table_by_groups_is_the_table)
{
    static const char *const cores[] = {"Cortex-A53", "ARMv8.3-A", "ARMv9.4-A", "ARM-AA64"};
    static const uint32_t low[] = {0,        0x10,     0x1f,     0x3e0,    0x7e0,    0xbff,
                                   0xfff,    0x800,    0x0bff4,  0x0c000,  0x08000,  0x04000,
                                   0x320df,  0x3309f,  0x3323f,  0x3205f,  0x31000,  0x33060,
                                   0x1f0000, 0x1f03e0, 0x1f07e0, 0x1f0bff, 0x1f081f, 0x1fffff};
    for (unsigned core = 0; core < sizeof cores / sizeof *cores; core++) {
        const struct ct_arch arch = arch_of(cores[core]);
        for (uint32_t i = 0; i < (1u << 11) * (sizeof low / sizeof *low); i++) {
            uint32_t op = (i & 0x7ff) << 21 | low[i >> 11];
            struct ct_insn fast, plain;
            ct_insn_decode_a64(op, 0x1000, &arch, &fast);
            ct_insn_decode_a64_plain(op, 0x1000, &arch, &plain);
            assert_memory_equal(&fast, &plain, offsetof(struct ct_insn, it) + 1); /* without the padding */
        }
    }
}

/* Each row is the first one that matches its own words, and gives their kind and the feature that added
 * them. */
TEST(each_row_of_the_table_counts)
{
    const struct ct_arch newest = arch_of("ARM-AA64");
    const struct ct_arch oldest = arch_of("Cortex-A53");
    for (unsigned g = 0; g < CT_A64_GROUPS; g++) {
        for (size_t i = 0; i < ct_a64_groups[g].count; i++) {
            const struct ct_a64_rule *r = &ct_a64_groups[g].rules[i];
            struct ct_insn insn;
            assert_int_equal(r->value & ~r->mask, 0);
            assert_true(*r->name && (r->minor ? strncmp(r->extension, "FEAT_", 5) == 0
                                              : strcmp(r->extension, "base") == 0));
            ct_insn_decode_a64(r->value, 0x1000, &newest, &insn);
            assert_true(insn.type == r->type && insn.sub == r->sub && insn.cond == r->cond);
            ct_insn_decode_a64(r->value, 0x1000, &oldest, &insn);
            assert_int_equal(insn.type, r->minor ? CT_INSN_OTHER : r->type);
        }
    }
}

TEST(versions)
{
    struct ct_insn insn;
    struct ct_arch arch = arch_of("ARMv8.4-A");
    ct_insn_decode_a64(0xd5233060, 0, &arch, &insn);
    assert_int_equal(insn.type, CT_INSN_TSTART);
    ct_insn_decode_a64(0x74010040, 0, &arch, &insn);
    assert_int_equal(insn.type, CT_INSN_OTHER);
    const struct ct_arch unknown = {0};
    ct_insn_decode_a64(0xd65f0bff, 0, &unknown, &insn);
    assert_int_equal(insn.type, CT_INSN_IBR);
    ct_insn_decode_t32(0xf00fc00b, 0x100, &unknown, &insn);
    assert_int_equal(insn.type, CT_INSN_BR);
}

TEST(a32)
{
    static const struct sample samples[] = {
        {"b .", 0xeafffffe, BR, 0, CT_ISA_A32, 0x8000},
        {"beq .+0x2000004", 0x0a7fffff, BR, 1, CT_ISA_A32, 0x2008004},
        {"bl .+8", 0xeb000000, BR_LINK, 0, CT_ISA_A32, 0x8008},
        {"blne .-0x1fffff8", 0x1b800000, BR_LINK, 1, CT_ISA_A32, 0xfe008008},
        {"blx .+8", 0xfa000000, BR_LINK, 0, CT_ISA_T32, 0x8008},
        {"blx .+10", 0xfb000000, BR_LINK, 0, CT_ISA_T32, 0x800a},
        {"bx lr", 0xe12fff1e, V7_RET, 0, 0, 0},
        {"bxeq lr", 0x012fff1e, V7_RET, 1, 0, 0},
        {"bx r3", 0xe12fff13, IBR, 0, 0, 0},
        {"blx r3", 0xe12fff33, LINK, 0, 0, 0},
        {"blx lr", 0xe12fff3e, LINK, 0, 0, 0},
        {"bxj r3", 0xe12fff23, IBR, 0, 0, 0},
        {"eret", 0xe160006e, IBR, 0, 0, 0},
        {"clz r0, r1", 0xe16f0f11, OTHER, 0, 0, 0},
        {"mov pc, lr", 0xe1a0f00e, V7_RET, 0, 0, 0},
        {"movs pc, lr", 0xe1b0f00e, IBR, 0, 0, 0},
        {"mov pc, r0", 0xe1a0f000, IBR, 0, 0, 0},
        {"mov pc, lr, lsl #2", 0xe1a0f10e, IBR, 0, 0, 0},
        {"mov pc, #0", 0xe3a0f000, IBR, 0, 0, 0},
        {"subs pc, lr, #4", 0xe25ef004, IBR, 0, 0, 0},
        {"add pc, pc, r1, lsl #2", 0xe08ff101, IBR, 0, 0, 0},
        {"addls pc, pc, r1, lsl #2", 0x908ff101, IBR, 1, 0, 0},
        {"mvn pc, #0", 0xe3e0f000, IBR, 0, 0, 0},
        {"cmp r0, #0 with Rd 15", 0xe350f000, OTHER, 0, 0, 0},
        {"tst r0, r1 with Rd 15", 0xe110f001, OTHER, 0, 0, 0},
        {"movw with Rd 15", 0xe300f000, OTHER, 0, 0, 0},
        {"msr cpsr_c, #0xd3", 0xe321f0d3, OTHER, 0, 0, 0},
        {"mul r0, r1, r2", 0xe0000291, OTHER, 0, 0, 0},
        {"ldrh r0, [r1]", 0xe1d100b0, OTHER, 0, 0, 0},
        {"add r0, pc, #4", 0xe28f0004, OTHER, 0, 0, 0},
        {"movne r0, #0", 0x13a00000, OTHER, 1, 0, 0},
        {"ldr pc, [sp], #4", 0xe49df004, V7_RET, 0, 0, 0},
        {"ldr pc, [r0]", 0xe590f000, IBR, 0, 0, 0},
        {"ldr pc, [pc, #24]", 0xe59ff018, IBR, 0, 0, 0},
        {"ldrls pc, [pc, r0, lsl #2]", 0x979ff100, IBR, 1, 0, 0},
        {"str pc, [r0]", 0xe580f000, OTHER, 0, 0, 0},
        {"ldrb with Rt 15", 0xe5d0f000, OTHER, 0, 0, 0},
        {"ldrt with Rt 15", 0xe4b0f000, OTHER, 0, 0, 0},
        {"ssat with Rd 15", 0xe6b0f010, OTHER, 0, 0, 0},
        {"pop {r4, pc}", 0xe8bd8010, V7_RET, 0, 0, 0},
        {"popne {r4, pc}", 0x18bd8010, V7_RET, 1, 0, 0},
        {"ldm sp!, {r0, pc}^", 0xe8fd8001, IBR, 0, 0, 0},
        {"ldmdb r11, {r11, sp, pc}", 0xe91ba800, IBR, 0, 0, 0},
        {"pop {r4, lr}", 0xe8bd4010, OTHER, 0, 0, 0},
        {"push {r4, pc}", 0xe92d8010, OTHER, 0, 0, 0},
        {"rfeia sp!", 0xf8bd0a00, IBR, 0, 0, 0},
        {"srsdb sp!, #19", 0xf96d0513, OTHER, 0, 0, 0},
        {"svc #0", 0xef000000, OTHER, 0, 0, 0},
        {"smc #0", 0xe1600070, OTHER, 0, 0, 0},
        {"hvc #0", 0xe1400070, OTHER, 0, 0, 0},
        {"bkpt #0", 0xe1200070, OTHER, 0, 0, 0},
        {"isb sy", 0xf57ff06f, ISB, 0, 0, 0},
        {"dsb sy", 0xf57ff04f, DSB, 0, 0, 0},
        {"dmb ish", 0xf57ff05b, DSB, 0, 0, 0},
        {"sb", 0xf57ff070, OTHER, 0, 0, 0},
        {"mcr p15, 0, r0, c7, c5, 4", 0xee070f95, ISB, 0, 0, 0},
        {"mcreq p15, 0, r1, c7, c10, 4", 0x0e071f9a, DSB, 1, 0, 0},
        {"mcr p15, 0, r1, c7, c10, 5", 0xee071fba, DSB, 0, 0, 0},
        {"mcr2 p15, 0, r0, c7, c5, 4", 0xfe070f95, OTHER, 0, 0, 0},
        {"mrc p15, 0, apsr_nzcv, c14, c2, 1", 0xee1eff32, OTHER, 0, 0, 0},
        {"vmrs apsr_nzcv, fpscr", 0xeef1fa10, OTHER, 0, 0, 0},
        {"wfe", 0xe320f002, WFI, 0, 0, 0},
        {"wfieq", 0x0320f003, WFI, 1, 0, 0},
        {"nop", 0xe320f000, OTHER, 0, 0, 0},
        {"pld [pc]", 0xf5dff000, OTHER, 0, 0, 0},
    };
    CHECK(ct_insn_decode_a32, "Cortex-A15", CT_ISA_A32, 0x8000, samples);
    CHECK(ct_insn_decode_a32, "Cortex-A53", CT_ISA_A32, 0x8000, samples);
}

/* The address space of A32 and T32 ends at 4 GiB, and branches wrap. */
TEST(wrap)
{
    const struct ct_arch arch = arch_of("Cortex-A9");
    struct ct_insn insn;
    ct_insn_decode_a32(0xea000000, 0xfffffffc, &arch, &insn);
    assert_true(insn.target == 4);
    ct_insn_decode_t32(0xe0000000, 0xfffffffe, &arch, &insn);
    assert_true(insn.target == 2);
    ct_insn_decode_a64(0x17ffffff, 0, &arch, &insn);
    assert_true(insn.target == UINT64_C(0xfffffffffffffffc));
}

TEST(t32)
{
    static const struct sample samples[] = {
        {"b .", 0xe7fe0000, BR, 0, CT_ISA_T32, 0x8002},
        {"b .+2050", 0xe3ff0000, BR, 0, CT_ISA_T32, 0x8804},
        {"beq .+4", 0xd0000000, BR, 1, CT_ISA_T32, 0x8006},
        {"ble .-252", 0xdd800000, BR, 1, CT_ISA_T32, 0x7f06},
        {"udf #0", 0xde000000, OTHER, 0, 0, 0},
        {"svc #0", 0xdf000000, OTHER, 0, 0, 0},
        {"cbz r2, .+4", 0xb1020000, BR, 1, CT_ISA_T32, 0x8006},
        {"cbnz r2, .+130", 0xbbfa0000, BR, 1, CT_ISA_T32, 0x8084},
        {"bx lr", 0x47700000, V7_RET, 0, 0, 0},
        {"bx r3", 0x47180000, IBR, 0, 0, 0},
        {"bx pc", 0x47780000, IBR, 0, 0, 0},
        {"blx r3", 0x47980000, LINK, 0, 0, 0},
        {"bxns lr", 0x47740000, V7_RET, 0, 0, 0},
        {"blxns r3", 0x479c0000, LINK, 0, 0, 0},
        {"mov pc, lr", 0x46f70000, V7_RET, 0, 0, 0},
        {"mov pc, r3", 0x469f0000, IBR, 0, 0, 0},
        {"add pc, r3", 0x449f0000, IBR, 0, 0, 0},
        {"cmp pc, r3", 0x459f0000, OTHER, 0, 0, 0},
        {"mov r7, lr", 0x46770000, OTHER, 0, 0, 0},
        {"pop {r4, pc}", 0xbd100000, V7_RET, 0, 0, 0},
        {"pop {r4}", 0xbc100000, OTHER, 0, 0, 0},
        {"wfe", 0xbf200000, WFI, 0, 0, 0},
        {"wfi", 0xbf300000, WFI, 0, 0, 0},
        {"sev", 0xbf400000, OTHER, 0, 0, 0},
        {"bkpt #0", 0xbe000000, OTHER, 0, 0, 0},
        {"b.w .", 0xf7ffbffe, BR, 0, CT_ISA_T32, 0x8002},
        {"b.w .+0x1000002", 0xf3ff97ff, BR, 0, CT_ISA_T32, 0x1008004},
        {"bl .-0xfffffc", 0xf400d000, BR_LINK, 0, CT_ISA_T32, 0xff008006},
        {"bl .+4", 0xf000f800, BR_LINK, 0, CT_ISA_T32, 0x8006},
        {"blx .+4", 0xf000e800, BR_LINK, 0, CT_ISA_A32, 0x8004},
        {"blx with H", 0xf000e801, OTHER, 0, 0, 0},
        {"beq.w .-0xffffc", 0xf4008000, BR, 1, CT_ISA_T32, 0xfff08006},
        {"bne.w .+0x100002", 0xf07fafff, BR, 1, CT_ISA_T32, 0x108004},
        {"bxj r3", 0xf3c38f00, IBR, 0, 0, 0},
        {"subs pc, lr, #4", 0xf3de8f04, IBR, 0, 0, 0},
        {"eret", 0xf3de8f00, IBR, 0, 0, 0},
        {"rfeia sp!", 0xe9bdc000, IBR, 0, 0, 0},
        {"rfedb r0", 0xe810c000, IBR, 0, 0, 0},
        {"srsdb sp!, #19", 0xe82dc013, OTHER, 0, 0, 0},
        {"tbb [pc, r0]", 0xe8dff000, IBR, 0, 0, 0},
        {"tbh [pc, r0, lsl #1]", 0xe8dff010, IBR, 0, 0, 0},
        {"ldrexb r0, [r1]", 0xe8d10f4f, OTHER, 0, 0, 0},
        {"pop.w {r4-r11, pc}", 0xe8bd8ff0, V7_RET, 0, 0, 0},
        {"ldm r0, {r1, pc}", 0xe8908002, IBR, 0, 0, 0},
        {"ldmdb r0, {r1, pc}", 0xe9108002, IBR, 0, 0, 0},
        {"ldrd r0, r8, [pc]", 0xe9df0800, OTHER, 0, 0, 0},
        {"ldr pc, [sp], #4", 0xf85dfb04, V7_RET, 0, 0, 0},
        {"ldr.w pc, [r0]", 0xf8d0f000, IBR, 0, 0, 0},
        {"ldr.w pc, [pc, #-4]", 0xf85ff004, IBR, 0, 0, 0},
        {"ldr.w pc, [r0, #-4]", 0xf850fc04, IBR, 0, 0, 0},
        {"ldr.w pc, [r0, r1, lsl #2]", 0xf850f021, IBR, 0, 0, 0},
        {"ldrt with Rt 15", 0xf850fe04, OTHER, 0, 0, 0},
        {"pld [r0]", 0xf890f000, OTHER, 0, 0, 0},
        {"isb sy", 0xf3bf8f6f, ISB, 0, 0, 0},
        {"dsb sy", 0xf3bf8f4f, DSB, 0, 0, 0},
        {"dmb sy", 0xf3bf8f5f, DSB, 0, 0, 0},
        {"sb", 0xf3bf8f70, OTHER, 0, 0, 0},
        {"mcr p15, 0, r0, c7, c5, 4", 0xee070f95, ISB, 0, 0, 0},
        {"mcr p15, 0, r0, c7, c10, 4", 0xee070f9a, DSB, 0, 0, 0},
        {"wfe.w", 0xf3af8002, WFI, 0, 0, 0},
        {"wfi.w", 0xf3af8003, WFI, 0, 0, 0},
        {"nop.w", 0xf3af8000, OTHER, 0, 0, 0},
        {"mrs r0, cpsr", 0xf3ef8000, OTHER, 0, 0, 0},
        {"hvc #0", 0xf7e08000, OTHER, 0, 0, 0},
        {"smc #0", 0xf7f08000, OTHER, 0, 0, 0},
        {"le lr on an A profile core", 0xf00fc00b, OTHER, 0, 0, 0},
        {"tst.w r0, #0", 0xf0100f00, OTHER, 0, 0, 0},
    };
    CHECK(ct_insn_decode_t32, "Cortex-A15", CT_ISA_T32, 0x8002, samples);
}

TEST(t32_m_profile)
{
    static const struct sample samples[] = {
        {"wls lr, r4, .+10", 0xf044c803, BR, 1, CT_ISA_T32, 0x100c},
        {"wlstp.32 lr, r2, .+8", 0xf022c003, BR, 1, CT_ISA_T32, 0x100a},
        {"le lr, .-16", 0xf00fc00b, BR, 1, CT_ISA_T32, 0xff2},
        {"le .-16", 0xf02fc00b, BR, 0, CT_ISA_T32, 0xff2},
        {"letp lr, .-18", 0xf01fc80b, BR, 1, CT_ISA_T32, 0xff0},
        {"dls lr, r3", 0xf043e001, OTHER, 0, 0, 0},
        {"lctp", 0xf00fe001, OTHER, 0, 0, 0},
        {"clrm {r1, r2, r3, ip, apsr}", 0xe89f900e, OTHER, 0, 0, 0},
        {"ldm r1, {r1, r2, r3, ip, pc}", 0xe891900e, IBR, 0, 0, 0},
        {"bf", 0xf0c0e003, OTHER, 0, 0, 0},
        {"bflx", 0xf0f1e001, OTHER, 0, 0, 0},
        {"bxaut r1, r2, r3", 0xfb521f13, IBR, 0, 0, 0},
        {"sg", 0xe97fe97f, OTHER, 0, 0, 0},
        {"pac r12, lr, sp", 0xf3af801d, OTHER, 0, 0, 0},
        {"bti", 0xf3af800f, OTHER, 0, 0, 0},
        {"bxns lr", 0x47740000, V7_RET, 0, 0, 0},
        {"mcr p15, 0, r0, c7, c5, 4", 0xee070f95, OTHER, 0, 0, 0},
        {"bl .+4", 0xf000f800, BR_LINK, 0, CT_ISA_T32, 0x1006},
    };
    CHECK(ct_insn_decode_t32, "Cortex-M55", CT_ISA_T32, 0x1002, samples);
}

TEST(it_blocks)
{
    const struct ct_arch arch = arch_of("Cortex-A9");
    static const struct {
        uint32_t op;
        uint8_t it;
    } samples[] = {
        {0xbf080000, 1}, {0xbf0c0000, 2}, {0xbf040000, 2}, {0xbf020000, 3}, {0xbf160000, 3},
        {0xbf1f0000, 4}, {0xbf010000, 4}, {0xbf000000, 0}, {0xbf200000, 0}, {0xbf301234, 0},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        struct ct_insn insn;
        ct_insn_decode_t32(samples[i].op, 0, &arch, &insn);
        assert_int_equal(insn.it, samples[i].it);
        assert_int_equal(insn.size, 2);
    }
}

/* Encodings are from GNU as; their accesses to memory follow from their names. */
TEST(accesses)
{
    static const struct {
        const char *text;
        uint32_t a32, t32; /* 0: does not exist there */
        uint8_t loads, stores, bytes;
    } samples[] = {
        {"ldr r1, [r2, #4]", 0xe5921004, 0x68510000, 1, 0, 4},
        {"str r1, [r2, r3]", 0xe7821003, 0x50d10000, 0, 1, 4},
        {"ldrb r1, [r2]", 0xe5d21000, 0x78110000, 1, 0, 1},
        {"strb r8, [r2, #1]!", 0xe5e28001, 0xf8028f01, 0, 1, 1},
        {"ldrh r1, [r2, #2]", 0xe1d210b2, 0x88510000, 1, 0, 2},
        {"strh r1, [r2, r9]", 0xe18210b9, 0xf8221009, 0, 1, 2},
        {"ldrsb r1, [r2, r3]", 0xe19210d3, 0x56d10000, 1, 0, 1},
        {"ldrsh r1, [r2, #-2]", 0xe15210f2, 0xf9321c02, 1, 0, 2},
        {"ldrd r2, r3, [r4]", 0xe1c420d0, 0xe9d42300, 1, 0, 4},
        {"strd r2, r3, [r4, #8]", 0xe1c420f8, 0xe9c42302, 0, 1, 4},
        {"ldm r1, {r2, r3}", 0xe891000c, 0xe891000c, 1, 0, 4},
        {"stmdb r1!, {r2, r9}", 0xe9210204, 0xe9210204, 0, 1, 4},
        {"push {r1, lr}", 0xe92d4002, 0xb5020000, 0, 1, 4},
        {"pop {r1, pc}", 0xe8bd8002, 0xbd020000, 1, 0, 4},
        {"ldrex r1, [r2]", 0xe1921f9f, 0xe8521f00, 1, 0, 4},
        {"strex r1, r2, [r3]", 0xe1831f92, 0xe8432100, 0, 1, 4},
        {"ldrexb r1, [r2]", 0xe1d21f9f, 0xe8d21f4f, 1, 0, 1},
        {"strexh r1, r2, [r3]", 0xe1e31f92, 0xe8c32f51, 0, 1, 2},
        {"ldrexd r2, r3, [r4]", 0xe1b42f9f, 0xe8d4237f, 1, 0, 4},
        {"vldr d1, [r2]", 0xed921b00, 0xed921b00, 1, 0, 4},
        {"vstr s1, [r2, #4]", 0xedc20a01, 0xedc20a01, 0, 1, 4},
        {"vpush {d8, d9}", 0xed2d8b04, 0xed2d8b04, 0, 1, 4},
        {"vld1.32 {d0}, [r1]", 0xf421078f, 0xf921078f, 1, 0, 4},
        {"vst1.8 {d0, d1}, [r1]!", 0xf4010a0d, 0xf9010a0d, 0, 1, 4},
        {"ldr r1, [pc, #8]", 0xe59f1008, 0x49020000, 1, 0, 4},
        {"str r1, [sp, #8]", 0xe58d1008, 0x91020000, 0, 1, 4},
        {"ldrt r1, [r2]", 0xe4b21000, 0xf8521e00, 1, 0, 4},
        {"lda r1, [r2]", 0xe1921c9f, 0xe8d21faf, 1, 0, 4},
        {"stlb r1, [r2]", 0xe1c2fc91, 0xe8c21f8f, 0, 1, 1},
        {"ldaexh r1, [r2]", 0xe1f21e9f, 0xe8d21fdf, 1, 0, 2},
        {"add r1, r2, r3", 0xe0821003, 0xeb020103, 0, 0, 0},
        {"mul r1, r2, r3", 0xe0010392, 0xfb02f103, 0, 0, 0},
        {"pld [r1]", 0xf5d1f000, 0xf891f000, 0, 0, 0},
        {"mrc p15, 0, r1, c0, c0, 0", 0xee101f10, 0xee101f10, 0, 0, 0},
        {"vmov d0, r1, r2", 0xec421b10, 0xec421b10, 0, 0, 0},
        {"mrrc p15, 0, r1, r2, c14", 0xec521f0e, 0xec521f0e, 0, 0, 0},
        {"umull r1, r2, r3, r4", 0xe0821493, 0xfba31204, 0, 0, 0},
        {"bl .", 0xebfffffe, 0xf7fffffe, 0, 0, 0},
        {"vadd.f32 s0, s1, s2", 0xee300a81, 0xee300a81, 0, 0, 0},
        {"uxtb r1, r2", 0xe6ef1072, 0xb2d10000, 0, 0, 0},
        {"sdiv r1, r2, r3", 0xe711f312, 0xfb92f1f3, 0, 0, 0},
        {"dmb ish", 0xf57ff05b, 0xf3bf8f5b, 0, 0, 0},
        {"movw r1, #5", 0xe3001005, 0xf2400105, 0, 0, 0},
        {"b .", 0xeafffffe, 0xe7fe0000, 0, 0, 0},
        {"bx lr", 0xe12fff1e, 0x47700000, 0, 0, 0},
        {"swp r1, r2, [r3]", 0xe1031092, 0, 1, 1, 4},
        {"swpb r1, r2, [r3]", 0xe1431092, 0, 1, 1, 1},
        {"tbb [r1, r2]", 0, 0xe8d1f002, 1, 0, 1},
        {"tbh [r1, r2, lsl #1]", 0, 0xe8d1f012, 1, 0, 2},
        {"cbz r1, .+8", 0, 0xb1110000, 0, 0, 0},
    };
    struct ct_insn_access access;
    for (size_t i = 0; i < 2 * sizeof samples / sizeof samples[0]; i++) {
        const bool t32 = i % 2;
        const uint32_t op = t32 ? samples[i / 2].t32 : samples[i / 2].a32;
        ct_insn_access_of(op, t32 ? CT_ISA_T32 : CT_ISA_A32, &access);
        if (op && (access.loads != samples[i / 2].loads || access.stores != samples[i / 2].stores ||
                   access.bytes != samples[i / 2].bytes))
            fail_msg("%s (%08x): loads %u, stores %u, bytes %u", samples[i / 2].text, (unsigned)op,
                     access.loads, access.stores, access.bytes);
    }
    ct_insn_access_of(0xf9400000, CT_ISA_A64, &access); /* A64 is not supported */
    assert_int_equal(access.bytes, 0);
}
