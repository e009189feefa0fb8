/* SPDX-License-Identifier: Apache-2.0 */
/* Writes text in graphviz's language. */
#pragma once

#include <stdio.h>

/* Writes printable text (base/printable.h) for the inside of a label's quotes. */
void ct_dot_text(FILE *out, const char *text);
