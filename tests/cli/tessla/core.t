# Core operators (docs/tessla-language.md A.2), each at time 0 and later.
### nil and a constant as a stream
out nil[Int] as n
out 5
<<<
>>>
0: 5 = 5

### the instant 0 is there although the first input comes later
in x: Events[Int]
out default(x, 7) as d
<<<
3: x = 1
>>>
0: d = 7
3: d = 1

### default takes the event at 0
<<<
0: x = 1
>>>
0: d = 1

### defaultFrom passes at most the first event of the other stream
in x: Events[Int]
in y: Events[Int]
out defaultFrom(x, y) as d
<<<
2: y = 20
3: y = 30
4: x = 4
5: y = 50
>>>
2: d = 20
4: d = 4

### defaultFrom passes nothing of the other stream once the first has spoken
<<<
1: x = 1
2: y = 20
>>>
1: d = 1

### defaultFrom with both at once
<<<
2: y = 20
2: x = 2
3: y = 30
>>>
2: d = 2

### time
in x: Events[String]
out time(x) as t
<<<
0: x = "a"
17: x = "b"
>>>
0: t = 0
17: t = 17

### last sees strictly the past, at 0 nothing
in v: Events[Int]
in r: Events[Unit]
out last(v, r) as l
<<<
0: v = 1
0: r
1: r
2: v = 2
2: r
3: r
>>>
1: l = 1
2: l = 1
3: l = 2

### last of a stream that has had no event
<<<
1: r
2: v = 2
3: r
>>>
3: l = 2

### prev
in x: Events[Int]
out prev(x) as p
<<<
1: x = 1
2: x = 2
5: x = 3
>>>
2: p = 1
5: p = 2

### last of last, all at one instant
in x: Events[Int]
out prev(prev(x)) as p
<<<
1: x = 1
2: x = 2
3: x = 3
>>>
3: p = 1

### lift calls its function only where an argument has an event
in x: Events[Int]
in y: Events[Int]
def f(a: Option[Int], b: Option[Int]): Option[Int] = Some(getSomeOrElse(a, 100) + getSomeOrElse(b, 1000))
out lift(x, y, f) as l
<<<
1: x = 1
2: y = 2
3: x = 3
3: y = 4
>>>
1: l = 1001
2: l = 102
3: l = 7

### lift without an event where the function gives None
in x: Events[Int]
out lift1(x, (a: Option[Int]) => if getSome(a) > 2 then a else None[Int]) as l
<<<
1: x = 1
2: x = 3
>>>
2: l = 3

### lift of a constant stream has its event at 0
in x: Events[Int]
out lift(x, 5, (a: Option[Int], b: Option[Int]) => Some(isSome(b))) as l
<<<
1: x = 1
>>>
0: l = true
1: l = false

### lift3 to lift5
in x: Events[Int]
in y: Events[Int]
def n(a: Option[Int]): Int = if isSome(a) then 1 else 0
out lift3(x, y, x, (a: Option[Int], b: Option[Int], c: Option[Int]) => Some(n(a) + n(b) + n(c))) as l3
out lift4(x, y, x, y, (a: Option[Int], b: Option[Int], c: Option[Int], d: Option[Int]) => Some(n(a) + n(b) + n(c) + n(d))) as l4
out lift5(x, y, x, y, x, (a: Option[Int], b: Option[Int], c: Option[Int], d: Option[Int], e: Option[Int]) => Some(n(a) + n(b) + n(c) + n(d) + n(e))) as l5
<<<
1: x = 1
2: y = 1
>>>
1: l3 = 2
1: l4 = 2
1: l5 = 3
2: l3 = 1
2: l4 = 2
2: l5 = 2

### delay fires once and is rearmed by a reset only
in d: Events[Int]
in r: Events[Unit]
out delay(d, r) as f
<<<
1: d = 2
2: d = 3
2: r
9: d = 5
20: r
>>>
5: f = ()

### a reset before expiry replaces the timer
<<<
0: d = 5
0: r
3: d = 10
3: r
20: r
>>>
13: f = ()

### a reset without an amount cancels the timer
<<<
0: d = 5
0: r
3: r
20: r
>>>

### a timer fires at the last input timestamp but not later
in d: Events[Int]
in r: Events[Unit]
in x: Events[Unit]
out delay(d, r) as f
<<<
0: d = 5
0: r
5: x
>>>
5: f = ()

### a timer later than the last input never fires
<<<
0: d = 5
0: r
4: x
>>>

### a timer that fires is rearmed with the amount at that instant
def p: Events[Int] = default(const(3, delay(p, ())), 3)
in x: Events[Unit]
out p
<<<
7: x
>>>
0: p = 3
3: p = 3
6: p = 3

### expiry and reset at one instant: the stream has its event, the timer starts again
in d: Events[Int]
in r: Events[Unit]
in x: Events[Unit]
out delay(d, r) as f
<<<
0: d = 5
0: r
5: d = 2
5: r
20: x
>>>
5: f = ()
7: f = ()

### a delay that is not positive is an error, also when it is not used
in d: Events[Int]
in r: Events[Unit]
out delay(d, r) as f
out d
<<<
1: d = 5
2: d = 0
3: d = 5
>>>
1: d = 5
! coretap: Non-positive delay (t = 2)
[2]

### two timers at one instant
in x: Events[Unit]
def a = delay(const(4, x), x)
def b = delay(const(2, x), x)
def c = delay(const(2, b), b)
out mergeUnit(a, c) as m
out merge(const(1, a), const(2, c)) as w
<<<
1: x
9: x
>>>
5: m = ()
5: w = 1

### recursion through last
in x: Events[Int]
def c: Events[Int] = default(last(c, x) + 1, 0)
out c
<<<
0: x = 0
2: x = 0
3: x = 0
>>>
0: c = 0
2: c = 1
3: c = 2

### mutual recursion
in x: Events[Int]
def a: Events[Int] = default(last(b, x) + 1, 0)
def b: Events[Int] = default(last(a, x) * 2, 0)
out a
out b
<<<
1: x = 0
2: x = 0
3: x = 0
>>>
0: a = 0
0: b = 0
1: a = 1
1: b = 0
2: a = 1
2: b = 2
3: a = 3
3: b = 2

### a record of streams that refers to itself
in x: Events[Int]
def r: {a: Events[Int], b: Events[Int]} = {a = default(last(r.b, x) + 1, 0), b = r.a * 10}
out r.b as b
<<<
1: x = 0
2: x = 0
>>>
0: b = 0
1: b = 10
2: b = 110

### signal lift: an event of any argument, once all have a value
in x: Events[Int]
in y: Events[Int]
out x + y as s
<<<
1: x = 1
2: x = 2
3: y = 10
4: x = 3
5: x = 4
5: y = 20
>>>
3: s = 12
4: s = 13
5: s = 24

### signal lift with a constant
in x: Events[Int]
out 2 * x - 1 as s
<<<
0: x = 3
4: x = 4
>>>
0: s = 5
4: s = 7

### slift with functions of one to five arguments
in x: Events[Int]
in y: Events[Int]
out slift1(x, (a: Int) => a + 1) as s1
out slift(x, y, (a: Int, b: Int) => a * b) as s2
out slift3(x, y, x, (a: Int, b: Int, c: Int) => a + b + c) as s3
out slift4(x, y, x, y, (a: Int, b: Int, c: Int, d: Int) => a + b + c + d) as s4
out slift5(x, y, x, y, x, (a: Int, b: Int, c: Int, d: Int, e: Int) => a + b + c + d + e) as s5
<<<
1: x = 1
2: y = 10
>>>
1: s1 = 2
2: s2 = 10
2: s3 = 12
2: s4 = 22
2: s5 = 23

### if-then-else on streams waits for all three
in c: Events[Bool]
in x: Events[Int]
in y: Events[Int]
out if c then x else y as i
<<<
1: c = true
2: x = 1
3: y = 2
4: c = false
5: x = 9
>>>
3: i = 1
4: i = 2
5: i = 2

### events of undeclared streams are passed over
in x: Events[Int]
out x
<<<
1: z = "?"
2: x = 1
>>>
2: x = 1

### defaultFrom nothing is the first event of the other stream only
in y: Events[Int]
out defaultFrom(nil[Int], y) as d
<<<
2: y = 20
3: y = 30
>>>
2: d = 20

### last of an input that comes at the same instant as the trigger, and is used nowhere else
in v: Events[Int]
in r: Events[Unit]
out last(v, mergeUnit(r, r)) as l
<<<
1: v = 1
1: r
2: v = 2
2: r
>>>
2: l = 1
