/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the software trace of a capture for a report. */
#pragma once

#include "cli/capture.h"
#include "cli/filter.h"
#include "coretap/report.h"

/* Passes the events of all ITMs and STMs of a decoded capture to a report. Returns false after a message. */
bool cli_report_named(const struct cli_capture *capture, const struct cli_filter *filter,
                      struct ct_report *report);
