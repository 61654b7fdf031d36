internal import TomboloModel

extension RuleExpression {
    /// Adds everything that the expression says, with its literals in full.
    func add(to hash: inout StableHash) {
        switch self {
        case .constant(let value):
            hash.add(byte: 0)
            hash.add(.bool(value))
        case .field(let column, let comparison, let operand):
            hash.add(byte: 1)
            hash.add(column.name)
            hash.add(comparison.rawValue)
            operand.add(to: &hash)
        case .fieldIn(let column, let operands):
            hash.add(byte: 2)
            hash.add(column.name)
            hash.add(Int64(operands.count))
            for operand in operands { operand.add(to: &hash) }
        case .fieldInList(let column, let reference):
            hash.add(byte: 3)
            hash.add(column.name)
            hash.add(reference.description)
        case .user(let reference, let test):
            hash.add(byte: 4)
            hash.add(reference.description)
            test.add(to: &hash)
        case .all(let parts):
            hash.add(byte: 5)
            hash.add(Int64(parts.count))
            for part in parts { part.add(to: &hash) }
        case .any(let parts):
            hash.add(byte: 6)
            hash.add(Int64(parts.count))
            for part in parts { part.add(to: &hash) }
        case .not(let inner):
            hash.add(byte: 7)
            inner.add(to: &hash)
        }
    }

    /// What the expression uses of the user.
    var references: Set<UserReference> {
        switch self {
        case .constant: []
        case .field(_, _, let operand): operand.references
        case .fieldIn(_, let operands): operands.reduce(into: []) { $0.formUnion($1.references) }
        case .fieldInList(_, let reference): [reference]
        case .user(let reference, .exists): [reference]
        case .user(let reference, .compare(_, let operand)), .user(let reference, .isIn(let operand)):
            operand.references.union([reference])
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.references) }
        case .not(let inner): inner.references
        }
    }
}

extension RuleExpression.FieldOperand {
    fileprivate func add(to hash: inout StableHash) {
        switch self {
        case .literal(let value):
            hash.add(byte: 0)
            hash.add(value)
        case .reference(let reference):
            hash.add(byte: 1)
            hash.add(reference.description)
        }
    }

    fileprivate var references: Set<UserReference> {
        if case .reference(let reference) = self { [reference] } else { [] }
    }
}

extension RuleExpression.UserTest {
    fileprivate func add(to hash: inout StableHash) {
        switch self {
        case .compare(let comparison, let operand):
            hash.add(byte: 0)
            hash.add(comparison.rawValue)
            operand.add(to: &hash)
        case .isIn(let operand):
            hash.add(byte: 1)
            operand.add(to: &hash)
        case .exists: hash.add(byte: 2)
        }
    }
}

extension RuleExpression.UserOperand {
    fileprivate func add(to hash: inout StableHash) {
        switch self {
        case .literal(let value):
            hash.add(byte: 0)
            hash.add(userValue: value)
        case .list(let operands):
            hash.add(byte: 1)
            hash.add(Int64(operands.count))
            for operand in operands { operand.add(to: &hash) }
        case .reference(let reference):
            hash.add(byte: 2)
            hash.add(reference.description)
        }
    }

    fileprivate var references: Set<UserReference> {
        switch self {
        case .literal: []
        case .list(let operands): operands.reduce(into: []) { $0.formUnion($1.references) }
        case .reference(let reference): [reference]
        }
    }
}

extension StableHash {
    mutating func add(userValue value: UserValue) {
        switch value {
        case .null: add(.null)
        case .bool(let flag): add(.bool(flag))
        case .int(let number): add(.int(number))
        case .double(let number): add(.double(number))
        case .string(let text): add(.string(text))
        case .array(let values):
            add(byte: 20)
            add(Int64(values.count))
            for value in values { add(userValue: value) }
        case .object(let values):
            add(byte: 21)
            add(Int64(values.count))
            for key in values.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
                add(key)
                add(userValue: values[key] ?? .null)
            }
        }
    }
}
