/* SPDX-License-Identifier: Apache-2.0 */
/* Writes text in XML and HTML. */
#ifndef CT_FORMAT_XML_H
#define CT_FORMAT_XML_H

#include <stdio.h>

#include "coretap/base.h"

/* Writes text between tags or in quotes: what has a meaning in XML is escaped, and characters other than tabs
 * that cannot be printed (base/printable.h) become U+FFFD. Returns what the receiver did. */
int ct_xml_write(const char *text, size_t size, ct_write_fn *write, void *user);

/* Writes such text to a file. */
void ct_xml_text(FILE *out, const char *text);
void ct_xml_bytes(FILE *out, const char *text, size_t size);

#endif
