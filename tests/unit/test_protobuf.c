/* SPDX-License-Identifier: Apache-2.0 */
/* Compares messages of Protocol Buffers with bytes of the published encoding. */
#include <string.h>

#include "base/protobuf.h"
#include "support/unit.h"

static void check(struct ct_grown *to, const char *bytes, size_t size)
{
    assert_false(to->failed);
    assert_int_equal(to->size, size);
    assert_memory_equal(to->bytes, bytes, size);
    ct_grown_free(to);
}

TEST(test_fields)
{
    struct ct_grown to = {0};
    ct_protobuf_number(&to, 1, 150);
    ct_protobuf_number(&to, 16, UINT64_MAX);
    ct_protobuf_double(&to, 2, 1.0);
    ct_protobuf_bytes(&to, 3, "\0x", 2);
    check(&to,
          "\x08\x96\x01"
          "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
          "\x11\0\0\0\0\0\0\xf0\x3f"
          "\x1a\x02\0x",
          28);
}

/* A string is always UTF-8, whatever the name in a file is. */
TEST(test_text)
{
    struct ct_grown to = {0};
    ct_protobuf_text(&to, 2, "testing");
    ct_protobuf_text(&to, 3, "\xc3\xa4\xff\xe2\x82");
    ct_protobuf_text(&to, 4, "");
    check(&to,
          "\x12\x07testing"
          "\x1a\x0b\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
          "\x22\0",
          24);
}

TEST(test_nested)
{
    struct ct_grown to = {0};
    char text[301];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    const size_t outer = ct_protobuf_begin(&to, 1);
    ct_protobuf_number(&to, 1, 1);
    const size_t inner = ct_protobuf_begin(&to, 2);
    ct_protobuf_text(&to, 1, text);
    ct_protobuf_end(&to, inner);
    const size_t empty = ct_protobuf_begin(&to, 3);
    ct_protobuf_end(&to, empty);
    ct_protobuf_end(&to, outer);
    assert_int_equal(to.size, 313);
    assert_memory_equal(to.bytes,
                        "\x0a\xb6\x02\x08\x01\x12\xaf\x02\x0a\xac\x02"
                        "aaa",
                        14);
    assert_memory_equal(to.bytes + 309, "aa\x1a\0", 4);
    ct_grown_free(&to);
}
