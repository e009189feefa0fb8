# The paper's Listings 1 to 4 in both dialects (docs/tessla-language.md part C), with the bug and without.
### 1 structure, watchpoints, wrong order
define line32_exec := codeLine main.c:32
define line47_exec := codeLine main.c:47
define monitor_output := monitor(always
(line32_exec implies next
(not(line32_exec) until line47_exec)))

out monitor_output
<<<
10: line32_exec
20: line47_exec
30: line47_exec = ()
40: line32_exec
45: line32_exec
45: line47_exec
50: line32_exec
60: line47_exec
>>>
10: monitor_output = unknown
20: monitor_output = unknown
30: monitor_output = unknown
40: monitor_output = unknown
45: monitor_output = unknown
50: monitor_output = false
60: monitor_output = false

### 1 structure, watchpoints, right order
<<<
1: line32_exec
2: line47_exec
3: line47_exec
4: line32_exec
5: line47_exec
>>>
1: monitor_output = unknown
2: monitor_output = unknown
3: monitor_output = unknown
4: monitor_output = unknown
5: monitor_output = unknown

### 1 structure, streams, wrong order
in line32_exec: Events[Unit]
in line47_exec: Events[Unit]
def clk = mergeUnit(line32_exec, line47_exec)
def present[A, B](e: Events[A], c: Events[B]): Events[Bool] =
  lift(e, c, (x: Option[A], y: Option[B]) => if isNone(y) then None[Bool] else Some(isSome(x)))
def move(s: Int, p: Bool, q: Bool): Int =
  if s == 2 || (s == 1 && p && !q) then 2 else if p || (s == 1 && !q) then 1 else 0
def state: Events[Int] = lift3(last(state, clk), present(line32_exec, clk), present(line47_exec, clk),
  (s: Option[Int], p: Option[Bool], q: Option[Bool]) =>
    if isNone(p) then None[Int] else Some(move(getSomeOrElse(s, 0), getSome(p), getSome(q))))
def monitor_output = if state == 2 then "false" else "unknown"
out monitor_output
<<<
10: line32_exec
20: line47_exec
30: line47_exec = ()
40: line32_exec
45: line32_exec
45: line47_exec
50: line32_exec
60: line47_exec
>>>
10: monitor_output = "unknown"
20: monitor_output = "unknown"
30: monitor_output = "unknown"
40: monitor_output = "unknown"
45: monitor_output = "unknown"
50: monitor_output = "false"
60: monitor_output = "false"

### 1 structure, streams, right order
<<<
1: line32_exec
2: line47_exec
3: line47_exec
4: line32_exec
5: line47_exec
>>>
1: monitor_output = "unknown"
2: monitor_output = "unknown"
3: monitor_output = "unknown"
4: monitor_output = "unknown"
5: monitor_output = "unknown"

### 2 timing, watchpoints [--time-unit ms]
define firstCalls := function_call first
define triggerCalls := function_call trigger
define error := triggerCalls implies not inPast(

firstCalls, 2s)
out error
<<<
500: triggerCalls
1000: firstCalls
1500: triggerCalls
3000: triggerCalls
>>>
500: error = true
1500: error = false
3000: error = true

### 2 timing, watchpoints, in time [--time-unit ms]
<<<
0: firstCalls
1999: triggerCalls
>>>
1999: error = false

### 2 timing, streams [--time-unit ms]
in firstCalls: Events[Unit]
in triggerCalls: Events[Unit]
def recent = time(triggerCalls) - default(time(firstCalls), -2s) < 2s
def error = on(triggerCalls, !recent)
out error
<<<
500: triggerCalls
1000: firstCalls
1500: triggerCalls
3000: triggerCalls
>>>
500: error = true
1500: error = false
3000: error = true

### 2 timing, streams, in time [--time-unit ms]
<<<
0: firstCalls
1999: triggerCalls
>>>
1999: error = false

### 3 timing validation, watchpoints [--time-unit ns]
define block_start := onExecuting 0x2000
define block_end := onExecuting 0x101c
define timing_min_violation := on block_end if

inPast(block_start, 16us)
define timing_max_violation := on block_end if not

inPast(block_start, 23us)
out timing_min_violation
out timing_max_violation
<<<
1000: block_start
12000: block_end
20000: block_start
40000: block_end
50000: block_start
73000: block_end
>>>
12000: timing_min_violation = ()
73000: timing_max_violation = ()

### 3 timing validation, watchpoints, within bounds [--time-unit ns]
<<<
0: block_start
16000: block_end
30000: block_start
52999: block_end
>>>


### 3 timing validation, streams [--time-unit ns]
in block_start: Events[Unit]
in block_end: Events[Unit]
def started = default(const(true, block_start), false)
def elapsed = on(block_end, time(block_end) - default(time(block_start), 0))
def short = started && elapsed < 16us
def long = !(started && elapsed < 23us)
def timing_min_violation = filter(block_end, on(block_end, short))
def timing_max_violation = filter(block_end, on(block_end, long))
out timing_min_violation
out timing_max_violation
<<<
1000: block_start
12000: block_end
20000: block_start
40000: block_end
50000: block_start
73000: block_end
>>>
12000: timing_min_violation = ()
73000: timing_max_violation = ()

### 3 timing validation, streams, within bounds [--time-unit ns]
<<<
0: block_start
16000: block_end
30000: block_start
52999: block_end
>>>


### 4 statistics, watchpoints
define algoStart := codeLine algo.c:10
define recCalls := function_call rec
define max_num_calls := maximum(eventCount(recCalls,

algoStart))
out max_num_calls
<<<
1: algoStart
2: recCalls
3: recCalls
4: recCalls
10: algoStart
11: recCalls
12: recCalls
>>>
0: max_num_calls = 0
2: max_num_calls = 1
3: max_num_calls = 2
4: max_num_calls = 3

### 4 statistics, watchpoints, calls before the first start
<<<
1: recCalls
2: recCalls
3: algoStart
4: recCalls
>>>
0: max_num_calls = 0
1: max_num_calls = 1
2: max_num_calls = 2

### 4 statistics, streams
in algoStart: Events[Unit]
in recCalls: Events[Unit]
def calls = resetCount(recCalls, reset = algoStart)
def max_num_calls = pure(maximum(calls))
out max_num_calls
<<<
1: algoStart
2: recCalls
3: recCalls
4: recCalls
10: algoStart
11: recCalls
12: recCalls
>>>
0: max_num_calls = 0
2: max_num_calls = 1
3: max_num_calls = 2
4: max_num_calls = 3
