# The watchpoint dialect (docs/tessla-language.md part B).
### inPast as a signal is half open: true from u to just before u+d
in e: Events[Unit]
in x: Events[Unit]
define p := inPast(e, 5)
out p
<<<
2: e
4: e
20: x
>>>
0: p = false
2: p = true
9: p = false

### inPast: an event exactly when the old one ends keeps it true
in e: Events[Unit]
in x: Events[Unit]
define p := inPast(5, e)
out p
<<<
0: e
5: e
20: x
>>>
0: p = true
10: p = false

### inPast where it is only sampled needs no timer; through definitions and operators, too
in e: Events[Unit]
in t: Events[Unit]
define recent := inPast(e, 5)
define a := t implies recent
define b := on t if not recent
define c := sample(recent, t)
define d := ifThen(t, not recent or false)
define f := filter(t, recent and true)
out a
out b
out c
out d
out f
<<<
1: t
2: e
2: t
6: t
7: t
>>>
1: a = false
1: b = ()
1: c = false
1: d = true
2: a = true
2: c = true
2: d = false
2: f = ()
6: a = true
6: c = true
6: d = false
6: f = ()
7: a = false
7: b = ()
7: c = false
7: d = true

### within
in e: Events[Unit]
in x: Events[Unit]
define w := within(-5, -2, e)
define z := within(-3, 0, e)
out w
out z
<<<
1: e
2: e
20: x
>>>
0: w = false
0: z = false
1: z = true
3: w = true
6: z = false
8: w = false

### within cannot look ahead
in e: Events[Unit]
define w := within(-5, 2, e)
define v := within(2, -5, e)
>>>
! s.tessla:2:24: error: within would look ahead; the second duration must not be positive
!     2 | define w := within(-5, 2, e)
!       |                        ^
! s.tessla:3:13: error: within needs two durations; the first must be smaller than the second
!     3 | define v := within(2, -5, e)
!       |             ^^^^^^^^^^^^^^^^
[1]

### eventCount counts at 0, too; both at once is 1
in e: Events[Unit]
in r: Events[Unit]
define n := eventCount(e)
define m := eventCount(e, r)
out n
out m
<<<
0: e
1: e
2: r
3: e
3: r
4: r
>>>
0: n = 1
0: m = 1
1: n = 2
1: m = 2
2: m = 0
3: n = 3
3: m = 1
4: m = 0

### signals: an update that changes nothing is no event
in s: Signal<Int>
define big := s > 3
define both := big and s < 10
out s
out big
out both
<<<
1: s = 4
2: s = 4
3: s = 7
4: s = 12
>>>
0: s = 0
0: big = false
0: both = false
1: s = 4
1: big = true
1: both = true
3: s = 7
4: s = 12
4: both = false

### aggregates
in e: Events[Int]
in s: Signal<Int>
define a := maximum(s)
define b := minimum(e, 5)
define c := maximum(e, 5)
define d := sum(e)
define f := mrv(e, 9)
define g := sma(e, 2)
out a
out b
out c
out d
out f
out g
<<<
1: e = 3
2: e = 8
3: s = 4
4: s = 1
5: e = 8
>>>
0: a = 0
0: b = 5
0: c = 5
0: d = 0
0: f = 9
1: b = 3
1: d = 3
1: f = 3
1: g = 3
2: c = 8
2: d = 11
2: f = 8
2: g = 5
3: a = 4
5: d = 19
5: g = 8

### timestamps, duration, changeOf
in a: Events[Unit]
in b: Events[Unit]
in s: Signal[Int]
define t := timestamps(b)
define d := duration(a, b)
define c := changeOf(s)
out t
out d
out c
<<<
1: b
3: a
5: b
6: s = 0
7: s = 2
>>>
1: t = 1
5: t = 5
5: d = 2
7: c = 2

### merge, occursAny, occursAll, and their short forms
in a: Events[Unit]
in b: Events[Unit]
in x: Events[Int]
in y: Events[Int]
define m := merge(x, y)
define any := occursAny(a, x)
define all := occursAll(a, b)
define any2 := a or b
define all2 := a and b
out m
out any
out all
out any2
out all2
<<<
1: a
2: a
2: b
3: x = 3
3: y = 4
4: y = 5
>>>
1: any = ()
1: any2 = ()
2: any = ()
2: all = ()
2: any2 = ()
2: all2 = ()
3: m = 3
3: any = ()
4: m = 5

### on E if X with an event stream as condition
in e: Events[Int]
in x: Events[Unit]
define a := on e if x
define b := filter(e, x)
out a
out b
<<<
1: e = 1
2: e = 2
2: x
3: x
>>>
2: a = 2
2: b = 2

### delays by time and by count
in e: Events[Int]
in x: Events[Unit]
define t := delayEventByTime(e, 3)
define c := delayEventByCount(e, 2)
out t
out c
<<<
1: e = 10
2: e = 20
4: e = 40
9: x
>>>
4: t = 10
4: c = 10
5: t = 20
7: t = 40

### ifThenElse, words for operators, macros
in s: Signal<Int>
define f(x, y) := x * 10 + y
define a := ifThenElse(s > 2, 1, 0)
define b := f(s, 1)
define c := add(s, mul(2, 3))
define d := not(geq(s, 2))
define e := f(y := s, x := 1)
out a
out b
out c
out d
out e
<<<
3: s = 3
>>>
0: a = 0
0: b = 1
0: c = 6
0: d = true
0: e = 10
3: a = 1
3: b = 31
3: c = 9
3: d = false
3: e = 13

### a constant is a signal
define five := 2 + 3
out five
<<<
>>>
0: five = 5

### sources: names, the same one twice, spellings, quotes [--list-in]
define a := codeLine src/main.c:32
define b := codeLine "src/main.c:32"
define c := function_calls f
define d := function_return("f")
define e := onExecuting 0x2000
define g := inPast(instruction_executions main, 3)
define h := variable_value counter
out *
<<<
>>>
a: Events[Unit] (codeLine src/main.c:32)
c: Events[Unit] (function_call f)
d: Events[Unit] (function_return f)
e: Events[Unit] (onExecuting 0x2000)
onExecuting_main: Events[Unit] (onExecuting main)
h: Events[Int] (variable_value counter)

### sources of one core and of each, which are inputs of their own [--list-in]
define a := codeLine src/main.c:32@cpu_1
define b := function_call f @each
define c := function_call("f")@"CPU 0"
define d := onExecuting 0x2000@cpu-2
define e := inPast(function_call f@each, 3)
define g := itm_trace 3@each
define h := function_return f@cpu_0
define i := function_return f
out a
<<<
>>>
a: Events[Unit] (codeLine src/main.c:32@cpu_1)
b: Events[Unit] (function_call f@each)
c: Events[Unit] (function_call f@CPU 0)
d: Events[Unit] (onExecuting 0x2000@cpu-2)
g: Events[Int] (itm_trace 0x3@each)
h: Events[Unit] (function_return f@cpu_0)
i: Events[Unit] (function_return f)

### a core behind a source that is none
define a := function_call f@
define b := function_call g
out a
<<<
>>>
! s.tessla:1:29: error: Expected the name of a core, or each, directly after '@', found end of line
!     1 | define a := function_call f@
!       |                             ^
[1]

### a formula has a step at the events of its atoms and nowhere else
in p: Events[Unit]
in q: Events[Unit]
in z: Events[Unit]
define m := monitor(always (p implies next q))
out m
<<<
1: z
2: q
3: p
4: z
5: q
6: p
6: q
7: q
8: p
9: p
10: q
>>>
2: m = unknown
3: m = unknown
5: m = unknown
6: m = unknown
7: m = unknown
8: m = unknown
9: m = false
10: m = false

### with a clock the steps are its events
in p: Events[Unit]
in c: Events[Unit]
define m := monitor(next p, clock := c)
define all := monitor(next p, clock := *)
out m
out all
<<<
1: c
2: p
3: c
3: p
>>>
0: all = unknown
1: m = unknown
1: all = false
2: all = false
3: m = true
3: all = false

### letters: unit, Bool events, Bool signals after the change
in b: Events[Bool]
in s: Signal<Bool>
in u: Events[Unit]
define m := monitor(eventually (b and s and u))
out m
<<<
1: b = true
1: u
2: s = true
3: b = false
3: u
4: b = true
4: u
>>>
1: m = unknown
2: m = unknown
3: m = unknown
4: m = true

### names bound in the formula, a formula as a string
in a: Events[Unit]
in b: Events[Unit]
define m := monitor(p until q, p := a, q := b)
define n := monitor("not p until q", p := a, q := b)
out m
out n
<<<
1: a
2: b
3: a
>>>
1: m = unknown
1: n = false
2: m = true
2: n = false
3: m = true
3: n = false

### changes only [--changes-only]
in p: Events[Unit]
in q: Events[Unit]
define m := monitor(not q until p)
define n := monitor(always not q)
out n
out m
<<<
1: q
2: p
3: q
>>>
1: n = false
1: m = false

### undecided and constant formulas are warned of
in p: Events[Unit]
define a := monitor(always eventually p)
define b := monitor(p or not p)
define c := monitor(p and not p)
out b
<<<
3: p
>>>
3: b = true
! s.tessla:2:21: warning: The formula can never be decided; its verdict is always unknown
!     2 | define a := monitor(always eventually p)
!       |                     ^^^^^^^^^^^^^^^^^^^
! s.tessla:3:21: warning: The formula is true for every trace
!     3 | define b := monitor(p or not p)
!       |                     ^^^^^^^^^^
! s.tessla:4:21: warning: The formula is false for every trace
!     4 | define c := monitor(p and not p)
!       |                     ^^^^^^^^^^^

### mistakes
in e: Events[Unit]
define a := not e
define b := b or e
define c := nothing
define d := inPast(3, 4)
define f := monitor(3)
define g := maximum(e)
define h := frobnicate(e)
define i := eventCount(e, e, e)
define j: Signal<Int> := e
>>>
! s.tessla:2:13: error: Type mismatch: Expected Bool, found Unit; absence of an event is not an event
!     2 | define a := not e
!       |             ^^^^^
! s.tessla:3:13: error: Infinite recursion detected: b is defined by itself
!     3 | define b := b or e
!       |             ^
! s.tessla:4:13: error: Undefined variable nothing; did you mean 'within'?
!     4 | define c := nothing
!       |             ^^^^^^^
! s.tessla:5:13: error: Type mismatch: Expected events and a duration
!     5 | define d := inPast(3, 4)
!       |             ^^^^^^^^^^^^
! s.tessla:6:21: error: Type mismatch: Expected events or a signal of Bool in a formula, found a signal of Int
!     6 | define f := monitor(3)
!       |                     ^
! s.tessla:7:21: error: Type mismatch: Expected a signal, found events of Unit
!     7 | define g := maximum(e)
!       |                     ^
! s.tessla:8:13: error: Undefined function frobnicate
!     8 | define h := frobnicate(e)
!       |             ^^^^^^^^^^^^^
! s.tessla:9:13: error: Wrong number of arguments for eventCount. Expected: 1, actual: 3
!     9 | define i := eventCount(e, e, e)
!       |             ^^^^^^^^^^^^^^^^^^^
! s.tessla:10:11: error: Type mismatch: j is Events[Unit]
!    10 | define j: Signal<Int> := e
!       |           ^^^^^^
[1]

### an error value in an atom ends the run
in x: Events[Int]
define m := monitor(always (10 / x > 1))
out m
<<<
1: x = 5
2: x = 0
>>>
1: m = unknown
! coretap: Division by zero (t = 2) in 'm' (s.tessla:3:5)
[2]

### a file in quotes, its line behind
define a := codeLine "src/my file.c":32
out a
<<<
1: a
>>>
1: a = ()

### an error in a formula in a string is shown where it stands
in p: Events[Unit]
define m := monitor("always (p implies q)")
out m
>>>
! s.tessla:2:40: error: Undefined variable q
!     2 | define m := monitor("always (p implies q)")
!       |                                        ^
[1]

### a formula that is cut: next( a
define a := function_call f
define m := monitor(always (next[ a))
out m
>>>
! s.tessla:2:35: error: Expected a number of steps, found name 'a'
!     2 | define m := monitor(always (next[ a))
!       |                                   ^
[1]

### a formula that is cut: next(x] a
define a := function_call f
define m := monitor(always (next[x] a))
out m
>>>
! s.tessla:2:34: error: Undefined variable x
!     2 | define m := monitor(always (next[x] a))
!       |                                  ^
[1]

### a formula that is cut: next(= a
define a := function_call f
define m := monitor(always (next[= a))
out m
>>>
! s.tessla:2:36: error: Expected a number of steps, found name 'a'
!     2 | define m := monitor(always (next[= a))
!       |                                    ^
[1]

### a formula that is cut: next(1 a
define a := function_call f
define m := monitor(always (next[1 a))
out m
>>>
! s.tessla:2:36: error: Expected ']', found name 'a'
!     2 | define m := monitor(always (next[1 a))
!       |                                    ^
[1]

### a formula that is cut: holding(<= a
define a := function_call f
define m := monitor(always (holding[<= a))
out m
>>>
! s.tessla:2:40: error: Expected a number of steps, found name 'a'
!     2 | define m := monitor(always (holding[<= a))
!       |                                        ^
[1]

### a formula that is cut: holding(>=
define a := function_call f
define m := monitor(always (holding[>=))
out m
>>>
! s.tessla:2:39: error: Expected a number of steps, found ')'
!     2 | define m := monitor(always (holding[>=))
!       |                                       ^
[1]

### a formula that is cut: within(
define a := function_call f
define m := monitor(always (within[))
out m
>>>
! s.tessla:2:36: error: Expected a number of steps, found ')'
!     2 | define m := monitor(always (within[))
!       |                                    ^
[1]

### a formula that is cut: within(3 a
define a := function_call f
define m := monitor(always (within[3 a))
out m
>>>
! s.tessla:2:38: error: Expected ']', found name 'a'
!     2 | define m := monitor(always (within[3 a))
!       |                                      ^
[1]

### a formula that is cut: always next(
define a := function_call f
define m := monitor(always (always next[))
out m
>>>
! s.tessla:2:41: error: Expected a number of steps, found ')'
!     2 | define m := monitor(always (always next[))
!       |                                         ^
[1]

### a formula that is cut: not next(1 a
define a := function_call f
define m := monitor(always (not next[1 a))
out m
>>>
! s.tessla:2:40: error: Expected ']', found name 'a'
!     2 | define m := monitor(always (not next[1 a))
!       |                                        ^
[1]

### a formula that is cut: a until next(
define a := function_call f
define m := monitor(always (a until next[))
out m
>>>
! s.tessla:2:42: error: Expected a number of steps, found ')'
!     2 | define m := monitor(always (a until next[))
!       |                                          ^
[1]

### a formula that is cut: next(1](
define a := function_call f
define m := monitor(always (next[1]())
out m
>>>
! s.tessla:2:37: error: Expected an expression, found ')'
!     2 | define m := monitor(always (next[1]())
!       |                                     ^
[1]

### a formula that is cut: not
define a := function_call f
define m := monitor(always (not))
out m
>>>
! s.tessla:2:32: error: Expected an expression, found ')'
!     2 | define m := monitor(always (not))
!       |                                ^
[1]

### lines and addresses that are too large are errors, and the largest are not
define a := codeLine main.c:99999999999999999999
define b := codeLine("main.c:4294967296")
define c := codeLine("main.c":18446744073709551617)
define d := onExecuting 0x10000000000000000
define e := onExecuting("0x10000000000000000")
define f := onExecuting 0xffffffffffffffff
define g := onExecuting("0xffffffffffffffff")
define h := codeLine main.c:4294967295
out a
>>>
! s.tessla:1:13: error: A line number has at most 32 bits
!     1 | define a := codeLine main.c:99999999999999999999
!       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
! s.tessla:2:13: error: A line number has at most 32 bits
!     2 | define b := codeLine("main.c:4294967296")
!       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
! s.tessla:3:13: error: A line number has at most 32 bits
!     3 | define c := codeLine("main.c":18446744073709551617)
!       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
! s.tessla:4:13: error: An address has at most 64 bits
!     4 | define d := onExecuting 0x10000000000000000
!       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
! s.tessla:5:13: error: An address has at most 64 bits
!     5 | define e := onExecuting("0x10000000000000000")
!       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
[1]
