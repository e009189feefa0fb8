/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/error_text.h"

#include <stdio.h>

#include "opencsd/layout.h"

/* Names and texts by number, byte for byte those of 1.3.3, because programs compare them. For some numbers
 * they differ from the names in the header. */
static const struct {
    const char *name;
    const char *text;
} errors[] = {
    {"OCSD_OK", "No Error."},
    {"OCSD_ERR_FAIL", "General failure."},
    {"OCSD_ERR_MEM", "Internal memory allocation error."},
    {"OCSD_ERR_NOT_INIT", "Component not initialised."},
    {"OCSD_ERR_INVALID_ID", "Invalid CoreSight Trace Source ID."},
    {"OCSD_ERR_BAD_HANDLE", "Invalid handle passed to component."},
    {"OCSD_ERR_INVALID_PARAM_VAL", "Invalid value parameter passed to component."},
    {"OCSD_ERR_INVALID_PARAM_TYPE", "Type mismatch on abstract interface."},
    {"OCSD_ERR_FILE_ERROR", "File access error"},
    {"OCSD_ERR_NO_PROTOCOL", "Trace protocol unsupported"},
    {"OCSD_ERR_ATTACH_TOO_MANY", "Cannot attach - attach device limit reached."},
    {"OCSD_ERR_ATTACH_INVALID_PARAM", " Cannot attach - invalid parameter."},
    {"OCSD_ERR_ATTACH_COMP_NOT_FOUND", "Cannot detach - component not found."},
    {"OCSD_ERR_RDR_FILE_NOT_FOUND", "source reader - file not found."},
    {"OCSD_ERR_RDR_INVALID_INIT", "source reader - invalid initialisation parameter."},
    {"OCSD_ERR_RDR_NO_DECODER", "source reader - not trace decoder set."},
    {"OCSD_ERR_DATA_DECODE_FATAL", "A decoder in the data path has returned a fatal error."},
    {"OCSD_ERR_DFMTR_NOTCONTTRACE", "Trace input to deformatter none-continuous"},
    {"OCSD_ERR_DFMTR_BAD_FHSYNC", "Bad frame or half frame sync in trace deformatter"},
    {"OCSD_ERR_BAD_PACKET_SEQ", "Bad packet sequence"},
    {"OCSD_ERR_INVALID_PCKT_HDR", "Invalid packet header"},
    {"OCSD_ERR_PKT_INTERP_FAIL", "Interpreter failed - cannot recover - bad data or sequence"},
    {"OCSD_ERR_UNSUPPORTED_ISA", "ISA not supported in decoder"},
    {"OCSD_ERR_HW_CFG_UNSUPP", "Programmed trace configuration not supported by decodUer."},
    {"OCSD_ERR_UNSUPP_DECODE_PKT", "Packet not supported in decoder"},
    {"OCSD_ERR_BAD_DECODE_PKT", "Reserved or unknown packet in decoder."},
    {"OCSD_ERR_COMMIT_PKT_OVERRUN", "Overrun in commit packet stack - tried to commit more than available"},
    {"OCSD_ERR_MEM_NACC", "Unable to access required memory address."},
    {"OCSD_ERR_RET_STACK_OVERFLOW",
     "Internal return stack overflow checks failed - popped more than we pushed."},
    {"OCSD_ERR_DCDT_NO_FORMATTER", "No formatter in use - operation not valid."},
    {"OCSD_ERR_MEM_ACC_OVERLAP", "Attempted to set an overlapping range in memory access map."},
    {"OCSD_ERR_MEM_ACC_FILE_NOT_FOUND", "Memory access file could not be opened."},
    {"OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE",
     "Attempt to re-use the same memory access file for a different address range."},
    {"OCSD_ERR_MEM_ACC_BAD_LEN", "Memory accessor returned a bad read length value (larger than requested."},
    {"OCSD_ERR_MEM_ACC_RANGE_INVALID", "Address range in accessor set to invalid values."},
    {"OCSD_ERR_TEST_SNAPSHOT_PARSE", "Test snapshot file parse error"},
    {"OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO", "Test snapshot file parse information"},
    {"OCSD_ERR_TEST_SNAPSHOT_READ", "test snapshot reader error"},
    {"OCSD_ERR_TEST_SS_TO_DECODER", "test snapshot to decode tree conversion error"},
    {"OCSD_ERR_DCDREG_NAME_REPEAT", "Attempted to register a decoder with the same name as another one."},
    {"OCSD_ERR_DCDREG_NAME_UNKNOWN",
     "Attempted to find a decoder with a name that is not known in the library."},
    {"OCSD_ERR_DCDREG_TYPE_UNKNOWN",
     "Attempted to find a decoder with a type that is not known in the library."},
    {"OCSD_ERR_DCD_INTERFACE_UNUSED",
     "Attempt to connect or use and interface not supported by this decoder."},
    {"OCSD_ERR_LAST", "No error - error code end marker"},
};

/* names and texts that later versions changed */
static const struct {
    unsigned number;
    const char *name;
    const char *text;
} late_errors[] = {
    {33, "OCSD_ERR_MEM_ACC_RANGE_INVALID", "Address range in accessor set to invalid values."},
    {34, "OCSD_ERR_MEM_ACC_BAD_LEN",
     "Memory accessor returned a bad read length value (larger than requested."},
    {42, "OCSD_ERR_DCDREG_TOOMANY", "Attempted to register too many custom decoders"},
    {43, "OCSD_ERR_DCD_INTERFACE_UNUSED",
     "Attempt to connect or use and interface not supported by this decoder."},
    {44, "OCSD_ERR_INVALID_OPCODE", "Illegal Opode found while decoding program memory."},
    {45, "OCSD_ERR_I_RANGE_LIMIT_OVERRUN",
     "An optional limit on consecutive instructions in range during decode has been exceeded."},
    {46, "OCSD_ERR_BAD_DECODE_IMAGE", "Mismatch between trace packets and decode image."},
    {47, "OCSD_ERR_LAST", "No error - error code end marker"},
};

void ct_ocsd_error_text(ocsd_err_t code, char *text, size_t size)
{
    const unsigned number = (unsigned)code;
    const bool late = ct_ocsd_version() >= CT_OCSD_LATE_VERSION;
    for (size_t i = 0; late && i < sizeof late_errors / sizeof *late_errors; i++)
        if (late_errors[i].number == number) {
            snprintf(text, size, "0x%04x (%s) [%s]; ", number, late_errors[i].name, late_errors[i].text);
            return;
        }
    if (number < sizeof errors / sizeof *errors)
        snprintf(text, size, "0x%04x (%s) [%s]; ", number, errors[number].name, errors[number].text);
    else
        snprintf(text, size, "0x%04x (unknown); ", number);
}

void ocsd_err_str(const ocsd_err_t err, char *buffer, const int buffer_size)
{
    if (buffer && buffer_size > 0)
        ct_ocsd_error_text(err, buffer, (size_t)buffer_size);
}
