# Errors of the parser, of types and of traces, each with its place.
### type arguments
in x: Events[Int]
type T[A] = Events[A]
in y: T[Int, Int]
in z: List[Int, Int]
def f[A](a: A): A = a
out f[Int, Int](x)
>>>
! s.tessla:3:7: error: Wrong number of type arguments for T. Expected: 1, actual: 2
!     3 | in y: T[Int, Int]
!       |       ^^^^^^^^^^^
! s.tessla:4:7: error: Wrong number of type arguments for List. Expected: 1, actual: 2
!     4 | in z: List[Int, Int]
!       |       ^^^^^^^^^^^^^^
! s.tessla:6:5: error: Wrong number of type arguments for f. Expected: 1, actual: 2
!     6 | out f[Int, Int](x)
!       |     ^^^^^^^^^^^
[1]

### members
module m { def a = 1 }
in x: Events[Int]
out {a = m, b = x}
out {1 = x}
>>>
! s.tessla:3:10: error: A module or generic macro cannot be a member
!     3 | out {a = m, b = x}
!       |          ^
! s.tessla:4:8: error: Expected '}', found '='
!     4 | out {1 = x}
!       |        ^
[1]

### a macro and a module are no streams
def f(a: Events[Int]) = a
module m { def a = 1 }
out m
>>>
! s.tessla:3:5: error: Type mismatch: Expected a stream, found a module
!     3 | out m
!       |     ^
[1]

### characters and statements
in x: Events[Int]
out x ` 1
>>>
! s.tessla:2:7: error: Invalid character; a name, number, string or operator was expected
!     2 | out x ` 1
!       |       ^
[1]

### no statement
x = 1
in x: Events[Int]
out x out x
>>>
! s.tessla:1:1: error: Expected a statement: 'def', 'in', 'out', 'type', 'module' or 'include', found name 'x'; write 'def x = …'
!     1 | x = 1
!       | ^
! s.tessla:3:7: error: Expected the end of the statement, found 'out'
!     3 | out x out x
!       |       ^^^
[1]

### a module has no inputs
module m {
  in x: Events[Int]
  def a = 1
}
out m.a as y
>>>
! s.tessla:2:3: error: Expected a definition: a module has no inputs and outputs, found 'in'
!     2 |   in x: Events[Int]
!       |   ^^
[1]

### a file in quotes
include other
>>>
! s.tessla:1:9: error: Expected the name of a file in quotes, found name 'other'
!     1 | include other
!       |         ^^^^^
[1]

### an insertion that does not end
in x: Events[Int]
out "a${x x}" as y
>>>
! s.tessla:2:11: error: Expected '}' after the inserted expression, found name 'x'
!     2 | out "a${x x}" as y
!       |           ^
[1]

### a time that is too large
in x: Events[Int]
out x
<<<
9223372036854775808: x = 1
>>>
! coretap: standard input:1: error: expected a time of at most 2^63-1; write each line as TIME: NAME = VALUE
[2]

### a time without a colon
in x: Events[Int]
out x
<<<
5

>>>
! coretap: standard input:1: error: expected ':' after the time; write each line as TIME: NAME = VALUE
[2]

### a time without a stream
in x: Events[Int]
out x
<<<
5: = 1
>>>
! coretap: standard input:1: error: expected the name of a stream; write each line as TIME: NAME = VALUE
[2]

### a row without a time
in x: Events[Int]
in y: Events[Int]
out x
<<<
time,x,y
1,2,3
x,1,2
>>>
1: x = 2
! coretap: standard input:3: error: expected a time of at most 2^63-1 at the beginning of the row
[2]

### watchpoint: places
in x: Events[Unit]
define a := codeLine("main.c")
define b := codeLine("main.c:x")
define c := codeLine("main.c:99999999999")
define d := itm_trace(999)
out a
>>>
! s.tessla:2:13: error: Expected FILE:LINE
!     2 | define a := codeLine("main.c")
!       |             ^^^^^^^^^^^^^^^^^
! s.tessla:3:13: error: Expected a line number after ':'
!     3 | define b := codeLine("main.c:x")
!       |             ^^^^^^^^^^^^^^^^^^^
! s.tessla:4:13: error: A line number has at most 32 bits
!     4 | define c := codeLine("main.c:99999999999")
!       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
! s.tessla:5:13: error: The number of an ITM stimulus port must be from 0 to 255
!     5 | define d := itm_trace(999)
!       |             ^^^^^^^^^^^^^
[1]

### watchpoint: strings
define a := codeLine("a${x}b")
out a
>>>
! s.tessla:1:24: error: Expected a string without insertions, found string
!     1 | define a := codeLine("a${x}b")
!       |                        ^^
[1]

### watchpoint: a signal
in x: Signal[String]
define y := x
out y
>>>
! s.tessla:1:7: error: An input signal must have type Int or Bool, because it begins with 0 or false
!     1 | in x: Signal[String]
!       |       ^^^^^^^^^^^^^^
[1]

### watchpoint: formulas that want more
in x: Events[Bool]
define a := monitor(x timed[5] until x)
define b := monitor(x weak x)
out a
>>>
! s.tessla:2:23: error: Expected ',' or ')', found name 'timed'
!     2 | define a := monitor(x timed[5] until x)
!       |                       ^^^^^
! s.tessla:3:28: error: Expected 'until' after 'weak', found name 'x'
!     3 | define b := monitor(x weak x)
!       |                            ^
[1]

### watchpoint: statements
define a := codeLine("main.c:1")
a := 5
out a
>>>
! s.tessla:2:1: error: Expected a statement: 'define', 'in' or 'out', found name 'a'
!     2 | a := 5
!       | ^
[1]
