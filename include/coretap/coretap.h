/* SPDX-License-Identifier: Apache-2.0 */
/* coretap: all public headers. Those of the libraries beside the core stand last: who uses monitors, FRACTAL
 * or the recorder links coretap-monitor, coretap-fractal or coretap-record, too. */
#ifndef CORETAP_CORETAP_H
#define CORETAP_CORETAP_H

#include "coretap/analysis.h"
#include "coretap/base.h"
#include "coretap/cfg.h"
#include "coretap/cover.h"
#include "coretap/decode.h"
#include "coretap/edges.h"
#include "coretap/elem.h"
#include "coretap/encode.h"
#include "coretap/event.h"
#include "coretap/filter.h"
#include "coretap/flow.h"
#include "coretap/format.h"
#include "coretap/frame.h"
#include "coretap/graph.h"
#include "coretap/input.h"
#include "coretap/json.h"
#include "coretap/learn.h"
#include "coretap/losses.h"
#include "coretap/merge.h"
#include "coretap/packet.h"
#include "coretap/packet_etm3.h"
#include "coretap/packet_itm.h"
#include "coretap/packet_ptm.h"
#include "coretap/packet_stm.h"
#include "coretap/program.h"
#include "coretap/programs.h"
#include "coretap/report.h"
#include "coretap/session.h"
#include "coretap/source_lines.h"
#include "coretap/stacks.h"
#include "coretap/steps.h"
#include "coretap/timeline.h"
#include "coretap/timing.h"
#include "coretap/watch.h"
#include "coretap/wcet.h"

#include "coretap/fractal.h"
#include "coretap/monitor.h"
#include "coretap/record.h"
#include "coretap/verdict.h"
#include "coretap/verify.h"

#endif
