internal import TomboloModel

/// The intervals of one column, each belonging to a slot, in an AVL tree sorted by lower cut. A node knows the largest
/// upper cut in its subtree, so that a lookup visits the intervals that contain a value and few others.
///
/// The tree stays balanced whatever the order of insertion, which matters because devices choose the intervals.
struct IntervalTree: Sendable {
    private struct Node {
        var interval: Interval
        var slot: Int
        var left = IntervalTree.none
        var right = IntervalTree.none
        var height = 1
        /// The node in this subtree that has the largest upper cut.
        var last: Int
    }

    private static let none = -1

    private var nodes: [Node] = []
    private var freeNodes: [Int] = []
    private var root = none

    var isEmpty: Bool { root == Self.none }

    /// Adds an interval in O(log n).
    /// - Returns: the interval's place, which is needed to remove it.
    mutating func insert(_ interval: Interval, slot: Int) -> Int {
        let place: Int
        if let free = freeNodes.popLast() {
            place = free
            nodes[place] = Node(interval: interval, slot: slot, last: place)
        } else {
            place = nodes.count
            nodes.append(Node(interval: interval, slot: slot, last: place))
        }
        root = inserting(place, below: root)
        return place
    }

    /// Removes an interval in O(log n).
    mutating func remove(_ place: Int) {
        root = removing(place, below: root)
        nodes[place] = Node(interval: .empty, slot: Self.none, last: place)
        freeNodes.append(place)
    }

    /// Appends the slots of the intervals that contain a value. Finding k of n takes at most O(k log n).
    func append(containing value: Value, to slots: inout [Int]) {
        nodes.withUnsafeBufferPointer { Self.append($0, below: root, containing: value, to: &slots) }
    }

    private static func append(
        _ nodes: UnsafeBufferPointer<Node>, below root: Int, containing value: Value, to slots: inout [Int]
    ) {
        var node = root
        while node != none, !nodes[nodes[node].last].interval.upper.precedes(value) {
            append(nodes, below: nodes[node].left, containing: value, to: &slots)
            guard nodes[node].interval.lower.precedes(value) else { return }
            if !nodes[node].interval.upper.precedes(value) { slots.append(nodes[node].slot) }
            node = nodes[node].right
        }
    }
}

// MARK: - Balance

extension IntervalTree {
    /// Orders nodes by lower cut. Ties are ordered by place, so that a node can be found among others with the same
    /// lower cut.
    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let order = nodes[left].interval.lower.order(nodes[right].interval.lower)
        return order == 0 ? left < right : order < 0
    }

    private mutating func inserting(_ new: Int, below node: Int) -> Int {
        guard node != Self.none else { return new }
        if precedes(new, node) {
            let left = inserting(new, below: nodes[node].left)
            nodes[node].left = left
        } else {
            let right = inserting(new, below: nodes[node].right)
            nodes[node].right = right
        }
        return balanced(node)
    }

    private mutating func removing(_ old: Int, below node: Int) -> Int {
        guard node != Self.none else { return node }
        if node == old {
            if nodes[node].left == Self.none { return nodes[node].right }
            if nodes[node].right == Self.none { return nodes[node].left }
            let first = first(below: nodes[node].right)
            let right = removing(first, below: nodes[node].right)
            nodes[first].left = nodes[node].left
            nodes[first].right = right
            return balanced(first)
        }
        if precedes(old, node) {
            let left = removing(old, below: nodes[node].left)
            nodes[node].left = left
        } else {
            let right = removing(old, below: nodes[node].right)
            nodes[node].right = right
        }
        return balanced(node)
    }

    private func first(below node: Int) -> Int {
        var node = node
        while nodes[node].left != Self.none { node = nodes[node].left }
        return node
    }

    private func height(_ node: Int) -> Int { node == Self.none ? 0 : nodes[node].height }

    /// Positive if the left side is higher.
    private func slant(_ node: Int) -> Int { height(nodes[node].left) - height(nodes[node].right) }

    /// Balances a subtree whose sides are already balanced.
    /// - Returns: the subtree's root.
    private mutating func balanced(_ node: Int) -> Int {
        update(node)
        let slant = slant(node)
        if slant > 1 {
            let left = nodes[node].left
            if self.slant(left) < 0 { nodes[node].left = rotatedLeft(left) }
            return rotatedRight(node)
        }
        if slant < -1 {
            let right = nodes[node].right
            if self.slant(right) > 0 { nodes[node].right = rotatedRight(right) }
            return rotatedLeft(node)
        }
        return node
    }

    private mutating func rotatedLeft(_ node: Int) -> Int {
        let top = nodes[node].right
        nodes[node].right = nodes[top].left
        nodes[top].left = node
        update(node)
        update(top)
        return top
    }

    private mutating func rotatedRight(_ node: Int) -> Int {
        let top = nodes[node].left
        nodes[node].left = nodes[top].right
        nodes[top].right = node
        update(node)
        update(top)
        return top
    }

    private mutating func update(_ node: Int) {
        let (left, right) = (nodes[node].left, nodes[node].right)
        nodes[node].height = 1 + max(height(left), height(right))
        var last = node
        for side in [left, right] where side != Self.none {
            let candidate = nodes[side].last
            if nodes[last].interval.upper.order(nodes[candidate].interval.upper) < 0 { last = candidate }
        }
        nodes[node].last = last
    }
}
