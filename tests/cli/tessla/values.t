# Values, error values and printing (docs/tessla-language.md A.1, A.5, A.6, A.10).
### integer division truncates, the remainder has the sign of the dividend
out 7 / 2 as a
out -7 / 2 as b
out 7 % -3 as c
out -7 % 3 as d
<<<
>>>
0: a = 3
0: b = -3
0: c = 1
0: d = -1

### bit operations and shifts
out 12 & 10 as a
out 12 | 10 as b
out 12 ^ 10 as c
out ~0 as d
out 1 << 4 as e
out -16 >> 2 as f
out 16 << -2 as g
out 16 >> -2 as h
out -1 >> 64 as i
out 5 >> 100 as j
<<<
>>>
0: a = 8
0: b = 14
0: c = 6
0: d = -1
0: e = 16
0: f = -4
0: g = 4
0: h = 64
0: i = -1
0: j = 0

### precedence
out 1 + 2 * 3 - 4 as a
out 2 * 3 << 1 + 1 as b
out 6 & 3 | 8 as c
out 1 < 2 && 2 < 1 || true as d
out -2 * 3 as e
out 10 - 3 - 2 as f
<<<
>>>
0: a = 3
0: b = 24
0: c = 10
0: d = true
0: e = -6
0: f = 5

### reals print as in Java
out 1.0 as a
out 0.1 +. 0.2 as b
out 100.0 *. 100000.0 as c
out 0.001 as d
out 0.0001 as e
out 1.0 /. 0.0 as f
out -.1.0 /. 0.0 as g
out 0.0 /. 0.0 as h
out 1e100 as i
out 123456.789 as j
out -.2.5 as k
out 12345678.9 as l
<<<
>>>
0: a = 1.0
0: b = 0.30000000000000004
0: c = 1.0E7
0: d = 0.001
0: e = 1.0E-4
0: f = Infinity
0: g = -Infinity
0: h = NaN
0: i = 1.0E100
0: j = 123456.789
0: k = -2.5
0: l = 1.23456789E7

### strings are quoted as outputs, with control characters escaped and nothing else; bare inside insertions
in s: Events[String]
out s
out "<$s>" as t
out String.concat(s, "!") as c
out toString(s) as ts
<<<
1: s = "a\"b\n"
>>>
1: s = "a"b\n"
1: t = "<a"b\n>"
1: c = "a"b\n!"
1: ts = "a"b\n"

### insertions
in x: Events[Int]
out "x is $x, next ${x + 1}; costs \$5 \\ 100\%" as s
<<<
1: x = 41
>>>
1: s = "x is 41, next 42; costs $5 \ 100%"

### format strings
in x: Events[Int]
out f"$x%5d|$x%-5d|$x%05d|$x%x|$x%X|$x%o|$x%+d|$x%,d" as d
out f"${intToFloat(x)}%.2f|${intToFloat(x)}%e|${intToFloat(x)}%g|${intToFloat(x)}%a" as f
out f"$x%s|$x%6s|${"abc"}%.2s|${"abc"}%S|100%%" as s
<<<
1: x = 1234
>>>
1: d = " 1234|1234 |01234|4d2|4D2|2322|+1234|1,234"
1: f = "1234.00|1.234000e+03|1234.00|0x1.348p10"
1: s = "1234|  1234|ab|ABC|100%"

### options, tuples and records
out Some(Some(3)) as a
out None[Option[Int]] as b
out Some(None[Int]) as c
out (1, "a", true) as d
out {x = 1, y = {z = 2.0}} as e
out () as u
<<<
>>>
0: a = Some(Some(3))
0: b = None
0: c = Some(None)
0: d = (1, "a", true)
0: e = {x = 1, y = {z = 2.0}}
0: u = ()

### equality is structural
out (1, "a") == (1, "a") as a
out Some(1) == None[Int] as b
out {p = 1} != {p = 2} as c
out "x" == "x" as d
out 0.0 == -.0.0 as e
out Set.add(Set.singleton(1), 2) == Set.add(Set.singleton(2), 1) as f
<<<
>>>
0: a = true
0: b = false
0: c = true
0: d = true
0: e = true
0: f = true

### raw outputs
in x: Events[Int]
@raw out "x = $x"
@raw out x
<<<
1: x = 1
>>>
x = 1
1

### an error value is counted, stored, merged and dropped like any other
in x: Events[Int]
def bad = 10 / x
out count(bad) as c
out const(1, bad) as k
out time(bad) as t
out isSome(last(Some(bad), x)) as s
out merge(x, bad) as m
<<<
1: x = 0
2: x = 5
>>>
0: c = 0
1: c = 1
1: k = 1
1: t = 1
1: m = 0
2: c = 2
2: k = 1
2: t = 2
2: s = true
2: m = 5

### an error value that is put out ends the run behind all earlier instants
in x: Events[Int]
out x
out 10 / x as q
<<<
1: x = 5
2: x = 0
3: x = 1
>>>
1: x = 5
1: q = 2
! coretap: Division by zero (t = 2) in 'q' (s.tessla:3:15)
[2]

### an error value as a condition is raised
in x: Events[Int]
out if 10 / x > 1 then 1 else 2 as i
<<<
1: x = 0
>>>
! coretap: Division by zero (t = 1) in 'i' (s.tessla:2:36)
[2]

### an error value as the condition of a choice is raised only where what is chosen is needed
in l: Events[List[Int]]
def big = if List.head(l) > 2 then 1 else 2
def found(k: Int): Int = if 10 / k > 1 then 7 else 8
out if List.isEmpty(l) then 0 else big as nested
out const(3, big) as c
out count(slift1(List.size(l), found)) as n
out List.size(l) > 0 && (if 10 / List.size(l) > 1 && List.head(l) > 2 then true else false) as b
<<<
1: l = List(1)
2: l = List()
3: l = List(5, 1)
>>>
0: n = 0
1: nested = 2
1: c = 3
1: n = 1
1: b = false
2: nested = 0
2: c = 3
2: n = 2
2: b = false
3: nested = 1
3: c = 3
3: n = 3
3: b = true

### an error value is raised where it decides whether there is an event
in x: Events[Int]
out filter(x, 10 / x > 1) as f
<<<
1: x = 5
2: x = 0
>>>
1: f = 5
! coretap: Division by zero (t = 2) in 'f' (s.tessla:2:30)
[2]

### lazy operators do not need their right side
in x: Events[Int]
out x != 0 && 10 / x > 1 as a
out x == 0 || 10 / x > 1 as o
out if x == 0 then 0 else 10 / x as i
<<<
1: x = 0
2: x = 4
>>>
1: a = false
1: o = true
1: i = 0
2: a = true
2: o = true
2: i = 2

### beyond 64 bits
in x: Events[Int]
out x + 1 as s
<<<
1: x = 9223372036854775806
2: x = 9223372036854775807
>>>
1: s = 9223372036854775807
2: s = 9223372036854775808

### the smallest integer
in x: Events[Int]
out x == -9223372036854775808 as m
out -x as n
<<<
1: x = -9223372036854775808
>>>
1: m = true
1: n = 9223372036854775808

### numbers of 63 digits
in x: Events[Int]
out x
out x % 1000 as last_digits
out sum(x)
out Map.collectCount(x) as seen
out f"$x%,d" as grouped
<<<
1: x = 123456789012345678901234567890123456789012345678901234567890123
2: x = -999999999999999999999999999999999999999999999999999999999999999
3: x = 123456789012345678901234567890123456789012345678901234567890123
>>>
0: sum(x) = 0
0: seen = Map()
1: x = 123456789012345678901234567890123456789012345678901234567890123
1: last_digits = 123
1: sum(x) = 123456789012345678901234567890123456789012345678901234567890123
1: seen = Map(123456789012345678901234567890123456789012345678901234567890123 -> 1)
1: grouped = "123,456,789,012,345,678,901,234,567,890,123,456,789,012,345,678,901,234,567,890,123"
2: x = -999999999999999999999999999999999999999999999999999999999999999
2: last_digits = -999
2: sum(x) = -876543210987654321098765432109876543210987654321098765432109876
2: seen = Map(123456789012345678901234567890123456789012345678901234567890123 -> 1, -999999999999999999999999999999999999999999999999999999999999999 -> 1)
2: grouped = "-999,999,999,999,999,999,999,999,999,999,999,999,999,999,999,999,999,999,999,999,999"
3: x = 123456789012345678901234567890123456789012345678901234567890123
3: last_digits = 123
3: sum(x) = -753086421975308642197530864219753086421975308642197530864219753
3: seen = Map(123456789012345678901234567890123456789012345678901234567890123 -> 2, -999999999999999999999999999999999999999999999999999999999999999 -> 1)
3: grouped = "123,456,789,012,345,678,901,234,567,890,123,456,789,012,345,678,901,234,567,890,123"

### None, keys, indices
in x: Events[Int]
def o = slift1(x, (a: Int) => if a > 1 then Some(a) else None[Int])
out slift1(o, (a: Option[Int]) => getSome(a)) as g
<<<
1: x = 2
2: x = 1
>>>
1: g = 2
! coretap: Cannot get the value of None (t = 2) in 'g' (s.tessla:3:50)
[2]

### a missing key
out Map.get(Map.empty[Int, Int], 1) as g
<<<
>>>
! coretap: Key not found in map (t = 0) in 'g' (s.tessla:1:40)
[2]

### an index out of range
out List.get(List.empty[Int], 0) as g
<<<
>>>
! coretap: Index out of range (t = 0) in 'g' (s.tessla:1:37)
[2]

### float to int of NaN
out floatToInt(0.0 /. 0.0) as g
<<<
>>>
! coretap: Cannot convert NaN or infinity to Int (t = 0) in 'g' (s.tessla:1:31)
[2]

### recursive functions run at run time
in x: Events[Int]
def fact(n: Int): Int = if n <= 1 then 1 else n * fact(n - 1)
def even(n: Int): Bool = if n == 0 then true else odd(n - 1)
def odd(n: Int): Bool = if n == 0 then false else even(n - 1)
out slift1(x, fact) as f
out slift1(x, even) as e
<<<
1: x = 5
2: x = 20
>>>
1: f = 120
1: e = false
2: f = 2432902008176640000
2: e = true

### their depth is bounded
in x: Events[Int]
def deep(n: Int): Int = if n == 0 then 0 else 1 + deep(n - 1)
out slift1(x, deep) as d
<<<
1: x = 1000
2: x = 100000000
>>>
1: d = 1000
! coretap: Stack overflow (t = 2)
[2]

### a recursion in last place needs no stack [--event-budget 20000000]
in x: Events[Int]
def down(n: Int, s: Int): Int = if n == 0 then s else down(n - 1, s + n)
out slift1(x, (n: Int) => down(n, 0)) as d
<<<
1: x = 1000000
>>>
1: d = 500000500000

### functions that take and return functions
in x: Events[Int]
def twice(f: (Int) => Int): (Int) => Int = (a: Int) => f(f(a))
def add(n: Int): (Int) => Int = (a: Int) => a + n
def pick(b: Bool): (Int) => Int = if b then add(1) else add(100)
out slift1(x, twice(add(3))) as t
out slift1(x, (a: Int) => pick(a > 2)(a)) as p
<<<
1: x = 1
2: x = 5
>>>
1: t = 7
1: p = 101
2: t = 11
2: p = 6

### a recursive function with captured values
in x: Events[Int]
def power(base: Int, n: Int): Int = {
  def go(k: Int, acc: Int): Int = if k >= n then acc else go(k + 1, acc * base)
  go(0, 1)
}
out slift1(x, (a: Int) => power(a, a)) as p
<<<
1: x = 3
2: x = 4
>>>
1: p = 27
2: p = 256
