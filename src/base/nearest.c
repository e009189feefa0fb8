/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses which name a mistyped one stands for. */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "coretap/base.h"

#define WORD_MAX 63

/* Returns the number of letters to add, remove, replace or swap with a neighbour to turn one word into the
 * other. Words have at most WORD_MAX letters. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][WORD_MAX + 1]; /* for the current letter of `a` and the two before it */
    const size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        rows[0][j] = (unsigned)j;
    size_t i = 0;
    for (; a[i]; i++) {
        const unsigned *before = rows[i % 3];
        unsigned *row = rows[(i + 1) % 3];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < length; j++) {
            const unsigned replace = before[j] + (a[i] != b[j]);
            const unsigned change = 1 + (row[j] < before[j + 1] ? row[j] : before[j + 1]);
            row[j + 1] = replace < change ? replace : change;
            const bool swapped = i && j && a[i] == b[j - 1] && a[i - 1] == b[j];
            if (swapped && rows[(i + 2) % 3][j - 1] + 1 < row[j + 1])
                row[j + 1] = rows[(i + 2) % 3][j - 1] + 1;
        }
    }
    return rows[i % 3][length];
}

const char *ct_nearest_name(const char *name, const char *const *names)
{
    const size_t length = name ? strlen(name) : 0;
    if (!length || length > WORD_MAX)
        return NULL;
    /* with more than a third of the letters wrong, a guess confuses more than it helps */
    unsigned best = length < 2 ? 0 : (unsigned)(length + 2) / 3 + 1;
    const char *found = NULL;
    for (; names && *names; names++) {
        if (strcasecmp(name, *names) == 0)
            return *names;
        const unsigned d = strlen(*names) <= WORD_MAX ? distance(name, *names) : best;
        if (d < best) {
            best = d;
            found = *names;
        }
    }
    return found;
}
