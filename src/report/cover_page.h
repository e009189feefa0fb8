/* What stands around a page of HTML: its style, for light and dark. */
#ifndef CT_REPORT_COVER_PAGE_H
#define CT_REPORT_COVER_PAGE_H

#include <stdio.h>

void ct_cover_page_begin(FILE *out, const char *title);
void ct_cover_page_end(FILE *out);

#endif
