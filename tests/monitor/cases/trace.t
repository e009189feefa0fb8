# Traces (LANGUAGE.md A.9).
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
! coretap: standard input:3: Decreasing time stamps: first = 5, second = 4
[2]

### two events of one stream at one time
in x: Events[Int]
out x
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
! coretap: standard input:2: Unexpected value of type Int (5), expected type Float, in input stream 'x'
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
! coretap: standard input:2: error: expected ':' behind the time; a line is TIME: NAME = VALUE
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
! coretap: standard input:1: Unexpected value of type String ("a)b"), expected type Int, in input stream 'i.x'
[2]

### a member twice
in i: Events[{x: Int, y: Int}]
<<<
3: i = {x = 2, x = 1}
>>>
! coretap: standard input:1: Unexpected value of type Record ({x = 2, x = 1}), expected type {x: Int, y: Int}, in input stream 'i'
[2]
