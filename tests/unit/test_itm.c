/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each packet form of ITM and DWT, written by hand, as lines of the listing. */
#include <stdlib.h>
#include <string.h>

#include "support/software_lines.h"
#include "support/unit.h"

#define BEGIN      "00 00 00 00 00 80 "
#define BEGIN_LINE "0 00 000000000080 itm_async\n"
#define NO_SYNC    "0 00 no_sync reason=init_decoder\n"

static void expect_of(uint32_t itmtcr, const char *bytes, enum lines_kind kind, const char *before,
                      const char *lines)
{
    const struct ct_source source = {.name = "itm", .protocol = CT_PROTOCOL_ITM, .regs = {.itmtcr = itmtcr}};
    char *got = lines_of(&source, bytes, kind);
    assert_memory_equal(got, before, strlen(before));
    assert_string_equal(got + strlen(before), lines);
    free(got);
}

static void expect(const char *bytes, enum lines_kind kind, const char *before, const char *lines)
{
    expect_of(0, bytes, kind, before, lines);
}

/* Checks both listings of what follows the alignment packet. */
static void behind_begin(const char *bytes, const char *packets, const char *elements)
{
    expect(bytes, LINES_PACKETS, BEGIN_LINE, packets);
    expect(bytes, LINES_ELEMENTS, NO_SYNC, elements);
}

TEST(stimulus_of_every_size)
{
    behind_begin(BEGIN "01 41 0a 42 43 fb 78 56 34 12",
                 "6 00 0141 itm_swit src=0 data=41\n"
                 "8 00 0a4243 itm_swit src=1 data=4342\n"
                 "11 00 fb78563412 itm_swit src=1f data=12345678\n",
                 "6 00 itm_trace type=swit src=0 data=41\n"
                 "8 00 itm_trace type=swit src=1 data=4342\n"
                 "11 00 itm_trace type=swit src=1f data=12345678\n"
                 "11 00 eo_trace reason=end_of_trace\n");
}

TEST(stimulus_pages)
{
    behind_begin(BEGIN "01 41 78 01 42 f9 43 08 01 44",
                 "6 00 0141 itm_swit src=0 data=41\n"
                 "8 00 78 itm_extension page=7\n"
                 "9 00 0142 itm_swit src=0 data=42\n"
                 "11 00 f943 itm_swit src=1f data=43\n"
                 "13 00 08 itm_extension page=0\n"
                 "14 00 0144 itm_swit src=0 data=44\n",
                 "6 00 itm_trace type=swit src=0 data=41\n"
                 "9 00 itm_trace type=swit src=e0 data=42\n"
                 "11 00 itm_trace type=swit src=ff data=43\n"
                 "14 00 itm_trace type=swit src=0 data=44\n"
                 "14 00 eo_trace reason=end_of_trace\n");
}

TEST(hardware)
{
    behind_begin(BEGIN "05 20 0e 0f 10 17 34 12 00 08 15 00 47 00 01 00 20 4d 11 8d 22 8f 01 02 03 04",
                 "6 00 0520 itm_dwt desc=0 data=20\n"
                 "8 00 0e0f10 itm_dwt desc=1 data=100f\n"
                 "11 00 1734120008 itm_dwt desc=2 data=08001234\n"
                 "16 00 1500 itm_dwt desc=2 data=00\n"
                 "18 00 4700010020 itm_dwt desc=8 data=20000100\n"
                 "23 00 4d11 itm_dwt desc=9 data=11\n"
                 "25 00 8d22 itm_dwt desc=11 data=22\n"
                 "27 00 8f01020304 itm_dwt desc=11 data=04030201\n",
                 "6 00 itm_trace type=dwt desc=0 data=20\n"
                 "8 00 itm_trace type=dwt desc=1 data=100f\n"
                 "11 00 itm_trace type=dwt desc=2 data=08001234\n"
                 "16 00 itm_trace type=dwt desc=2 data=00\n"
                 "18 00 itm_trace type=dwt desc=8 data=20000100\n"
                 "23 00 itm_trace type=dwt desc=9 data=11\n"
                 "25 00 itm_trace type=dwt desc=11 data=22\n"
                 "27 00 itm_trace type=dwt desc=11 data=04030201\n"
                 "27 00 eo_trace reason=end_of_trace\n");
}

TEST(local_timestamps)
{
    behind_begin(BEGIN "10 60 c0 05 d0 85 01 e0 80 80 01 f0 ff ff ff 7f",
                 "6 00 10 itm_ts_local ts=1 tc=0\n"
                 "7 00 60 itm_ts_local ts=6 tc=0\n"
                 "8 00 c005 itm_ts_local ts=5 tc=0\n"
                 "10 00 d08501 itm_ts_local ts=85 tc=1\n"
                 "13 00 e0808001 itm_ts_local ts=4000 tc=2\n"
                 "17 00 f0ffffff7f itm_ts_local ts=fffffff tc=3\n",
                 "6 00 itm_trace type=ts_local delta=1 tc=0 ts=1\n"
                 "7 00 itm_trace type=ts_local delta=6 tc=0 ts=7\n"
                 "8 00 itm_trace type=ts_local delta=5 tc=0 ts=c\n"
                 "10 00 itm_trace type=ts_local delta=85 tc=1 ts=91\n"
                 "13 00 itm_trace type=ts_local delta=4000 tc=2 ts=4091\n"
                 "17 00 itm_trace type=ts_local delta=fffffff tc=3 ts=10004090\n"
                 "17 00 eo_trace reason=end_of_trace\n");
}

TEST(local_timestamps_are_prescaled)
{
    /* Prescaler 16, which is only used in asynchronous mode. */
    expect_of(0x210, BEGIN "10 c0 05", LINES_ELEMENTS, NO_SYNC,
              "6 00 itm_trace type=ts_local delta=1 tc=0 ts=10\n"
              "7 00 itm_trace type=ts_local delta=5 tc=0 ts=60\n"
              "7 00 eo_trace reason=end_of_trace\n");
    expect_of(0x200, BEGIN "10 c0 05", LINES_ELEMENTS, NO_SYNC,
              "6 00 itm_trace type=ts_local delta=1 tc=0 ts=1\n"
              "7 00 itm_trace type=ts_local delta=5 tc=0 ts=6\n"
              "7 00 eo_trace reason=end_of_trace\n");
}

TEST(overflow_is_told_once_and_resets_local_time)
{
    behind_begin(BEGIN "20 70 01 41 01 42 10 70 20 70 94 01 b4 80 80 80 01",
                 "6 00 20 itm_ts_local ts=2 tc=0\n"
                 "7 00 70 itm_overflow\n"
                 "8 00 0141 itm_swit src=0 data=41\n"
                 "10 00 0142 itm_swit src=0 data=42\n"
                 "12 00 10 itm_ts_local ts=1 tc=0\n"
                 "13 00 70 itm_overflow\n"
                 "14 00 20 itm_ts_local ts=2 tc=0\n"
                 "15 00 70 itm_overflow\n"
                 "16 00 9401 itm_gts_1 ts=1\n"
                 "18 00 b480808001 itm_gts_2 ts=200000\n",
                 "6 00 itm_trace type=ts_local delta=2 tc=0 ts=2\n"
                 "8 00 itm_trace type=swit src=0 data=41 overflow=1\n"
                 "10 00 itm_trace type=swit src=0 data=42\n"
                 "12 00 itm_trace type=ts_local delta=1 tc=0 ts=1\n"
                 "14 00 itm_trace type=ts_local delta=2 tc=0 ts=2 overflow=1\n"
                 "18 00 itm_trace type=ts_global ts=800000000001 overflow=1\n"
                 "18 00 eo_trace reason=end_of_trace\n");
}

TEST(global_timestamps)
{
    /* 48 and 64 bits; the low part alone, before and after there was a high one; wrap. */
    behind_begin(BEGIN "94 7f b4 81 80 80 00 94 01 94 82 83 84 25 94 80 80 80 40 b4 82 80 80 80 80 01 94 00",
                 "6 00 947f itm_gts_1 ts=7f\n"
                 "8 00 b481808000 itm_gts_2 ts=1\n"
                 "13 00 9401 itm_gts_1 ts=1\n"
                 "15 00 9482838425 itm_gts_1 ts=a10182 clkch=1\n"
                 "20 00 9480808040 itm_gts_1 ts=0 wrap=1\n"
                 "25 00 b4828080808001 itm_gts_2 ts=800000002\n"
                 "32 00 9400 itm_gts_1 ts=0\n",
                 "8 00 itm_trace type=ts_global ts=400007f\n"
                 "13 00 itm_trace type=ts_global ts=4000001\n"
                 "15 00 itm_trace type=ts_global ts=4a10182\n"
                 "25 00 itm_trace type=ts_global ts=2000000008000000\n"
                 "32 00 itm_trace type=ts_global ts=2000000008000000\n"
                 "32 00 eo_trace reason=end_of_trace\n");
}

TEST(extensions)
{
    behind_begin(BEGIN "18 1c 98 7f 9c ff 01 88 80 80 01 88 80 80 80 ff",
                 "6 00 18 itm_extension page=1\n"
                 "7 00 1c itm_extension bits=3 data=1\n"
                 "8 00 987f itm_extension bits=10 data=3f9\n"
                 "10 00 9cff01 itm_extension bits=17 data=7f9\n"
                 "13 00 88808001 itm_extension bits=24 data=20000\n"
                 "17 00 88808080ff itm_extension bits=32 data=ff000000\n",
                 "17 00 eo_trace reason=end_of_trace\n");
}

TEST(what_cannot_be)
{
    behind_begin(BEGIN "04 01 41 00 00 01 c0 80 80 80 80 94 80 80 80 80 b4 80 80 80 80 80 80 " BEGIN "01 42",
                 "6 00 04 itm_reserved\n"
                 "7 00 0141 itm_swit src=0 data=41\n"
                 "9 00 000001 itm_bad_sequence err=itm_async\n"
                 "12 00 c080808080 itm_bad_sequence err=itm_ts_local\n"
                 "17 00 9480808080 itm_bad_sequence err=itm_gts_1\n"
                 "22 00 b4808080808080 itm_bad_sequence err=itm_gts_2\n"
                 "29 00 000000000080 itm_async\n"
                 "35 00 0142 itm_swit src=0 data=42\n",
                 "7 00 no_sync reason=bad_packet\n"
                 "35 00 itm_trace type=swit src=0 data=42\n"
                 "35 00 eo_trace reason=end_of_trace\n");
}

TEST(unsynchronised_runs)
{
    /* Surplus zeros belong to the packet. */
    expect("01 02 00 00 80 00 00 00 00 00 00 00 80 70", LINES_PACKETS, "",
           "0 00 - itm_notsync bytes=5\n"
           "5 00 0000000000000080 itm_async\n"
           "13 00 70 itm_overflow\n");
    expect("01 00 00 00 00 80", LINES_PACKETS, "", "0 00 - itm_notsync bytes=6\n");
    expect("01 02", LINES_ELEMENTS, "",
           "0 00 no_sync reason=init_decoder\n"
           "0 00 eo_trace reason=end_of_trace\n");
}

/* A probe that does not ask for synchronisation packets gets packets from the first byte on. */
TEST(without_synchronisation_packets)
{
    const struct ct_source source = {.name = "itm", .protocol = CT_PROTOCOL_ITM, .without_sync = 1};
    const struct {
        const char *bytes, *packets, *elements;
    } cases[] = {
        {"01 41 20 " BEGIN "01 42",
         "0 00 0141 itm_swit src=0 data=41\n"
         "2 00 20 itm_ts_local ts=2 tc=0\n"
         "3 00 000000000080 itm_async\n"
         "9 00 0142 itm_swit src=0 data=42\n",
         "0 00 no_sync reason=init_decoder\n"
         "0 00 itm_trace type=swit src=0 data=41\n"
         "2 00 itm_trace type=ts_local delta=2 tc=0 ts=2\n"
         "9 00 itm_trace type=swit src=0 data=42\n"
         "9 00 eo_trace reason=end_of_trace\n"},
        {"04 34 01 41 04 20 01 42",
         "0 00 04 itm_reserved\n"
         "1 00 34 itm_reserved\n"
         "2 00 0141 itm_swit src=0 data=41\n"
         "4 00 04 itm_reserved\n"
         "5 00 20 itm_ts_local ts=2 tc=0\n"
         "6 00 0142 itm_swit src=0 data=42\n",
         "0 00 no_sync reason=init_decoder\n"
         "2 00 itm_trace type=swit src=0 data=41\n"
         "5 00 no_sync reason=bad_packet\n"
         "5 00 itm_trace type=ts_local delta=2 tc=0 ts=2\n"
         "6 00 itm_trace type=swit src=0 data=42\n"
         "6 00 eo_trace reason=end_of_trace\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *packets = lines_of(&source, cases[i].bytes, LINES_PACKETS);
        char *elements = lines_of(&source, cases[i].bytes, LINES_ELEMENTS);
        assert_string_equal(packets, cases[i].packets);
        assert_string_equal(elements, cases[i].elements);
        free(packets);
        free(elements);
    }
}

TEST(cut_by_the_end)
{
    behind_begin(BEGIN "03 01 02", "6 00 030102 itm_incomplete_eot err=itm_swit\n",
                 "6 00 eo_trace reason=end_of_trace\n");
    behind_begin(BEGIN "00 00", "6 00 0000 itm_incomplete_eot err=itm_async\n",
                 "6 00 eo_trace reason=end_of_trace\n");
    behind_begin(BEGIN "c0 80", "6 00 c080 itm_incomplete_eot err=itm_ts_local\n",
                 "6 00 eo_trace reason=end_of_trace\n");
}

TEST(events_have_the_time_that_comes_after_them)
{
    expect(BEGIN "01 41 0e 0b 10 10 15 00 c0 05 70 47 00 01 00 20 10 94 01 b4 81 80 80 00", LINES_EVENTS, "",
           "Sw\t1\t0x41\tport 0\n"
           "Dwt\t1\t0x100b\tSVCall entered\n"
           "Dwt\t6\t0x0\tPC sample: asleep\n"
           "Gap\t7\t0\tbytes lost at offset 17: trace unit overflow\n"
           "Dwt\t7\t0x20000100\tcomparator 0: instruction address\n"
           "Ts\t7\t0x4000001\t\n"
           "End\t7\t\tend of trace\n");
}

TEST(hardware_in_words)
{
    expect(BEGIN "05 21 0e 0f 20 0e 12 30 0e 00 30 17 34 12 00 08 15 00 15 ff 4f 00 01 00 08 4e 10 01 4d 01 "
                 "8d 22 97 78 "
                 "56 34 12 35 01",
           LINES_EVENTS, "",
           "Dwt\t0\t0x21\tCPI, cycle counter wrapped\n"
           "Dwt\t0\t0x200f\tSysTick exited\n"
           "Dwt\t0\t0x3012\tIRQ2 returned to\n"
           "Dwt\t0\t0x3000\tthread mode returned to\n"
           "Dwt\t0\t0x8001234\tPC sample\n"
           "Dwt\t0\t0x0\tPC sample: asleep\n"
           "Dwt\t0\t0xff\tPC sampling not allowed\n"
           "Dwt\t0\t0x8000100\tcomparator 0: data address\n"
           "Dwt\t0\t0x110\tcomparator 0: data address, low half\n"
           "Dwt\t0\t0x1\tcomparator 0: match\n"
           "Dwt\t0\t0x22\tcomparator 0: data written\n"
           "Dwt\t0\t0x12345678\tcomparator 1: data read\n"
           "Dwt\t0\t0x1\thardware source 6\n"
           "End\t0\t\tend of trace\n");
}

TEST(text_of_ports)
{
    /* "Hi\n" on port 1 in one, two and four bytes with "on\t2" on port 2 in between; a zero fills up. */
    expect(BEGIN "09 48 11 6f 0a 69 0a 13 6e 09 32 00 0b 42 79 65 0a 09 21", LINES_TEXT, "",
           "{\"buffer\":\"b\",\"id\":\"00\",\"offset\":10,\"type\":\"Txt\",\"cycle\":0,\"value\":\"0x1\","
           "\"note\":\"Hi\"}\n"
           "{\"buffer\":\"b\",\"id\":\"00\",\"offset\":18,\"type\":\"Txt\",\"cycle\":0,\"value\":\"0x1\","
           "\"note\":\"Bye\"}\n"
           "{\"buffer\":\"b\",\"id\":\"00\",\"offset\":23,\"type\":\"Txt\",\"cycle\":0,\"value\":\"0x1\","
           "\"note\":\"!\"}\n"
           "{\"buffer\":\"b\",\"id\":\"00\",\"offset\":13,\"type\":\"Txt\",\"cycle\":0,\"value\":\"0x2\","
           "\"note\":\"on\\\\x092\"}\n");
}

TEST(text_that_is_not_ascii)
{
    /* A micro sign, half of one, a control character, and the newline of a
     * line that a row of zeros fills up. */
    expect(BEGIN "09 c2 09 b5 09 73 09 c2 09 07 0b 0a 00 00 00", LINES_TEXT, "",
           "{\"buffer\":\"b\",\"id\":\"00\",\"offset\":16,\"type\":\"Txt\",\"cycle\":0,\"value\":\"0x1\","
           "\"note\":\"\xc2\xb5s\\\\xc2\\\\x07\"}\n");
}
