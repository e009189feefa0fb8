# Imports of modules (docs/tessla-language.md A.8).
### the names of a module, and those that it imports
in x: Events[Int]
module Motor {
  module Units {
    liftable def rpm(hz: Int): Int = hz * 60
    type Speed = Int
  }
  import Units
  liftable def twice(v: Speed): Speed = v * 2
}
import Motor
out twice(x) as t
out rpm(x) as r
out Motor.rpm(x) as m
out Units.rpm(x) as u
<<<
1: x = 2
>>>
1: t = 4
1: r = 120
1: m = 120
1: u = 120

### a module by its path, whatever the order of the imports
import Inner
import Outer
module Outer { module Inner { def deep = 7 } }
import Outer.Inner
out deep
>>>
0: deep = 7

### two modules that import each other
module A {
  import B
  def a = 1
}
module B {
  import A
  def b = 2
}
out A.b as x
out B.a as y
>>>
0: x = 2
0: y = 1

### a type of an imported module
module Car { type State = {speed: Int, gear: Int} }
import Car
in s: Events[State]
out s.gear as g
<<<
1: s = {speed = 3, gear = 2}
>>>
1: g = 2

### a definition hides what is imported
module M { def limit = 1 }
import M
def limit = 5
out limit
out M.limit
>>>
0: limit = 5
0: M.limit = 1

### a name that two imported modules have
module Left { def limit = 1 }
module Right { def limit = 2 }
import Left
import Right
out limit
out Left.limit
>>>
! s.tessla:5:5: error: limit is ambiguous: Left and Right have it; write Left.limit or Right.limit
!     5 | out limit
!       |     ^^^^^
[1]

### a name that an imported module and the library have
in x: Events[Int]
import List
out last(x, x)
out __root__.last(x, x) as p
out size(append(empty[Int], 3)) as n
>>>
! s.tessla:3:5: error: last is ambiguous: List and the library have it; write List.last or __root__.last
!     3 | out last(x, x)
!       |     ^^^^
[1]

### modules of the library
import MITL
import StreamFunctions
in a: Events[Bool]
out pure(once0(2, a)) as o
out LTL.once(a) as e
out StreamFunctions.time(a) as t
<<<
0: a = false
3: a = true
4: a = false
9: a = false
>>>
0: o = false
0: e = false
0: t = 0
3: o = true
3: e = true
3: t = 3
4: t = 4
6: o = false
9: t = 9

### a module that does not exist, and what is no module
module Motor { def f = 1 }
def speed = 3
import Moter
import Motor.g
import speed
import 5
out speed
>>>
! s.tessla:3:8: error: Undefined module Moter; did you mean 'Motor'?
!     3 | import Moter
!       |        ^^^^^
! s.tessla:4:14: error: Undefined module g
!     4 | import Motor.g
!       |              ^
! s.tessla:5:8: error: speed is not a module; an import names a module, and makes all its names visible
!     5 | import speed
!       |        ^^^^^
! s.tessla:6:8: error: Expected the name of a module, found integer
!     6 | import 5
!       |        ^
[1]

### a specification's own names hide those of the library, which keeps them
in x: Events[Int]
def sum(a: Events[Int]): Events[Int] = a + 1
def fold = 3
module Operators { def add = 4 }
out sum(x) as s
out fold
out count(x) as n
out x + Operators.add as p
out Map.collectCount(x) as c
out __root__.fold as f
<<<
1: x = 5
>>>
0: fold = 3
0: n = 0
0: c = Map()
0: f = 3
1: s = 6
1: n = 1
1: p = 9
1: c = Map(5 -> 1)
