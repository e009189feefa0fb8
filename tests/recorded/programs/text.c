/* A small parser: strings, characters, recursion over expressions. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *at;

static int expression(void);

static int primary(void)
{
    while (*at == ' ')
        at++;
    if (*at == '(') {
        at++;
        int value = expression();
        if (*at == ')')
            at++;
        return value;
    }
    if (*at == '-') {
        at++;
        return -primary();
    }
    int value = 0;
    while (isdigit((unsigned char)*at))
        value = value * 10 + (*at++ - '0');
    while (*at == ' ')
        at++;
    return value;
}

static int term(void)
{
    int value = primary();
    while (*at == '*' || *at == '/') {
        char op = *at++;
        int right = primary();
        if (op == '*')
            value *= right;
        else if (right != 0)
            value /= right;
    }
    return value;
}

static int expression(void)
{
    int value = term();
    for (;;) {
        if (*at == '+') {
            at++;
            value += term();
        } else if (*at == '-') {
            at++;
            value -= term();
        } else {
            return value;
        }
    }
}

static int evaluate(const char *text)
{
    at = text;
    return expression();
}

int main(void)
{
    static const char *const texts[] = {"1 + 2 * 3", "(4 + 5) * -2", "100/7/2 - 1", "8 / (2 - 2)", ""};
    size_t length = 0;
    for (int i = 0; texts[i][0]; i++) {
        printf("%d\n", evaluate(texts[i]));
        length += strlen(texts[i]);
    }
    return length == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
