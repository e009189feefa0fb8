/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with a decimal point, in every program: one that has called setlocale may have a decimal comma,
 * with which JSON, XML and SVG are invalid. A function that writes or reads real numbers begins with
 * CT_C_LOCALE: its thread then has the C locale until the function returns, also in receivers that it calls.
 */
#pragma once

#include <locale.h>

static inline locale_t ct_enter_c_locale(void)
{
    /* glibc and musl have one constant object for this, which needs no memory and is never freed */
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void ct_leave_c_locale(const locale_t *before)
{
    uselocale(*before);
}

#define CT_C_LOCALE                                                                                          \
    __attribute__((cleanup(ct_leave_c_locale), unused)) const locale_t ct_locale_before = ct_enter_c_locale()
