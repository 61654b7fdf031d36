import TomboloModel

/// What a consumer holds in the hostile test, with the invariants it must satisfy after every batch.
struct BankContent: Equatable {
    var accounts: [Int64: Int64] = [:]
    var parents: Set<Int64> = []
    var children: [Int64: Child] = [:]

    struct Child: Equatable {
        var title: Int64
        var parent: Int64?
    }

    /// The first violated invariant, or nil.
    var problem: String? {
        let sum = accounts.values.reduce(0, +)
        if sum != Int64(HostileWriters.accountCount * HostileWriters.opening) {
            return "a transfer is torn: the sum is \(sum)"
        }
        for (id, child) in children {
            if let parent = child.parent, !parents.contains(parent) {
                return "child \(id) came before its parent \(parent)"
            }
        }
        return nil
    }
}
