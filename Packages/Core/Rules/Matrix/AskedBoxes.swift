/// The boxes of a service without classes that a document's rules ask for. The others permit nothing.
struct AskedBoxes: Hashable, Sendable {
    /// Of roles that count everywhere.
    private(set) var everywhere: Set<Operation> = []
    /// Of roles within an object.
    private(set) var within: Set<Operation> = []

    static let all = AskedBoxes(
        everywhere: Set(PermissionMatrix.operations), within: Set(PermissionMatrix.operations))

    private init(everywhere: Set<Operation> = [], within: Set<Operation> = []) {
        self.everywhere = everywhere
        self.within = within
    }

    /// - Parameters:
    ///   - services: the names of those without classes.
    ///   - classesWithScope: the classes that are linked to what roles are granted in. In rules of others the boxes of roles
    ///     within an object say nothing.
    static func found(
        in document: RuleNode, of services: [String], classesWithScope: Set<String>
    ) -> [String: AskedBoxes] {
        var result = Dictionary(services.map { ($0, AskedBoxes()) }, uniquingKeysWith: { first, _ in first })
        guard case .map(let entries) = document.content else { return result }
        func note(_ node: RuleNode, isLinked: Bool) {
            for text in node.matrixQuestions {
                let isEverywhere = text.hasPrefix(ExpressionCompiler.everywherePrefix)
                let prefix = isEverywhere ? ExpressionCompiler.everywherePrefix : ExpressionCompiler.matrixPrefix
                let name = text.dropFirst(prefix.count)
                guard let dot = name.lastIndex(of: ".") else { continue }
                let operation = Operation(String(name[name.index(after: dot)...]))
                result[String(name[..<dot])]?.insert(operation, isLinked: isLinked && !isEverywhere)
            }
        }
        func noteClasses(_ entries: [RuleNode.Entry]) {
            for entry in entries { note(entry.value, isLinked: classesWithScope.contains(entry.key)) }
        }
        for entry in entries {
            switch (entry.key, entry.value.content) {
            case ("matrix", _): note(entry.value, isLinked: false)
            case ("rules", .map(let classes)): noteClasses(classes)
            case ("defaultRoles", _), ("default_roles", _), ("default_rule", _): note(entry.value, isLinked: true)
            // Anchors, which count where they are used.
            case (let key, _) where key.hasPrefix("x-"): break
            default: noteClasses([entry])
            }
        }
        return result
    }

    /// Whoever may change something may read it, so that the box for reading counts along.
    private mutating func insert(_ operation: Operation, isLinked: Bool) {
        everywhere.formUnion([operation, .read])
        if isLinked { within.formUnion([operation, .read]) }
    }
}

extension RuleNode {
    /// The texts in it that stand for boxes, such as `%%matrix.trash.read`.
    var matrixQuestions: [String] {
        switch content {
        case .string(let text): text.hasPrefix(ExpressionCompiler.matrixPrefix) ? [text] : []
        case .list(let nodes): nodes.flatMap(\.matrixQuestions)
        case .map(let entries): entries.flatMap(\.value.matrixQuestions)
        case .null, .bool, .int, .double: []
        }
    }
}
