"""What the controllers of LeaderWorkerSet (from version 0.9 on) and Grove write into a status over the life of their objects.

Each row is one write, and the last column says if the object, or the whole graph, runs as its spec wants it afterwards: `*` if it does.
A row of a deletion holds the name only. Conditions of a LeaderWorkerSet: A(vailable), P(rogressing), U(pdateInProgress) are True.
"""

from __future__ import annotations

# spec.replicas  generation  observedGeneration  replicas  ready  updated  conditions
SETS = """
# created
3 1 - 0 0 0 -
3 1 1 0 0 0 P
3 1 1 3 0 3 P
# one group ready after the other
3 1 1 3 1 3 P
3 1 1 3 2 3 P
3 1 1 3 3 3 A *
# a pod of a group is not ready
3 1 1 3 2 3 P
3 1 1 3 3 3 A *
# a pod is deleted, and its whole group is made anew
3 1 1 3 2 2 P
3 1 1 3 2 3 P
3 1 1 3 3 3 A *
# a new template that the controller has not seen: everything looks ready
3 2 1 3 3 3 A
# seen, and the old pods are still ready
3 2 2 3 3 0 U
3 2 2 3 2 0 PU
3 2 2 3 2 1 PU
# between two groups all are ready
3 2 2 3 3 1 PU
3 2 2 3 2 1 PU
3 2 2 3 2 2 PU
3 2 2 3 3 2 PU
3 2 2 3 2 3 PU
3 2 2 3 3 3 A *
# scaled up
5 3 2 3 3 3 A
5 3 3 3 3 3 P
5 3 3 5 3 5 P
5 3 3 5 4 5 P
5 3 3 5 5 5 A *
# scaled down: Available throughout
2 4 3 5 5 5 A
2 4 4 5 5 5 A
2 4 4 2 2 2 A *
# scaled to nothing
0 5 4 2 2 2 A
0 5 5 2 2 2 A
0 5 5 2 0 0 A
0 5 5 0 0 0 A *
# scaled to one
1 6 5 0 0 0 A
1 6 6 0 0 0 P
1 6 6 1 0 1 P
1 6 6 1 1 1 A *
# more pods in a group
1 7 6 1 1 1 A
1 7 7 1 1 0 U
1 7 7 1 0 0 PU
1 7 7 1 0 1 PU
1 7 7 1 1 1 A *
# an update that is held back by its partition: only updatedReplicas tells it
1 8 7 1 1 1 A
1 8 8 1 1 0 A
# let go
1 9 8 1 1 0 A
1 9 9 1 1 0 U
1 9 9 1 0 1 PU
1 9 9 1 1 1 A *
"""

# object  spec.replicas  generation  observedGeneration  hash of the templates  replicas  ready or available  updated
# The graph has a service with two pods (front), and one with two groups of a leader and a worker (group; l0, w0, l1, w1 are its cliques).
CLIQUES = """
# created
set 1 1 - a 1 0 0
front 2 1 - - 0 0 0
group 2 1 - - 0 0 0
w0 1 1 - - 0 0 0
l0 1 1 - - 0 0 0
w1 1 1 - - 0 0 0
l1 1 1 - - 0 0 0
front 2 1 1 a 2 0 2
group 2 1 1 a 2 0 0
l0 1 1 1 a 1 0 1
w0 1 1 1 a 1 0 1
l1 1 1 1 a 1 0 1
w1 1 1 1 a 1 0 1
set 1 1 1 a 1 0 0
# one pod ready after the other
front 2 1 1 a 2 1 2
front 2 1 1 a 2 2 2
l0 1 1 1 a 1 1 1
w0 1 1 1 a 1 1 1
group 2 1 1 a 2 1 1
set 1 1 1 a 1 1 1
l1 1 1 1 a 1 1 1
w1 1 1 1 a 1 1 1
group 2 1 1 a 2 2 2 *
# a pod is not ready: the set stays available
front 2 1 1 a 2 1 2
front 2 1 1 a 2 2 2 *
# a worker is not ready, and the group hears of it later
w0 1 1 1 a 1 0 1
group 2 1 1 a 2 1 1
w0 1 1 1 a 1 1 1
group 2 1 1 a 2 2 2 *
# a pod is deleted and made anew
w1 1 1 1 a 0 0 0
group 2 1 1 a 2 1 1
w1 1 1 1 a 1 0 1
w1 1 1 1 a 1 1 1
group 2 1 1 a 2 2 2 *
# a restart of the first service: all objects take part, and generations stay
set 1 2 1 a 1 1 1
set 1 2 1 b 1 1 0
front 2 1 1 a 2 2 0
group 2 1 1 a 2 2 0
w0 1 1 1 b 1 1 1
l0 1 1 1 b 1 1 1
l1 1 1 1 b 1 1 1
w1 1 1 1 b 1 1 1
group 2 1 1 a 2 2 1
group 2 1 1 b 2 2 2
front 2 1 1 a 1 1 0
front 2 1 1 a 2 1 1
front 2 1 1 a 2 2 1
front 2 1 1 a 1 1 1
front 2 1 1 a 2 1 2
front 2 1 1 b 2 2 2
set 1 2 2 b 1 1 0 *
set 1 2 2 b 1 1 1 *
# a new image of the groups: one group after the other is deleted and made anew
set 1 3 2 b 1 1 1
set 1 3 2 c 1 1 0
front 2 1 1 b 2 2 0
group 2 1 1 b 2 2 0
front 2 1 1 c 2 2 2
l0 1 2 1 b 1 1 1
w0 1 2 1 b 1 1 1
l0
group 2 1 1 b 2 1 0
w0
l0 1 1 - - 0 0 0
w0 1 1 - - 0 0 0
w0 1 1 1 c 0 0 0
l0 1 1 1 c 1 0 1
w0 1 1 1 c 1 0 1
l0 1 1 1 c 1 1 1
w0 1 1 1 c 1 1 1
l1 1 2 1 b 1 1 1
l1
w1
group 2 1 1 b 2 1 1
w1 1 1 - - 0 0 0
l1 1 1 - - 0 0 0
w1 1 1 1 c 1 0 1
l1 1 1 1 c 1 0 1
l1 1 1 1 c 1 1 1
w1 1 1 1 c 1 1 1
group 2 1 1 c 2 2 2
set 1 3 2 c 1 1 1
set 1 3 3 c 1 1 1 *
# an autoscaler adds a pod
front 3 2 1 c 2 2 2
front 3 2 2 c 2 2 2
front 3 2 2 c 3 2 3
front 3 2 2 c 3 3 3 *
# another number in the set's template, which changes nothing
set 1 4 3 c 1 1 1
set 1 4 4 c 1 1 1 *
# an autoscaler adds a group
group 3 2 1 c 2 2 2
w2 1 1 - - 0 0 0
l2 1 1 - - 0 0 0
group 3 2 2 c 2 2 2
group 3 2 2 c 3 2 2
l2 1 1 1 c 1 0 1
w2 1 1 1 c 1 0 1
l2 1 1 1 c 1 1 1
w2 1 1 1 c 1 1 1
group 3 2 2 c 3 3 3 *
# the whole set is scaled to nothing
set 0 5 4 c 1 1 1
front 3 3 2 c 3 3 3
group 3 3 2 c 3 3 3
group
front
set 0 5 5 c 1 1 1
w0
l0
w1
l1
w2
l2
set 0 5 5 c 0 0 0
# and back
set 1 6 5 c 0 0 0
front 1 1 - - 0 0 0
group 1 1 - - 0 0 0
w0 1 1 - - 0 0 0
l0 1 1 - - 0 0 0
group 1 1 1 - 1 0 0
front 1 1 1 c 0 0 0
group 1 1 1 c 1 0 0
set 1 6 6 c 1 0 0
front 1 1 1 c 1 1 1
l0 1 1 1 c 1 1 1
w0 1 1 1 c 1 0 1
group 1 1 1 c 1 1 1
w0 1 1 1 c 1 1 1 *
# deleted: what is left has no set any more
set 1 7 6 c 1 1 1
set
group 1 2 1 c 1 1 1
front
group
"""
