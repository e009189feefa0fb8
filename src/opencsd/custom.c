/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of the client's own, which there are none of here: these functions say so. */
#include "opencsd/log.h"

static ocsd_err_t refuse(ocsd_err_t code)
{
    ct_ocsd_log("DCD_REG", OCSD_ERR_SEV_ERROR, code, OCSD_BAD_TRC_INDEX, OCSD_BAD_CS_SRC_ID,
                "coretap's libopencsd takes no decoders of a program's own; use OpenCSD's library for them");
    return code;
}

ocsd_err_t ocsd_register_custom_decoder(const char *name, ocsd_extern_dcd_fact_t *p_dcd_fact)
{
    (void)name;
    (void)p_dcd_fact;
    return refuse(OCSD_ERR_DCD_INTERFACE_UNUSED);
}

ocsd_err_t ocsd_deregister_decoders(void)
{
    return OCSD_OK;
}

ocsd_err_t ocsd_cust_protocol_to_str(const ocsd_trace_protocol_t pkt_protocol, const void *trc_pkt,
                                     char *buffer, const int buflen)
{
    (void)pkt_protocol;
    (void)trc_pkt;
    if (buffer && buflen > 0)
        buffer[0] = 0;
    return refuse(OCSD_ERR_NO_PROTOCOL);
}
