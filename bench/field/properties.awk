# SPDX-License-Identifier: Apache-2.0
# The properties by hand.
{ time = $1 + 0 }
$2 == "call" {
    if (open && ++twice % 10000 == 0)
        printf "%d: twice = %d\n", time, twice
    open = called = 1
    begun = time
}
$2 == "ret" {
    open = 0
    cost = time - begun
    if (called && cost > 40 && ++slow % 10000 == 0)
        printf "%d: slow = %d\n", time, slow
    if (called && (!any || cost > worst)) {
        worst = cost
        any = 1
        printf "%d: worst = %d\n", time, worst
    }
}
