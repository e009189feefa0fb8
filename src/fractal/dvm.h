/* SPDX-License-Identifier: Apache-2.0 */
/* Distributed virtual memory operations. ACE and CHI share the fields and the table of invalidations (IHI
 * 0050F.b B8.4, tables B8.5, B8.12, B8.17 to B8.20), but encode the fields differently. */
#pragma once

#include <stdbool.h>

#include "coretap/fractal.h"

/* DVMType. */
enum {
    CT_DVM_TLBI = 0,
    CT_DVM_BPI = 1,  /* branch predictor invalidate */
    CT_DVM_PICI = 2, /* instruction cache invalidate by physical address */
    CT_DVM_VICI = 3, /* instruction cache invalidate by virtual address */
    CT_DVM_SYNC = 4,
    CT_DVM_TYPES,
};

/* One DVM operation. */
struct ct_dvm {
    uint64_t address;        /* VA, or the PA of a PICI */
    uint16_t asid, vmid, vi; /* vi: virtual index, VA[27:12] */
    uint8_t type;
    uint8_t exception; /* owner of the translations: 1 EL3, 2 guest OS, 3 hypervisor, 0 hypervisor and
                        * guests */
    uint8_t security;  /* 3: Non-secure, table B8.8 */
    uint8_t stage;     /* 0: both; 1; 2; 3: granule protection table */
    bool has_address, has_asid, has_vmid, has_vi;
    bool leaf;
    bool range; /* covers (num + 1) << (5 * scale + 1) pages of granule `tg`, from the address on */
    uint8_t num, scale, tg;
};

/* Make the operation of a message or a command. Return 0 if it is none that DVM carries. */
int ct_dvm_of_message(const struct ct_fractal_message *m, struct ct_dvm *out);
int ct_dvm_of_command(const struct ct_fractal_command *c, struct ct_dvm *out);

/* Makes the message of an operation: op, addr, value. Returns 0 if the operation does not affect stage 1
 * translations of a Non-secure EL1&0 or EL2&0 regime, or instruction caches by virtual address. */
int ct_dvm_to_message(const struct ct_dvm *dvm, struct ct_fractal_message *m);

/* Makes the command of an operation. Returns 0 if FRACTAL has no such command. */
int ct_dvm_to_command(const struct ct_dvm *dvm, struct ct_fractal_command *c);

/* Returns how many pages a range has, and their size in *page. Returns 0 if the granule is reserved. */
uint64_t ct_dvm_pages(const struct ct_dvm *dvm, uint64_t *page);
