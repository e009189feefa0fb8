/* SPDX-License-Identifier: Apache-2.0 */
/* Types of variables: the position of a field or element, the width of a number, its sign, and the names of
 * an enumeration. Types may refer to each other in cycles in a damaged file, so all recursion is bounded. */
#include "base/ctx.h"
#include "program/dwarf_variables.h"

#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH  64    /* of types within types */
#define MOST_NAMES  65536 /* names of one enumeration */
#define MOST_NAME   200   /* characters of one name of an enumeration; longer names are left out */
#define MOST_LISTED 300   /* bytes of fields in a message */

/* The part of the variable that the path has reached. */
struct part {
    Dwarf_Die type;
    bool has_type;
    unsigned dimension; /* for an array: number of indices given so far */
    uint64_t addr;
    bool is_bit_field;
    uint64_t bit, bits;
};

static int unsupported(const struct ct_variable_search *s, const char *why)
{
    return ct_fail(s->reader.ctx, CT_ERR_UNSUPPORTED, "%s: variable '%s': %s", s->reader.name, s->name, why);
}

static bool number_at(Dwarf_Die *die, unsigned attribute, uint64_t *out)
{
    Dwarf_Attribute value;
    Dwarf_Word word;
    if (!dwarf_attr_integrate(die, attribute, &value) || dwarf_formudata(&value, &word) != 0)
        return false;
    *out = word;
    return true;
}

const char *ct_dwarf_name(struct ct_variable_search *s, Dwarf_Die *die)
{
    Dwarf_Attribute value;
    return dwarf_attr_integrate(die, DW_AT_name, &value) ? ct_dwarf_text(&s->reader, &value) : NULL;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute value;
    return dwarf_attr_integrate(die, DW_AT_type, &value) && dwarf_formref_die(&value, type);
}

/* Skips typedefs and qualifiers of a type. */
static void peel(struct part *p)
{
    for (unsigned depth = 0; p->has_type && depth < MOST_DEPTH; depth++) {
        switch (dwarf_tag(&p->type)) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
        case DW_TAG_immutable_type:
        case DW_TAG_template_alias:
        case DW_TAG_subrange_type:
            p->has_type = type_of(&p->type, &p->type);
            break;
        default:
            return;
        }
    }
    p->has_type = false;
}

/* Go over the children of an entry. They return 0 while there is one, like libdw's functions. The entries of
 * a damaged file may form cycles, so the number of steps is limited to its bytes. */
static int next_child(struct ct_variable_search *s, Dwarf_Die *child)
{
    return s->budget && s->budget-- ? dwarf_siblingof(child, child) : 1;
}

static int first_child(struct ct_variable_search *s, Dwarf_Die *parent, Dwarf_Die *child)
{
    return s->budget && s->budget-- ? dwarf_child(parent, child) : 1;
}

/* ---- sizes ---- */

/* Returns the length of a dimension of an array; UINT64_MAX when unknown. */
static uint64_t length_of(Dwarf_Die *range)
{
    uint64_t count, first = 0, last;
    if (number_at(range, DW_AT_count, &count))
        return count;
    (void)number_at(range, DW_AT_lower_bound, &first);
    /* an array without a length has the upper bound -1, or none */
    return number_at(range, DW_AT_upper_bound, &last) && last <= INT32_MAX && last + 1 >= first
               ? last + 1 - first
               : UINT64_MAX;
}

/* Finds dimension `number` of an array. */
static bool dimension_of(struct ct_variable_search *s, Dwarf_Die *array, unsigned number, Dwarf_Die *range)
{
    unsigned at = 0;
    for (int rc = first_child(s, array, range); rc == 0; rc = next_child(s, range)) {
        const int tag = dwarf_tag(range);
        if ((tag == DW_TAG_subrange_type || tag == DW_TAG_enumeration_type) && at++ == number)
            return true;
    }
    return false;
}

static uint64_t size_within(struct ct_variable_search *s, const struct part *part, unsigned depth);

/* Returns the size of an array's element below the dimensions from `dimension` on. */
static uint64_t element_size(struct ct_variable_search *s, const struct part *array, unsigned dimension,
                             unsigned depth)
{
    struct part element = {.has_type = true};
    Dwarf_Die type = array->type;
    Dwarf_Die range;
    element.has_type = type_of(&type, &element.type);
    uint64_t size = size_within(s, &element, depth + 1);
    for (; size && dimension_of(s, &type, dimension, &range); dimension++) {
        const uint64_t count = length_of(&range);
        if (count == UINT64_MAX || __builtin_mul_overflow(size, count, &size))
            return 0;
    }
    return size;
}

/* Returns the size of a part in bytes; 0: unknown, or nested too deep. */
static uint64_t size_within(struct ct_variable_search *s, const struct part *part, unsigned depth)
{
    struct part p = *part;
    uint64_t size;
    peel(&p);
    if (!p.has_type || depth > MOST_DEPTH)
        return 0;
    if (dwarf_tag(&p.type) == DW_TAG_array_type)
        return number_at(&p.type, DW_AT_byte_size, &size) && !part->dimension
                   ? size
                   : element_size(s, &p, part->dimension, depth);
    if (number_at(&p.type, DW_AT_byte_size, &size))
        return size;
    switch (dwarf_tag(&p.type)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: {
        uint8_t bytes = 0;
        Dwarf_Die unit;
        return dwarf_diecu(&p.type, &unit, &bytes, NULL) ? bytes : 0;
    }
    case DW_TAG_enumeration_type:
        p.has_type = type_of(&p.type, &p.type);
        return size_within(s, &p, depth + 1);
    default:
        return 0;
    }
}

static uint64_t size_of(struct ct_variable_search *s, const struct part *part)
{
    return size_within(s, part, 0);
}

/* Returns the name of a type in the source; NULL when out of memory. */
static const char *describe(struct ct_variable_search *s, Dwarf_Die *type)
{
    const char *name = ct_dwarf_name(s, type);
    const char *word = "";
    switch (dwarf_tag(type)) {
    case DW_TAG_enumeration_type:
        word = "enum ";
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        word = "struct ";
        break;
    case DW_TAG_union_type:
        word = "union ";
        break;
    case DW_TAG_pointer_type:
        name = "pointer";
        break;
    case DW_TAG_array_type:
        name = "array";
        break;
    default:
        break;
    }
    return ct_arena_printf(s->arena, "%s%s", name ? word : "", name ? name : "");
}

/* ---- fields ---- */

static bool is_compound(struct part *p)
{
    const int tag = p->has_type ? dwarf_tag(&p->type) : DW_TAG_invalid;
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_interface_type;
}

/* Reads the offset of a member in its structure: a number, or the expression "add a number". Returns false
 * for other expressions, such as those of virtual base classes. */
static bool offset_of(Dwarf_Die *member, uint64_t *offset)
{
    Dwarf_Attribute value;
    Dwarf_Op *ops;
    size_t count;
    *offset = 0;
    if (!dwarf_attr(member, DW_AT_data_member_location, &value) ||
        number_at(member, DW_AT_data_member_location, offset))
        return true;
    if (dwarf_getlocation(&value, &ops, &count) != 0 || count != 1 || ops[0].atom != DW_OP_plus_uconst)
        return false;
    *offset = ops[0].number;
    return true;
}

/* Moves to a member. */
static bool enter(struct ct_variable_search *s, struct part *p, Dwarf_Die *member)
{
    uint64_t offset, bits, bit, storage = 0;
    struct part to = {.addr = p->addr};
    to.has_type = type_of(member, &to.type);
    if (!offset_of(member, &offset))
        return false;
    to.addr += offset;
    if (number_at(member, DW_AT_bit_size, &bits)) {
        if (!number_at(member, DW_AT_byte_size, &storage))
            storage = size_of(s, &to);
        to.is_bit_field = true;
        to.bits = bits;
        if (number_at(member, DW_AT_data_bit_offset, &bit)) /* from the start of the structure */
            to.bit = bit;
        else if (number_at(member, DW_AT_bit_offset,
                           &bit)) /* from the highest bit of the storage unit (DWARF 2) */
            to.bit = 8 * storage - bit - bits;
        to.addr += to.bit / 8;
        to.bit %= 8;
        if (!bits || bits > 64 || to.bit + bits > 64)
            return false;
    }
    *p = to;
    return true;
}

/* Returns whether a member is stored in each object, so it is not static. */
static bool is_in_object(Dwarf_Die *die)
{
    Dwarf_Attribute value;
    const int tag = dwarf_tag(die);
    return tag == DW_TAG_inheritance || (tag == DW_TAG_member && !dwarf_attr(die, DW_AT_external, &value) &&
                                         !dwarf_attr(die, DW_AT_declaration, &value));
}

/* Moves to the field with a name: in the structure itself, its base classes, or members without a name. For
 * an index, Rust names the field of a tuple with two underlines before it. */
static bool find_field(struct ct_variable_search *s, struct part *p, const char *name, unsigned depth)
{
    Dwarf_Die child;
    peel(p);
    if (depth == MOST_DEPTH || !is_compound(p))
        return false;
    for (int rc = first_child(s, &p->type, &child); rc == 0; rc = next_child(s, &child)) {
        if (!is_in_object(&child))
            continue;
        const char *own = dwarf_tag(&child) == DW_TAG_member ? ct_dwarf_name(s, &child) : NULL;
        const bool is_tuple = own && isdigit((unsigned char)*name) && strncmp(own, "__", 2) == 0;
        struct part inside = *p;
        if (own ? strcmp(own + 2 * is_tuple, name) == 0 && enter(s, p, &child)
                : enter(s, &inside, &child) && find_field(s, &inside, name, depth + 1)) {
            if (!own)
                *p = inside;
            return true;
        }
    }
    return false;
}

static int no_field(struct ct_variable_search *s, struct part *p, const char *name)
{
    char why[MOST_LISTED + 400];
    char fields[MOST_LISTED] = "";
    size_t used = 0;
    Dwarf_Die child;
    if (!is_compound(p)) {
        snprintf(why, sizeof why, ".%.100s selects a field, but the part before it is not a structure%s",
                 name,
                 p->has_type && dwarf_tag(&p->type) == DW_TAG_pointer_type
                     ? "; pointers are not followed, so name the object that it points to"
                     : "");
        return unsupported(s, why);
    }
    for (int rc = first_child(s, &p->type, &child); rc == 0 && used < sizeof fields;
         rc = next_child(s, &child)) {
        const char *own = dwarf_tag(&child) == DW_TAG_member ? ct_dwarf_name(s, &child) : NULL;
        if (own && is_in_object(&child))
            used += (size_t)snprintf(fields + used, sizeof fields - used, "%s%s", used ? ", " : "", own);
    }
    const char *type = describe(s, &p->type);
    snprintf(why, sizeof why, "%.100s has no field %.100s%s%s", type && *type ? type : "the structure", name,
             used ? "; its fields are " : "", fields);
    return unsupported(s, why);
}

/* ---- the path ---- */

static int take_field(struct ct_variable_search *s, const char **path, struct part *p)
{
    const char *begin = *path + 1;
    const size_t size = strcspn(begin, ".[");
    char *name = ct_arena_strndup(s->arena, begin, size);
    if (!name)
        return ct_fail_nomem(s->reader.ctx, s->reader.name);
    *path = begin + size;
    if (!size)
        return unsupported(s, "write the name of a field after '.'");
    struct part to = *p;
    peel(p);
    if (p->is_bit_field || !find_field(s, &to, name, 0))
        return no_field(s, p, name);
    *p = to;
    return CT_OK;
}

static int take_index(struct ct_variable_search *s, const char **path, struct part *p)
{
    char why[200];
    char *end;
    Dwarf_Die range;
    errno = 0;
    const uint64_t index = isdigit((unsigned char)(*path)[1]) ? strtoull(*path + 1, &end, 0) : 0;
    if (!isdigit((unsigned char)(*path)[1]) || errno || *end != ']')
        return unsupported(s, "write an index as a number in brackets: table[3]");
    *path = end + 1;
    const unsigned dimension = p->dimension;
    peel(p);
    if (!p->has_type || dwarf_tag(&p->type) != DW_TAG_array_type ||
        !dimension_of(s, &p->type, dimension, &range))
        return unsupported(s, "the part before the index is not an array; pointers are not followed");
    const uint64_t count = length_of(&range);
    if (count == UINT64_MAX)
        return unsupported(s, "the program does not record the length of the array, so the memory that "
                              "belongs to it is unknown");
    if (index >= count) {
        snprintf(why, sizeof why, "index %" PRIu64 " is outside of the array, whose last index is %" PRIu64,
                 index, count - 1);
        return unsupported(s, count ? why : "the array has no elements");
    }
    const uint64_t size = element_size(s, p, dimension + 1, 0);
    if (!size)
        return unsupported(s, "the program does not record the size of an element");
    p->addr += index * size;
    p->dimension = dimension + 1;
    if (!dimension_of(s, &p->type, p->dimension, &range)) {
        p->dimension = 0;
        p->has_type = type_of(&p->type, &p->type);
    }
    return CT_OK;
}

/* Moves into a structure with only one member: an atomic, or a type made only for its name. */
static void unwrap(struct ct_variable_search *s, struct part *p)
{
    for (unsigned depth = 0; depth < MOST_DEPTH; depth++) {
        Dwarf_Die child, only = {0};
        unsigned count = 0;
        peel(p);
        if (!is_compound(p) || dwarf_tag(&p->type) == DW_TAG_union_type)
            return;
        for (int rc = first_child(s, &p->type, &child); rc == 0; rc = next_child(s, &child)) {
            struct part to = *p;
            if (dwarf_tag(&child) == DW_TAG_variant_part)
                return;
            if (is_in_object(&child) && enter(s, &to, &child) && size_of(s, &to)) {
                /* a base class, or a marker of Rust, without own bytes does not count */
                only = child;
                count++;
            }
        }
        struct part to = *p;
        if (count != 1 || !enter(s, &to, &only) || to.is_bit_field || to.addr != p->addr ||
            size_of(s, &to) != size_of(s, p))
            return;
        *p = to;
    }
}

/* ---- the type at the end of the path ---- */

static uint64_t extended(uint64_t value, unsigned bits)
{
    return bits && bits < 64 ? (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits)) : value;
}

/* Reads the value of an enumerator. Forms of fixed width hold unsigned values. */
static bool enumerator_value(Dwarf_Die *die, int64_t *out)
{
    Dwarf_Attribute value;
    Dwarf_Word plain;
    Dwarf_Sword with_sign;
    if (!dwarf_attr(die, DW_AT_const_value, &value))
        return false;
    const unsigned form = dwarf_whatform(&value);
    if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
        const int rc = dwarf_formsdata(&value, &with_sign);
        *out = rc ? 0 : with_sign;
        return !rc;
    }
    const int rc = dwarf_formudata(&value, &plain);
    *out = rc ? 0 : (int64_t)plain;
    return !rc;
}

/* Returns whether an enumeration is signed: its base type is, or else one of its values is negative. */
static bool is_signed_enum(struct ct_variable_search *s, Dwarf_Die *type)
{
    struct part base = {.has_type = true};
    uint64_t encoding = 0;
    Dwarf_Die child;
    int64_t value;
    base.has_type = type_of(type, &base.type);
    peel(&base);
    if (base.has_type && number_at(&base.type, DW_AT_encoding, &encoding) && encoding == DW_ATE_unsigned)
        return false;
    if (base.has_type && encoding == DW_ATE_signed)
        return true;
    for (int rc = first_child(s, type, &child); rc == 0; rc = next_child(s, &child))
        if (enumerator_value(&child, &value) && value < 0)
            return true;
    return false;
}

static int read_names(struct ct_variable_search *s, Dwarf_Die *type)
{
    struct ct_enumerator *names = NULL;
    size_t count = 0;
    Dwarf_Die child;
    int64_t value;
    for (int rc = first_child(s, type, &child); rc == 0 && count < MOST_NAMES; rc = next_child(s, &child)) {
        const char *name = dwarf_tag(&child) == DW_TAG_enumerator ? ct_dwarf_name(s, &child) : NULL;
        if (!name || strlen(name) > MOST_NAME || !enumerator_value(&child, &value))
            continue;
        const unsigned bits = s->out->bits;
        const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
        names = ct_arena_push(s->arena, names, &count, sizeof *names);
        const char *copy = names ? ct_arena_strdup(s->arena, name) : NULL;
        if (!copy)
            return ct_fail_nomem(s->reader.ctx, s->reader.name);
        names[count - 1] =
            (struct ct_enumerator){copy, s->out->form == CT_VARIABLE_SIGNED ? extended((uint64_t)value, bits)
                                                                            : (uint64_t)value & mask};
    }
    s->out->names = names;
    s->out->name_count = count;
    return CT_OK;
}

/* Returns the kind of number of a type of `bits` bits. */
static enum ct_variable_form form_of(struct ct_variable_search *s, Dwarf_Die *type, uint64_t bits)
{
    uint64_t encoding;
    switch (dwarf_tag(type)) {
    case DW_TAG_enumeration_type:
        return is_signed_enum(s, type) ? CT_VARIABLE_SIGNED : CT_VARIABLE_UNSIGNED;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return CT_VARIABLE_UNSIGNED;
    case DW_TAG_base_type:
        break;
    default:
        return CT_VARIABLE_BLOCK;
    }
    if (!number_at(type, DW_AT_encoding, &encoding))
        return CT_VARIABLE_BLOCK;
    switch (encoding) {
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        return CT_VARIABLE_SIGNED;
    case DW_ATE_boolean:
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_address:
    case DW_ATE_UTF:
    case DW_ATE_ASCII:
    case DW_ATE_UCS:
        return CT_VARIABLE_UNSIGNED;
    case DW_ATE_float:
        return bits == 32 || bits == 64 ? CT_VARIABLE_REAL : CT_VARIABLE_BLOCK;
    default:
        return CT_VARIABLE_BLOCK;
    }
}

static int settle(struct ct_variable_search *s, struct part *p)
{
    struct ct_variable *out = s->out;
    if (!p->is_bit_field && !p->dimension)
        unwrap(s, p);
    const unsigned dimension = p->dimension;
    peel(p);
    p->dimension = dimension;
    const uint64_t size = p->is_bit_field ? (p->bit + p->bits + 7) / 8 : size_of(s, p);
    const uint64_t bits = p->is_bit_field ? p->bits : 8 * size;
    if (!p->has_type || !size)
        return unsupported(s, "the program does not record its type, so its size is unknown");
    out->addr = p->addr;
    out->size = size;
    out->type = describe(s, &p->type);
    if (!out->type)
        return ct_fail_nomem(s->reader.ctx, s->reader.name);
    out->form = (uint8_t)(size > 8 ? CT_VARIABLE_BLOCK : form_of(s, &p->type, bits));
    if (out->form == CT_VARIABLE_BLOCK)
        return CT_OK;
    out->bit = (uint8_t)p->bit;
    out->bits = (uint8_t)bits;
    out->is_bit_field = p->is_bit_field;
    return dwarf_tag(&p->type) == DW_TAG_enumeration_type ? read_names(s, &p->type) : CT_OK;
}

int ct_dwarf_read_type(struct ct_variable_search *s, Dwarf_Die *variable, uint64_t addr)
{
    struct part p = {.addr = addr};
    const char *path = s->path;
    int rc = CT_OK;
    p.has_type = type_of(variable, &p.type);
    while (!rc && *path) {
        if (*path == '.')
            rc = take_field(s, &path, &p);
        else if (*path == '[')
            rc = take_index(s, &path, &p);
        else
            rc = unsupported(s, "only '.' or another index can follow an index");
    }
    return rc ? rc : settle(s, &p);
}
