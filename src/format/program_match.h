/* SPDX-License-Identifier: Apache-2.0 */
/* Matches programs that ran with the identities in results. */
#pragma once

#include "coretap/analysis.h"
#include "coretap/programs.h"

#include <stdbool.h>

/* Returns whether two identities are of one program: by build id, or by name when one has none. */
bool ct_identity_is(const struct ct_program_identity *a, const struct ct_program_identity *b);

/* Returns whether a program that ran has this identity. Returns false when its symbols cannot be loaded. */
bool ct_identity_is_of(const struct ct_program_identity *identity, struct ct_program *program);
