# Derived operators (docs/tessla-language.md A.3).
### const, first
in x: Events[Int]
in y: Events[Int]
out const("c", x) as c
out first(x, y) as f
<<<
1: x = 1
2: y = 2
3: y = 3
4: x = 4
>>>
1: c = "c"
2: f = 1
3: f = 1
4: c = "c"
4: f = 4

### merge: left before right
in x: Events[Int]
in y: Events[Int]
in z: Events[Int]
out merge(x, y) as m
out merge3(x, y, z) as m3
out merge8(z, z, z, z, z, z, y, x) as m8
<<<
1: x = 1
2: y = 2
2: x = 20
3: z = 3
>>>
1: m = 1
1: m3 = 1
1: m8 = 1
2: m = 20
2: m3 = 20
2: m8 = 2
3: m3 = 3
3: m8 = 3

### mergeUnit of different types
in x: Events[Int]
in y: Events[Bool]
in z: Events[String]
out mergeUnit(x, y) as m
out mergeUnit3(x, y, z) as m3
out mergeUnit4(x, y, z, x) as m4
<<<
1: x = 1
2: y = true
2: x = 2
3: z = ""
>>>
1: m = ()
1: m3 = ()
1: m4 = ()
2: m = ()
2: m3 = ()
2: m4 = ()
3: m3 = ()
3: m4 = ()

### filter looks at the held condition; events of the condition alone give nothing
in x: Events[Int]
in c: Events[Bool]
out filter(x, c) as f
<<<
1: x = 1
2: c = true
3: x = 3
4: c = false
4: x = 4
5: x = 5
6: c = true
7: x = 7
>>>
3: f = 3
7: f = 7

### filter by a constant
in x: Events[Int]
out filter(x, true) as t
out filter(x, false) as f
<<<
1: x = 1
>>>
1: t = 1

### on
in t: Events[Unit]
in x: Events[Int]
out on(t, x) as o
out on(t, 5) as five
<<<
1: t
2: x = 2
3: t
4: x = 4
4: t
5: x = 5
>>>
1: five = 5
3: o = 2
3: five = 5
4: o = 4
4: five = 5

### constIf, unitIf
in c: Events[Bool]
out constIf(7, c) as k
out unitIf(c) as u
<<<
0: c = false
1: c = true
2: c = true
>>>
1: k = 7
1: u = ()
2: k = 7
2: u = ()

### pure
in x: Events[Int]
out pure(x) as p
<<<
1: x = 1
2: x = 1
3: x = 2
4: x = 1
5: x = 1
>>>
1: p = 1
3: p = 2
4: p = 1

### isFirst, firstEvent, hadAnyEvent, defined
in x: Events[Int]
out isFirst(x) as i
out firstEvent(x) as f
out hadAnyEvent(x) as h
out defined(x) as d
<<<
2: x = 5
3: x = 6
>>>
0: i = false
0: h = false
0: d = false
2: i = true
2: f = 5
2: h = true
2: d = true
3: i = false
3: h = true
3: d = true

### isFirst with an event at 0
in x: Events[Int]
out isFirst(x) as i
out hadAnyEvent(x) as h
<<<
0: x = 5
3: x = 6
>>>
0: i = true
0: h = true
3: i = false
3: h = true

### fold and reduce
in x: Events[Int]
out fold(x, 10, (a: Int, b: Int) => a - b) as f
out reduce(x, (a: Int, b: Int) => a - b) as r
<<<
2: x = 1
3: x = 2
>>>
0: f = 10
2: f = 9
2: r = 1
3: f = 7
3: r = -1

### fold with an event at 0 begins with it
in x: Events[Int]
out fold(x, 10, (a: Int, b: Int) => a - b) as f
out count(x) as c
out sum(x) as s
<<<
0: x = 1
3: x = 2
>>>
0: f = 9
0: c = 1
0: s = 1
3: f = 7
3: c = 2
3: s = 3

### count and sum have an event at 0, maximum and minimum have not
in x: Events[Int]
out count(x) as c
out sum(x) as s
out maximum(x) as ma
out minimum(x) as mi
<<<
1: x = 5
2: x = -3
3: x = 9
>>>
0: c = 0
0: s = 0
1: c = 1
1: s = 5
1: ma = 5
1: mi = 5
2: c = 2
2: s = 2
2: ma = 5
2: mi = -3
3: c = 3
3: s = 11
3: ma = 9
3: mi = -3

### average is at the events only, and an integer division
in x: Events[Int]
out average(x) as a
<<<
1: x = 5
2: x = 2
>>>
1: a = 5
2: a = 3

### resetCount: 0 at 0 whatever happens, both at once 1
in e: Events[Unit]
in r: Events[Unit]
out resetCount(e, r) as c
<<<
0: e
1: e
2: e
3: r
4: e
5: e
5: r
6: e
>>>
0: c = 0
1: c = 1
2: c = 2
3: c = 0
4: c = 1
5: c = 1
6: c = 2

### resetCount: a reset before the first event gives no event
in e: Events[Unit]
in r: Events[Unit]
out resetCount(events = e, reset = r) as c
<<<
1: r
2: e
3: r
>>>
0: c = 0
2: c = 1
3: c = 0

### noEvent
in a: Events[Unit]
in b: Events[Unit]
out noEvent(on = a, since = b) as n
<<<
1: a
2: b
3: a
>>>
0: n = true
1: n = false
2: n = true
3: n = false

### rising and falling
in c: Events[Bool]
out rising(c) as r
out falling(c) as f
<<<
1: c = true
2: c = true
3: c = false
4: c = true
>>>
3: f = ()
4: r = ()

### runtime takes the latest call
in call: Events[Unit]
in ret: Events[Unit]
out runtime(call, ret) as r
<<<
1: ret
2: call
4: call
9: ret
11: ret
12: call
12: ret
>>>
9: r = 5
11: r = 7
12: r = 0

### period
in x: Events[Unit]
out period(4) as p
<<<
9: x
>>>
0: p = ()
4: p = ()
8: p = ()

### sample
in e: Events[Int]
out sample(e, 5) as s
<<<
1: e = 1
4: e = 4
6: e = 6
10: e = 10
11: e = 11
>>>
1: s = 1
6: s = 6
11: s = 11

### bursts: a new burst at least length and waiting period after the start of the last one
in e: Events[Unit]
out bursts(e, burstLength = 2, waitingPeriod = 4, burstAmount = 2) as b
<<<
10: e
12: e
13: e
15: e
16: e
17: e
18: e
>>>
0: b = true
10: b = true
12: b = false
13: b = false
15: b = false
16: b = true
17: b = true
18: b = false

### burstsSince begins anew
in e: Events[Unit]
in s: Events[Unit]
out burstsSince(e, 2, 4, 2, s) as b
<<<
10: e
11: e
12: s
13: e
14: e
15: e
>>>
0: b = true
10: b = true
11: b = true
13: b = true
14: b = true
15: b = false

### value functions, lifted
in x: Events[Int]
out max(x, 3) as ma
out min(x, 3) as mi
out intToFloat(x) as f
out floatToInt(intToFloat(x) /. 2.0) as t
<<<
1: x = 5
2: x = -5
>>>
1: ma = 5
1: mi = 3
1: f = 5.0
1: t = 2
2: ma = 3
2: mi = -5
2: f = -5.0
2: t = -2

### functions of reals
out pow(2.0, 10.0) as p
out log(8.0, 2.0) as l
out sin(0.0) as s
out cos(0.0) as c
out tan(0.0) as t
out atan(0.0) as a
<<<
>>>
0: p = 1024.0
0: l = 3.0
0: s = 0.0
0: c = 1.0
0: t = 0.0
0: a = 0.0

### options
def a = Some(3)
def b = None[Int]
out isNone(a) as na
out isSome(a) as sa
out getSome(a) as ga
out getSomeOrElse(b, 7) as gb
out Option.map(a, (x: Int) => x + 1) as m
out Option.flatMap(a, (x: Int) => if x > 5 then Some(x) else None[Int]) as fm
out Option.map2(a, Some(4), Operators.add) as m2
out Option.toSet(a) as ts
<<<
>>>
0: na = false
0: sa = true
0: ga = 3
0: gb = 7
0: m = Some(4)
0: fm = None
0: m2 = Some(7)
0: ts = Set(3)

### lists
def l = List.append(List.append(List.empty[Int], 1), 2)
out l
out List.size(l) as n
out List.isEmpty(l) as e
out List.prepend(0, l) as p
out List.head(l) as h
out List.last(l) as la
out List.tail(l) as t
out List.init(l) as i
out List.tail(List.empty[Int]) as te
out List.get(l, 1) as g
out List.set(l, 0, 9) as s
out List.fold(l, 100, Operators.sub) as f
<<<
>>>
0: l = List(1, 2)
0: n = 2
0: e = false
0: p = List(0, 1, 2)
0: h = 1
0: la = 2
0: t = List(2)
0: i = List(1)
0: te = List()
0: g = 2
0: s = List(9, 2)
0: f = 97

### sets keep the order of insertion
in x: Events[Int]
def s = Set.collect(x)
out s
out Set.contains(s, 2) as c
out Set.size(s) as n
out slift1(s, (a: Set[Int]) => Set.remove(a, 3)) as r
out Set.union(s, Set.singleton(7)) as u
out Set.intersection(s, Set.singleton(2)) as i
out Set.minus(s, Set.singleton(2)) as m
out s == prev(s) as same
<<<
1: x = 3
2: x = 2
3: x = 3
>>>
0: s = Set()
0: c = false
0: n = 0
0: r = Set()
0: u = Set(7)
0: i = Set()
0: m = Set()
1: s = Set(3)
1: c = false
1: n = 1
1: r = Set()
1: u = Set(3, 7)
1: i = Set()
1: m = Set(3)
1: same = false
2: s = Set(3, 2)
2: c = true
2: n = 2
2: r = Set(2)
2: u = Set(3, 2, 7)
2: i = Set(2)
2: m = Set(3)
2: same = false
3: s = Set(3, 2)
3: c = true
3: n = 2
3: r = Set(2)
3: u = Set(3, 2, 7)
3: i = Set(2)
3: m = Set(3)
3: same = true

### collectWithRemove
in a: Events[Int]
in r: Events[Int]
out Set.collectWithRemove(a, r) as s
<<<
1: a = 1
2: a = 2
3: r = 1
>>>
0: s = Set()
1: s = Set(1)
2: s = Set(1, 2)
3: s = Set(2)

### maps
in k: Events[String]
in v: Events[Int]
out Map.collectCount(k) as c
out Map.collectMax(k, v) as ma
def m = Map.add(Map.add(Map.empty[String, Int], "a", 1), "b", 2)
out Map.get(m, "b") as g
out Map.getOrElse(m, "z", 9) as e
out Map.remove(m, "a") as r
out Map.keys(m) as ks
out Map.size(m) as n
out Map.inc(m, "b") as i
out Map.fold(m, 0, (s: Int, key: String, x: Int) => s + x) as f
<<<
1: k = "x"
1: v = 4
2: k = "x"
2: v = 3
>>>
0: c = Map()
0: ma = Map()
0: g = 2
0: e = 9
0: r = Map("b" -> 2)
0: ks = List("a", "b")
0: n = 2
0: i = Map("a" -> 1, "b" -> 3)
0: f = 3
1: c = Map("x" -> 1)
1: ma = Map("x" -> 4)
2: c = Map("x" -> 2)
2: ma = Map("x" -> 4)

### an old version of a collection stays as it was
in x: Events[Int]
def l = fold(x, List.empty[Int], (a: List[Int], b: Int) => List.append(a, b))
out prev(prev(l)) as p
<<<
1: x = 1
2: x = 2
3: x = 3
>>>
2: p = List()
3: p = List(1)

### maps of the latest key, and numbers for values
in k: Events[String]
in v: Events[Int]
out Map.collectMax(k, v) as most
out Map.collectMin(key = k, value = v) as least
out Map.counting(k) as id
<<<
1: v = 9
2: k = "a"
3: v = 4
4: v = 2
5: k = "b"
5: v = 7
6: k = "a"
>>>
0: most = Map()
0: least = Map()
0: id = Map()
2: id = Map("a" -> 1)
3: most = Map("a" -> 4)
3: least = Map("a" -> 4)
4: most = Map("a" -> 4)
4: least = Map("a" -> 2)
5: most = Map("a" -> 4, "b" -> 7)
5: least = Map("a" -> 2, "b" -> 7)
5: id = Map("a" -> 1, "b" -> 2)
6: id = Map("a" -> 1, "b" -> 2)

### functions of collections take streams, beside functions on values
in l: Events[List[Int]]
in s: Events[Set[Int]]
in m: Events[Map[Int, Int]]
in a: Events[Int]
out List.map(l, (x: Int) => x * x) as lm
out List.fold(l, a, Operators.add) as lf
out List.zip(l, List.tail(l)) as lz
out List.zipWithIndex(l) as li
out Set.map(s, (x: Int) => x % 2 == 0) as sm
out Set.fold(s, 0, max) as sf
out Map.map(m, (k: Int, v: Int) => (v, "${k}")) as mm
out Map.fold(m, 0, (r: Int, k: Int, v: Int) => r + k * v) as mf
out Set.singleton(a) as one
<<<
1: l = List(3, 1, 2)
1: s = Set(4, 6, 7)
1: m = Map(1 -> 5, 2 -> 6)
1: a = 10
2: l = List()
>>>
1: lm = List(9, 1, 4)
1: lf = 16
1: lz = List((3, 1), (1, 2))
1: li = List((0, 3), (1, 1), (2, 2))
1: sm = Set(true, false)
1: sf = 7
1: mm = Map(5 -> "1", 6 -> "2")
1: mf = 17
1: one = Set(10)
2: lm = List()
2: lf = 10
2: lz = List()
2: li = List()

### zip and other names of newer sources
in x: Events[Int]
in y: Events[Bool]
out zip(x, y) as z
out zip3(x, y, x) as z3
out zip5(x, x, y, y, x)._5 as z5
out merge2(x, 0) as m
out mergeUnit2(x, y) as u
out OptionUtils.map(Some(3), (v: Int) => v + 1) as o
out Option.isNone(Option.None[Int]) as n
<<<
1: x = 5
2: y = true
3: x = 6
3: y = false
>>>
0: m = 0
0: o = Some(4)
0: n = true
1: z = (Some(5), None)
1: z3 = (Some(5), None, Some(5))
1: z5 = Some(5)
1: m = 5
1: u = ()
2: z = (None, Some(true))
2: z3 = (None, Some(true), None)
2: z5 = None
2: u = ()
3: z = (Some(6), Some(false))
3: z3 = (Some(6), Some(false), Some(6))
3: z5 = Some(6)
3: m = 6
3: u = ()

### since, with a time: less than x ago, or x ago and earlier
in a: Events[Bool]
in b: Events[Bool]
out MITL.since0(3, a, b) as near
out MITL.sinceInfinity(3, a, b) as far
out LTL.since(a, b) as s
<<<
0: a = true
0: b = false
1: b = true
2: b = false
3: b = true
7: b = false
12: a = false
13: a = true
14: b = true
16: a = false
20: a = true
>>>
0: near = false
0: far = false
0: s = false
1: near = true
1: s = true
4: far = true
10: near = false
12: far = false
12: s = false
14: near = true
14: s = true
16: near = false
16: s = false
20: near = true
20: s = true

### once and historically, with a time
in a: Events[Bool]
out MITL.once0(2, a) as o
out MITL.onceInfinity(2, a) as oi
out MITL.historically0(2, a) as h
out MITL.historicallyInfinity(2, a) as hi
out LTL.once(a) as lo
out LTL.historically(a) as lh
<<<
0: a = true
1: a = false
8: a = true
20: a = true
>>>
0: o = true
0: oi = false
0: h = true
0: hi = true
0: lo = true
0: lh = true
1: h = false
1: lh = false
2: oi = true
3: o = false
3: hi = false
8: o = true
10: h = true
