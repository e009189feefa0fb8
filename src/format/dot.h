/* SPDX-License-Identifier: Apache-2.0 */
/* Text in graphviz's language. */
#ifndef CT_FORMAT_DOT_H
#define CT_FORMAT_DOT_H

#include <stdio.h>

/* Writes text, as it can be printed (base/printable.h), inside of the quotes of a label. */
void ct_dot_text(FILE *out, const char *text);

#endif
