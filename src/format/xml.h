/* SPDX-License-Identifier: Apache-2.0 */
/* Writes text in XML and HTML. */
#pragma once

#include <stdio.h>

#include "coretap/base.h"

/* Writes text between tags or in quotes: escapes what has a meaning in XML, and replaces unprintable
 * characters other than tabs (base/printable.h) by U+FFFD. Returns the receiver's result. */
int ct_xml_write(const char *text, size_t size, ct_write_fn *write, void *user);

/* Write such text to a file. */
void ct_xml_text(FILE *out, const char *text);
void ct_xml_bytes(FILE *out, const char *text, size_t size);
