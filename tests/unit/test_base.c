#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/places.h"

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

/* As long as they are few, the places that were added; then all of the table. */
static void places(void **state)
{
    (void)state;
    static struct ct_places p;
    assert_int_equal(ct_places_count(&p, 5000), 0);
    for (size_t i = 0; i < CT_PLACES_LISTED; i++)
        ct_places_add(&p, 4999 - i);
    assert_int_equal(ct_places_count(&p, 5000), CT_PLACES_LISTED);
    assert_int_equal(ct_places_at(&p, CT_PLACES_LISTED - 1), 5000 - CT_PLACES_LISTED);
    ct_places_add(&p, 7);
    assert_int_equal(ct_places_count(&p, 5000), 5000);
    assert_int_equal(ct_places_at(&p, 17), 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_text_survives),
        cmocka_unit_test(bit_fields),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
