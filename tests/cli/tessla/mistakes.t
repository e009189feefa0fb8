# Specifications with one mistake each, as people make them: one error at its place, and what to write.
### a mistyped function
in call: Events[Unit]
in ret: Events[Unit]
def cost = runtme(call, ret)
out cost
>>>
! s.tessla:3:12: error: Undefined variable runtme; did you mean 'runtime'?
!     3 | def cost = runtme(call, ret)
!       |            ^^^^^^
[1]

### a mistyped stream
in ret: Events[Unit]
def cost = runtime(cal, ret)
out cost
out maximum(cost) as worst
>>>
! s.tessla:2:20: error: Undefined variable cal
!     2 | def cost = runtime(cal, ret)
!       |                    ^^^
[1]

### a mistyped output
in call: Events[Unit]
in ret: Events[Unit]
def cost = runtime(call, ret)
out coost
>>>
! s.tessla:4:5: error: Undefined variable coost; did you mean 'cost'?
!     4 | out coost
!       |     ^^^^^
[1]

### a type in another case
in z: Events[int]
out z + 1 as q
>>>
! s.tessla:1:14: error: Undefined type: int; did you mean 'Int'?
!     1 | in z: Events[int]
!       |              ^^^
[1]

### a mistyped type
in z: Event[Int]
out z + 1 as q
>>>
! s.tessla:1:7: error: Undefined type: Event; did you mean 'Events'?
!     1 | in z: Event[Int]
!       |       ^^^^^^^^^^
[1]

### a missing comma
in call: Events[Unit]
in ret: Events[Unit]
def cost = runtime(call ret)
out cost
>>>
! s.tessla:3:25: error: Expected an operator, ',' or ')', found name 'ret'
!     3 | def cost = runtime(call ret)
!       |                         ^^^
[1]

### a missing parenthesis
in call: Events[Unit]
in ret: Events[Unit]
def cost = runtime(call, ret
out cost
>>>
! s.tessla:3:29: error: Expected an operator, ',' or ')', found end of line
!     3 | def cost = runtime(call, ret
!       |                             ^
[1]

### a missing parenthesis inside
in call: Events[Unit]
in ret: Events[Unit]
def cost = maximum(runtime(call, ret)
def d = cost + 1
out d
>>>
! s.tessla:3:38: error: Expected an operator, ',' or ')', found end of line
!     3 | def cost = maximum(runtime(call, ret)
!       |                                      ^
[1]

### a parenthesis too many
in call: Events[Unit]
in ret: Events[Unit]
def cost = runtime(call, ret))
out cost
>>>
! s.tessla:3:30: error: Expected the end of the statement, found ')'
!     3 | def cost = runtime(call, ret))
!       |                              ^
[1]

### a missing brace
in x: Events[Int]
def f2(a: Int) = {
  def q = a + 1
  q * 2
out f2(x)
>>>
! s.tessla:4:8: error: Expected '}', found end of line
!     4 |   q * 2
!       |        ^
[1]

### a missing quote
in x: Events[Int]
def t = "hello
def u = x
out u
>>>
! s.tessla:2:15: error: String is not closed; '"' was expected before the end of the line
!     2 | def t = "hello
!       |               ^
[1]

### a missing quote in an output
in x: Events[Int]
out "n is $x as t
out x
>>>
! s.tessla:2:18: error: String is not closed; '"' was expected before the end of the line
!     2 | out "n is $x as t
!       |                  ^
[1]

### an argument too few
in call: Events[Unit]
def cost = runtime(call)
out cost
>>>
! s.tessla:2:12: error: Wrong number of arguments for runtime. Expected: 2, actual: 1
!     2 | def cost = runtime(call)
!       |            ^^^^^^^^^^^^^
[1]

### an argument too many
in call: Events[Unit]
in ret: Events[Unit]
in x: Events[Int]
def cost = runtime(call, ret, x)
out cost
>>>
! s.tessla:4:12: error: Wrong number of arguments for runtime. Expected: 2, actual: 3
!     4 | def cost = runtime(call, ret, x)
!       |            ^^^^^^^^^^^^^^^^^^^^^
[1]

### a Float among Ints
in x: Events[Int]
in f: Events[Float]
def m = x + f
out m
>>>
! s.tessla:3:13: error: Type mismatch: Expected Int, found Events[Float]; '+' is for Ints, '+.' for Floats
!     3 | def m = x + f
!       |             ^
[1]

### a Float constant among Ints
in x: Events[Int]
def m = x + 1.0
out m
>>>
! s.tessla:2:13: error: Type mismatch: Expected Int, found Float; '+' is for Ints, '+.' for Floats
!     2 | def m = x + 1.0
!       |             ^^^
[1]

### two Floats and an operator for Ints
in f: Events[Float]
def m = f + 1.0
out m
>>>
! s.tessla:2:9: error: Type mismatch: Expected Int, found Events[Float]; '+' is for Ints, '+.' for Floats
!     2 | def m = f + 1.0
!       |         ^
[1]

### a condition that is an Int
in x: Events[Int]
def m = if x then 1 else 0
out m
>>>
! s.tessla:2:12: error: Type mismatch: Expected Bool, found Events[Int]
!     2 | def m = if x then 1 else 0
!       |            ^
[1]

### arguments in the wrong order
in x: Events[Int]
in b: Events[Bool]
def m = filter(b, x)
out m
>>>
! s.tessla:3:19: error: Type mismatch: Expected Events[Bool], found Events[Int]
!     3 | def m = filter(b, x)
!       |                   ^
[1]

### an input without in
z: Events[Int]
out z
>>>
! s.tessla:1:1: error: Expected a statement: 'def', 'in', 'out', 'type', 'module' or 'include', found name 'z'; write 'in z: …' for an input
!     1 | z: Events[Int]
!       | ^
[1]

### an input that is not declared
def m = z + 1
out m
>>>
! s.tessla:1:9: error: Undefined variable z
!     1 | def m = z + 1
!       |         ^
[1]

### a definition without def
in x: Events[Int]
m = x + 1
out m
>>>
! s.tessla:2:1: error: Expected a statement: 'def', 'in', 'out', 'type', 'module' or 'include', found name 'm'; write 'def m = …'
!     2 | m = x + 1
!       | ^
[1]

### an input without a colon
in z Events[Int]
out z
>>>
! s.tessla:1:6: error: Expected ':' and the type of the input stream, found name 'Events'
!     1 | in z Events[Int]
!       |      ^^^^^^
[1]

### a missing bracket
in z: Events[Int
out z
>>>
! s.tessla:1:17: error: Expected ',' or a closing bracket, found end of line
!     1 | in z: Events[Int
!       |                 ^
[1]

### an input that is no stream
in z: Int
out z
>>>
! s.tessla:1:7: error: Input streams must be defined to have stream types; write Events[Int]
!     1 | in z: Int
!       |       ^^^
[1]

### no output
in x: Events[Int]
def m = x + 1
>>>
! coretap: s.tessla: the specification has no outputs, so there are no results; add out statements

### a definition by itself
def m: Events[Int] = m + 1
out m
>>>
! s.tessla:1:5: error: Infinite recursion detected in the definition of m; only the first argument of 'last' and of 'delay' may depend on itself
!     1 | def m: Events[Int] = m + 1
!       |     ^
[1]

### two definitions by each other
in x: Events[Int]
def m: Events[Int] = k + 1
def k: Events[Int] = m + x
out m
>>>
! s.tessla:2:5: error: Infinite recursion detected in the definition of m; only the first argument of 'last' and of 'delay' may depend on itself
!     2 | def m: Events[Int] = k + 1
!       |     ^
[1]

### six definitions around a circle: the first is named in each run
in x: Events[Int]
def a1: Events[Int] = a2 + 1
def a2: Events[Int] = a3 * 2
def a3: Events[Int] = a4 - 1
def a4: Events[Int] = a5 + x
def a5: Events[Int] = a6 + 3
def a6: Events[Int] = a1 + x
out a4
>>>
! s.tessla:2:5: error: Infinite recursion detected in the definition of a1; only the first argument of 'last' and of 'delay' may depend on itself
!     2 | def a1: Events[Int] = a2 + 1
!       |     ^^
[1]

### two circles: one error each, and always in this order
in x: Events[Int]
def c: Events[Int] = d + 1
def d: Events[Int] = c + x
def e: Events[Int] = f + 1
def f: Events[Int] = e * x
def g: Events[Int] = e + c
out g
>>>
! s.tessla:2:5: error: Infinite recursion detected in the definition of c; only the first argument of 'last' and of 'delay' may depend on itself
!     2 | def c: Events[Int] = d + 1
!       |     ^
! s.tessla:4:5: error: Infinite recursion detected in the definition of e; only the first argument of 'last' and of 'delay' may depend on itself
!     4 | def e: Events[Int] = f + 1
!       |     ^
[1]

### recursion without a type
in x: Events[Int]
def m = default(last(m, x) + 1, 0)
out m
>>>
! s.tessla:2:5: error: Recursive definition m needs a type annotation; write 'def m: TYPE = …'
!     2 | def m = default(last(m, x) + 1, 0)
!       |     ^
[1]

### a time without a unit of the run
in x: Events[Int]
def m = x > 5ms
out m
>>>
! s.tessla:2:13: error: Time literal without a base unit; give the unit of the timestamps with --time-unit
!     2 | def m = x > 5ms
!       |             ^^^
[1]

### an unknown unit of time [--time-unit s]
in x: Events[Int]
def m = x > 5 sec
out m
>>>
! s.tessla:2:13: error: Unknown time unit sec; use one of fs ps ns us ms s min h d
!     2 | def m = x > 5 sec
!       |             ^^^^^
[1]

### a time with a fraction [--time-unit us]
in x: Events[Int]
def m = x > 1.5 ms
out m
>>>
! s.tessla:2:17: error: Expected the end of the statement, found name 'ms'; a time is a whole number of its unit: write 1500us for 1.5 ms
!     2 | def m = x > 1.5 ms
!       |                 ^^
[1]

### a time with a fraction, as an argument [--time-unit us]
in x: Events[Int]
def m = delay(const(1.5 ms, x), x)
out m
>>>
! s.tessla:2:25: error: Expected an operator, ',' or ')', found name 'ms'; a time is a whole number of its unit: write 1500us for 1.5 ms
!     2 | def m = delay(const(1.5 ms, x), x)
!       |                         ^^
[1]

### names that the trace does not have
in speed: Events[Int]
in level: Events[Int]
out speed + level as q
<<<
1: voltage = 3
2: current = 4
>>>
! coretap: warning: standard input: no event is of an input of the specification, so all are left out; its inputs are 'speed', 'level'; give both the same names

### names that a table does not have
in speed: Events[Int]
out speed + 1 as q
<<<
time,voltage,current
1,3,4
>>>
! coretap: warning: standard input: no event is of an input of the specification, so all are left out; its inputs are 'speed'; give both the same names

### a condition that never holds
in a: Events[Int]
in b: Events[Int]
out filter(a, b > 100) as q
<<<
1: a = 3
1: b = 3
2: c = 3
>>>

### a definition without a value
in x: Events[Int]
def m =
out x
>>>
! s.tessla:2:8: error: Expected an expression, found end of line
!     2 | def m =
!       |        ^
[1]

### a definition without an equals sign
in x: Events[Int]
def m
out x
>>>
! s.tessla:2:6: error: Expected ':' or '=', found end of line
!     2 | def m
!       |      ^
[1]

### if without else
in x: Events[Int]
in b: Events[Bool]
def m = if b then x
out m
>>>
! s.tessla:3:20: error: Expected 'else', found end of line
!     3 | def m = if b then x
!       |                    ^
[1]

### if without then
in x: Events[Int]
in y: Events[Int]
in b: Events[Bool]
def m = if b x else y
out m
>>>
! s.tessla:4:14: error: Expected 'then', found name 'x'
!     4 | def m = if b x else y
!       |              ^
[1]

### a mistyped annotation of the library
@InstFuncCall("f")
in z: Events[Unit]
out z
>>>
! s.tessla:1:2: error: Undefined annotation @InstFuncCall; did you mean 'InstFunctionCall'?
!     1 | @InstFuncCall("f")
!       |  ^^^^^^^^^^^^
[1]

### a mistyped liftable
in x: Events[Int]
@lifable
def g(a: Int) = a + 1
out g(x)
>>>
! s.tessla:2:2: error: Undefined annotation @lifable; did you mean 'liftable'?
!     2 | @lifable
!       |  ^^^^^^^
[1]

### an unknown file
include "stdd.tessla"
in q: Events[Int]
out q
>>>
! s.tessla:1:9: error: Could not find a TeSSLa file named stdd.tessla
!     1 | include "stdd.tessla"
!       |         ^
[1]

### an import
import foo.bar
in q: Events[Int]
out q
>>>
! s.tessla:1:8: error: Undefined module foo
!     1 | import foo.bar
!       |        ^^^
[1]

### typographic quotes
in x: Events[Int]
def t = “hello”
out x
>>>
! s.tessla:2:9: error: Invalid character U+201C; write '"' instead
!     2 | def t = “hello”
!       |         ^
[1]

### a typographic minus
in x: Events[Int]
def t = x − 1
out t
>>>
! s.tessla:2:11: error: Invalid character U+2212; write '-' instead
!     2 | def t = x − 1
!       |           ^
[1]

### a no-break space
in x: Events[Int]
def t = x + 1
out t
>>>
! s.tessla:2:10: error: Invalid character U+00A0; write a blank instead
!     2 | def t = x + 1
!       |          ^
[1]

### a comment of C
in x: Events[Int]
/* a comment
 spanning */
out x
>>>
! s.tessla:2:1: error: Expected a statement: 'def', 'in', 'out', 'type', 'module' or 'include', found '/'; a comment begins with '--' and ends with its line
!     2 | /* a comment
!       | ^
[1]

### a comment of C++
in x: Events[Int]
// a comment
out x
>>>
! s.tessla:2:1: error: Expected a statement: 'def', 'in', 'out', 'type', 'module' or 'include', found '/'; a comment begins with '--' and ends with its line
!     2 | // a comment
!       | ^
[1]

### a word of the language as a name
in x: Events[Int]
def in = x + 1
out in
>>>
! s.tessla:2:5: error: Expected a name, found 'in'; a word of the language cannot be a name
!     2 | def in = x + 1
!       |     ^^
[1]

### another word of the language as a name
in x: Events[Int]
def type = x + 1
out type
>>>
! s.tessla:2:5: error: Expected a name, found 'type'; a word of the language cannot be a name
!     2 | def type = x + 1
!       |     ^^^^
[1]

### a keyword in another case
in x: Events[Int]
Def m = x + 1
out m
>>>
! s.tessla:2:1: error: Expected a statement: 'def', 'in', 'out', 'type', 'module' or 'include', found name 'Def'; did you mean 'def'?
!     2 | Def m = x + 1
!       | ^^^
[1]

### a name in another case
in x: Events[Int]
def Cost = x + 1
out cost
>>>
! s.tessla:3:5: error: Undefined variable cost; did you mean 'Cost'?
!     3 | out cost
!       |     ^^^^
[1]

### a constant in another case
in x: Events[Int]
def m = filter(x, True)
out m
>>>
! s.tessla:2:19: error: Undefined variable True; did you mean 'true'?
!     2 | def m = filter(x, True)
!       |                   ^^^^
[1]

### and as a word
in b: Events[Bool]
def m = b and b
out m
>>>
! s.tessla:2:11: error: Expected the end of the statement, found name 'and'; write '&&'
!     2 | def m = b and b
!       |           ^^^
[1]

### a single equals sign
in x: Events[Int]
def m = x = 1
out m
>>>
! s.tessla:2:11: error: Expected the end of the statement, found '='; '==' compares
!     2 | def m = x = 1
!       |           ^
[1]

### inequality as in SQL
in x: Events[Int]
def m = x <> 1
out m
>>>
! s.tessla:2:12: error: Expected an expression, found '>'; write '!='
!     2 | def m = x <> 1
!       |            ^
[1]

### not as a word
in b: Events[Bool]
def m = not b
out m
>>>
! s.tessla:2:9: error: Expected an expression, found name 'not'; write '!'
!     2 | def m = not b
!       |         ^^^
[1]

### two definitions of a name
in x: Events[Int]
def m = x + 1
def m = x + 2
out m
>>>
! s.tessla:3:5: error: Multiple definitions of m in same scope; the first one is in line 2
!     3 | def m = x + 2
!       |     ^
[1]

### an input of the same name
in x: Events[Int]
in x: Events[Bool]
out x
>>>
! s.tessla:2:4: error: Multiple definitions of x in same scope; the first one is in line 1
!     2 | in x: Events[Bool]
!       |    ^
[1]

### a parameter without a type
in x: Events[Int]
def g(a) = a + 1
out g(x)
>>>
! s.tessla:2:7: error: Parameter a needs a type annotation; write 'a: TYPE'
!     2 | def g(a) = a + 1
!       |       ^
[1]

### a line that begins with an operator
in x: Events[Int]
def m = x
  + 1
out m
>>>
! s.tessla:3:3: error: Expected a statement: 'def', 'in', 'out', 'type', 'module' or 'include', found '+'; an operator stands at the end of the line before
!     3 |   + 1
!       |   ^
[1]

### a mistyped keyword argument
in call: Events[Unit]
in ret: Events[Unit]
def m = runtime(cal = call, ret = ret)
out m
>>>
! s.tessla:3:17: error: Undefined keyword argument cal; did you mean 'call'?
!     3 | def m = runtime(cal = call, ret = ret)
!       |                 ^^^
[1]

### hexadecimal digits that are none
in x: Events[Int]
def m = x + 0xZZ
out m
>>>
! s.tessla:2:13: error: Expected hexadecimal digits after '0x'
!     2 | def m = x + 0xZZ
!       |             ^^^^
[1]

### a call that is not closed
in x: Events[Int]
def m = List.append(List.empty[Int], 3
out x
>>>
! s.tessla:2:39: error: Expected an operator, ',' or ')', found end of line
!     2 | def m = List.append(List.empty[Int], 3
!       |                                       ^
[1]

### a mistyped member of a module
in x: Events[Int]
def m = List.appnd(List.empty[Int], x)
out m
>>>
! s.tessla:2:14: error: Undefined variable appnd; did you mean 'append'?
!     2 | def m = List.appnd(List.empty[Int], x)
!       |              ^^^^^
[1]

### a mistyped module
in x: Events[Int]
def m = Lst.append(List.empty[Int], x)
out m
>>>
! s.tessla:2:9: error: Undefined variable Lst; did you mean 'List'?
!     2 | def m = Lst.append(List.empty[Int], x)
!       |         ^^^
[1]

### tabs
in call: Events[Unit]
in ret: Events[Unit]
def	cost	=	runtme(call, ret)
out cost
>>>
! s.tessla:3:12: error: Undefined variable runtme; did you mean 'runtime'?
!     3 | def	cost	=	runtme(call, ret)
!       |    	    	 	^^^^^^
[1]

### two outputs in a statement
in x: Events[Int]
in y: Events[Int]
out x, y
>>>
! s.tessla:3:6: error: Expected the end of the statement, found ','; write an 'out' for each stream
!     3 | out x, y
!       |      ^
[1]

### two inputs in a statement
in p, q: Events[Int]
out p
>>>
! s.tessla:1:5: error: Expected ':' and the type of the input stream, found ','; write an 'in' for each stream
!     1 | in p, q: Events[Int]
!       |     ^
[1]

### an input with a value
in p: Events[Int] = 0
out p
>>>
! s.tessla:1:19: error: Expected the end of the statement, found '='; an input has no value of its own: write 'default(NAME, VALUE)' where it is used
!     1 | in p: Events[Int] = 0
!       |                   ^
[1]

### type arguments in angle brackets
in p: Events<Int>
out p
>>>
! s.tessla:1:13: error: Expected '[' and the type of the elements, found '<'; write Events[Int]
!     1 | in p: Events<Int>
!       |             ^
[1]

### an Int and an operator for Floats
in x: Events[Int]
def m = x <. 1.5
out m
>>>
! s.tessla:2:9: error: Type mismatch: Expected Float, found Events[Int]; '<.' is for Floats, '<' for Ints
!     2 | def m = x <. 1.5
!       |         ^
[1]

### Strings and an operator
in s: Events[String]
def m = s + "a"
out m
>>>
! s.tessla:2:9: error: Type mismatch: Expected Int, found Events[String]; Strings are joined by String.concat
!     2 | def m = s + "a"
!       |         ^
[1]

### a function without arguments
def m = count
out m
>>>
! s.tessla:2:5: error: Type mismatch: Expected a stream, found a macro; give it its arguments
!     2 | out m
!       |     ^
[1]

### a condition of C
in x: Events[Int]
in y: Events[Int]
in b: Events[Bool]
def m = b ? x : y
out m
>>>
! s.tessla:4:11: error: Expected the end of the statement, found '?'; write 'if CONDITION then VALUE else VALUE'
!     4 | def m = b ? x : y
!       |           ^
[1]

### a loop
in x: Events[Int]
for m in x
out m
>>>
! s.tessla:2:1: error: Expected a statement: 'def', 'in', 'out', 'type', 'module' or 'include', found name 'for'
!     2 | for m in x
!       | ^^^
[1]

### several mistakes
in call: Events[Unit]
in ret: Events[Unit]
in x: Events[Int]
def a1 = runtme(call, ret)
def a2 = x +
def a3 = count(xx)
def a4 = x + 1.5
out a1
out a2
out a3
out a4
>>>
! s.tessla:4:10: error: Undefined variable runtme; did you mean 'runtime'?
!     4 | def a1 = runtme(call, ret)
!       |          ^^^^^^
! s.tessla:5:13: error: Expected an expression, found end of line
!     5 | def a2 = x +
!       |             ^
! s.tessla:6:16: error: Undefined variable xx; did you mean 'x'?
!     6 | def a3 = count(xx)
!       |                ^^
! s.tessla:7:14: error: Type mismatch: Expected Int, found Float; '+' is for Ints, '+.' for Floats
!     7 | def a4 = x + 1.5
!       |              ^^^
[1]

### watchpoints: a mistyped source
define a := function_cal main
define m := monitor(always (a implies next a))
out m
>>>
! s.tessla:1:13: error: Undefined source or operator function_cal; did you mean 'function_call'?
!     1 | define a := function_cal main
!       |             ^^^^^^^^^^^^
[1]

### watchpoints: a line without a number
define a := codeLine main.c
out a
>>>
! s.tessla:1:28: error: Expected ':' and the line, found end of line
!     1 | define a := codeLine main.c
!       |                            ^
[1]

### watchpoints: a source in another case
define a := codeline main.c:3
out a
>>>
! s.tessla:1:13: error: Undefined source or operator codeline; did you mean 'codeLine'?
!     1 | define a := codeline main.c:3
!       |             ^^^^^^^^
[1]

### watchpoints: a mistyped operator
define a := function_call f
define m := monitor(alway (a implies next a))
out m
>>>
! s.tessla:2:21: error: Undefined function alway; did you mean 'always'?
!     2 | define m := monitor(alway (a implies next a))
!       |                     ^^^^^^^^^^^^^^^^^^^^^^^^
[1]

### watchpoints: a missing parenthesis
define a := function_call f
define m := monitor(always (a implies next a)
out m
>>>
! s.tessla:2:46: error: Expected ',' or ')', found end of line
!     2 | define m := monitor(always (a implies next a)
!       |                                              ^
[1]

### watchpoints: an expression as output
define a := function_call f
out eventCount(a)
>>>
! s.tessla:2:15: error: Expected a statement: 'define', 'in' or 'out', found '('; 'out' takes a name: write 'define NAME := …' before it
!     2 | out eventCount(a)
!       |               ^
[1]

### watchpoints: an unknown unit of time [--time-unit s]
define a := function_call f
define m := inPast(a, 5 sec)
out m
>>>
! s.tessla:2:23: error: Unknown time unit sec; use one of fs ps ns us ms s min h d
!     2 | define m := inPast(a, 5 sec)
!       |                       ^^^^^
[1]

### watchpoints: a definition of the other dialect
define a := function_call f
def b = count(a)
out b
>>>
! s.tessla:2:1: error: Expected a statement: 'define', 'in' or 'out', found 'def'; 'def' is of the other dialect: write 'define NAME := …'
!     2 | def b = count(a)
!       | ^^^
[1]

### watchpoints: define in another case
Define a := function_call f
out a
>>>
! s.tessla:1:1: error: Expected a statement: 'define', 'in' or 'out', found name 'Define'; did you mean 'define'?
!     1 | Define a := function_call f
!       | ^^^^^^
[1]

### watchpoints: several mistakes
define a := function_cal f
define b := inPast(c, 3)
define d := eventCout(a)
out d
out bb
>>>
! s.tessla:1:13: error: Undefined source or operator function_cal; did you mean 'function_call'?
!     1 | define a := function_cal f
!       |             ^^^^^^^^^^^^
! s.tessla:2:20: error: Undefined variable c
!     2 | define b := inPast(c, 3)
!       |                    ^
! s.tessla:3:13: error: Undefined function eventCout; did you mean 'eventCount'?
!     3 | define d := eventCout(a)
!       |             ^^^^^^^^^^^^
! s.tessla:5:5: error: Undefined variable bb; did you mean 'b'?
!     5 | out bb
!       |     ^^
[1]

### watchpoints: a comment of C++
define a := function_call f // comment
out a
>>>
! s.tessla:1:30: error: Expected an expression, found '/'; a comment begins with '--' and ends with its line
!     1 | define a := function_call f // comment
!       |                              ^
[1]

### watchpoints: no output
define a := function_call f
>>>
! coretap: s.tessla: the specification has no outputs, so there are no results; add out statements

### one error for each statement, and none that repeats another
in x: Events[Int]
def f(a: Int b: Int): Int = {
  def q = a + b
  q * 2
}
def g = f(x, 3) + y
def h: Events[Int] = x + + 1
out g
out h
>>>
! s.tessla:2:14: error: Expected ',' or ')', found name 'b'
!     2 | def f(a: Int b: Int): Int = {
!       |              ^
! s.tessla:6:19: error: Undefined variable y
!     6 | def g = f(x, 3) + y
!       |                   ^
! s.tessla:7:26: error: Expected an expression, found '+'
!     7 | def h: Events[Int] = x + + 1
!       |                          ^
[1]

### a macro that takes a stream
in x: Events[Int]
def double(a: Int): Int = 2 * a
out double(x)
>>>
! s.tessla:3:12: error: Type mismatch: Expected Int, found Events[Int]; a function takes streams when '@liftable' stands before its 'def'
!     3 | out double(x)
!       |            ^
[1]

### annotations of the library
@InstFunctionCall("f")
in x: Events[Int]
@VisDots out x
<<<
1: x = 5
>>>
1: x = 5

### true values alone
in b: Events[Bool]
out boolFilter(b) as t
<<<
1: b = true
2: b = false
3: b = true
>>>
1: t = true
3: t = true

### a name from before the library had modules
in x: Events[Int]
def l = fold(x, List_empty[Int], List.append)
out Map_size(Map.empty[Int, Int])
out Set_size(3) + List_sise(l)
>>>
! s.tessla:2:17: error: Undefined variable List_empty; write 'List.empty'
!     2 | def l = fold(x, List_empty[Int], List.append)
!       |                 ^^^^^^^^^^
! s.tessla:3:5: error: Undefined variable Map_size; write 'Map.size'
!     3 | out Map_size(Map.empty[Int, Int])
!       |     ^^^^^^^^
! s.tessla:4:5: error: Undefined variable Set_size; write 'Set.size'
!     4 | out Set_size(3) + List_sise(l)
!       |     ^^^^^^^^
! s.tessla:4:19: error: Undefined variable List_sise
!     4 | out Set_size(3) + List_sise(l)
!       |                   ^^^^^^^^^
[1]

### a liftable function that calls itself on a stream, without a type
in x: Events[Int]
liftable def f(n: Int) = if n > 0 then f(x) + 1 else 0
out f(x)
>>>
! s.tessla:2:14: error: Recursive definition f needs a type annotation; write 'def f(…): TYPE = …'
!     2 | liftable def f(n: Int) = if n > 0 then f(x) + 1 else 0
!       |              ^
! s.tessla:2:40: error: Type mismatch: Expected Int, found Events[Events[Int]]
!     2 | liftable def f(n: Int) = if n > 0 then f(x) + 1 else 0
!       |                                        ^^^^
! s.tessla:2:40: error: A stream operator cannot stand inside a function on values
!     2 | liftable def f(n: Int) = if n > 0 then f(x) + 1 else 0
!       |                                        ^^^^
[1]

### a type that contains itself, also by another one
in x: Events[Int]
type R = { a: Int, r: Option[R] }
type A = { b: B }
type B = { a: List[A] }
type Pair[T] = (T, T)
def p: Events[Pair[Pair[Int]]] = slift1(x, (v: Int) => ((v, v), (v, v)))
out p
>>>
! s.tessla:2:30: error: Type R contains itself, and a value of it would have no end; use another type here
!     2 | type R = { a: Int, r: Option[R] }
!       |                              ^
! s.tessla:3:15: error: Type B contains itself, and a value of it would have no end; use another type here
!     3 | type A = { b: B }
!       |               ^^
! s.tessla:4:20: error: Type A contains itself, and a value of it would have no end; use another type here
!     4 | type B = { a: List[A] }
!       |                    ^
[1]
