/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people. Each is written to a buffer of the caller, which is returned. */
#ifndef CT_FORMAT_NUMBER_H
#define CT_FORMAT_NUMBER_H

#include <stdint.h>

#define CT_NUMBER_SIZE 32

/* "12,345,678". */
const char *ct_number_count(char text[CT_NUMBER_SIZE], uint64_t value);

/* At most four digits, and " k", " M", " G" … behind: "12.35 M". Smaller ones than 10,000 whole. */
const char *ct_number_short(char text[CT_NUMBER_SIZE], uint64_t value);

/* One decimal, rounded down: "12.5 %"; what is not whole never reads 100.0 %. "-" of nothing. */
const char *ct_number_percent(char text[CT_NUMBER_SIZE], uint64_t part, uint64_t all);

#endif
