/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around a page of HTML: its style, for light and dark, and what all scripts share. A page is one
 * file: it loads nothing. */
#ifndef CT_FORMAT_PAGE_H
#define CT_FORMAT_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Text that travels inside the library, from files of the same name beside this one. */
extern const char ct_page_css[]; /* classes of tables, cards, panels, source, plots; colours as variables */
extern const size_t ct_page_css_size;
extern const char ct_page_js[]; /* `page.count`, `page.short`, tooltips of [data-tip], tables that sort */
extern const size_t ct_page_js_size;

/* Everything up to and with <body>. `title` is escaped. The page forbids itself to load anything. */
void ct_page_begin(FILE *out, const char *title);
void ct_page_end(FILE *out);

/* A script of the page. */
void ct_page_script(FILE *out, const char *script, size_t size);

/* A card of a "cards" list: what it is about, a value and its unit, and words about it. NULL: left out. */
void ct_page_card(FILE *out, const char *label, const char *value, const char *unit, const char *note);

/* A bar of which `part` (0 to 1) is full. */
void ct_page_bar(FILE *out, double part);

/* Cells of a table: a number, and what part of all it is, in words and as a bar. Tables sort by data-v. */
void ct_page_count_cell(FILE *out, uint64_t value);
void ct_page_part_cells(FILE *out, uint64_t part, uint64_t all);

#endif
