/* SPDX-License-Identifier: Apache-2.0 */
/* Statements behind which the compiler puts a join that has their line: a NOP, a jump. */
static volatile int sum;

static int digits(const char *text)
{
    int n = 0;
    if (*text == '0') {
        text++;
        if (*text > '/' && *text <= '9')
            n = -1;
    } else if (*text > '/' && *text <= '9') {
        do
            text++, n++;
        while (*text > '/' && *text <= '9');
    } else {
        n = -2;
    }
    return n;
}

static void spaces(const char *text, int blanks)
{
    while (*text == ' ' || *text == '\n') {
        if (*text == ' ') {
            if (!blanks) {
                if (!(sum ? 1 : sum++ >= 0))
                    goto out;
            } else {
                sum += 2;
            }
        } else {
            sum++;
        }
        text++;
    }
out:
    sum--;
}

int main(void)
{
    static const char *const texts[] = {"0", "07", "123", "9", "45", "x", "  \n y", " "};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        sum += digits(texts[i]);
        spaces(texts[i], i & 1);
        spaces(texts[i], 0);
    }
    return sum == -1;
}
