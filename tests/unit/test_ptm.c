/* SPDX-License-Identifier: Apache-2.0 */
/* Checks PTM packets as coded in ARM IHI 0035B chapter 4, written by hand, and their elements. */
#include "support/listed.h"
#include "support/unit.h"

/* Bits of ETMCR: cycle counter on, context IDs of four bytes. */
#define CYCLES   0x1000u
#define CONTEXT4 0xc000u
#define RETURNS  0x20000000u

static struct ct_source source(uint32_t etmcr)
{
    return (struct ct_source){.name = "ptm",
                              .protocol = CT_PROTOCOL_PTM,
                              .arch = {.major = 7, .profile = CT_PROFILE_A},
                              .regs = {.etmcr = etmcr, .etmccer = 0x34c00000, .etmidr = 0x411cf312}};
}

static void lists(uint32_t etmcr, const char *hex, const char *wanted)
{
    struct ct_source s = source(etmcr);
    check_listed(&s, NULL, hex, CT_LEVEL_PACKET, wanted);
}

#define SYNC      "0000000000 80 "
#define ISYNC_A32 SYNC "08 00800000 01 "

TEST(synchronisation)
{
    lists(0, "0000000000 80", "0 10 000000000080 async\n");
    lists(0, "84 00000000 80", "0 10 - notsync bytes=6\n");
    /* Ten surplus zeros belong to the packet, eleven do not. */
    lists(0, "000000000000000000000000000000 80", "0 10 00000000000000000000000000000080 async\n");
    lists(0, "00000000000000000000000000000000 80", "0 10 - notsync bytes=11\n11 10 000000000080 async\n");
    lists(0, SYNC "00000080", "6 10 00000080 bad_sequence err=async\n");
    lists(0, SYNC "10", "6 10 10 reserved\n");
    lists(0, SYNC "0800", "6 10 0800 incomplete_eot\n");
}

TEST(isync)
{
    lists(0, ISYNC_A32, "6 10 080080000001 isync reason=periodic addr=8000 isa=a32 sec=s\n");
    lists(0, SYNC "08 01800000 29", "6 10 080180000029 isync reason=trace_enable addr=8000 isa=t32 sec=ns\n");
    lists(0, SYNC "08 01800000 4d",
          "6 10 08018000004d isync reason=restart_overflow addr=8000 isa=tee sec=ns\n");
    lists(0, SYNC "08 00800000 6b",
          "6 10 08008000006b isync reason=debug_exit addr=8000 isa=a32 sec=ns hyp=1\n");
    /* Periodic i-syncs have no cycle count. */
    lists(CYCLES, ISYNC_A32, "6 10 080080000001 isync reason=periodic addr=8000 isa=a32 sec=s\n");
    lists(CYCLES | CONTEXT4, SYNC "08 00800000 21 c405 78563412",
          "6 10 080080000021c40578563412 isync reason=trace_enable addr=8000 isa=a32 sec=s ctxt=12345678 "
          "cc=81\n");
}

TEST(atoms)
{
    lists(0, SYNC "84", "6 10 84 atom atoms=E\n");
    lists(0, SYNC "86", "6 10 86 atom atoms=N\n");
    lists(0, SYNC "8a", "6 10 8a atom atoms=EN\n");
    lists(0, SYNC "9c", "6 10 9c atom atoms=NNE\n");
    lists(0, SYNC "fe", "6 10 fe atom atoms=NNNNN\n");
    lists(0, SYNC "c0", "6 10 c0 atom atoms=EEEEE\n");
    lists(CYCLES, SYNC "be", "6 10 be atom atoms=N cc=15\n");
    lists(CYCLES, SYNC "d202", "6 10 d202 atom atoms=N cc=36\n");
    lists(CYCLES, SYNC "fcffffff7f", "6 10 fcffffff7f atom atoms=E cc=4294967295\n");
}

TEST(branches)
{
    lists(0, ISYNC_A32 "05", "12 10 05 branch_address addr=8008\n");
    lists(0, ISYNC_A32 "8102", "12 10 8102 branch_address addr=8200\n");
    lists(0, ISYNC_A32 "818102", "12 10 818102 branch_address addr=10100\n");
    lists(0, ISYNC_A32 "81818102", "12 10 81818102 branch_address addr=808100\n");
    /* Six bits of an address are known if none was before; unknown bits count as halfwords. */
    lists(0, SYNC "ff26", "6 10 ff26 branch_address addr=137e valid=13\n");
    /* Five bytes give the instruction set: 001 A32, 01 T32, 1 Jazelle. */
    lists(0, ISYNC_A32 "818080800c", "12 10 818080800c branch_address addr=80000000\n");
    lists(0, ISYNC_A32 "8380808018", "12 10 8380808018 branch_address addr=80000002 isa=t32\n");
    lists(0, ISYNC_A32 "8380808030", "12 10 8380808030 branch_address addr=80000001 isa=jaz\n");
    /* Exception information, one and two bytes; the second has Hyp and the upper bits of the number. */
    lists(0, ISYNC_A32 "81401d", "12 10 81401d branch_address addr=8000 sec=ns exc=e\n");
    lists(0, ISYNC_A32 "81401c", "12 10 81401c branch_address addr=8000 sec=s exc=e\n");
    lists(0, ISYNC_A32 "81409d21", "12 10 81409d21 branch_address addr=8000 sec=ns hyp=1 exc=1e\n");
    lists(0, ISYNC_A32 "818080805841",
          "12 10 818080805841 branch_address addr=80000000 isa=tee sec=ns exc=0\n");
    lists(CYCLES, ISYNC_A32 "0548 05", "12 10 054805 branch_address addr=8008 cc=82\n");
}

TEST(others)
{
    lists(0, ISYNC_A32 "7205", "12 10 7205 wp_update addr=8008\n");
    lists(0, ISYNC_A32 "728380808018", "12 10 728380808018 wp_update addr=80000002 isa=t32\n");
    lists(0, ISYNC_A32 "72838080805840", "12 10 72838080805840 wp_update addr=80000002 isa=tee\n");
    lists(CONTEXT4, SYNC "6e78563412", "6 10 6e78563412 ctxtid ctxt=12345678\n");
    lists(0x4000, SYNC "6e78", "6 10 6e78 ctxtid ctxt=78\n");
    lists(0, SYNC "3c07", "6 10 3c07 vmid vmid=7\n");
    lists(0, SYNC "0c", "6 10 0c trigger\n");
    lists(0, SYNC "66", "6 10 66 ignore\n");
    lists(0, SYNC "76", "6 10 76 eret\n");
    /* Bits that a timestamp does not contain stay; the ninth byte has eight. */
    lists(0, SYNC "428182 03 4205", "10 10 4205 timestamp ts=c105\n");
    lists(0, SYNC "42ffffffffffffffffff", "6 10 42ffffffffffffffffff timestamp ts=ffffffffffffffff\n");
    lists(CYCLES, SYNC "420148 05", "6 10 42014805 timestamp ts=1 cc=82\n");
}

/* ---- elements ---- */

/* A32 at 8000: bl 8010; nop; dsb; b 8000; at 8010: bx lr. */
static const uint8_t code[] = {0x02, 0x00, 0x00, 0xeb, 0x00, 0xf0, 0x20, 0xe3, 0x4f, 0xf0,
                               0x7f, 0xf5, 0xfb, 0xff, 0xff, 0xea, 0x1e, 0xff, 0x2f, 0xe1};

static void makes(uint32_t etmcr, uint32_t etmccer, const char *hex, const char *wanted)
{
    struct ct_source s = source(etmcr);
    struct list_region region = {0x8000, code, sizeof code};
    s.regs.etmccer |= etmccer;
    check_listed(&s, &region, hex, CT_LEVEL_FLOW, wanted);
}

#define START                                                                                                \
    "0 10 no_sync reason=init_decoder\n6 10 trace_on reason=begin_or_filter\n"                               \
    "6 10 pe_context isa=a32 sec=s bits=32\n"
#define BL    " instr_range start=8000 end=8004 n=1 last_sz=4 isa=a32 exec=E type=br sub=link cond=0\n"
#define BX_LR " instr_range start=8010 end=8014 n=1 last_sz=4 isa=a32 exec=E type=ibr sub=v7_ret cond=0\n"
#define B     " instr_range start=8004 end=8010 n=3 last_sz=4 isa=a32 exec=E type=br sub=none cond=0\n"

TEST(return_stack)
{
    makes(RETURNS, 0, ISYNC_A32 "90",
          START "12 10" BL "12 10" BX_LR "12 10" B "12 10 eo_trace reason=end_of_trace\n");
    /* A branch packet instead of an atom does not change the stack; an i-sync empties it. */
    makes(RETURNS, 0, ISYNC_A32 "84 03 84",
          START "12 10" BL "13 10" BX_LR "14 10" B "14 10 eo_trace reason=end_of_trace\n");
    makes(RETURNS, 0, ISYNC_A32 "84 08 10800000 01 84",
          START "12 10" BL "19 10" BX_LR
                "19 10 no_sync reason=bad_program_image\n19 10 eo_trace reason=end_of_trace\n");
    /* Without a return stack an address must follow. */
    makes(0, 0, ISYNC_A32 "88 84", START "12 10" BL "12 10" BX_LR "13 10 eo_trace reason=end_of_trace\n");
}

TEST(waypoints)
{
    /* DSB is a waypoint when bit 24 of ETMCCER is set. */
    makes(0, 1u << 24, SYNC "08 04800000 01 88",
          START
          "12 10 instr_range start=8004 end=800c n=2 last_sz=4 isa=a32 exec=E type=dsb_dmb sub=none cond=0\n"
          "12 10 instr_range start=800c end=8010 n=1 last_sz=4 isa=a32 exec=E type=br sub=none cond=0\n"
          "12 10 eo_trace reason=end_of_trace\n");
    /* A waypoint update, then an exception at the place that execution has reached. */
    makes(0, 0, SYNC "08 04800000 01 7203 81401c",
          START
          "12 10 instr_range start=8004 end=8008 n=1 last_sz=4 isa=a32 exec=E type=other sub=none cond=0\n"
          "14 10 exception exc=e ret=8008\n14 10 eo_trace reason=end_of_trace\n");
}

TEST(exceptions)
{
    makes(CYCLES, 0, ISYNC_A32 "84 81401c44 01 a4 76",
          START
          "12 10 instr_range start=8000 end=8004 n=1 last_sz=4 isa=a32 exec=E type=br sub=link cond=0 cc=1\n"
          "13 10 exception exc=e ret=8010 cc=17\n"
          "18 10 instr_range start=8000 end=8004 n=1 last_sz=4 isa=a32 exec=E type=br sub=link cond=0 cc=9\n"
          "19 10 exception_ret\n19 10 eo_trace reason=end_of_trace\n");
    /* Number 0 is no exception but a branch, here to non-secure code. */
    makes(0, 0, ISYNC_A32 "81904101 84",
          START "12 10" BL "16 10 addr_nacc addr=9000 space=any_ns\n16 10 eo_trace reason=end_of_trace\n");
}

TEST(damage)
{
    makes(0, 0, ISYNC_A32 "10 84" ISYNC_A32 "84",
          START "12 10 no_sync reason=bad_packet\n20 10 trace_on reason=begin_or_filter\n26 10" BL
                "26 10 eo_trace reason=end_of_trace\n");
    /* Missing memory ends the walk until the next address. */
    makes(0, 0, SYNC "08 00900000 01 8888 08 00800000 01 84",
          START "12 10 addr_nacc addr=9000 space=any_s\n20 10" BL "20 10 eo_trace reason=end_of_trace\n");
}

TEST(contexts)
{
    makes(CONTEXT4, 0, SYNC "08 00800000 01 01000000 6e01000000 6e02000000 3c00 3c00 0c",
          "6 10 pe_context isa=a32 sec=s bits=32 ctxt=1\n21 10 pe_context isa=a32 sec=s bits=32 ctxt=2\n"
          "26 10 pe_context isa=a32 sec=s bits=32 ctxt=2 vmid=0\n30 10 event type=trigger\n"
          "30 10 eo_trace reason=end_of_trace\n");
}
