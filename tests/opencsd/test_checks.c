/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the flags of ETMv4 and ETE decoders that detect programs which contradict the trace, or which are no
 * code: coretap's library answers like OpenCSD 1.5.5. For small traces this file contains the answers of
 * 1.5.5, taken from Debian's library. Where CT_LATE_OPENCSD names such a library, random streams are compared
 * with it as well: sound and damaged ones, with invalid words in their programs. A stream for which both
 * libraries agree without the flags is played with them, and only very few may differ then. 1.5.5 runs in a
 * process per stream, because ETM4_OPFLG_PKTDEC_AA64_OPCODE_CHK is global there and stays set for later
 * decoders. A library of another distribution needs its own loader and libraries: ld-linux-x86-64.so.2
 * --library-path FOLDER test_checks CORETAP. CT_SEED sets the first seed, CT_COUNT the number of streams,
 * CT_LONG=1 the long tier.
 *
 * usage: CORETAP_OPENCSD_VERSION=1.5.5 test_checks CORETAP */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/compare.h"
#include "oracle/stream.h"
#include "support/damage.h"

enum {
    WORDS = 8,
    TRACE_ROOM = 256,
    MOST_WORSE = 300, /* one random stream in so many may differ: 1.5.5 answers some damage with a warning */
    HEAD = 12,        /* bytes of a random stream that are never damaged: the first alignment packet */
};

/* Decoder flags, with the values in the headers of 1.5.5. */
enum {
    UNSYNC = 0x80,
    ERRORS = 0x100,
    HALT = 0x200,
    DIRECT = 0x400,
    STRICT = 0x800,
    CONTINUE = 0x1000,
    SPLIT = 0x10000,
    OPCODES = 0x20000,
};

/* Flags of rows. */
enum {
    ETE = 1 << 28,        /* the protocol; the default is ETMv4 */
    SPECULATES = 1 << 29, /* at most four speculative P0 elements */
    PAUSES = 1 << 30,     /* each element is answered with WAIT */
    LIMITED = 1 << 27,    /* OPENCSD_INSTR_RANGE_LIMIT is 2 */
    ROW_FLAGS = ETE | SPECULATES | PAUSES | LIMITED,
};

#define NOP    UINT32_C(0xd503201f)
#define NEXT   UINT32_C(0x14000001) /* B .+4 */
#define SELF   UINT32_C(0x14000000) /* B . */
#define OVER   UINT32_C(0x14000002) /* B .+8 */
#define IF     UINT32_C(0x54000040) /* B.EQ .+8 */
#define RETURN UINT32_C(0xd65f03c0)
#define BAD    UINT32_C(0x00001234)

#define RETURN_STACK (UINT32_C(1) << 12) /* TRCCONFIGR.RS */

/* A trace, written as words:
 *
 *     S, A, T   alignment, trace info, and a context with address 0x1000: A64, A32, T32 code
 *     R, O      the same for A64 code of a realm, and of root
 *     E, N      an atom
 *     F         one packet with six E atoms
 *     n         one packet with an E and two N
 *     o         an overflow
 *     r         an exception return
 *     -         a byte that begins no packet
 *
 * With a number in base 16:
 *
 *     a         an address
 *     x         an exception that returns there
 *     s         a source address
 *     q         a Q element of that many instructions, and address 0x1010
 *     c         a commit of that many P0 elements
 *     m         a mispredict */
struct row {
    const char *name;
    int flags;
    const char *trace;
    uint32_t words[WORDS]; /* of the program at 0x1000 */
    const char *answer;    /* answer of 1.5.5 */
};

/* Parts of answers: a message with `size` letters about a packet at `index`, and a context. */
#define MESSAGE(size, error, index, text)                                                                    \
    "T " size " DCD_ETMV4 : " error "; TrcIdx=" index "; CS ID=10; " text "\n"
#define OPCODE(size, index, text)                                                                            \
    MESSAGE(size, "0x002c (OCSD_ERR_INVALID_OPCODE) [Illegal Opode found while decoding program memory.]",   \
            index, text)
#define ATOM_OPCODE(index) OPCODE("149", index, "Error processing atom packet.")
#define IMAGE(size, index, text)                                                                             \
    MESSAGE(size, "0x002e (OCSD_ERR_BAD_DECODE_IMAGE) [Mismatch between trace packets and decode image.]",   \
            index, text)
#define TOO_MANY(size, text)                                                                                 \
    "T " size " DCD_ETMV4 : 0x002d (OCSD_ERR_I_RANGE_LIMIT_OVERRUN) [An optional limit on consecutive "      \
    "instructions in range during decode has been exceeded.]; " text "\n"
#define ATOM_LENGTH(index) TOO_MANY("193", "TrcIdx=" index "; CS ID=10; Error processing atom packet.")
#define ONE_TOO_MANY       TOO_MANY("181", "Decode Instruction Range Limit Overrun")
#define CONTEXT(index)     "E " index " 10 4 isa=2 sec=1 el=0 ctxt=0 vmid=0 bits64=1 valid=001\n"

static const struct row rows[] = {
    {"no flag",
     0,
     "S E",
     {NOP, BAD, SELF},
     "E 25 10 5 isa=2 st=1000 en=100c n=3 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=26\n"},
    {"the first word",
     OPCODES,
     "S E E a1008 E S a1008 E",
     {BAD, NOP, SELF},
     ATOM_OPCODE("25") "E 25 10 1 reason=5\n" CONTEXT(
         "52") "E 71 10 5 isa=2 st=1008 en=100c n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
               "R op=0 at=0 resp=0 done=72\n"},
    {"the waypoint's neighbour, and an atom N",
     OPCODES,
     "S N S E",
     {NOP, 0xffff, IF, SELF},
     ATOM_OPCODE("25") "E 25 10 1 reason=5\n" CONTEXT("41") ATOM_OPCODE("51") "E 51 10 1 reason=5\n"
                                                                              "R op=0 at=0 resp=0 done=52\n"},
    {"a word that is fine",
     OPCODES,
     "S E",
     {0x10000, SELF},
     "E 25 10 5 isa=2 st=1000 en=1008 n=2 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=26\n"},
    {"six atoms, of which the last one fails",
     OPCODES,
     "S F",
     {NEXT, NEXT, NEXT, NEXT, NEXT, BAD},
     ATOM_OPCODE("25") "E 25 10 1 reason=5\n"
                       "R op=0 at=0 resp=0 done=26\n"},
    {"memory that ends before",
     OPCODES,
     "S a101c E",
     {BAD, 0, 0, 0, 0, 0, 0, NOP},
     "E 34 10 5 isa=2 st=101c en=1020 n=1 type=0 sub=0 exec=1 sz=4 cond=0\n"
     "E 34 10 7 st=1020\n"
     "R op=0 at=0 resp=0 done=35\n"},
    {"A32",
     OPCODES,
     "A E",
     {0xe1a00000, 0, BAD, 0xeafffffe},
     "E 25 10 5 isa=0 st=1000 en=1010 n=4 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=26\n"},
    {"T32",
     OPCODES,
     "T E",
     {0, BAD, 0xe7fee7fe},
     "E 25 10 5 isa=1 st=1000 en=100a n=5 type=1 sub=0 exec=1 sz=2 cond=0\n"
     "R op=0 at=0 resp=0 done=26\n"},
    {"on the way to an exception",
     OPCODES,
     "S E x1010 E",
     {NEXT, NOP, BAD, NOP, SELF},
     "E 25 10 5 isa=2 st=1000 en=1004 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n" OPCODE(
         "154", "26", "Error processing exception packet.") "R op=0 at=0 resp=9 done=37\n"},
    {"where an exception returns",
     OPCODES,
     "S x1008 E",
     {NOP, NOP, BAD, NOP, SELF},
     "E 25 10 5 isa=2 st=1000 en=1008 n=2 type=0 sub=0 exec=1 sz=4 cond=0\n"
     "E 25 10 9 number=1 ret=1 tgt=0 marker=0 en=1008\n" ATOM_OPCODE("36") "E 36 10 1 reason=5\n"
                                                                           "R op=0 at=0 resp=0 done=37\n"},
    {"on the way to a source address",
     OPCODES | ETE,
     "S s1010 E",
     {NOP, NOP, BAD, NOP, SELF},
     "E 25 10 5 isa=2 st=1000 en=1014 n=5 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "E 34 10 5 isa=2 st=1010 en=1014 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=35\n"},
    {"at a source address",
     OPCODES | ETE,
     "S s1008 E",
     {NOP, NOP, BAD, NOP, SELF},
     OPCODE("178", "25",
            "Instruction decode error processing source address packet.") "R op=0 at=0 resp=9 done=34\n"},
    {"split, on the way to a source address",
     OPCODES | SPLIT | ETE,
     "S s1010 E",
     {IF, NOP, BAD, NOP, SELF},
     OPCODE("178", "25",
            "Instruction decode error processing source address packet.") "R op=0 at=0 resp=9 done=34\n"},
    {"an atom of an ETE",
     OPCODES | ETE,
     "S E S",
     {NOP, BAD, SELF},
     ATOM_OPCODE("25") "E 25 10 1 reason=5\n"
                       "R op=0 at=0 resp=0 done=51\n"},
    {"among the instructions of a Q",
     OPCODES,
     "S q5 E",
     {NOP, NOP, BAD, NOP, SELF},
     OPCODE("145", "25", "Error processing Q packet") "R op=0 at=0 resp=9 done=28\n"},
    {"behind the instructions of a Q",
     OPCODES,
     "S q2 E",
     {NOP, NOP, BAD, NOP, SELF},
     "E 25 10 6 isa=2 st=1000 en=1010 n=2 type=0 sub=0 exec=0 sz=0 cond=0\n"
     "E 28 10 5 isa=2 st=1010 en=1014 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=29\n"},
    {"two of three atoms are committed",
     OPCODES | SPECULATES,
     "S E E N c2 S",
     {NEXT, BAD, SELF},
     ATOM_OPCODE("26") "E 28 10 1 reason=5\n"
                       "R op=0 at=0 resp=0 done=55\n"},
    {"between two pauses",
     OPCODES | PAUSES,
     "S E E S",
     {NEXT, BAD, SELF},
     "R op=0 at=0 resp=3 done=26\n"
     "E 25 10 5 isa=2 st=1000 en=1004 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=2 at=0 resp=3 done=43690\n"
     "R op=2 at=0 resp=0 done=43690\n" ATOM_OPCODE("26") "E 26 10 1 reason=5\n"
                                                         "R op=0 at=26 resp=0 done=26\n"},
    {"behind a pause",
     OPCODES | PAUSES,
     "S F E S",
     {NEXT, NEXT, NEXT, BAD, SELF},
     "R op=0 at=0 resp=3 done=26\n" ATOM_OPCODE("25") "R op=2 at=0 resp=2 done=43690\n"
                                                      "E 26 10 1 reason=5\n"
                                                      "R op=0 at=26 resp=0 done=26\n"},
    {"decoding halts",
     OPCODES | HALT,
     "S E E",
     {NEXT, BAD, SELF},
     "E 25 10 5 isa=2 st=1000 en=1004 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n" ATOM_OPCODE(
         "26") "R op=0 at=0 resp=9 done=27\n"},
    {"an error all the same",
     OPCODES | ERRORS,
     "S E",
     {BAD, SELF},
     ATOM_OPCODE("25") "E 25 10 1 reason=5\n"
                       "R op=0 at=0 resp=0 done=26\n"},
    {"before what an atom contradicts",
     OPCODES | DIRECT,
     "S N",
     {BAD, SELF},
     ATOM_OPCODE("25") "E 25 10 1 reason=5\n"
                       "R op=0 at=0 resp=0 done=26\n"},
    {"a direct branch was not taken",
     DIRECT,
     "S N E S",
     {NOP, OVER, SELF},
     IMAGE("175", "25",
           "Bad program image - N Atom on unconditional direct BR.") "\n"
                                                                     "E 25 10 1 reason=6\n"
                                                                     "R op=0 at=0 resp=0 done=52\n"},
    {"... to the next instruction",
     DIRECT,
     "S N",
     {NOP, NEXT, SELF},
     "E 25 10 5 isa=2 st=1000 en=1008 n=2 type=1 sub=0 exec=0 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=26\n"},
    {"... strictly",
     STRICT,
     "S N",
     {NOP, NEXT, SELF},
     IMAGE("175", "25",
           "Bad program image - N Atom on unconditional direct BR.") "\n"
                                                                     "E 25 10 1 reason=6\n"
                                                                     "R op=0 at=0 resp=0 done=26\n"},
    {"an indirect branch was not taken",
     STRICT,
     "S N",
     {RETURN},
     IMAGE("177", "25",
           "Bad program image - N Atom on unconditional indirect BR.") "\n"
                                                                       "E 25 10 1 reason=6\n"
                                                                       "R op=0 at=0 resp=0 done=26\n"},
    {"ranges with a gap",
     CONTINUE,
     "S N a100c E",
     {IF, NOP, NOP, SELF},
     "E 25 10 5 isa=2 st=1000 en=1004 n=1 type=1 sub=0 exec=0 sz=4 cond=1\n" IMAGE(
         "181", "35",
         "Discontinuous ranges - Inconsistent program image for decode") "\n"
                                                                         "E 35 10 1 reason=6\n"
                                                                         "R op=0 at=0 resp=0 done=36\n"},
    {"... where decoding halts",
     CONTINUE | HALT,
     "S N a100c E",
     {IF, NOP, NOP, SELF},
     "E 25 10 5 isa=2 st=1000 en=1004 n=1 type=1 sub=0 exec=0 sz=4 cond=1\n" IMAGE(
         "181", "35",
         "Discontinuous ranges - Inconsistent program image for decode") "\n"
                                                                         "R op=0 at=0 resp=9 done=36\n"},
    {"... committed later",
     CONTINUE | SPECULATES,
     "S N a100c E N c2 S",
     {IF, NOP, NOP, SELF},
     IMAGE("181", "35",
           "Discontinuous ranges - Inconsistent program image for decode") "\n"
                                                                           "E 37 10 1 reason=6\n"
                                                                           "R op=0 at=0 resp=0 done=64\n"},
    {"... behind a pause",
     DIRECT | PAUSES,
     "S n S",
     {NEXT, SELF},
     "R op=0 at=0 resp=3 done=26\n" IMAGE(
         "175", "25",
         "Bad program image - N Atom on unconditional direct BR.") "\n"
                                                                   "R op=2 at=0 resp=2 done=43690\n"
                                                                   "E 26 10 1 reason=6\n"
                                                                   "R op=0 at=26 resp=0 done=25\n"},
    {"... behind an overflow",
     CONTINUE,
     "S N o S a100c E",
     {IF, NOP, NOP, SELF},
     "E 25 10 5 isa=2 st=1000 en=1004 n=1 type=1 sub=0 exec=0 sz=4 cond=1\n"
     "E 26 10 1 reason=3\n" CONTEXT("43") IMAGE(
         "181", "62",
         "Discontinuous ranges - Inconsistent program image for decode") "\n"
                                                                         "E 62 10 1 reason=6\n"
                                                                         "R op=0 at=0 resp=0 done=63\n"},
    {"... behind a return from an exception",
     CONTINUE,
     "S N r a100c E",
     {IF, NOP, NOP, SELF},
     "E 25 10 5 isa=2 st=1000 en=1004 n=1 type=1 sub=0 exec=0 sz=4 cond=1\n"
     "E 26 10 10\n"
     "E 36 10 5 isa=2 st=100c en=1010 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=37\n"},
    {"an exception that returns behind",
     0,
     "S a1008 x1000 E",
     {NOP, NOP, SELF},
     "E 34 10 9 number=1 ret=1 tgt=0 marker=0 en=1000\n"
     "E 45 10 5 isa=2 st=1008 en=100c n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=46\n"},
    {"at an empty return stack",
     0,
     "S E E S",
     {RETURN},
     "E 25 10 5 isa=2 st=1000 en=1004 n=1 type=2 sub=2 exec=1 sz=4 cond=0\n"
     "T 165 DCD_ETMV4 : 0x001c (OCSD_ERR_RET_STACK_OVERFLOW) [Internal return stack overflow checks failed - "
     "popped more than we pushed.]; CS ID=10; Trace Return Stack Overflow.\n"
     "E 26 10 1 reason=5\n"
     "R op=0 at=0 resp=0 done=52\n"},
    {"... behind a pause",
     PAUSES,
     "S F S",
     {NEXT, RETURN},
     "R op=0 at=0 resp=3 done=26\n"
     "T 165 DCD_ETMV4 : 0x001c (OCSD_ERR_RET_STACK_OVERFLOW) [Internal return stack overflow checks failed - "
     "popped more than we pushed.]; CS ID=10; Trace Return Stack Overflow.\n"
     "R op=2 at=0 resp=2 done=43690\n"
     "E 26 10 1 reason=5\n"
     "R op=0 at=26 resp=0 done=25\n"},
    {"a mispredict behind an address",
     SPECULATES,
     "S E E a1000 m E E c4",
     {NEXT, NEXT, NEXT, NEXT, SELF},
     "E 25 10 5 isa=2 st=1000 en=1004 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "E 26 10 5 isa=2 st=1004 en=1008 n=1 type=1 sub=0 exec=0 sz=4 cond=0\n"
     "E 37 10 5 isa=2 st=1008 en=100c n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "E 38 10 5 isa=2 st=100c en=1010 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=41\n"},
    {"too many instructions before a branch",
     LIMITED,
     "S n S E",
     {NEXT, NOP, NOP, NOP, SELF},
     ONE_TOO_MANY ONE_TOO_MANY ATOM_LENGTH("25") "E 25 10 1 reason=5\n" CONTEXT(
         "41") "E 51 10 5 isa=2 st=1000 en=1004 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
               "R op=0 at=0 resp=0 done=52\n"},
    {"... where decoding halts",
     LIMITED | HALT,
     "S E",
     {NOP, NOP, SELF},
     ONE_TOO_MANY ATOM_LENGTH("25") "R op=0 at=0 resp=9 done=26\n"},
    {"... before memory ends",
     LIMITED,
     "S a1014 E",
     {0, 0, 0, 0, 0, NOP, NOP, NOP},
     ONE_TOO_MANY ONE_TOO_MANY ATOM_LENGTH("34") "E 34 10 1 reason=5\n"
                                                 "R op=0 at=0 resp=0 done=35\n"},
    {"... before a word that cannot be",
     LIMITED | OPCODES,
     "S E",
     {NOP, NOP, NOP, BAD, SELF},
     ONE_TOO_MANY ATOM_OPCODE("25") "E 25 10 1 reason=5\n"
                                    "R op=0 at=0 resp=0 done=26\n"},
    {"... before an exception",
     LIMITED,
     "S x100c E",
     {NOP, NOP, NOP, SELF},
     ONE_TOO_MANY TOO_MANY(
         "198", "TrcIdx=25; CS ID=10; Error processing exception packet.") "R op=0 at=0 resp=9 done=36\n"},
    {"... before a source address, where they are not counted",
     LIMITED | ETE,
     "S s100c E",
     {NOP, NOP, NOP, NOP, SELF},
     "E 25 10 5 isa=2 st=1000 en=1010 n=4 type=0 sub=0 exec=1 sz=4 cond=0\n"
     "E 34 10 5 isa=2 st=1010 en=1014 n=1 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "R op=0 at=0 resp=0 done=35\n"},
    {"a realm, which memory of other spaces does not serve",
     0,
     "R E",
     {NOP, SELF},
     "E 25 10 7 st=1000\n"
     "R op=0 at=0 resp=0 done=26\n"},
    {"... nor root",
     0,
     "O E",
     {NOP, SELF},
     "E 25 10 7 st=1000\n"
     "R op=0 at=0 resp=0 done=26\n"},
    {"a packet that cannot be",
     UNSYNC,
     "S E - E S E",
     {NOP, SELF},
     "E 25 10 5 isa=2 st=1000 en=1008 n=2 type=1 sub=0 exec=1 sz=4 cond=0\n"
     "T 128 DCD_ETMV4 : 0x0019 (OCSD_ERR_BAD_DECODE_PKT) [Reserved or unknown packet in decoder.]; "
     "TrcIdx=26; CS ID=10; Unknown packet type.\n"
     "E 27 10 1 reason=5\n" CONTEXT(
         "43") "E 53 10 5 isa=2 st=1000 en=1008 n=2 type=1 sub=0 exec=1 sz=4 cond=0\n"
               "R op=0 at=0 resp=0 done=54\n"},
};

static size_t put(uint8_t *bytes, const void *what, size_t size)
{
    memcpy(bytes, what, size);
    return size;
}

/* Writes an address packet with a 64-bit address. */
static size_t put_address(uint8_t *bytes, uint8_t header, uint64_t addr)
{
    bytes[0] = header;
    bytes[1] = addr >> 2 & 0x7f;
    bytes[2] = addr >> 9 & 0x7f;
    for (int i = 0; i < 6; i++)
        bytes[3 + i] = (uint8_t)(addr >> (16 + 8 * i));
    return 9;
}

/* Writes an alignment packet, a trace info packet, and an address with a context. */
static size_t put_start(uint8_t *bytes, uint8_t header, uint8_t context)
{
    static const uint8_t sync[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 1, 0};
    size_t size = put(bytes, sync, sizeof sync);
    size += put_address(bytes + size, header, 0x1000);
    if (header == 0x86) /* addresses of T32 code have one more bit */
        bytes[size - 7] = 0x10;
    bytes[size++] = context;
    return size;
}

/* Writes the packets for a word of a trace. Returns their size in bytes. */
static size_t put_word(uint8_t *bytes, const char *word)
{
    const uint64_t value = strtoull(word + 1, NULL, 16);
    size_t size;
    switch (*word) {
    case 'S':
        return put_start(bytes, 0x85, 0x30);
    case 'R':
        return put_start(bytes, 0x85, 0x39);
    case 'O':
        return put_start(bytes, 0x85, 0x1b);
    case 'A':
        return put_start(bytes, 0x85, 0x20);
    case 'T':
        return put_start(bytes, 0x86, 0x20);
    case 'E':
        return put(bytes, "\xf7", 1);
    case 'N':
        return put(bytes, "\xf6", 1);
    case 'F':
        return put(bytes, "\xc3", 1);
    case 'n':
        return put(bytes, "\xf9", 1);
    case 'o':
        return put(bytes, "\0\5", 2);
    case 'r':
        return put(bytes, "\7", 1);
    case '-':
        return put(bytes, "\x50", 1);
    case 'a':
        return put_address(bytes, 0x9d, value);
    case 'x':
        size = put(bytes, "\x06\x02", 2);
        return size + put_address(bytes + size, 0x9d, value);
    case 's':
        return put_address(bytes, 0xb8, value);
    case 'q':
        size = put(bytes, "\xa5\x04", 2);
        return size + put(bytes + size, (uint8_t[]){(uint8_t)value}, 1);
    case 'm':
        return put(bytes, "\x30", 1);
    default:
        return put(bytes, (uint8_t[]){0x2d, (uint8_t)value}, 2);
    }
}

static struct ct_source source_of(const struct row *row)
{
    const bool ete = row->flags & ETE;
    return (struct ct_source){.name = "core",
                              .protocol = ete ? CT_PROTOCOL_ETE : CT_PROTOCOL_ETM4,
                              .trace_id = 0x10,
                              .arch = {.major = 8, .profile = CT_PROFILE_A},
                              .regs = {.idr0 = 0x28018ea1,
                                       .idr1 = ete ? 0x4100fff3 : 0x4100f433,
                                       .idr2 = 0x488,
                                       .idr8 = row->flags & SPECULATES ? 4 : 0,
                                       .devarch = 0x47705a13,
                                       .configr = 0xc1 | RETURN_STACK,
                                       .traceidr = 0x10}};
}

/* Plays a row through a library and returns whether the answer is the expected one. */
static bool check_row(const struct row *row, const struct library *library)
{
    uint8_t bytes[TRACE_ROOM];
    const struct ct_source source = source_of(row);
    const struct ocsd_region region = {0x1000, sizeof row->words, 0, (const uint8_t *)row->words};
    const struct compare_trace trace = {&source, &region, 1, bytes, compare_put(bytes, row->trace, put_word),
                                        false};
    const struct player player = {.single = 1,
                                  .chunk = TRACE_ROOM,
                                  .severity = 3,
                                  .create_flags = row->flags & ~ROW_FLAGS,
                                  .wait = row->flags & PAUSES ? 1 : 0};
    struct compare_text text;
    if (row->flags & LIMITED)
        setenv("OPENCSD_INSTR_RANGE_LIMIT", "2", 1);
    compare_play(player, library, &trace, &text);
    unsetenv("OPENCSD_INSTR_RANGE_LIMIT");
    const char *first =
        strstr(text.data, " 10 4 isa="); /* the first context, after which the comparison starts … */
    char *end = strstr(text.data, "\nE 0 10 3"); /* … and ends at the end of the trace … */
    if (!end)
        end = strstr(text.data, "\nS "); /* … or of decoding */
    if (end)
        end[1] = 0;
    const char *answer = first ? strchr(first, '\n') + 1 : "";
    const bool good = !strcmp(answer, row->answer);
    if (!good)
        printf("# got:\n%s", text.data);
    free(text.data);
    return good;
}

/* Makes a random stream and replaces some words of its programs with invalid ones. */
static void fill(struct rng *rng, struct stream *s, struct player *player)
{
    static const int flags[] = {UNSYNC, ERRORS, HALT, DIRECT, STRICT, CONTINUE, SPLIT, OPCODES};
    gen_source(rng, GEN_UNSPECULATED, &s->source);
    if (rng_chance(rng, 200)) /* at an empty return stack 1.5.5 reports less than 1.3.3 */
        s->source.regs.configr &= ~RETURN_STACK;
    do
        stream_fill_program(rng, s);
    while (s->region_count < 2);
    stream_fill_trace(rng, s);
    for (unsigned i = 0; i < s->region_count; i++)
        for (unsigned n = rng_below(rng, 8); n && s->regions[i].size >= 4; n--)
            memset(s->code[i] + rng_below(rng, s->regions[i].size / 4) * 4 + 2, 0, 2);
    if (rng_chance(rng, 128))
        s->size = HEAD + damage(rng, s->bytes + HEAD, s->size - HEAD, ROOM - HEAD);
    *player = (struct player){.single = 1, .chunk = 64 + rng_below(rng, 5000), .severity = 3};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        player->create_flags |= rng_chance(rng, 100) ? flags[i] : 0;
    player->wait = rng_chance(rng, 128) ? 1 + rng_below(rng, 20) : 0;
    player_vary(player, rng, PLAYER_FLUSH);
    player->small = 0;
}

struct libraries {
    const struct library *late, *ours;
};

/* Plays a random stream through both libraries: without the flags, and, if the output is the same, with
 * them. */
static void check_stream(const void *context, uint64_t seed, struct compare_counts *counts)
{
    static struct stream s;
    const struct libraries *libraries = context;
    struct rng rng = {seed};
    struct player player;
    fill(&rng, &s, &player);
    const struct compare_trace trace = {&s.source, s.regions, s.region_count, s.bytes, s.size, true};
    struct player plain = player;
    plain.create_flags &= SPLIT | ERRORS | HALT;
    if (compare_is_same(plain, &trace, libraries->late, libraries->ours, ocsd_isa_aarch64))
        compare(player, &trace, libraries->late, libraries->ours, ocsd_isa_aarch64, seed, counts);
    else
        counts->crashes++; /* the libraries differ without the flags: nothing is compared */
}

/* Compares random streams with the 1.5.5 library that CT_LATE_OPENCSD names. */
static bool check_streams(const struct library *ours)
{
    struct library late;
    const uint64_t count = test_count(300, 10000);
    const char *path = getenv("CT_LATE_OPENCSD");
    if (!path) {
        printf("ok %zu - random streams # SKIP CT_LATE_OPENCSD names no library of OpenCSD 1.5.5\n",
               sizeof rows / sizeof *rows + 1);
        return true;
    }
    if (library_load(path, &late))
        return false;
    const struct libraries libraries = {&late, ours};
    struct compare_counts counts;
    compare_seeds(test_number("CT_SEED", 1), count, check_stream, &libraries, &counts);
    printf("# %" PRIu64 " streams, %" PRIu64 " that differ, %" PRIu64 " that differ without flags\n", count,
           counts.worse, counts.crashes);
    const bool good = counts.worse <= count / MOST_WORSE;
    printf("%sok %zu - random streams\n", good ? "" : "not ", sizeof rows / sizeof *rows + 1);
    return good;
}

int main(int argc, char **argv)
{
    struct library ours;
    int failed = 0;
    if (argc < 2 || library_load(argv[1], &ours))
        return 2;
    printf("TAP version 13\n1..%zu\n", sizeof rows / sizeof *rows + 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool good = check_row(&rows[i], &ours);
        printf("%sok %zu - %s\n", good ? "" : "not ", i + 1, rows[i].name);
        failed |= !good;
    }
    failed |= !check_streams(&ours);
    return failed;
}
