# SALT's operators: what the examples of docs/tessla-language.md do not show.
### SALT: mistakes
in p: Events[Unit]
in q: Events[Unit]
define k := 20
define f(x) := next f(x)
define g(x, y) := x until y
define a := monitor(eventuallyinpast next p)
define b := monitor(always p upto (next q))
define c := monitor(p accepton eventually q)
define d := monitor(holding[3..2] p)
define e := monitor(holding[<0] p)
define h := monitor(next[k] p)
define i := monitor(next[17] p)
define j := monitor(f(p))
define l := monitor(g(p))
define m := on p if always q
define n := monitor(allof enumerate [1..90] as x in p)
define o := monitor(frobnicate(next p))
define r := monitor(nextinpastn[16] p and nextinpastn[16] q and nextinpastn[16] not p and nextinpastn[16] not q)
out m
>>>
! s.tessla:4:21: error: Infinite recursion detected: f is defined by itself
!     4 | define f(x) := next f(x)
!       |                     ^^^^
! s.tessla:6:38: error: A formula about the future cannot be used inside a past operator; expected one about the present or the past
!     6 | define a := monitor(eventuallyinpast next p)
!       |                                      ^^^^^^
! s.tessla:7:36: error: A formula about the future cannot be used as the limit of a scope; expected one about the present or the past
!     7 | define b := monitor(always p upto (next q))
!       |                                    ^^^^^^
! s.tessla:8:32: error: A formula about the future cannot be used as an exception; expected one about the present or the past
!     8 | define c := monitor(p accepton eventually q)
!       |                                ^^^^^^^^^^^^
! s.tessla:9:29: error: The range of steps is empty
!     9 | define d := monitor(holding[3..2] p)
!       |                             ^
! s.tessla:10:30: error: The range of steps is empty
!    10 | define e := monitor(holding[<0] p)
!       |                              ^
! s.tessla:11:26: error: A number of steps must be a constant from 0 to 16
!    11 | define h := monitor(next[k] p)
!       |                          ^
! s.tessla:12:26: error: At most 16 steps
!    12 | define i := monitor(next[17] p)
!       |                          ^^
! s.tessla:14:21: error: Wrong number of arguments for g. Expected: 2, actual: 1
!    14 | define l := monitor(g(p))
!       |                     ^^^^
! s.tessla:15:21: error: A temporal formula is allowed only in monitor(...), as an operand of formulas and macros
!    15 | define m := on p if always q
!       |                     ^^^^^^^^
! s.tessla:16:21: warning: The formula is true for every trace
!    16 | define n := monitor(allof enumerate [1..90] as x in p)
!       |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
! s.tessla:16:38: error: Expected [first..last] with at most 64 numbers
!    16 | define n := monitor(allof enumerate [1..90] as x in p)
!       |                                      ^
! s.tessla:17:21: error: Undefined function frobnicate
!    17 | define o := monitor(frobnicate(next p))
!       |                     ^^^^^^^^^^^^^^^^^^
! s.tessla:18:13: error: The formula cannot be monitored: it has more than 48 past operators
!    18 | define r := monitor(nextinpastn[16] p and nextinpastn[16] q and nextinpastn[16] not p and nextinpastn[16] not q)
!       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
[1]

### SALT: words are operators where an operand follows
in req: Events[Unit]
in opt: Events[Unit]
in list: Events[Unit]
in next: Events[Unit]
define first := on next if inPast(req, 5)
define a := monitor(not opt until req, clock := *)
define b := monitor(not opt until weak req and not list, clock := *)
define c := monitor(never list upto opt req, clock := *)
out first
out a
out b
out c
<<<
1: next
3: req
4: next
5: opt
>>>
0: a = unknown
0: b = unknown
0: c = unknown
1: a = unknown
1: b = unknown
1: c = unknown
3: a = true
3: b = true
3: c = true
4: first = ()
4: a = true
4: b = true
4: c = true
5: a = true
5: b = true
5: c = true

### SALT: formulas as macros and definitions are no streams
in p: Events[Unit]
in q: Events[Unit]
define order := p before q
define answered(x, y) := x implies y
define m := monitor(order and always answered(p, next q))
out *
<<<
1: p
2: q
3: p
4: p
>>>
1: p = ()
1: m = unknown
2: q = ()
2: m = unknown
3: p = ()
3: m = unknown
4: p = ()
4: m = false

### SALT: mistakes in regular expressions
in p: Events[Unit]
in q: Events[Unit]
define a := monitor(/p; /)
define b := monitor(/p; q ? q/)
define c := monitor(/(p | q; p/)
define d := monitor(/(p; q)+; p/)
define e := monitor(/p*[3..2]; p/)
define f := monitor(/(p; (next q)); q : p/)
out *
>>>
! s.tessla:3:25: error: Expected an expression, found '/'
!     3 | define a := monitor(/p; /)
!       |                         ^
! s.tessla:4:29: error: Expected an operator of regular expressions or '/', found name 'q'
!     4 | define b := monitor(/p; q ? q/)
!       |                             ^
! s.tessla:5:31: error: Expected an operator of regular expressions or ')', found '/'
!     5 | define c := monitor(/(p | q; p/)
!       |                               ^
! s.tessla:6:23: error: Only an expression of one step can be repeated
!     6 | define d := monitor(/(p; q)+; p/)
!       |                       ^^^^
! s.tessla:7:25: error: The range of steps is empty
!     7 | define e := monitor(/p*[3..2]; p/)
!       |                         ^
! s.tessla:8:27: error: A formula about the future cannot be used in a regular expression, before its last step; expected one about the present or the past
!     8 | define f := monitor(/(p; (next q)); q : p/)
!       |                           ^^^^^^
[1]
