/* SPDX-License-Identifier: Apache-2.0 */
/* What all HTML pages share: style, for light and dark, and scripts. A page is one file that loads nothing
 * else. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/number.h"

/* Files in this folder that are embedded into the library as text. */
extern const char ct_page_css[]; /* classes of tables, cards, panels, source, plots; colours as variables */
extern const size_t ct_page_css_size;
extern const char ct_page_js[]; /* `page.count`, `page.short`, tooltips of [data-tip], sortable tables */
extern const size_t ct_page_js_size;
extern const char ct_functions_js[]; /* search in the functions of a report, and their callers */
extern const size_t ct_functions_js_size;

/* Writes everything up to <body>. Escapes `title`. The page forbids itself to load anything. */
void ct_page_begin(FILE *out, const char *title);

/* Writes that, with the words and the name as title, then the begin of <main> and the title as its heading.
 * CT_ERR_NOMEM. */
int ct_page_begin_of(FILE *out, const char *words, const char *name);

void ct_page_end(FILE *out);

/* Writes a script. */
void ct_page_script(FILE *out, const char *script, size_t size);

/* Writes a card of a "cards" list: its subject, a value with its unit, and a note. Leaves out what is
 * NULL. */
void ct_page_card(FILE *out, const char *label, const char *value, const char *unit, const char *note);

/* Writes a bar that is filled to `part`, 0 to 1. */
void ct_page_bar(FILE *out, double part);

/* Writes a share as ct_number_percent does, for HTML. */
const char *ct_page_percent(char text[CT_NUMBER_SIZE], uint64_t part, uint64_t all);

/* Write cells of a table: a number, and its share of a whole as text and as a bar. Tables sort by data-v. */
void ct_page_count_cell(FILE *out, uint64_t value);
void ct_page_part_cells(FILE *out, uint64_t part, uint64_t all);
