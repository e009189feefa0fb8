/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a processor, as QEMU describes it for migration (include/migration/vmstate.h of 7.2). Finds
 * where in a processor's object a part of its state is, by name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads memory of QEMU itself, whose layout may differ. Returns false when the memory is unmapped. */
bool vmstate_peek(const void *from, void *out, size_t size);

/* Returns the description of the state of an Arm processor, or NULL when QEMU does not export it. */
const void *vmstate_of_cpu(void);

/* Returns the subsection with this name; NULL: there is none. */
const void *vmstate_subsection(const void *description, const char *name);

/* Returns whether a subsection has state of this object, as QEMU decides it. */
bool vmstate_applies(const void *description, void *object);

/* Finds the offset of a field with `num` elements (0: no array) of `size` bytes. Returns false when there is
 * no such field. */
bool vmstate_field(const void *description, const char *name, size_t size, int num, size_t *offset);
