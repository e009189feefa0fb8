// SPDX-License-Identifier: Apache-2.0
// The milestones on the live page: which were reached, and the time left until the deadlines of the others.

function drawProgress(progress) {
  $("progress").hidden = !progress;
  if (!progress) return;
  const ms = value => value === undefined ? "" : `${value.toFixed(3)} ms`,
      all = progress.milestones, bad = all.filter(m => m.state === "late" || m.state === "missed").length;
  setText($("progress-sum"), `${progress.reached} of ${all.length} reached at ${ms(progress.now_ms)}` +
      (bad ? `; ${bad} behind the deadline` : ""));
  $("progress-bar").max = all.length;
  $("progress-bar").value = progress.reached;
  const left = m => m.left_ms === undefined ? "" : m.left_ms < 0 ? `${ms(-m.left_ms)} late`
      : `${ms(m.left_ms)} ${m.state === "waiting" ? "left" : "early"}`;
  rows($("milestones"), all.map((m, i) => ({ ...m, i })), m => "" + m.i, m => [[m.place, "name place"],
    [m.state, m.state === "late" || m.state === "missed" ? "late" : ""], [ms(m.at_ms), "num"],
    [ms(m.deadline_ms), "num"], [left(m), "num"], num(m.hits)]);
}
