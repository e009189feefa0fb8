/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers for people. Each function returns `text`, which the caller owns, or a constant text. */
#pragma once

#include <stdint.h>

#define CT_NUMBER_SIZE 32

/* Writes all digits: "12,345,678". */
const char *ct_number_count(char text[CT_NUMBER_SIZE], uint64_t value);

/* Writes a mean with one decimal: "1,979.8". */
const char *ct_number_mean(char text[CT_NUMBER_SIZE], double value);

/* Writes at most four digits with " k", " M", " G" …: "12.35 M". Writes numbers below 10,000 completely. */
const char *ct_number_short(char text[CT_NUMBER_SIZE], uint64_t value);

/* Writes a share with one decimal, rounded down: "12.5 %". Only the whole is 100.0 % and only
 * nothing is 0.0 %; less than a tenth is "<0.1 %". Writes "-" when `all` is 0. */
const char *ct_number_percent(char text[CT_NUMBER_SIZE], uint64_t part, uint64_t all);
