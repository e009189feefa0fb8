# Traces (docs/tessla-language.md A.9).
### values of all kinds
in i: Events[Int]
in f: Events[Float]
in b: Events[Bool]
in s: Events[String]
in u: Events[Unit]
in o: Events[Option[Int]]
in l: Events[List[Int]]
in m: Events[Map[String, Set[Int]]]
out *
<<<
1: i = -12
2: i = 0x1F
3: f = -1.5
4: f = 1e3
5: b = true
6: b=false
7: s = "a, b"
8:u
9 : u = ()
10: o = Some(-1)
11: o = None
12: l = List(1,2, 3)
13: m = Map("a" -> Set(1), "b" -> Set())
>>>
1: i = -12
2: i = 31
3: f = -1.5
4: f = 1000.0
5: b = true
6: b = false
7: s = "a, b"
8: u = ()
9: u = ()
10: o = Some(-1)
11: o = None
12: l = List(1, 2, 3)
13: m = Map("a" -> Set(1), "b" -> Set())

### times must not decrease; what came before counts
in x: Events[Int]
out x
<<<
5: x = 1
5: y = 3
4: x = 2
>>>
5: x = 1
! coretap: standard input:3: Decreasing time stamps: first = 5, second = 4; sort the events by their times
[2]

### two events of one stream at one time
<<<
4: x = 0
5: x = 1
5: x = 2
>>>
4: x = 0
! coretap: standard input:3: Multiple events x at timestamp 5
[2]

### wrong types
in x: Events[Float]
out x
<<<
1: x = 1.0
2: x = 5
>>>
1: x = 1.0
! coretap: standard input:2: Unexpected value of type Int (5), expected type Float, in input stream 'x'; a Float has a fraction, such as 1.0
[2]

### a unit is no integer
in x: Events[Int]
out x
<<<
1: x
>>>
! coretap: standard input:1: Unexpected value of type Unit (()), expected type Int, in input stream 'x'
[2]

### a nested value is named by its path
in x: Events[{a: Int, b: (Int, Bool)}]
out x
<<<
1: x = {a = 1, b = (2, 3)}
>>>
! coretap: standard input:1: Unexpected value of type Int (3), expected type Bool, in input stream 'x.b._2'
[2]

### syntax
in x: Events[Int]
out x
<<<
1: x = 1
2 x = 2
>>>
1: x = 1
! coretap: standard input:2: error: expected ':' or '..' or '<' after the time, which is an Int without a unit; write each line as TIME: NAME = VALUE
[2]

### the event limit takes one more than its number, then ends as the input would [--abort-at 2]
in x: Events[Int]
out x
out period(10) as p
<<<
0: x = 1
1: x = 2
25: x = 3
40: x = 4
>>>
0: x = 1
0: p = ()
1: x = 2
10: p = ()
20: p = ()
25: x = 3

### lists of streams [--list-in --list-out]
in x: Events[Option[Int]]
out isSome(x) as s
<<<
>>>
x: Events[Option[Int]]
s: Events[Bool]

### check only [--check]
in x: Events[Int]
out x
<<<
1: x = "no"
>>>

### reals as they are put out can be read again
in a: Events[Float]
out a
<<<
1: a = 1.0E7
2: a = -1.0E-7
3: a = NaN
4: a = Infinity
5: a = -Infinity
6: a = 1e400
>>>
1: a = 1.0E7
2: a = -1.0E-7
3: a = NaN
4: a = Infinity
5: a = -Infinity
6: a = Infinity

### a wrong part of a value is named alone
in i: Events[{x: Int, y: Int}]
<<<
3: i = {x = "a)b", y = 1}
>>>
! coretap: s.tessla: the specification has no outputs, so there are no results; add out statements
! coretap: standard input:1: Unexpected value of type String ("a)b"), expected type Int, in input stream 'i.x'
[2]

### a member twice
in i: Events[{x: Int, y: Int}]
<<<
3: i = {x = 2, x = 1}
>>>
! coretap: s.tessla: the specification has no outputs, so there are no results; add out statements
! coretap: standard input:1: Unexpected value of type Record ({x = 2, x = 1}), expected type {x: Int, y: Int}, in input stream 'i'
[2]

### ranges of times: the value may name the time; they are merged with the lines behind
in a: Events[Int]
in b: Events[Int]
in c: Events[Unit]
out a
out b
out time(c) as c
<<<
1..3: a = t
10,12..16: a = t
2 <= x < 5: b = x
4 < x <= 6: b = -1
20 < y < 20: a = y
7: c
>>>
1: a = 1
2: a = 2
2: b = 2
3: a = 3
3: b = 3
4: b = 4
5: b = -1
6: b = -1
7: c = 7
10: a = 10
12: a = 12
14: a = 14
16: a = 16

### a range without an end runs to the limit on events [--abort-at 3]
in a: Events[Int]
out a
<<<
5 <= t: a = t
>>>
5: a = 5
6: a = 6
7: a = 7
8: a = 8

### a range without an end and without a limit
<<<
5..: a = t
>>>
! coretap: standard input:1: this range has no end; limit the number of events with --abort-at
[2]

### a range that goes back
in a: Events[Int]
<<<
5,3..9: a = t
>>>
! coretap: s.tessla: the specification has no outputs, so there are no results; add out statements
! coretap: standard input:1: Non-positive step in time stamp range: -2
[2]

### events of a range that come twice; the line is that of the range
in a: Events[Int]
out a
<<<
1..3: a = 1
2..3: a = 1
9: b
>>>
1: a = 1
! coretap: standard input:2: Multiple events a at timestamp 2
[2]

### syntax of ranges
in a: Events[Int]
<<<
5 < 3: a = 1
>>>
! coretap: s.tessla: the specification has no outputs, so there are no results; add out statements
! coretap: standard input:1: error: expected the name of the time in a range; write each line as TIME: NAME = VALUE
[2]

### a table of values
in a: Events[Int]
in b: Events[(Int, String)]
in c: Events[Unit]
out a
out b
out c
<<<
time,a, unknown,b,c
1,5,7,,
# nothing at 2
3,,,(1, "x,y"),()
4,-6
>>>
1: a = 5
3: b = (1, "x,y")
3: c = ()
4: a = -6

### a row with too many cells, and a wrong value
in a: Events[Int]
out a
<<<
time,a
1,2
2,3,4
>>>
1: a = 2
2: a = 3
! coretap: standard input:3: error: the row has more cells than the table has columns
[2]

### a wrong value in a table
in a: Events[Int]
<<<
time,a
1,2.5
>>>
! coretap: s.tessla: the specification has no outputs, so there are no results; add out statements
! coretap: standard input:2: Unexpected value of type Float (2.5), expected type Int, in input stream 'a'
[2]

### expressions as values
in a: Events[Int]
in b: Events[Bool]
in c: Events[Float]
in d: Events[(Int, Bool)]
in e: Events[Map[Int, Int]]
out a
out b
out c
out d
out e
<<<
1..4: a = if t % 2 == 0 then -t else t * (t + 1) << 1
2: b = !(1 < 2) || 3 != 4 && "x" == "x"
3: c = -1.5 *. (2.0 +. 0.25) -- a comment
4: d = (1 + 2 * 3 - 4 - 5, 7 > 8)
5: e = Map(1 + 1 -> 2 - 3, 4 -> 5 & 6 | 8)
6: a = ~5 ^ 1--2
>>>
1: a = 4
2: a = -2
2: b = true
3: a = 24
3: c = -3.375
4: a = -4
4: d = (-2, false)
5: e = Map(2 -> -1, 4 -> 12)
6: a = -5

### a value that has none
in a: Events[Int]
<<<
5: a = 3 / (1 - 1)
>>>
! coretap: s.tessla: the specification has no outputs, so there are no results; add out statements
! coretap: standard input:1: Division by zero
[2]

### an expression of another type
in a: Events[Int]
<<<
5: a = 3 + 1 == 4
>>>
! coretap: s.tessla: the specification has no outputs, so there are no results; add out statements
! coretap: standard input:1: Unexpected value of type Bool (3 + 1 == 4), expected type Int, in input stream 'a'
[2]

### the time of a range in strings
in s: Events[String]
in r: Events[(Int, String)]
out s
out r
<<<
1,3..5: s = "odd $t"
6<=k<=7: s = if k % 2 == 0 then "even ${k}!" else "odd $k$ ${k * 1000000000000000000000} ${k > 6} ${"$k"}"
8..8: r = (t, "\$t is $t")
9: s = "no range: $t ${t}"
10..10: s = ""
>>>
1: s = "odd 1"
3: s = "odd 3"
5: s = "odd 5"
6: s = "even 6!"
7: s = "odd 7$ 7000000000000000000000 true 7"
8: r = (8, "$t is 8")
9: s = "no range: $t ${t}"
10: s = ""

### a name in a string that is not the time of the range
in s: Events[String]
out s
<<<
1..2: s = "at $x"
>>>
! coretap: standard input:1: Undefined variable x; use t, the time variable of this range
[2]

### a string in a range that does not end its insertion
<<<
1..2: s = "at ${t"
>>>
! coretap: standard input:1: Unexpected value of type String ("at ${t"), expected type String, in input stream 's'
[2]

### tuples and records as objects
in a: Events[(Int, Int)]
in b: Events[{x: Int, y: (Bool, Int)}]
in c: Events[Unit]
out a
out b
out c
<<<
1: a = ${_1 = 1, _2 = 2}
2: a = {_2 = 4, _1: 3}
3: a = (5, 6)
4: b = ${x = 1, y = ${_1 = true, _2 = -1}}
5: b = { y = (false, 2), x = 3 }
6: c = ${}
7: c = {}
8..8: a = ${_1 = t, _2 = t + 1}
>>>
1: a = (1, 2)
2: a = (3, 4)
3: a = (5, 6)
4: b = {x = 1, y = (true, -1)}
5: b = {x = 3, y = (false, 2)}
6: c = ()
7: c = ()
8: a = (8, 9)

### an object that is not the tuple
in a: Events[(Int, Int)]
out a
<<<
1: a = ${_1 = 1, _3 = 2}
>>>
! coretap: standard input:1: Unexpected value of type Record (${_1 = 1, _3 = 2}), expected type (Int, Int), in input stream 'a'
[2]

### a byte order mark
in x: Events[Int]
out x
<<<
﻿1: x = 3
>>>
1: x = 3

### a table with other separators
<<<
time;x
1;3
>>>
! coretap: standard input:1: error: expected a time, or a table that begins with 'time,NAME'; write each line as TIME: NAME = VALUE
[2]

### a mistyped stream
in speed: Events[Int]
out speed
<<<
1: sped = 3
2: other = 4
3: sped = 5
4: speed = 6
>>>
4: speed = 6
! coretap: warning: standard input:1: events of 'sped' are left out, because the specification has no such input; did you mean 'speed'?

### a mistyped column
<<<
time,Speed,other
1,3,4
>>>
! coretap: warning: standard input:1: events of 'Speed' are left out, because the specification has no such input; did you mean 'speed'?

### no equals sign
<<<
1: speed: 3
>>>
! coretap: standard input:1: error: expected '=' after the name of the stream; write each line as TIME: NAME = VALUE
[2]

### no value
<<<
1: speed =
>>>
! coretap: standard input:1: error: expected a value after '='; write each line as TIME: NAME = VALUE
[2]

### a time with a unit
<<<
1s: speed = 3
>>>
! coretap: standard input:1: error: expected ':' or '..' or '<' after the time, which is an Int without a unit; write each line as TIME: NAME = VALUE
[2]

### a Float without a fraction
in f: Events[Float]
in b: Events[Bool]
in s: Events[String]
out f
out b
out s
<<<
1: f = 1
>>>
! coretap: standard input:1: Unexpected value of type Int (1), expected type Float, in input stream 'f'; a Float has a fraction, such as 1.0
[2]

### a Float without a digit before the point
<<<
1: f = .5
>>>
! coretap: standard input:1: Unexpected value of type unknown (.5), expected type Float, in input stream 'f'; a Float begins with a digit, such as 0.5
[2]

### a Bool in another case
<<<
1: b = True
>>>
! coretap: standard input:1: Unexpected value of type unknown (True), expected type Bool, in input stream 'b'; write true or false
[2]

### a String without quotes
<<<
1: s = hello
>>>
! coretap: standard input:1: Unexpected value of type unknown (hello), expected type String, in input stream 's'; put it in double quotes
[2]

### an input without events, where another name has some
in x: Events[Int]
in temperature: Events[Int]
out merge(x, temperature) as m
<<<
1: x = 1
2: temp = 2
3: speed = 2
>>>
1: m = 1
! coretap: note: standard input: there are no events of 'temperature'; there are events of 'temp' and other names, which are no inputs; give both the same name if one is meant for the other

### an input without events
<<<
1: x = 1
>>>
1: m = 1
