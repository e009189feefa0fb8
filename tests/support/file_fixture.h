/* SPDX-License-Identifier: Apache-2.0 */
/* An empty temporary file, `path`, for all tests of a program. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/unit.h"

static char path[] = "/tmp/coretap-test-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return remove(path);
}

GROUP_FIXTURE(make_file, remove_file)
