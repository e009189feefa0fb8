/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that are in a manifest twice, which only their files show when contents are not compared. */
#pragma once

struct ct_fleet_job;

/* Refuses a manifest in which two captures are the same files under one name or two, because they would count
 * twice: one of them describes contents that are not there any more. Reads no contents, and looks only at
 * captures of equal size: of two others one differs from the manifest. The job's order must be set.
 * CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_job_refuse_same(const struct ct_fleet_job *job);
