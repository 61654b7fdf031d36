internal import TomboloHTTP
internal import TomboloModel
internal import TomboloRules
internal import TomboloSyncProtocol

/// Which classes and values the caller of the inspector may see. Each session uses the classes of its own generation,
/// but what the caller may see is decided by the newest rules, by class name.
struct InspectorView: Sendable {
    /// Longer conditions are cut to this number of bytes.
    static let maximumConditionByteCount = 1_000
    static let concealment = Wording("(not shown: it looks at what you may not read)")
    static let concealed = concealment.description

    let grant: ClassesGrant
    private let hidden: [Int: Set<Int>]
    private let readable: @Sendable (Int) -> Predicate

    init(_ grant: ClassesGrant) {
        self.grant = grant
        hidden = grant.rules.hiddenColumns(grant.subject)
        readable = grant.rules.readable(grant.subject)
    }

    /// Whether the caller may inspect objects of the class.
    func includes(_ className: String) -> Bool { index(className).map { filter($0) != nil } ?? false }

    private func index(_ className: String) -> Int? { grant.rules.schema.index(of: className) }

    private func filter(_ classIndex: Int) -> Predicate? { grant.filters[grant.rules.schema[classIndex].name] }

    /// Whether the caller may see the value of this property for at least some objects of the class.
    func shows(_ path: PropertyPath, of className: String) -> Bool {
        guard let index = index(className), filter(index) != nil, readable(index) != .constant(false) else {
            return false
        }
        // A property that the newest model no longer has can't be shown to anybody.
        guard let column = grant.rules.schema[index].columnIndex(path.description) else { return false }
        return hidden[index]?.contains(column) != true && !grant.rules.schema[index].columns[column].isEncrypted
    }

    /// Describes a condition on objects of a class.
    func text(_ predicate: Predicate, of className: String) -> String {
        guard predicate.paths.allSatisfy({ shows($0, of: className) }) else { return Self.concealed }
        if predicate == .constant(true) { return "all objects" }
        if predicate == .constant(false) { return "nothing" }
        return "\(predicate)".shortened(toByteCount: Self.maximumConditionByteCount)
    }

    /// Describes a condition that an object doesn't satisfy, with the object's actual value: `price > 5, but it is
    /// 3`.
    func text(_ failure: Predicate, unsatisfiedBy row: Row, of item: ClassSchema, in schema: Schema) -> Wording {
        let condition = text(failure, of: item.name)
        guard condition != Self.concealed else { return Self.concealment }
        guard mayRead(row, of: item.name, in: schema) else { return Wording(untranslated: condition) }
        var seen: Set<PropertyPath> = []
        let values = failure.paths.filter { seen.insert($0).inserted }.prefix(5).compactMap { path in
            item.columnIndex(path.description).map { Wording("\(path) is \(row[$0].shown)") }
        }
        guard let first = values.first else { return Wording(untranslated: condition) }
        let all = values.dropFirst().reduce(first) { Wording("\($0) and \($1)") }
        return Wording("\(condition), but \(all)")
    }

    /// Whether the caller may read an object. Its row may be in the form of any generation.
    func mayRead(_ row: Row, of className: String, in schema: Schema) -> Bool {
        guard let index = index(className), let former = schema.index(of: className) else { return false }
        let now = grant.rules.schema[index]
        let before = schema[former]
        // Match columns by name, because their positions are specific to the generation.
        return readable(index).evaluate { path in
            now.columnIndex(path.description).flatMap { before.columnIndex(now.columns[$0].name) }.map { row[$0] }
                ?? .null
        }
    }
}

extension Value {
    /// For messages: shortened if it's long.
    fileprivate var shown: String { "\(self)".shortened(toByteCount: 200) }
}
