#include <stdio.h>

#include "coretap/base.h"

int main(void)
{
    printf("coretap %s\n", ct_version());
    return 0;
}
