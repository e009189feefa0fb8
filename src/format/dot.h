/* SPDX-License-Identifier: Apache-2.0 */
/* Writes text in graphviz's language. */
#ifndef CT_FORMAT_DOT_H
#define CT_FORMAT_DOT_H

#include <stdio.h>

/* Writes printable text (base/printable.h) for the inside of a label's quotes. */
void ct_dot_text(FILE *out, const char *text);

#endif
