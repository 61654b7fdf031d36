internal import TomboloModel

extension String {
    var isOperator: Bool { hasPrefix("$") || hasPrefix("%") }
}

extension RuleNode {
    /// Whether it's a mapping of one key that wraps a value: extended JSON, or a conversion.
    var isWrappedValue: Bool {
        guard case .map(let entries) = content, entries.count == 1 else { return false }
        return RuleOperator.wrappers.contains(entries[0].key) || RuleOperator.conversions[entries[0].key] != nil
    }

    /// Whether it asks for a box of the matrix, which may be unticked for everybody.
    var asksMatrix: Bool {
        switch content {
        case .string(let text):
            text.hasPrefix(ExpressionCompiler.matrixPrefix) || text.hasPrefix(ExpressionCompiler.permissionPrefix)
        case .list(let nodes): nodes.contains(where: \.asksMatrix)
        case .map(let entries): entries.contains { $0.value.asksMatrix }
        case .null, .bool, .int, .double: false
        }
    }

    /// Whether it literally says false.
    var isPlainlyFalse: Bool {
        switch content {
        case .bool(false), .string("%%false"): return true
        case .map(let entries):
            guard entries.count == 1, case .bool(let value) = entries[0].value.content else { return false }
            return entries[0].key == (value ? "%%false" : "%%true")
        default: return false
        }
    }
}

extension Value {
    var isNotANumber: Bool { if case .double(let number) = self { number.isNaN } else { false } }
}

extension PropertyType {
    /// The name with its article, for messages: `an int`.
    var article: String { ("aeio".contains(name.prefix(1)) ? "an " : "a ") + name }
}
