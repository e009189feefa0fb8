/* SPDX-License-Identifier: Apache-2.0 */
/* Checks ETMv3 packets as coded in ARM IHI 0014Q chapter 7, written by hand, and their elements. */
#include "support/listed.h"
#include "support/unit.h"

/* Bits of ETMCR: data values, data addresses, cycle-accurate, context IDs of four bytes, data only. */
#define VALUES    0x4u
#define ADDRESSES 0x8u
#define CYCLES    0x1000u
#define CONTEXT4  0xc000u
#define DATA_ONLY 0x100000u

static struct ct_source source(uint32_t etmcr, int alternative)
{
    return (struct ct_source){
        .name = "etm",
        .protocol = CT_PROTOCOL_ETM3,
        .arch = {.major = 7, .profile = CT_PROFILE_A},
        .regs = {.etmcr = etmcr, .etmccer = 0x34000000, .etmidr = alternative ? 0x411cf250 : 0x410cf250}};
}

static void lists_of(struct ct_source s, const char *hex, const char *wanted)
{
    check_listed(&s, NULL, hex, CT_LEVEL_PACKET, wanted);
}

static void lists(uint32_t etmcr, const char *hex, const char *wanted)
{
    lists_of(source(etmcr, 0), hex, wanted);
}

#define SYNC       "0000000000 80 "
#define I_SYNC_A32 SYNC "08 01 00800000 "

TEST(synchronisation)
{
    lists(0, "0000000000 80", "0 10 000000000080 a_sync\n");
    /* Surplus zeros belong to the run before; after synchronisation they are bad packets. */
    lists(0, "00000000000000 80", "0 10 - notsync bytes=2\n2 10 000000000080 a_sync\n");
    lists(0, SYNC "000000000000 80", "6 10 00 bad_sequence err=a_sync\n7 10 000000000080 a_sync\n");
    lists(0, SYNC "0000 66", "6 10 0000 bad_sequence err=a_sync\n8 10 66 ignore\n");
    lists(0, SYNC "10", "6 10 10 reserved\n");
    /* A cut packet is listed with its known fields. */
    lists(0, I_SYNC_A32 "81", "12 10 81 branch_address addr=8000\n");
}

TEST(i_sync)
{
    lists(0, I_SYNC_A32, "6 10 080100800000 i_sync reason=periodic addr=8000 isa=a32 sec=s\n");
    lists(0, SYNC "08 2b 01800000",
          "6 10 082b01800000 i_sync reason=trace_enable addr=8000 isa=t32 sec=ns hyp=1\n");
    lists(0, SYNC "08 45 01800000",
          "6 10 084501800000 i_sync reason=restart_overflow addr=8000 isa=tee sec=s\n");
    lists(0, SYNC "08 71 00800000", "6 10 087100800000 i_sync reason=debug_exit addr=8000 isa=jaz sec=s\n");
    lists(CYCLES | CONTEXT4, SYNC "70 8f3c 78563412 21 00800000",
          "6 10 708f3c785634122100800000 i_sync_cycle reason=trace_enable addr=8000 isa=a32 sec=s "
          "ctxt=12345678 cc=7695\n");
    /* A load or store in progress: its address is coded relative to the current one. */
    lists(0, SYNC "08 a1 00800000 05",
          "6 10 08a10080000005 i_sync reason=trace_enable addr=8008 curr=8000 isa=a32 sec=s\n");
    lists(DATA_ONLY | VALUES | CONTEXT4, SYNC "08 78563412 21",
          "6 10 087856341221 i_sync reason=trace_enable sec=s ctxt=12345678\n");
}

TEST(p_headers)
{
    lists(0, SYNC "84", "6 10 84 p_hdr atoms=E\n");
    lists(0, SYNC "c0", "6 10 c0 p_hdr atoms=N\n");
    lists(0, SYNC "fc", "6 10 fc p_hdr atoms=EEEEEEEEEEEEEEEN\n");
    lists(0, SYNC "86", "6 10 86 p_hdr atoms=EN\n");
    lists(0, SYNC "8a", "6 10 8a p_hdr atoms=NE\n");
    lists(0, SYNC "80", "6 10 80 p_hdr atoms=-\n");
    lists(CYCLES, SYNC "c8", "6 10 c8 p_hdr atoms=WEWEWN cc=3\n");
    lists(CYCLES, SYNC "8a", "6 10 8a p_hdr atoms=WNE cc=1\n");
    lists(CYCLES, SYNC "bc", "6 10 bc p_hdr atoms=WWWWWWWW cc=8\n");
    lists(CYCLES, SYNC "e0", "6 10 e0 p_hdr atoms=WE cc=1\n");
    lists(CYCLES, SYNC "92", "6 10 92 p_hdr atoms=E\n");
    lists(CYCLES, SYNC "96", "6 10 96 p_hdr atoms=N\n");
}

TEST(branches)
{
    lists(0, I_SYNC_A32 "05", "12 10 05 branch_address addr=8008\n");
    lists(0, I_SYNC_A32 "8142", "12 10 8142 branch_address addr=c200\n");
    lists(0, I_SYNC_A32 "818102", "12 10 818102 branch_address addr=10100\n");
    lists(0, I_SYNC_A32 "818080800c", "12 10 818080800c branch_address addr=80000000\n");
    lists(0, I_SYNC_A32 "8380808018", "12 10 8380808018 branch_address addr=80000002 isa=t32\n");
    lists(0, I_SYNC_A32 "8380808030", "12 10 8380808030 branch_address addr=80000001 isa=jaz\n");
    lists(0, I_SYNC_A32 "8180808040 1c", "12 10 81808080401c bad_sequence err=branch_address\n");
    /* Exceptions: information bytes, and the form of ETMv3.0 in the fifth byte. */
    lists(0, I_SYNC_A32 "818080804c3d",
          "12 10 818080804c3d branch_address addr=80000000 sec=ns exc=e cancel=1\n");
    lists(0, I_SYNC_A32 "818080804c9da041",
          "12 10 818080804c9da041 branch_address addr=80000000 sec=ns hyp=1 exc=e resume=1\n");
    lists(0, I_SYNC_A32 "818080804c0d",
          "12 10 818080804c0d branch_address addr=80000000 sec=ns exc=reserved\n");
    lists(0, I_SYNC_A32 "81808080cc", "12 10 81808080cc branch_address addr=80000000 exc=1 cancel=1\n");
    struct ct_source m = source(0, 1);
    m.arch.profile = CT_PROFILE_M;
    lists_of(m, I_SYNC_A32 "81401d", "12 10 81401d branch_address addr=8000 sec=ns exc=e mprof=1\n");
    lists_of(m, I_SYNC_A32 "81408101",
             "12 10 81408101 branch_address addr=8000 sec=ns exc=reserved mprof=1\n");
    lists_of(m, I_SYNC_A32 "81408d42",
             "12 10 81408d42 branch_address addr=8000 sec=ns exc=6 mprof=1 resume=2\n");
}

TEST(alternative_branches)
{
    lists_of(source(0, 1), I_SYNC_A32 "8102", "12 10 8102 branch_address addr=8200\n");
    lists_of(source(0, 1), I_SYNC_A32 "81401d", "12 10 81401d branch_address addr=8000 sec=ns exc=e\n");
    lists_of(source(0, 1), I_SYNC_A32 "81814b1c", "12 10 81814b1c branch_address addr=58100 sec=s exc=e\n");
}

TEST(data)
{
    lists(0, SYNC "06", "6 10 06 bad_tracemode err=norm_data\n");
    lists(VALUES, SYNC "02", "6 10 02 norm_data data=0\n");
    lists(VALUES, SYNC "0611", "6 10 0611 norm_data data=11\n");
    lists(VALUES, SYNC "0a1122", "6 10 0a1122 norm_data data=2211\n");
    lists(VALUES, SYNC "0e11223344", "6 10 0e11223344 norm_data data=44332211\n");
    lists(VALUES | ADDRESSES, SYNC "26 8101 77", "6 10 26810177 norm_data addr=81 valid=14 data=77\n");
    lists(VALUES | ADDRESSES, SYNC "2a 8182838408 1122 2205",
          "6 10 2a81828384081122 norm_data addr=8080c101 data=2211\n14 10 2205 norm_data addr=8080c105 "
          "data=0\n");
    lists(VALUES, SYNC "2407", "6 10 2407 ooo_data data=7 tag=1\n");
    lists(VALUES, SYNC "4c01020304", "6 10 4c01020304 ooo_data data=4030201 tag=2\n");
    lists(VALUES, SYNC "5c", "6 10 5c ooo_addr_plc tag=3\n");
    lists(VALUES | ADDRESSES, SYNC "7405", "6 10 7405 ooo_addr_plc addr=5 valid=7 tag=1\n");
    lists(VALUES | ADDRESSES, SYNC "7a05", "6 10 7a05 val_not_traced addr=5 valid=7\n");
    lists(VALUES, SYNC "6a", "6 10 6a val_not_traced\n");
    lists(VALUES, SYNC "50 62", "6 10 50 store_fail\n7 10 62 data_suppressed\n");
}

TEST(others)
{
    lists(0, SYNC "048501", "6 10 048501 cycle_count cc=133\n");
    lists(0, SYNC "0c 66 76 7e",
          "6 10 0c trigger\n7 10 66 ignore\n8 10 76 exception_exit\n9 10 7e exception_entry\n");
    lists(CONTEXT4, SYNC "6e78563412", "6 10 6e78563412 context_id ctxt=12345678\n");
    lists(0, SYNC "3c07", "6 10 3c07 vmid vmid=7\n");
    lists(0, SYNC "42818203 4205", "6 10 42818203 timestamp ts=c101\n10 10 4205 timestamp ts=c105\n");
}

/* ---- elements ---- */

/* A32 at 8000: nop; nop; b 8000; bx lr. */
static const uint8_t code[] = {0x00, 0xf0, 0x20, 0xe3, 0x00, 0xf0, 0x20, 0xe3,
                               0xfc, 0xff, 0xff, 0xea, 0x1e, 0xff, 0x2f, 0xe1};

static void makes(uint32_t etmcr, const char *hex, const char *wanted)
{
    struct ct_source s = source(etmcr, 1);
    struct list_region region = {0x8000, code, sizeof code};
    check_listed(&s, &region, hex, CT_LEVEL_FLOW, wanted);
}

#define START                                                                                                \
    "0 10 no_sync reason=init_decoder\n6 10 trace_on reason=begin_or_filter\n"                               \
    "6 10 pe_context isa=a32 sec=s bits=32\n"
#define NOP0 " instr_range start=8000 end=8004 n=1 last_sz=4 isa=a32 exec=E type=other sub=none cond=0"
#define NOP1 " instr_range start=8004 end=8008 n=1 last_sz=4 isa=a32 exec=E type=other sub=none cond=0"
#define JUMP " instr_range start=8008 end=800c n=1 last_sz=4 isa=a32 exec=E type=br sub=none cond=0"
#define END  " 10 eo_trace reason=end_of_trace\n"

TEST(instructions)
{
    makes(0, I_SYNC_A32 "90", START "12 10" NOP0 "\n12 10" NOP1 "\n12 10" JUMP "\n12 10" NOP0 "\n12" END);
    makes(CYCLES, I_SYNC_A32 "88 82 e8 a4",
          START "12 10" NOP0 " cc=1\n12 10" NOP1 " cc=1\n13 10" JUMP " cc=1\n13 10" NOP0 " cc=0\n14 10" NOP1
                " cc=3\n15 10 cycle_count cc=2\n15" END);
    /* After an indirect branch the place of instructions is unknown. */
    makes(
        CYCLES, SYNC "08 01 0c800000 84 88 84",
        "12 10 instr_range start=800c end=8010 n=1 last_sz=4 isa=a32 exec=E type=ibr sub=v7_ret cond=0 cc=1\n"
        "13 10 addr_unknown cc=2\n14 10 cycle_count cc=1\n14" END);
}

TEST(cancelled)
{
    makes(0, I_SYNC_A32 "88 81403c 84", START "12 10" NOP0 "\n13 10 exception exc=e\n16 10" NOP0 "\n16" END);
    makes(0, I_SYNC_A32 "84 76 81403c 84", START "14 10 exception exc=e\n17 10" NOP0 "\n17" END);
    /* Not when another packet came in between. */
    makes(0, I_SYNC_A32 "84 0c 81403c",
          START "12 10" NOP0 "\n13 10 event type=trigger\n14 10 exception exc=e\n14" END);
    /* A branch that changes the security state reports that first. */
    makes(0, I_SYNC_A32 "84 81401d",
          START "12 10" NOP0 "\n13 10 pe_context isa=a32 sec=ns bits=32\n13 10 exception exc=e\n13" END);
}

TEST(early)
{
    makes(CYCLES, SYNC "4205 84 84 0c 04 07 08 21 00800000 84",
          "0 10 no_sync reason=init_decoder\n6 10 timestamp ts=5\n8 10 addr_unknown cc=1\n9 10 cycle_count "
          "cc=1\n"
          "11 10 cycle_count cc=7\n13 10 trace_on reason=begin_or_filter\n"
          "13 10 pe_context isa=a32 sec=s bits=32\n19 10" NOP0 " cc=1\n19" END);
    makes(0, SYNC "84 08 43 00800000 70 05 21 00800000",
          "0 10 no_sync reason=init_decoder\n7 10 trace_on reason=overflow\n"
          "7 10 pe_context isa=a32 el=2 sec=s bits=32\n13 10 trace_on reason=begin_or_filter\n"
          "13 10 pe_context isa=a32 sec=s bits=32 cc=5\n13" END);
}

TEST(broken)
{
    makes(0, I_SYNC_A32 "84 10 84" I_SYNC_A32 "84",
          START "12 10" NOP0 "\n14 10 no_sync reason=bad_packet\n21 10 trace_on reason=begin_or_filter\n"
                "21 10 pe_context isa=a32 sec=s bits=32\n27 10" NOP0 "\n27" END);
}

/* Data transfers and their instructions: v, kind, tag, instruction (0: unknown). */
TEST(transfers)
{
    static const struct {
        uint64_t v, start;
        uint8_t kind, tag;
    } wanted[] = {
        {0x1000000011, 0x8000, CT_DATA_VALUE, 0},
        {0x1400000000, 0x8004, CT_DATA_LATER, 1},
        {0x22, 0x8008, CT_DATA_VALUE, 0},
        {0x33, 0x8004, CT_DATA_LATE, 1},
        {0x44, 0, CT_DATA_LATE, 2},
    };
    struct ct_source s = source(VALUES | ADDRESSES, 0);
    uint8_t bytes[64];
    struct ct_etm3_packet packets[32];
    struct ct_elem elems[64];
    struct ct_flow flow[64];
    struct ct_etm3_decoder *decoder;
    struct ct_etm3_resolver *resolver;
    struct ct_walk *walk;
    struct ct_memory *memory;
    size_t count, found = 0;
    size_t size = listed_bytes(I_SYNC_A32 "84 2610 11 84 7414 84 0622 2433 4444", bytes);
    assert_int_equal(ct_memory_new(NULL, &memory), CT_OK);
    assert_int_equal(ct_memory_add_bytes(memory, code, sizeof code, 0x8000, 0), CT_OK);
    assert_int_equal(ct_etm3_decoder_new(NULL, &s, &decoder), CT_OK);
    assert_int_equal(ct_etm3_resolver_new(NULL, &s, &resolver), CT_OK);
    assert_int_equal(ct_walk_new(NULL, &s, memory, NULL, &walk), CT_OK);
    assert_int_equal(ct_etm3_decode(decoder, bytes, size, 0, 1, packets, 32, &count), size);
    ct_etm3_resolve(resolver, packets, count, 1, elems, 64, &count);
    ct_walk_run(walk, elems, count, size, flow, 64, &count);
    for (size_t i = 0; i < count; i++) {
        if (flow[i].kind != CT_FLOW_ELEM || flow[i].elem.kind != CT_ELEM_DATA)
            continue;
        assert_true(found < sizeof wanted / sizeof *wanted);
        assert_int_equal(flow[i].elem.v, wanted[found].v);
        assert_int_equal(flow[i].elem.n, wanted[found].kind);
        assert_int_equal((flow[i].elem.aux & CT_DATA_TAG) >> CT_DATA_TAG_SHIFT, wanted[found].tag);
        assert_int_equal(flow[i].start, wanted[found].start);
        assert_int_equal(flow[i].n, wanted[found].start != 0);
        found++;
    }
    assert_int_equal(found, sizeof wanted / sizeof *wanted);
    ct_walk_free(walk);
    ct_etm3_resolver_free(resolver);
    ct_etm3_decoder_free(decoder);
    ct_memory_free(memory);
}
