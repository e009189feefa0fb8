/* SPDX-License-Identifier: Apache-2.0 */
#include "coretap/input.h"
#include "support/unit.h"

TEST(known)
{
    static const struct {
        const char *model;
        struct ct_arch arch;
    } samples[] = {
        {"Cortex-A9", {7, 0, CT_PROFILE_A, 0}},   {"Cortex-A53", {8, 0, CT_PROFILE_A, 0}},
        {"cortex-a73", {8, 0, CT_PROFILE_A, 0}},  {"Cortex-A55", {8, 3, CT_PROFILE_A, 0}},
        {"Cortex-A77", {8, 3, CT_PROFILE_A, 0}},  {"Cortex-A5", {7, 0, CT_PROFILE_A, 0}},
        {"Cortex-R5", {7, 0, CT_PROFILE_R, 0}},   {"Cortex-R52", {8, 0, CT_PROFILE_R, 0}},
        {"Cortex-M4", {7, 0, CT_PROFILE_M, 0}},   {"Cortex-M33", {8, 0, CT_PROFILE_M, 0}},
        {"Cortex-M55", {8, 1, CT_PROFILE_M, 0}},  {"Neoverse-N2", {9, 0, CT_PROFILE_A, 0}},
        {"ARMv7-A", {7, 0, CT_PROFILE_A, 0}},     {"ARMv8-R", {8, 0, CT_PROFILE_R, 0}},
        {"ARMv8.3-A", {8, 3, CT_PROFILE_A, 0}},   {"ARMv8.1-M", {8, 1, CT_PROFILE_M, 0}},
        {"ARMv9.10-A", {9, 10, CT_PROFILE_A, 0}}, {"armv7-m", {7, 0, CT_PROFILE_M, 0}},
        {"ARMv7E-M", {7, 0, CT_PROFILE_M, 0}},    {"ARMv6-M", {7, 0, CT_PROFILE_M, 0}},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        struct ct_arch arch;
        assert_int_equal(ct_arch_by_name(samples[i].model, &arch), CT_OK);
        assert_memory_equal(&arch, &samples[i].arch, sizeof arch);
    }
    struct ct_arch arch;
    assert_int_equal(ct_arch_by_name("ARM-AA64", &arch), CT_OK);
    assert_true(arch.newest && arch.profile == CT_PROFILE_A);
}

TEST(unknown)
{
    static const char *const models[] = {
        "",         "Cortex-A",   "Cortex-A530", "ARMv",      "ARMv6-A",    "ARMv8.-A", "ARMv8.3",
        "ARMv8.3-", "ARMv8.3-AA", "ARMv8.123-A", "ARMv8.3-X", "ARMv10.0-A", "x86-64",   "ARMv8.x-A"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct ct_arch arch = {1, 2, 3, 4};
        const struct ct_arch before = arch;
        assert_int_equal(ct_arch_by_name(models[i], &arch), CT_ERR_NOT_FOUND);
        assert_memory_equal(&arch, &before, sizeof arch);
    }
    struct ct_arch arch;
    assert_int_equal(ct_arch_by_name(NULL, &arch), CT_ERR_ARG);
    assert_int_equal(ct_arch_by_name("Cortex-A9", NULL), CT_ERR_ARG);
}
