#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/ctx.h"

static void error_text_survives(void **state)
{
    (void)state;
    struct ct_ctx *ctx = ct_ctx_new();
    assert_string_equal(ct_ctx_error(ctx), "");
    assert_int_equal(ct_fail(ctx, CT_ERR_IO, "%s: %d", "file", 7), CT_ERR_IO);
    assert_string_equal(ct_ctx_error(ctx), "file: 7");
    assert_string_equal(ct_error_name(CT_ERR_IO), "CT_ERR_IO");
    assert_int_equal(ct_fail(NULL, CT_ERR_ARG, "x"), CT_ERR_ARG);
    ct_ctx_free(ctx);
}

static void bit_fields(void **state)
{
    (void)state;
    assert_int_equal(ct_bits(0xdeadbeef, 31, 0), 0xdeadbeef);
    assert_int_equal(ct_bits(0xdeadbeef, 31, 28), 0xd);
    assert_int_equal(ct_bits(0xdeadbeef, 3, 0), 0xf);
    assert_true(ct_mask64(64) == ~UINT64_C(0) && ct_mask64(0) == 0 && ct_mask64(33) == 0x1ffffffffu);
    assert_true(ct_sext(0x800, 12) == -2048 && ct_sext(0x7ff, 12) == 2047);
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 0x88};
    assert_int_equal(ct_load16(bytes), 0x0201);
    assert_int_equal(ct_load32(bytes), 0x04030201);
    assert_true(ct_load64(bytes) == UINT64_C(0x8807060504030201));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_text_survives),
        cmocka_unit_test(bit_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
