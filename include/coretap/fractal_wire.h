/* SPDX-License-Identifier: Apache-2.0 */
/* coretap FRACTAL wire: the messages and commands of FRACTAL (fractal.h) as transactions of a coherence
 * protocol, AMBA ACE (IHI 0022) or AMBA CHI (IHI 0050F.b). Messages and commands are the same under both; a
 * protocol only encodes them.
 *
 * A command becomes transactions of the protocol, for the fabric that carries it out:
 *
 *     while (ct_fractal_next_command(f, &command)) {
 *         struct ct_fractal_flit flits[CT_FRACTAL_FLITS];
 *         const int count = ct_fractal_encode_command(CT_FRACTAL_CHI, &command, flits);
 *         send(flits, count);
 *     }
 *
 * Transactions of a port become messages:
 *
 *     ct_fractal_wire_new(ctx, CT_FRACTAL_CHI, &wire);
 *     ct_fractal_wire_flit(wire, &flit, &beside);
 *     while (ct_fractal_wire_message(wire, &message))
 *         ct_fractal_take_message(f, &message); */
#ifndef CORETAP_FRACTAL_WIRE_H
#define CORETAP_FRACTAL_WIRE_H

#include "coretap/base.h"
#include "coretap/fractal.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_fractal_protocol {
    CT_FRACTAL_NEUTRAL, /* none: messages and commands as in fractal.h */
    CT_FRACTAL_ACE,
    CT_FRACTAL_CHI,
    CT_FRACTAL_PROTOCOL_COUNT,
};

/* Channels of address or request transactions. */
enum ct_fractal_channel {
    CT_FRACTAL_CHANNEL_AC,  /* ACE: snoops */
    CT_FRACTAL_CHANNEL_AR,  /* ACE: reads, cache maintenance, DVM messages */
    CT_FRACTAL_CHANNEL_AW,  /* ACE: writes */
    CT_FRACTAL_CHANNEL_SNP, /* CHI: snoops */
    CT_FRACTAL_CHANNEL_REQ, /* CHI: requests */
    CT_FRACTAL_CHANNEL_COUNT,
};

/* Returns the name of a protocol ("ace", "chi", "neutral") or of a channel ("AC", "SNP", …); "?" for an
 * unknown number. */
CT_API const char *ct_fractal_protocol_name(unsigned protocol);
CT_API const char *ct_fractal_channel_name(unsigned channel);

/* One transaction on a channel. */
struct ct_fractal_flit {
    /* ARADDR, AWADDR, ACADDR: up to 48 bits. REQ: Addr, up to 52 bits. SNP: Addr, up to 49 bits, whose lowest
     * bit is bit 3 of the physical address (B13.10.20). */
    uint64_t addr;
    /* REQ DVMOp: the 8 bytes of data that follow the request. SNP SnpDVMOp: bits 10:0 FwdNID, 23:16 VMIDExt,
     * 43:32 TxnID, which identifies its two parts. Else 0. */
    uint64_t data;
    uint8_t channel; /* enum ct_fractal_channel */
    uint8_t opcode;  /* ACSNOOP, ARSNOOP: 4 bits; AWSNOOP: 3; Opcode of SNP: 5; of REQ: 7 */
    uint8_t pad[6];  /* 0 */
};

#define CT_FRACTAL_FLITS 2 /* maximal number of flits of a message or command */

/* Returns the name of an opcode in its protocol ("SnpUnique", "DVMOp", …); "?" for a reserved opcode or an
 * unknown channel. */
CT_API const char *ct_fractal_flit_name(unsigned channel, unsigned opcode);

/* ---- messages and commands to flits ---- */

/* Encodes a command as the port sends it: AR of ACE, REQ of CHI. Returns the number of flits, 0 for
 * CT_FRACTAL_NEUTRAL; CT_ERR_ARG: no such command or protocol. */
CT_API int ct_fractal_encode_command(enum ct_fractal_protocol protocol,
                                     const struct ct_fractal_command *command,
                                     struct ct_fractal_flit out[CT_FRACTAL_FLITS]);

/* Encodes a message as the fabric sends it: AC of ACE, SNP of CHI. Writes, which are not snooped, go on AW
 * and REQ. Returns the number of flits, 0 for CT_FRACTAL_NEUTRAL and for what the channels do not carry
 * (Data, RegWrite); CT_ERR_ARG: no such operation or protocol, or an address that has more bits than its
 * field. */
CT_API int ct_fractal_encode_message(enum ct_fractal_protocol protocol,
                                     const struct ct_fractal_message *message,
                                     struct ct_fractal_flit out[CT_FRACTAL_FLITS]);

/* ---- flits to messages and commands ---- */

/* Decodes the flits of one command, like a fabric that carries it out. An instruction cache invalidation only
 * contains bits 27:12 of its virtual address. CT_ERR_FORMAT: they are no command. */
CT_API int ct_fractal_decode_command(struct ct_ctx *ctx, enum ct_fractal_protocol protocol,
                                     const struct ct_fractal_flit *flits, size_t count,
                                     struct ct_fractal_command *out);

/* Turns the flits of a port into messages. Only one thread may use it at a time. */
struct ct_fractal_wire;

/* Makes a decoder. CT_ERR_ARG: an unknown protocol, or the neutral one; CT_ERR_NOMEM. */
CT_API int ct_fractal_wire_new(struct ct_ctx *ctx, enum ct_fractal_protocol protocol,
                               struct ct_fractal_wire **out);
CT_API void ct_fractal_wire_free(struct ct_fractal_wire *wire);

/* Takes a flit. `beside` gives what the channel does not contain: time, initiator and kind. Messages of the
 * flit before must be fetched first. A flit without meaning for FRACTAL (a hint, a credit, another
 * translation regime, the first of two parts) gives no message. CT_ERR_FORMAT: the opcode is reserved or of
 * another protocol, a field is too wide, or two parts do not match: the flit is ignored; CT_ERR_LIMIT:
 * messages wait, or too many DVM messages lack their second part; CT_ERR_ARG. */
CT_API int ct_fractal_wire_flit(struct ct_fractal_wire *wire, const struct ct_fractal_flit *flit,
                                const struct ct_fractal_message *beside);

/* Fetches the next message. An invalidation of a range gives one message for each page. Returns 1, or 0 when
 * there is none. */
CT_API int ct_fractal_wire_message(struct ct_fractal_wire *wire, struct ct_fractal_message *out);

/* Ends the stream of flits. CT_ERR_FORMAT: a DVM message lacks its second part, and is lost. */
CT_API int ct_fractal_wire_finish(struct ct_fractal_wire *wire);

/* ---- flits in recorded message streams ---- */

/* Returns 1 when a line of a stream is a flit, else 0. The operation of a flit is CHANNEL.OPCODE. */
CT_API int ct_fractal_flit_is_line(const char *text, size_t length);

/* Parses such a line (no newline needed). Time, initiator and kind go to *beside. OPCODE is a name or a
 * number. CT_ERR_FORMAT with the reason in the context. */
CT_API int ct_fractal_flit_parse(struct ct_ctx *ctx, const char *text, size_t length,
                                 struct ct_fractal_message *beside, struct ct_fractal_flit *flit);
/* Writes a line without newline; `out` holds at least 128 bytes. Returns its length. */
CT_API size_t ct_fractal_flit_print(const struct ct_fractal_flit *flit,
                                    const struct ct_fractal_message *beside, char out[128]);

#ifdef __cplusplus
}
#endif
#endif
