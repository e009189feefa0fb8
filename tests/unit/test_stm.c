/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each packet form of STPv2, written by hand, as lines of the listing. */
#include <stdlib.h>
#include <string.h>

#include "support/software_lines.h"
#include "support/unit.h"

/* 21 units f and a 0: 11 bytes. Then the version packet, 2 bytes: natural timestamps. */
#define ASYNC      "fffffffffffffffffffff0 "
#define ASYNC_LINE "0 00 ffffffffffffffffffff0f async\n"
#define BEGIN      ASYNC "f003 "
#define BEGIN_LINE ASYNC_LINE "11 00 0f30 version ver=3\n"
#define NO_SYNC    "0 00 no_sync reason=init_decoder\n"

static void expect(const char *units, enum lines_kind kind, const char *before, const char *lines)
{
    static const struct ct_source source = {.name = "stm", .protocol = CT_PROTOCOL_STM};
    char *got = lines_of(&source, units, kind);
    assert_memory_equal(got, before, strlen(before));
    assert_string_equal(got + strlen(before), lines);
    free(got);
}

/* Checks both listings of what follows the alignment and version packets. */
static void behind_begin(const char *units, const char *packets, const char *elements)
{
    expect(units, LINES_PACKETS, BEGIN_LINE, packets);
    expect(units, LINES_ELEMENTS, NO_SYNC, elements);
}

TEST(data_of_every_size)
{
    behind_begin(BEGIN "141 c5 45a 51234 6deadbeef 70123456789abcdef 0",
                 "13 00 41c1 m8 master=41\n"
                 "14 00 c045 d4 data=5\n"
                 "15 00 40a5 d8 data=5a\n"
                 "17 00 153264 d16 data=1234\n"
                 "19 00 60eddaebfe d32 data=deadbeef\n"
                 "24 00 0721436587a9cbed0f d64 data=0123456789abcdef\n"
                 "32 00 00 null\n",
                 "14 00 sw_trace master=41 chan=0 data=5\n"
                 "15 00 sw_trace master=41 chan=0 data=5a\n"
                 "17 00 sw_trace master=41 chan=0 data=1234\n"
                 "19 00 sw_trace master=41 chan=0 data=deadbeef\n"
                 "24 00 sw_trace master=41 chan=0 data=0123456789abcdef\n"
                 "32 00 eo_trace reason=end_of_trace\n");
}

TEST(markers_and_timestamps)
{
    behind_begin(BEGIN "102 fd3 fc417 d5211 f8ab f4ab0 8ab212 0",
                 "13 00 01f2 m8 master=2\n"
                 "14 00 f03d d4m data=3\n"
                 "16 00 cf14d7 d4ts data=4 ts=7\n"
                 "18 00 d02511 d4mts data=5 ts=11\n"
                 "21 00 8fba d8m data=ab\n"
                 "23 00 4fba80 d8ts data=ab ts=11\n"
                 "25 00 80ba1202 d8mts data=ab ts=12\n"
                 "28 00 00 null\n",
                 "14 00 sw_trace master=2 chan=0 data=3 marker=1\n"
                 "16 00 sw_trace master=2 chan=0 data=4 ts=7\n"
                 "18 00 sw_trace master=2 chan=0 data=5 marker=1 ts=11\n"
                 "21 00 sw_trace master=2 chan=0 data=ab marker=1\n"
                 "23 00 sw_trace master=2 chan=0 data=ab ts=11\n"
                 "25 00 sw_trace master=2 chan=0 data=ab marker=1 ts=12\n"
                 "28 00 eo_trace reason=end_of_trace\n");
}

TEST(wide_data_with_markers_and_timestamps)
{
    behind_begin(BEGIN "f900ff f500ff11 900ff12 fa00000001 f60000000213 a0000000314"
                       "fb0000000000000001 f7000000000000000215 b000000000000000316",
                 "13 00 9f00ff d16m data=00ff\n"
                 "16 00 5f00ff11 d16ts data=00ff ts=1\n"
                 "20 00 09f01ff2 d16mts data=00ff ts=2\n"
                 "23 00 f00a000000f1 d32m data=00000001\n"
                 "28 00 f00600000012a3 d32ts data=00000002 ts=3\n"
                 "34 00 a00000003041 d32mts data=00000003 ts=4\n"
                 "40 00 bf0000000000000010 d64m data=0000000000000001\n"
                 "49 00 7f000000000000002051 d64ts data=0000000000000002 ts=5\n"
                 "59 00 0b000000000000001306 d64mts data=0000000000000003 ts=6\n"
                 "68 00 00 null\n",
                 "13 00 sw_trace data=00ff marker=1\n"
                 "16 00 sw_trace data=00ff ts=1\n"
                 "20 00 sw_trace data=00ff marker=1 ts=2\n"
                 "23 00 sw_trace data=00000001 marker=1\n"
                 "28 00 sw_trace data=00000002 ts=3\n"
                 "34 00 sw_trace data=00000003 marker=1 ts=4\n"
                 "40 00 sw_trace data=0000000000000001 marker=1\n"
                 "49 00 sw_trace data=0000000000000002 ts=5\n"
                 "59 00 sw_trace data=0000000000000003 marker=1 ts=6\n"
                 "68 00 eo_trace reason=end_of_trace\n");
}

TEST(timestamps_of_every_length)
{
    behind_begin(BEGIN "e15 e245 ec123456789abc ed00000000000011 e0 ee8000000000000001 f0113 00",
                 "13 00 1ee5 flagts ts=5\n"
                 "14 00 e042e5 flagts ts=45\n"
                 "16 00 e01c32547698baec flagts ts=123456789abc\n"
                 "23 00 e00d000000000010e1 flagts ts=11\n"
                 "31 00 e0e0 flagts ts=11\n"
                 "32 00 e08e00000000000000f1 flagts ts=8000000000000001\n"
                 "41 00 f01031 null ts=8000000000000003\n"
                 "44 00 00 null\n"
                 "44 00 00 null\n",
                 "13 00 sw_trace marker=1 ts=5\n"
                 "14 00 sw_trace marker=1 ts=45\n"
                 "16 00 sw_trace marker=1 ts=123456789abc\n"
                 "23 00 sw_trace marker=1 ts=11\n"
                 "31 00 sw_trace marker=1 ts=11\n"
                 "32 00 sw_trace marker=1 ts=8000000000000001\n"
                 "41 00 sw_trace ts=8000000000000003\n"
                 "44 00 eo_trace reason=end_of_trace\n");
}

TEST(gray_timestamps_keep_gray_bits)
{
    /* Gray ff is aa; with its low unit 1 it is Gray f1, which is a1. */
    expect(ASYNC "f004 e2ff e11 0", LINES_PACKETS, ASYNC_LINE,
           "11 00 0f40 version ver=4\n"
           "13 00 2eff flagts ts=aa\n"
           "15 00 1e01 flagts ts=a1\n"
           "16 00 00 null\n");
}

TEST(delta_timestamps_add_up)
{
    expect(ASYNC "f002 e15 e210 fe 0", LINES_PACKETS, ASYNC_LINE,
           "11 00 0f20 version ver=2\n"
           "13 00 1ee5 flagts ts=5\n"
           "14 00 e012f0 flagts ts=15\n"
           "16 00 f00e flag\n"
           "17 00 00 null\n");
}

TEST(channels_and_masters)
{
    behind_begin(BEGIN "112 f31234 356 40a 113 40b f1abcd 357 40c",
                 "13 00 11f2 m8 master=12\n"
                 "14 00 f0133234 c16 chan=1234\n"
                 "17 00 3065 c8 chan=1256\n"
                 "19 00 041a d8 data=0a\n"
                 "20 00 1031 m8 master=13\n"
                 "22 00 04fb d8 data=0b\n"
                 "23 00 f0a1cb3d m16 master=abcd\n"
                 "26 00 3075 c8 chan=57\n"
                 "28 00 040c d8 data=0c\n"
                 "29 00 00 null\n",
                 "19 00 sw_trace master=12 chan=1256 data=0a\n"
                 "22 00 sw_trace master=13 chan=0 data=0b\n"
                 "28 00 sw_trace master=abcd chan=57 data=0c\n"
                 "29 00 eo_trace reason=end_of_trace\n");
}

TEST(errors)
{
    behind_begin(BEGIN "141 302 234 45a f278 45a 142 45b",
                 "13 00 4131 m8 master=41\n"
                 "14 00 3020 c8 chan=2\n"
                 "16 00 3244 merr\n"
                 "17 00 40a5 d8 data=5a\n"
                 "19 00 2f87 gerr\n"
                 "21 00 541a d8 data=5a\n"
                 "22 00 1024 m8 master=42\n"
                 "24 00 540b d8 data=5b\n"
                 "25 00 00 null\n",
                 "16 00 sw_trace master=41 chan=0 data=34 err=master\n"
                 "17 00 sw_trace master=41 chan=0 data=5a\n"
                 "19 00 sw_trace err=global\n"
                 "21 00 sw_trace data=5a\n"
                 "24 00 sw_trace master=42 chan=0 data=5b\n"
                 "25 00 eo_trace reason=end_of_trace\n");
}

TEST(triggers_and_frequency)
{
    behind_begin(BEGIN "f0612 141 f073415 f0800010000",
                 "13 00 0f1612 trig data=12\n"
                 "15 00 1014 m8 master=41\n"
                 "17 00 0f3714f5 trigts data=34 ts=5\n"
                 "20 00 f08000100000 freq freq=65536\n",
                 "13 00 sw_trace data=12 trig=1\n"
                 "17 00 sw_trace master=41 chan=0 data=34 trig=1 ts=5\n"
                 "20 00 sw_trace master=41 chan=0 data=00010000 freq=1\n"
                 "20 00 eo_trace reason=end_of_trace\n");
}

TEST(beyond_arm)
{
    behind_begin(BEGIN "f022abc f030f11 f0a77 f0b7812 f09000000ff13",
                 "13 00 0f22bafc user data=abc\n"
                 "16 00 f030f011 userts data=f ts=1\n"
                 "20 00 0f7af7 xsync data=77\n"
                 "22 00 f0b08721 xsyncts data=78 ts=2\n"
                 "26 00 0f090000f01f03 freqts freq=255 ts=3\n"
                 "32 00 00 null\n",
                 "13 00 sw_trace data=abc user=1\n"
                 "16 00 sw_trace data=f ts=1 user=1\n"
                 "20 00 sw_trace data=77 xsync=1\n"
                 "22 00 sw_trace data=78 ts=2 xsync=1\n"
                 "26 00 sw_trace data=000000ff ts=3 freq=1\n"
                 "32 00 eo_trace reason=end_of_trace\n");
}

TEST(what_cannot_be)
{
    behind_begin(BEGIN "ef f04 f005 fff3 141 45a 0 " ASYNC "45b 142 45c",
                 "13 00 fe bad_sequence err=flag\n"
                 "14 00 0ff4 reserved\n"
                 "15 00 f000f5 bad_sequence err=version\n"
                 "17 00 f0ff13 bad_sequence err=async\n"
                 "19 00 1014 m8 master=41\n"
                 "21 00 540a d8 data=5a\n"
                 "22 00 00 null\n"
                 "23 00 ffffffffffffffffffff0f async\n"
                 "34 00 541b d8 data=5b\n"
                 "35 00 1024 m8 master=42\n"
                 "37 00 540c d8 data=5c\n"
                 "38 00 00 null\n",
                 "14 00 no_sync reason=bad_packet\n"
                 "34 00 sw_trace data=5b\n"
                 "37 00 sw_trace master=42 chan=0 data=5c\n"
                 "38 00 eo_trace reason=end_of_trace\n");
}

TEST(timestamp_before_the_version)
{
    expect(ASYNC "e15 0", LINES_PACKETS, ASYNC_LINE,
           "11 00 1e05 bad_sequence err=flag\n"
           "12 00 00 null\n");
}

TEST(unsynchronised_runs)
{
    /* The alignment packet takes the last 21 units f; a byte shared with it is not part of the run. */
    expect("33 ff fff" ASYNC "0", LINES_PACKETS, "",
           "0 00 - notsync bytes=3\n"
           "3 00 f0ffffffffffffffffffff00 async\n"
           "14 00 00 null\n");
    expect("3" ASYNC "0", LINES_PACKETS, "",
           "0 00 f0ffffffffffffffffffff00 async\n"
           "11 00 00 null\n");
    expect("33 33 33 fffff", LINES_PACKETS, "", "0 00 - notsync bytes=6\n");
    expect("33 33", LINES_ELEMENTS, "",
           "0 00 no_sync reason=init_decoder\n"
           "0 00 eo_trace reason=end_of_trace\n");
}

TEST(surplus_units_once_synchronised)
{
    behind_begin(BEGIN "fff" ASYNC "0",
                 "13 00 ffffffffffffffffffffffff00 async\n"
                 "25 00 00 null\n",
                 "25 00 eo_trace reason=end_of_trace\n");
}

TEST(alignment_that_a_packet_swallowed_in_part)
{
    /* The payload of a D32 was lost, and it took eight units of the alignment packet. */
    behind_begin(BEGIN "6" ASYNC "f003 0 4ab 0",
                 "13 00 f6ffffffff d32 data=ffffffff\n"
                 "17 00 f0fffffffffffff0 async\n"
                 "24 00 f00003 version ver=3\n"
                 "26 00 00 null\n"
                 "27 00 a40b d8 data=ab\n"
                 "28 00 00 null\n",
                 "13 00 sw_trace data=ffffffff\n"
                 "27 00 sw_trace data=ab\n"
                 "28 00 eo_trace reason=end_of_trace\n");
}

TEST(cut_by_the_end)
{
    behind_begin(BEGIN "6123", "13 00 1632 incomplete_eot err=d32\n", "13 00 eo_trace reason=end_of_trace\n");
    behind_begin(BEGIN "b0123 4567 89ab cdef2", "13 00 0b21436587a9cbed2f incomplete_eot err=d64\n",
                 "13 00 eo_trace reason=end_of_trace\n");
    behind_begin(BEGIN "ffff", "13 00 ffff incomplete_eot err=async\n",
                 "13 00 eo_trace reason=end_of_trace\n");
    behind_begin(BEGIN "f0", "13 00 0f incomplete_eot err=reserved\n",
                 "13 00 eo_trace reason=end_of_trace\n");
}

TEST(events)
{
    expect(BEGIN "141 302 f8ab e15 f0113 f0612 f0800010000 234 f278 45a", LINES_EVENTS, "",
           "Sw\t0\t0xab\tmaster 0x41 channel 0x2, marked\n"
           "Sw\t0\t\tmaster 0x41 channel 0x2, flag\n"
           "Ts\t0\t0x5\t\n"
           "Ts\t0\t0x3\t\n"
           "Sw\t0\t0x12\tmaster 0x41 channel 0x2, trigger\n"
           "Sw\t0\t65536\tmaster 0x41 channel 0x2, Hz, frequency of timestamps\n"
           "Gap\t0\t0\tbytes lost at offset 30: trace unit overflow\n"
           "Sw\t0\t0x34\tmaster 0x41 channel 0x0, error of the master\n"
           "Gap\t0\t0\tbytes lost at offset 31: trace unit overflow\n"
           "Sw\t0\t0x78\terror of a master that is not known\n"
           "Sw\t0\t0x5a\t\n"
           "End\t0\t\tend of trace\n");
}

TEST(text_of_channels)
{
    /* "Hi" and a newline on channel 0, a line without its end on channel 1. */
    expect(BEGIN "141 56948 301 57963 300 40a 0", LINES_TEXT, "",
           "{\"buffer\":\"b\",\"id\":\"00\",\"offset\":22,\"type\":\"Txt\",\"cycle\":0,\"value\":"
           "\"0x410000\",\"note\":\"Hi\"}\n"
           "{\"buffer\":\"b\",\"id\":\"00\",\"offset\":18,\"type\":\"Txt\",\"cycle\":0,\"value\":"
           "\"0x410001\",\"note\":\"cy\"}\n");
}
