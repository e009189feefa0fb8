/* SPDX-License-Identifier: Apache-2.0 */
/* Writes text from outside with the escapes that its use requires. */
#include <string.h>

#include "base/printable.h"
#include "base/require.h"
#include "coretap/format.h"
#include "format/json.h"
#include "format/xml.h"

int ct_text_write(const char *text, enum ct_text_use use, ct_write_fn *write, void *user)
{
    CT_REQUIRE(NULL, text, write);
    switch (use) {
    case CT_TEXT_TERMINAL:
        return ct_write_printable(text, write, user);
    case CT_TEXT_XML:
        return ct_xml_write(text, strlen(text), write, user);
    case CT_TEXT_JSON:
        return ct_json_write(text, false, write, user);
    default:
        return CT_ERR_ARG;
    }
}
