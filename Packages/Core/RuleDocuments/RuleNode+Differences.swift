internal import TomboloModel
internal import TomboloRules

extension RuleNode {
    /// The number of values that differ from another node's, wherever they are written. A value that only one of them
    /// has counts once.
    func differenceCount(from other: RuleNode) -> Int {
        switch (content, other.content) {
        case (.null, .null): return 0
        case (.bool(let value), .bool(let old)): return value == old ? 0 : 1
        case (.int(let value), .int(let old)): return value == old ? 0 : 1
        case (.double(let value), .double(let old)): return value == old ? 0 : 1
        case (.string(let value), .string(let old)): return value.hasBytes(of: old) ? 0 : 1
        case (.list(let nodes), .list(let old)):
            return zip(nodes, old).reduce(abs(nodes.count - old.count)) { $0 + $1.0.differenceCount(from: $1.1) }
        case (.map(let entries), .map(let old)):
            return zip(entries, old).reduce(abs(entries.count - old.count)) { count, pair in
                count + (pair.0.key.hasBytes(of: pair.1.key) ? pair.0.value.differenceCount(from: pair.1.value) : 1)
            }
        default: return 1
        }
    }
}
