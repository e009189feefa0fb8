/* SPDX-License-Identifier: Apache-2.0 */
/* Checks short traces of ETMv4, ETE, PTM, ETMv3 and STM that are invalid or that no trace unit makes:
 * coretap's library gives the same elements, and the same packets with their bytes, as OpenCSD 1.3.3, for
 * whole traces and pieces.
 *
 * usage: test_bytes OPENCSD CORETAP */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/input.h"
#include "opencsd/compare.h"

enum {
    HALT = OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS,
    SPLIT = ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS,
    THUMB = 1 << 18, /* T32 code: two NOPs and a BLX, repeated */
    PTM = 1 << 19,
    RESETS = 1 << 20,     /* after each call; only elements are compared. With PACKETS: in the middle */
    DATA = 1 << 21,       /* ETMv3 with data values */
    M_PROFILE = 1 << 22,  /* ETMv3 of a Cortex-M */
    PACKETS = 1 << 23,    /* only packets, no elements */
    ETMV3 = 1 << 24,      /* ETMv3; the default is ETMv4 */
    PAUSES = 1 << 25,     /* after each element */
    MARKERS = 1 << 26,    /* ETE 1.1 with timestamps after markers */
    SPECULATES = 1 << 27, /* at most eight speculative P0 elements */
    NO_IDS = 1 << 28,     /* context IDs and VMIDs have no bytes */
    ETE = 1 << 29,
    STM = 1 << 30,
    ROW_FLAGS = THUMB | PTM | RESETS | DATA | PACKETS | ETMV3 | PAUSES | MARKERS | SPECULATES | NO_IDS | ETE |
                M_PROFILE | STM,
    ROOM = 8192,  /* bytes of a trace */
    WORDS = 1024, /* of the program at 0x1000: three NOPs and a branch, repeated */
};

static const uint32_t NOP = 0xd503201f, IF = 0x54000020;   /* b.eq to the next word */
static const uint32_t NOPS = 0xbf00bf00, BLX = 0xe802f000; /* of T32 */

struct row {
    const char *name;
    int flags;
    const char *trace; /* bytes in hex; A: alignment and trace info; S: those, then an address with context;
                        * 83*100: byte 83 this many times */
};

static const struct row rows[] = {
    {"a trace info that says what came before the trace", SPECULATES, "a 01050003 x f7 f7 f7 2d03"},
    {"... taken back", SPECULATES, "a 01050003 x 2e02 f7 2d01"},
    {"... without speculation", 0, "a 01050003 x f7 f7"},
    {"a trace info of many bytes", 0, "a 0101 83*100 07 f7 S f7"},
    {"... longer than any other packet", 0, "a 0101 83*1000 07 f7 S f7"},
    {"... whose threshold stands behind a long field", 0, "a 01db f391a8ed97808000 48f7df9b1e03 10 S 10 f7"},
    {"... whose first byte goes on", 0, "a 01 81*6 0102 f7 S f7"},
    {"... that is cut", 0, "a 0101 83*200"},
    {"a cycle count behind a long field", 0, "S 0ee6a4a686bacbe49d0e74 f7"},
    {"long fields of other packets", SPECULATES, "S 03 ff*300 0f f7 2d 83*99 00 S f7"},
    {"a context without the ID that it says it has", NO_IDS, "S 8170 f7 f6 81b0 f7 f6 81f0 f7 f6"},
    {"... at the end", NO_IDS, "S f7 8170"},
    {"a cancel of more than there is, where decoding halts", HALT | SPECULATES, "S f7 2e02 f7 S f7 2d01"},
    {"a commit of more than there is, where decoding halts", HALT | SPECULATES, "S f7 2d02 f7 S f7 2d01"},
    {"... behind a pause", HALT | SPECULATES | PAUSES, "S f7 2d02 f7 S f7 2d01"},
    {"a mispredict of nothing, where decoding halts", HALT | SPECULATES, "S 30 f7 S f7 2d01"},
    {"a packet that is cut, where decoding halts", HALT, "S f7 06"},
    {"a commit of more than there is, behind an address", 0, "S f7 9d4004000000000000 2d05 S f7"},
    {"... behind an event and an address", 0, "S f7 71 9d4004000000000000 2d05 S f7"},
    {"... behind an address, two events and another address", 0,
     "S f7 9d4004000000000000 71 72 9d0008000000000000 2d05 A 0603 9d0008000000000000 f7"},
    {"a reset of the PE", ETE, "S f7 060000 f7 S f7"},
    {"addresses of a reset and of a failed transaction, before any trace info", ETE | PACKETS,
     "a 9500 060000 b0 b1 b2 9500 9500 9500 063000 9500 b1"},
    {"addresses of before a reset", PACKETS | RESETS, "a 9a01020304 9d0102030405060708 a 9500 90 91 92 70*9"},
    {"... matched first", PACKETS | RESETS, "a 9a01020304 9d0102030405060708 a 92 9500 9a00000102 9500 70*4"},
    {"... behind a context that says nothing", PACKETS | RESETS, "S a 80 9500 9a00000102 9500 70*3"},
    {"an exception with a context, but no address", ETE,
     "S f7 06bd00 817100 d8 A b80008000000000000 8100 f7"},
    {"an exception with a target, behind a loss", ETE,
     "S f7 0604 f8 A 0642 9d0008000000000000 b80408000000000000 f7"},
    {"more elements before the trace than a signed number can be", 0, "a 010500fadcbed70a 3f S f7"},
    {"an address of 32 bits before a reset", PACKETS | RESETS,
     "a 9d0102030405060708 9a01020304 a 9500 90 91 92 70*9"},
    {"a way to a source address inside an instruction", ETE | SPLIT, "S b90110000000000000 f7"},
    {"... inside a waypoint", ETE | SPLIT, "S b90710000000000000 f7"},
    {"a source address before any context", ETE, "A b80308000000000000 f7"},
    {"... behind an address that was dropped", ETE,
     "S f7 08 A 9d0308000000000000 08 A b80308000000000000 f7"},
    {"a cancel of source addresses", ETE | SPECULATES, "S f7 f7 b80308000000000000 2e01 2d02"},
    {"... among atoms", ETE | SPECULATES, "S f7 b80308000000000000 f7 2e03 f7 2d01"},
    {"a marker that leaves behind a loss", ETE | SPECULATES | MARKERS,
     "S f7 88 0205 f7 2e05 S f7 0207 f7 2d02"},
    {"a timestamp whose marker left before a loss", ETE | SPECULATES | MARKERS,
     "S 88 f7 2d01 f7 0205 f7 2e05 S f7 0207 f7 2d02"},
    {"an exception with a context and an address in packets of their own", 0,
     "S f7 0603 8111 9a00080000 9a00080000 f7"},
    {"... of an ETE", ETE, "S f7 0603 8111 9a00080000 9a00080000 f7"},
    {"... with two contexts", 0, "S f7 0603 8111 820008000011 f7"},
    {"... with a context that says nothing", 0, "S f7 0603 80 9a00080000 9a00080000 f7"},
    {"bytes before the first alignment", PACKETS, "c0 01 00 04 82 00*2 f0 f7*30 00 11 22 44*30 00 S f7"},
    {"... with many zeros", PACKETS, "c0*3 00*8 c0*20 00*10 c0*20 S f7"},
    {"... that end without one", PACKETS, "c0*18"},
    {"... behind a zero", PACKETS, "c0*3 00"},
    {"... in zeros", PACKETS, "c0*3 00*3"},
    {"... in one zero", PACKETS, "00"},
    {"a wrong byte behind eleven zeros", PACKETS, "00*11 c0 f7*40 S f7"},
    {"... behind more of them", PACKETS, "f7 00*14 c0 f7*3 00*11 05 f7 00*12 80 f7"},
    {"zeros in front of the first alignment", PACKETS, "00*3 a 01 01 00 f7"},
    {"... behind other bytes", PACKETS, "f7 00*3 a 01 01 00 f7"},
    {"thirteen zeros", PACKETS, "00*13"},
    {"addresses before a trace info", PACKETS, "a 961122 9a11223344 9d1122334455667788 961122"},
    {"... with a context", PACKETS, "a 9a11223344 821122334411 961122 010100 961122"},
    {"... behind a context", PACKETS, "a 9a11223344 8111 9a11223344 961122"},
    {"... matched", PACKETS, "a 9a11223344 90 9d1122334455667788 91 90 91 92 010100 90"},
    {"... matched, a short one", PACKETS, "a 951122 90 91"},
    {"zeros at the end that no alignment packet follows", PTM, "000000"},
    {"a packet that a reset cuts at the end", PTM | RESETS, "000000000080 66 080010000000 84 84 00"},
    {"... between resets, with bytes without synchronisation", PTM | RESETS,
     "000000000080 080010000000 84848484848484 08218484848484 84840084000000 840000"},
    {"ThumbEE at the end of a call", PTM, "000000000080 080010000000 84 81a080805040 84"},
    {"... before a packet that is cut", PTM, "000000000080 080010000000 84 81a080805040 84 81"},
    {"... before another packet", PTM, "000000000080 080010000000 84 81a080805040 84 84"},
    {"an i-sync behind an overflow, and a branch that is ThumbEE for what came before another", PTM,
     "000000000080 080110000000 81a080805040 080110000000 81a0808010 080110000040 84"},
    {"a BLX that is not taken", PTM | THUMB, "000000000080 080110000000 86 84 86"},
    {"... of an ETMv3", ETMV3 | THUMB, "000000000080 082101100000 c0 84 c0"},
    {"an alignment packet with zeros too many", ETMV3, "000000000080 082100100000 84 0000000000000000 80 84"},
    {"a value that is cut behind another", ETMV3 | PACKETS | DATA, "000000000080 082100100000 48bbaa 28"},
    {"branches before an instruction set is known", ETMV3, "000000000080 67 b5f108 41"},
    {"returns from exceptions that wait where a packet cannot be", ETMV3,
     "000000000080 08 21 00100000 76 76 6a"},
    {"... behind a range", ETMV3, "000000000080 08 21 00100000 84 76 6a"},
    {"... and one more", ETMV3, "000000000080 08 21 00100000 84 76 76 76 6a"},
    {"... three of them", ETMV3, "000000000080 08 21 00100000 76 76 76 6a"},
    {"... of a Cortex-M, behind a range", ETMV3 | M_PROFILE, "000000000080 08 21 00100000 84 76 6a"},
    {"an I-sync that is cut behind one with cycles", ETMV3 | PACKETS,
     "000000000080 70 04 2100100000 70 04 21"},
    {"an alignment packet that ends a call, behind other bytes", STM | PACKETS, "50 ff*10 0f"},
    {"... behind more bytes than 1.3.3 counts", STM | PACKETS, "50*118 ff*10 0f"},
    {"as many bytes without synchronisation as 1.3.3 counts to 0", STM, "50*128"},
    {"... before an alignment packet", STM | PACKETS, "50*128 ff*10 0f 30 00"},
    {"units f that end a call, before other bytes", STM | PACKETS, "50*5 ffff 50*3 ff*10 0f 30 00"},
    {"a row of units f that is longer than an alignment packet", STM | PACKETS, "50 ff*15 0f 30 00"},
    {"... than 1.3.3 counts", STM | PACKETS, "50 ff*128 0f 30 00 ff*10 0f"},
    {"an alignment packet that begins and ends inside bytes", STM | PACKETS, "55 f5 ff*10 50 00"},
    {"... without other bytes in its call", STM | PACKETS, "50*6 f5 ff*10 50 00"},
};

static size_t put_hex(uint8_t *bytes, const char *word)
{
    size_t size = 0;
    for (; word[0] > ' ' && word[1] > ' ' && word[0] != '*'; word += 2) {
        const char digits[] = {word[0], word[1], 0};
        bytes[size++] = (uint8_t)strtoul(digits, NULL, 16);
    }
    if (*word == '*') {
        const size_t count = strtoul(word + 1, NULL, 10);
        memset(bytes, bytes[0], count);
        return count;
    }
    return size;
}

/* Writes the bytes for a word of a trace. Returns how many. */
static size_t put_word(uint8_t *bytes, const char *word)
{
    static const char alignment[] = "000000000000000000000080", info[] = "010100",
                      address[] = "85000800000000000030";
    size_t size = 0;
    if (*word == 'a' || *word == 'A' || *word == 'S')
        size += put_hex(bytes, alignment);
    if (*word == 'A' || *word == 'S')
        size += put_hex(bytes + size, info);
    if (*word == 'x' || *word == 'S')
        size += put_hex(bytes + size, address);
    return size ? size : put_hex(bytes, word);
}

static struct ct_source source_of(const struct row *row)
{
    const bool ete = row->flags & ETE;
    if (row->flags & STM)
        return (struct ct_source){
            .name = "stm", .protocol = CT_PROTOCOL_STM, .trace_id = 0x21, .regs = {.stmtcsr = 0x00210007}};
    if (row->flags & PTM)
        return (struct ct_source){.name = "core",
                                  .protocol = CT_PROTOCOL_PTM,
                                  .trace_id = 0x10,
                                  .arch = {.major = 7, .profile = CT_PROFILE_A},
                                  .regs = {.etmidr = 0x411cf301, .etmccer = 0x34c01ac2, .traceidr = 0x10}};
    if (row->flags & ETMV3)
        return (struct ct_source){
            .name = "core",
            .protocol = CT_PROTOCOL_ETM3,
            .trace_id = 0x10,
            .arch = {.major = 7, .profile = row->flags & M_PROFILE ? CT_PROFILE_M : CT_PROFILE_A},
            .regs = {.etmidr = 0x411cf245,
                     .etmccer = 0x18541ac2,
                     .etmcr = row->flags & DATA ? 4 : 0,
                     .traceidr = 0x10}};
    return (struct ct_source){.name = "core",
                              .protocol = ete ? CT_PROTOCOL_ETE : CT_PROTOCOL_ETM4,
                              .trace_id = 0x10,
                              .arch = {.major = 8, .profile = CT_PROFILE_A},
                              .regs = {.idr0 = row->flags & MARKERS ? 0x2c801ca1 : 0x28000ea1,
                                       .idr1 = ete ? 0x4100fff3 : 0x4100f433,
                                       .idr2 = row->flags & NO_IDS ? 4 : 0x488,
                                       .idr8 = row->flags & SPECULATES ? 8 : 0,
                                       .devarch = row->flags & MARKERS ? 0x47715a13 : 0x47705a13,
                                       .configr = row->flags & MARKERS ? 0x891 : 0xc1,
                                       .traceidr = 0x10}};
}

/* Plays a row through both libraries, in calls of at most `chunk` bytes, and compares elements or packets. */
static bool is_same(const struct row *row, uint32_t chunk, int as_packets, const struct library *theirs,
                    const struct library *ours)
{
    static uint8_t bytes[ROOM];
    static uint32_t words[WORDS];
    struct compare_counts counts = {0};
    const struct ct_source source = source_of(row);
    for (int i = 0; i < WORDS; i++)
        words[i] = row->flags & THUMB ? (i % 2 ? BLX : NOPS) : i % 4 == 3 ? IF : NOP;
    const struct ocsd_region region = {0x1000, sizeof words, 0, (const uint8_t *)words};
    const struct compare_trace trace = {&source, &region, 1, bytes, compare_put(bytes, row->trace, put_word),
                                        false};
    const bool resets_once = row->flags & RESETS && row->flags & PACKETS;
    const struct player player = {.single = 1,
                                  .chunk = resets_once ? (uint32_t)trace.size / 2 : chunk,
                                  .severity = 3,
                                  .create_flags = row->flags & ~ROW_FLAGS,
                                  .as_packets = as_packets,
                                  .reset = row->flags & RESETS ? 1 : 0,
                                  .wait = row->flags & PAUSES ? 1 : 0};
    compare(player, &trace, theirs, ours, ocsd_isa_unknown, 0, &counts);
    return !counts.worse && !counts.crashes;
}

int main(int argc, char **argv)
{
    struct library theirs, ours;
    int failed = 0;
    if (argc < 3 || library_load(argv[1], &theirs) || library_load(argv[2], &ours))
        return 2;
    printf("TAP version 13\n1..%zu\n", sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int most = rows[i].flags & RESETS && !(rows[i].flags & PACKETS) ? 0 : 2;
        bool good = true;
        for (int as_packets = rows[i].flags & PACKETS ? 2 : 0; as_packets <= most; as_packets += 2)
            for (uint32_t chunk = 7; chunk <= ROOM; chunk += ROOM - 7)
                good &= is_same(&rows[i], chunk, as_packets, &theirs, &ours);
        printf("%sok %zu - %s\n", good ? "" : "not ", i + 1, rows[i].name);
        failed |= !good;
    }
    return failed;
}
