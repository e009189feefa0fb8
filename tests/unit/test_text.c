/* Numbers and atoms as text, against printf and one at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>

#include "common/rng.h"
#include "report/text.h"

static struct ct_text text;

static void expect(const char *wanted)
{
    text.data[text.used] = 0;
    assert_string_equal(text.data, wanted);
    text.used = 0;
}

/* All widths, and both sides of each power of ten and of sixteen. */
static void numbers(void **state)
{
    (void)state;
    char wanted[32];
    struct rng rng = {1};
    uint64_t ten = 1;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t value = rng_wide(&rng, 64);
        if (i < 60) {
            value = ten - 1 + i % 3;
            ten *= i % 3 == 2 ? 10 : 1;
        } else if (i < 260) {
            value = (UINT64_C(1) << (i - 60) % 64) - (i & 1);
        }
        snprintf(wanted, sizeof wanted, "%" PRIu64, value);
        ct_text_dec(&text, value);
        expect(wanted);
        snprintf(wanted, sizeof wanted, "%" PRIx64, value);
        ct_text_hex(&text, value);
        expect(wanted);
    }
}

static void fixed_width(void **state)
{
    (void)state;
    ct_text_hex_digits(&text, 0x5, 2);
    ct_text_hex_bytes(&text, (const uint8_t[]){0x00, 0xf1, 0x9a}, 3);
    expect("0500f19a");
}

static void atoms(void **state)
{
    (void)state;
    struct rng rng = {2};
    for (unsigned i = 0; i < 2000; i++) {
        char wanted[33] = {0};
        const unsigned count = i % 33;
        const uint32_t bits = (uint32_t)rng_next(&rng);
        for (unsigned at = 0; at < count; at++)
            wanted[at] = bits >> at & 1 ? 'E' : 'N';
        ct_text_atoms(&text, bits, count);
        expect(wanted);
    }
}

/* A word is copied whole and counted for what it is. */
static void words(void **state)
{
    (void)state;
    static const struct ct_word names[] = {CT_WORD("a64"), CT_WORD("i_addr_ctxt_l_64is1")};
    ct_text_word(&text, &names[0]);
    ct_text_word(&text, &names[1]);
    expect("a64i_addr_ctxt_l_64is1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(fixed_width),
        cmocka_unit_test(atoms),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
