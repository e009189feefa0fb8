# Syntax, names, types, recursion and messages (docs/tessla-language.md A.4, A.5, A.7, A.8, A.11).
### comments, line ends, semicolons and continued lines
in x: Events[Int] -- a comment
# another
--- documentation
def a = x + -- inside
  1; def b = a \
+ 1
out b--c
<<<
1: x = 1 # also here
-- and here

2: x = 2 -- and here
>>>
1: b = 3
2: b = 4

### the name of an output is its source text
in x: Events[Int]
out x  +  1
out (x) as y
<<<
1: x = 1
>>>
1: x  +  1 = 2
1: y = 1

### out * puts out all named streams, inputs included
in x: Events[Int]
def y = x + 1
def m(a: Int): Int = a
def k = 5
out *
<<<
1: x = 1
>>>
1: x = 1
1: y = 2

### two outputs of one name
in x: Events[Int]
out x
out x
<<<
1: x = 1
>>>
1: x = 1
1: x = 1
! s.tessla:3:5: warning: Conflicting out declaration: x is an output twice
!     3 | out x
!       |     ^

### newer sources: liftable and extern before def, lazy and strict before a parameter or its type
in x: Events[Int]
liftable
def size(a: strict Int): Int = if a < 0 then -a else a
extern def twice(lazy a: Int): Int = a + a
def f(a: Events[Int]) = {
  liftable def rest(p: Int, q: lazy Int): Int = if q == 1 then 0 else p % q
  def choose(later: lazy (Int) => Int): Int = later(4)
  rest(a, choose((b: lazy Int) => b + 1))
}
out size(x) + slift1(x, twice) as s
def r = f(plus) where { liftable def one(a: Int): Int = a + 1
  def plus = one(x) }
out r
def lazy: Events[Int] = x
out lazy
<<<
1: x = -7
>>>
1: s = -7
1: r = -1
1: lazy = -7

### deprecated forms warn
in x: Events[Int]
def f(a: Int): Int = { def b = a + 1
  return b }
def r = ${a = 1}
print x
<<<
1: x = 3
>>>
3
! s.tessla:3:3: warning: 'return' is deprecated; the last expression is the result
!     3 |   return b }
!       |   ^^^^^^
! s.tessla:4:9: warning: '${' is deprecated; write '{' instead
!     4 | def r = ${a = 1}
!       |         ^^
! s.tessla:5:1: warning: 'print' is deprecated; write '@raw out' instead
!     5 | print x
!       | ^^^^^

### blocks, where, shadowing, order of definitions
in x: Events[Int]
def y = { def z = x * w
  def w = 10
  z + 1 }
def v = a + b where { def a = y
  def b = 2 }
def f(x: Int): Int = { def y = x + 1
  y * 2 }
out v
out slift1(x, f) as g
<<<
1: x = 1
>>>
1: v = 13
1: g = 4

### modules and __root__
module M {
  def inc(a: Int): Int = a + step
  def step = 2
  module N { def time = inc(5) }
}
def step = 100
in x: Events[Int]
out M.N.time as t
out { def count = 7
  __root__.count(x) + count } as c
<<<
1: x = 1
>>>
0: t = 7
0: c = 7
1: c = 8

### types by name
type Pair[A] = (A, A)
type Num = Int
def swap[A](p: Pair[A]): Pair[A] = (p._2, p._1)
def n: Num = 5
out swap((1, 2)) as s
out n
<<<
>>>
0: s = (2, 1)
0: n = 5

### open records accept wider ones
def name(r: {a: Int, ..}): Int = r.a
out name({b = 1, a = 2}) as n
<<<
>>>
0: n = 2

### streams of tuples and records; members are lifted
in p: Events[(Int, String)]
in r: Events[{a: Int, b: Option[Bool]}]
out p._1 + r.a as s
out p._2 as t
out r
<<<
1: p = (1, "x")
2: r = {a = 5, b = Some(true)}
3: r = {a = 6, b = None}
>>>
1: t = "x"
2: s = 6
2: r = {a = 5, b = Some(true)}
3: s = 7
3: r = {a = 6, b = None}

### macros over streams, with arguments by name and by position
in x: Events[Int]
def scale(s: Events[Int], by: Int): Events[Int] = s * by
out scale(by = 3, s = x) as a
out scale(x, by = 4) as b
<<<
1: x = 1
>>>
1: a = 3
1: b = 4

### macro recursion ends by static if
in x: Events[Int]
def back(s: Events[Int], n: Int): Events[Int] = static if n == 0 then s else back(prev(s), n - 1)
out back(x, 2) as b
<<<
1: x = 1
2: x = 2
3: x = 3
>>>
3: b = 1

### macro recursion without end
in x: Events[Int]
def f(s: Events[Int]): Events[Int] = f(s + 1)
out f(x) as y
>>>
! s.tessla:2:38: error: Stack overflow
!     2 | def f(s: Events[Int]): Events[Int] = f(s + 1)
!       |                                      ^^^^^^^^
[1]

### liftable functions
in x: Events[Int]
@liftable
def f(a: Int, b: Int): Int = a * 10 + b
liftable def g(a: Int): Int = a + 1
out f(x, 3) as a
out f(1, 2) as b
out g(x) as c
def apply(h: (Events[Int]) => Events[Int], s: Events[Int]): Events[Int] = h(s)
out apply(g, x) as d
<<<
1: x = 1
>>>
0: b = 12
1: a = 13
1: c = 2
1: d = 2

### time literals in base units [--time-unit us]
out 3ms as a
out 2 s as b
out 1min as c
out 5µs as d
<<<
>>>
0: a = 3000
0: b = 2000000
0: c = 60000000
0: d = 5

### a time literal without a base unit
def unused = 3ms
>>>
! s.tessla:1:14: error: Time literal without a base unit; give the unit of the timestamps with --time-unit
!     1 | def unused = 3ms
!       |              ^^^
[1]

### a time literal finer than the base unit, only when the macro is called [--time-unit min]
def never(a: Int): Int = a + 3s
def called(a: Int): Int = a + 4s
out called(1)
>>>
! s.tessla:2:31: error: Cannot convert from s to min; write a whole number of min, the unit of the timestamps
!     2 | def called(a: Int): Int = a + 4s
!       |                               ^^
[1]

### an unknown unit, and one that does not fit [--time-unit fs]
def a = 5 parsec
def b = 400 d
>>>
! s.tessla:1:9: error: Unknown time unit parsec; use one of fs ps ns us ms s min h d
!     1 | def a = 5 parsec
!       |         ^^^^^^^^
! s.tessla:2:9: error: Time literal does not fit 63 bits in fs
!     2 | def b = 400 d
!       |         ^^^^^
[1]

### recursion at one instant
in x: Events[Int]
def y: Events[Int] = y + x
out y
>>>
! s.tessla:2:5: error: Infinite recursion detected in the definition of y; only the first argument of 'last' and of 'delay' may depend on itself
!     2 | def y: Events[Int] = y + x
!       |     ^
[1]

### recursion through the second argument of last
def y: Events[Int] = last(5, y)
out y
>>>
! s.tessla:1:5: error: Infinite recursion detected in the definition of y; only the first argument of 'last' and of 'delay' may depend on itself
!     1 | def y: Events[Int] = last(5, y)
!       |     ^
[1]

### recursion of definitions that are no streams, or nothing but themselves
def a: Int = a + 1
def b: Events[Int] = b
>>>
! s.tessla:1:14: error: Infinite recursion detected: a needs its own value
!     1 | def a: Int = a + 1
!       |              ^
[1]

### recursion needs a type
in x: Events[Int]
def c = default(last(c, x), 0)
>>>
! s.tessla:2:5: error: Recursive definition c needs a type annotation; write 'def c: TYPE = …'
!     2 | def c = default(last(c, x), 0)
!       |     ^
[1]

### names
def a = 0
in x: Foo
def a = 1
def f(p: Int): Int = p.q
out M.z
>>>
! s.tessla:2:7: error: Undefined type: Foo
!     2 | in x: Foo
!       |       ^^^
! s.tessla:3:5: error: Multiple definitions of a in same scope; the first one is in line 1
!     3 | def a = 1
!       |     ^
! s.tessla:4:24: error: Object of type Int does not have a member named q
!     4 | def f(p: Int): Int = p.q
!       |                        ^
! s.tessla:5:5: error: Undefined variable M
!     5 | out M.z
!       |     ^
[1]

### a library name again at global level
def count = 1
out count
>>>
0: count = 1

### types
in x: Events[Int]
in y: Events[Float]
in z: Events[Events[Int]]
in w: Int
def a = x + y
def b = 1 == 1.0
def c: Events[Int] = "s"
def d = if x then 1 else 2
def e = count(x, x)
def f = count(s = x)
def g = lift1(x, (a: Int) => Some(a))
out (a: Int) => a
>>>
! s.tessla:3:14: error: Streams may only contain value types; not other streams or functions
!     3 | in z: Events[Events[Int]]
!       |              ^^^^^^^^^^^
! s.tessla:4:7: error: Input streams must be defined to have stream types; write Events[Int]
!     4 | in w: Int
!       |       ^^^
! s.tessla:5:13: error: Type mismatch: Expected Int, found Events[Float]; '+' is for Ints, '+.' for Floats
!     5 | def a = x + y
!       |             ^
! s.tessla:6:14: error: Type mismatch: Expected Int, found Float
!     6 | def b = 1 == 1.0
!       |              ^^^
! s.tessla:7:22: error: Type mismatch: Expected Events[Int], found String
!     7 | def c: Events[Int] = "s"
!       |                      ^^^
! s.tessla:8:12: error: Type mismatch: Expected Bool, found Events[Int]
!     8 | def d = if x then 1 else 2
!       |            ^
! s.tessla:9:9: error: Wrong number of arguments for count. Expected: 1, actual: 2
!     9 | def e = count(x, x)
!       |         ^^^^^^^^^^^
! s.tessla:10:15: error: Undefined keyword argument s
!    10 | def f = count(s = x)
!       |               ^
! s.tessla:11:18: error: Type mismatch: Expected (Option[Int]) => Option[R], found (Int) => Option[Int]
!    11 | def g = lift1(x, (a: Int) => Some(a))
!       |                  ^^^^^^^^^^^^^^^^^^^
! s.tessla:12:5: error: Type mismatch: Expected a stream, found (Int) => Int
!    12 | out (a: Int) => a
!       |     ^^^^^^^^^^^^^
[1]

### annotations of definitions
def f(a, b: Int): Int = b
@liftable
def g(a: Events[Int]): Int = 1
@strange
def h = 1
in x: Events[Int]
def i = merge(x, nil)
>>>
! s.tessla:1:7: error: Parameter a needs a type annotation; write 'a: TYPE'
!     1 | def f(a, b: Int): Int = b
!       |       ^
! s.tessla:3:5: error: Macro has been annotated with @liftable, but its type does not allow being lifted
!     3 | def g(a: Events[Int]): Int = 1
!       |     ^
! s.tessla:4:2: error: Undefined annotation @strange; declare it by 'def @strange', with its parameters if it has any, as in 'def @unit(u: String)'
!     4 | @strange
!       |  ^^^^^^^
! s.tessla:7:18: error: Explicit type arguments needed for nil
!     7 | def i = merge(x, nil)
!       |                  ^^^
[1]

### macros are checked without being called
def f(a: Int): Int = a + "x"
def g[T](a: T): T = a + 1
>>>
! s.tessla:1:26: error: Type mismatch: Expected Int, found String; Strings are joined by String.concat
!     1 | def f(a: Int): Int = a + "x"
!       |                          ^^^
! s.tessla:2:21: error: Type mismatch: Expected Int, found T
!     2 | def g[T](a: T): T = a + 1
!       |                     ^
[1]

### syntax errors: all that can be found
in x Events[Int]
def f( = 3
out "a\qb"
out x +
out 1 @ 2
def good = 1
>>>
! s.tessla:1:6: error: Expected ':' and the type of the input stream, found name 'Events'
!     1 | in x Events[Int]
!       |      ^^^^^^
! s.tessla:2:8: error: Expected the name of a parameter, found '='
!     2 | def f( = 3
!       |        ^
! s.tessla:3:7: error: Invalid escape sequence
!     3 | out "a\qb"
!       |       ^^
! s.tessla:4:8: error: Expected an expression, found end of line
!     4 | out x +
!       |        ^
! s.tessla:5:7: error: Expected the end of the statement, found '@'
!     5 | out 1 @ 2
!       |       ^
[1]

### format strings that cannot be
in x: Events[Int]
out f"$x%5.2f" as a
out f"%d" as b
out f"$x%c" as c
>>>
! s.tessla:2:7: error: Type mismatch: Expected Float, found Int
!     2 | out f"$x%5.2f" as a
!       |       ^^
! s.tessla:3:7: error: Format conversion %d needs an argument: put $name or ${expression} before it
!     3 | out f"%d" as b
!       |       ^^
! s.tessla:4:7: error: Format conversion %c is not supported
!     4 | out f"$x%c" as c
!       |       ^^
[1]

### include
include "nowhere"
>>>
! s.tessla:1:9: error: Could not find a TeSSLa file named nowhere
!     1 | include "nowhere"
!       |         ^
[1]

### static if needs a constant
in x: Events[Bool]
out static if x then 1 else 2 as y
>>>
! s.tessla:2:15: error: 'static if' needs a condition of type Bool that is known at compile time
!     2 | out static if x then 1 else 2 as y
!       |               ^
[1]

### the order of a record's members is that of their first mention, and makes no other type
type R = {x: Int, y: String}
in i: Events[R]
def f(r: R): Int = r.x
def h[A, B](r: {b: B, a: A}): A = r.a
out f({y = "a", x = 3}) as a
out {y = "a", x = 3} == {x = 3, y = "a"} as b
out h({a = 1, b = 2}) as c
out h({b = 1, a = 2}) as d
out {_2 = 5, _1 = 6} as e
out {_1 = 5, _3 = 6, _2 = 7} as g
out if i.x == 2 then {x = 1, y = "a"} else {y = "b", x = 7} as z
<<<
3: i = {y = "q", x = 2}
4: i = {x = 3, y = "q"}
>>>
0: a = 3
0: b = true
0: c = 1
0: d = 2
0: e = (6, 5)
0: g = (5, 7, 6)
3: z = {x = 1, y = "a"}
4: z = {x = 7, y = "b"}

### an argument that is given twice
def f(a: Int, b: Int): Int = a - b
out f(1, a = 5)
>>>
! s.tessla:2:10: error: Argument a of f is given twice
!     2 | out f(1, a = 5)
!       |          ^
[1]

### a function whose result is a generic one
in x: Events[Int]
def f(a: Int) = Some
out lift(x, 5, (a: Option[Int], b: Option[Int]) => Some)
>>>
! s.tessla:3:5: error: Expected a value, found a function
!     3 | out lift(x, 5, (a: Option[Int], b: Option[Int]) => Some)
!       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
! s.tessla:3:52: error: Explicit type arguments needed for Some
!     3 | out lift(x, 5, (a: Option[Int], b: Option[Int]) => Some)
!       |                                                    ^^^^
[1]

### generic macros in the branches of a choice
in c: Events[Bool]
out slift1(c, (x: Bool) => (if x then Some else Some))
out (if true then Some else Some)
>>>
! s.tessla:2:49: error: Explicit type arguments needed for Some
!     2 | out slift1(c, (x: Bool) => (if x then Some else Some))
!       |                                                 ^^^^
! s.tessla:3:29: error: Explicit type arguments needed for Some
!     3 | out (if true then Some else Some)
!       |                             ^^^^
[1]

### a type that makes a stream of streams: the line is that of the use
in x: Events[Int]
type S[T] = Events[Option[T]]
type P[T] = (S[T], Int)
def f(
  a: Int,
  b: P[Events[Int]]) = 1
type C = S[(Int) => Int]
type D[T] = Events[Events[T]]
in z: D[Int]
out x
>>>
! s.tessla:6:6: error: Streams may only contain value types; not other streams or functions
!     6 |   b: P[Events[Int]]) = 1
!       |      ^^^^^^^^^^^^^^
! s.tessla:7:10: error: Streams may only contain value types; not other streams or functions
!     7 | type C = S[(Int) => Int]
!       |          ^^^^^^^^^^^^^^^
! s.tessla:8:20: error: Streams may only contain value types; not other streams or functions
!     8 | type D[T] = Events[Events[T]]
!       |                    ^^^^^^^^^
[1]

### static if on a parameter: recursive, with an argument that is not constant
in x: Events[Int]
def f(n: Int, a: Int): Int = static if n > 0 then a + f(n - 1, a) else 2
out slift1(x, (a: Int) => f(3, a)) as p
<<<
1: x = 1
2: x = 10
>>>
1: p = 5
2: p = 32

### static if on a parameter: deeper than a recursion on constants is unrolled
in x: Events[Int]
def f(n: Int): Int = static if n > 0 then n + f(n - 1) else 0
out slift1(x, (a: Int) => a + f(100)) as p
out f(200)
<<<
1: x = 1
>>>
0: f(200) = 20100
1: p = 5051

### static if on a parameter: in a function that the recursive one calls
in x: Events[Int]
def g(n: Int, a: Int): Int = static if n > 0 then f(n - 1, a) + 1 else a
def f(n: Int, a: Int): Int = g(n, a) * 2
out slift1(x, (a: Int) => f(3, a)) as p
<<<
1: x = 1
2: x = 10
>>>
1: p = 30
2: p = 174

### static if on a parameter: a recursion at run time for each constant
in x: Events[Int]
def f(n: Int, k: Int): Int = static if n > 0 then (if k <= 0 then 0 else f(n, k - 1) + n) else 7
out slift1(x, (a: Int) => f(3, a) + f(2, a) + f(0, a)) as p
out slift1(x, (a: Int) => f(1, 15000)) as q
<<<
1: x = 1
2: x = 10
3: x = 15000
>>>
1: p = 12
1: q = 15000
2: p = 57
2: q = 15000
3: p = 75007
3: q = 15000

### static if on a parameter: a condition that is not constant is a choice at run time
in x: Events[Int]
def f(n: Int, k: Int): Int = static if n > 0 && k > 0 then f(n, k - 1) + n else 7
out slift1(x, (a: Int) => f(3, a)) as p
<<<
1: x = 4
>>>
1: p = 19

### static if on a parameter: a member, through a definition, in a function inside
in x: Events[Int]
def f(c: {n: Int, up: Bool}, k: Int): Int = {
  def m = c.n + 1
  def h(z: Int): Int = static if c.up && m > 2 then z else -z
  if k == 0 then 0 else h(k) + f(c, k - 1)
}
out slift1(x, (a: Int) => f({n = 3, up = true}, a)) as a
out slift1(x, (a: Int) => f({n = 1, up = true}, a)) as b
<<<
1: x = 1
2: x = 4
>>>
1: a = 1
1: b = -1
2: a = 10
2: b = -10

### static if on a parameter: a captured parameter
in x: Events[Int]
def outer(n: Int, a: Int): Int = {
  def inner(b: Int): Int = if b <= 0 then (static if n > 1 then a else -a) else inner(b - 1) + 1
  if a > 100 then outer(n, a - 1) else inner(a)
}
out slift1(x, (a: Int) => outer(2, a)) as a
out slift1(x, (a: Int) => outer(1, a)) as b
<<<
1: x = 2
2: x = 105
>>>
1: a = 4
1: b = 0
2: a = 200
2: b = 0

### static if on a parameter: beside a function
in x: Events[Int]
def ap(h: (Int) => Int, n: Int, a: Int): Int = static if n == 0 then a else h(ap(h, n - 1, a))
out slift1(x, (a: Int) => ap((v: Int) => v * a, 3, 1)) as a
out slift1(x, (a: Int) => ap((v: Int) => v + a, 3, a)) as b
<<<
1: x = 2
2: x = 5
>>>
1: a = 8
1: b = 8
2: a = 125
2: b = 20

### static if on a parameter: without an end [--monitor-memory 512]
in x: Events[Int]
def inf(n: Int, a: Int): Int = static if n > 0 then inf(n + 1, a) else a
out slift1(x, (a: Int) => inf(1, a)) as a
<<<
1: x = 2
>>>
! s.tessla:2:32: error: Stack overflow
!     2 | def inf(n: Int, a: Int): Int = static if n > 0 then inf(n + 1, a) else a
!       |                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
[1]

### operations of the engine have the library's signatures
in x: Events[Int]
def head(a: Int): Int = __builtin__(listHead)
def twice(a: Events[Int]): Events[Int] = __builtin__(merge)
def f: Events[Int] = __builtin__(last)
out slift1(x, (a: Int) => head(a)) as h
out twice(x) as t
out head(5)
<<<
1: x = 4096
>>>
! s.tessla:2:25: error: __builtin__ is for the standard library alone
!     2 | def head(a: Int): Int = __builtin__(listHead)
!       |                         ^^^^^^^^^^^
! s.tessla:3:42: error: __builtin__ is for the standard library alone
!     3 | def twice(a: Events[Int]): Events[Int] = __builtin__(merge)
!       |                                          ^^^^^^^^^^^
! s.tessla:4:22: error: __builtin__ is for the standard library alone
!     4 | def f: Events[Int] = __builtin__(last)
!       |                      ^^^^^^^^^^^
[1]

### types of the language are what they are
type Int = String
type List[T] = Int
in s: Events[Int]
out s + s as sum
out "a" + "b" as folded
out List.head(s) as head
<<<
1: s = "abc"
>>>
! s.tessla:1:6: error: Multiple definitions of Int in same scope
!     1 | type Int = String
!       |      ^^^
! s.tessla:2:6: error: Multiple definitions of List in same scope
!     2 | type List[T] = Int
!       |      ^^^^
! s.tessla:5:5: error: Type mismatch: Expected Int, found String; Strings are joined by String.concat
!     5 | out "a" + "b" as folded
!       |     ^^^
! s.tessla:6:15: error: Type mismatch: Expected List[A], found Events[Int]
!     6 | out List.head(s) as head
!       |               ^
[1]

### a type of a module may have such a name
module M {
  type Int = String
  def twice(a: Int): Int = String.concat(a, a)
}
in s: Events[String]
out slift1(s, M.twice) as t
<<<
1: s = "ab"
>>>
1: t = "abab"

### a function on values takes a function, and streams in place of values
in x: Events[Int]
in y: Events[Int]
liftable def both(a: Int, f: (Int) => Int, b: Int): Int = f(a) - f(b)
def tenfold(v: Int): Int = v * 10
out both(x, tenfold, y) as p
out both(f = (v: Int) => v + 1, a = 7, b = 3) as q
<<<
1: x = 4
2: y = 1
>>>
0: q = 4
2: p = 30

### a definition without a type needs one beside it that has one, and the reverse
in x: Events[Int]
def next = if full then 0 else last(level, x) + x
def full = default(last(level, x) > 8, false)
def level: Events[Int] = default(next, 0)
out level
<<<
1: x = 5
2: x = 5
3: x = 5
4: x = 5
>>>
0: level = 0
1: level = 5
2: level = 10
3: level = 0
4: level = 5

### a cycle of definitions without any type
in x: Events[Int]
def a = last(b, x)
def b = default(a, 0)
out b
>>>
! s.tessla:2:5: error: Recursive definition a needs a type annotation; write 'def a: TYPE = …'
!     2 | def a = last(b, x)
!       |     ^
[1]

### a function without a type that is called within its own argument
def apply(f: (Int) => Int, v: Int) = f(v)
def steps(n: Int): Int = if n == 0 then 0 else 1 + apply(steps, n - 1)
in x: Events[Int]
out slift1(x, steps) as s
<<<
1: x = 40
>>>
1: s = 40

### static if in a function on values chooses at run time where it must
in x: Events[Int]
def length(l: List[Int]): Int = static if List.isEmpty(l) then 0 else 1 + length(List.tail(l))
out slift1(fold(x, List.empty[Int], List.append), length) as n
<<<
1: x = 3
2: x = 3
>>>
0: n = 0
1: n = 1
2: n = 2

### functions without parameters
in x: Events[Int]
def five() = 5
out five
out five() + x as s
out (() => 6)() as six
<<<
1: x = 2
>>>
0: five = 5
0: six = 6
1: s = 7

### members of a record with streams are outputs of their own
in x: Events[Int]
def car = {speed = x, wheel = {left = x + 1, size = {inches = 18}}}
out car
out (x, 1) as pair
<<<
1: x = 3
>>>
0: car.wheel.size = {inches = 18}
0: pair._2 = 1
1: car.speed = 3
1: car.wheel.left = 4
1: pair._1 = 3

### positional arguments fill what named ones leave
liftable def minus(a: Int, b: Int): Int = a - b
out minus(a = 9, 2) as x
out minus(b = 9, 2) as y
out minus(9, a = 2) as z
>>>
! s.tessla:4:14: error: Argument a of minus is given twice
!     4 | out minus(9, a = 2) as z
!       |              ^
[1]

### annotations of a specification
@@target("board", 3)
def @@target(name: String, cores: Int)
in x: Events[Int]
out x
@@target("other", 1)
<<<
1: x = 2
>>>
1: x = 2

### an annotation of a specification that nothing declares
def @@target(name: String)
@@targt("board")
out 1
>>>
! s.tessla:2:1: error: Undefined annotation @@targt; did you mean '@target'?
!     2 | @@targt("board")
!       | ^
[1]

### extern: a definition of another program
def rare(x: Int): Int = extern("native:rare")
liftable def half(x: Int): Int = extern("native:half", x / 2)
def unused: Int = extern("native:unused")
out half(9) as h
>>>
0: h = 4

### extern: what nothing defines
def rare(x: Int): Int = extern("native:rare")
out rare(3)
>>>
! s.tessla:1:25: error: An extern function is not part of the specification, and coretap has none; write its definition here
!     1 | def rare(x: Int): Int = extern("native:rare")
!       |                         ^^^^^^
[1]

### a function of open records where one of wider records is expected, but not the reverse
in a: Events[Int]
type Point = {x: Events[Int], y: Events[Int]}
def height(p: {y: Events[Int], ..}): Events[Int] = p.y
def use(f: (Point) => Events[Int], p: Point): Events[Int] = f(p)
out use(height, {x = a, y = a * 2}) as h
<<<
1: a = 3
>>>
1: h = 6

### a function that needs more than it would get
in a: Events[Int]
def area(p: {x: Events[Int], y: Events[Int]}): Events[Int] = p.x * p.y
def use(f: ({x: Events[Int], ..}) => Events[Int]): Events[Int] = f({x = a})
out use(area)
>>>
! s.tessla:4:9: error: Type mismatch: Expected ({x: Events[Int], ..}) => Events[Int], found ({x: Events[Int], y: Events[Int]}) => Events[Int]
!     4 | out use(area)
!       |         ^^^^
[1]
