/// The boxes that a document's rules ask for, of a service without classes. Its other boxes permit nothing.
struct AskedBoxes: Hashable, Sendable {
    /// Of roles that apply everywhere.
    private(set) var everywhere: Set<Operation> = []
    /// Of roles within an object.
    private(set) var within: Set<Operation> = []
    /// What the rules ask each box for, as far as that is an operation.
    private(set) var purposes: [Operation: Set<BoxPurpose>] = [:]

    static let all = AskedBoxes(
        everywhere: Set(PermissionMatrix.operations), within: Set(PermissionMatrix.operations))

    private init(everywhere: Set<Operation> = [], within: Set<Operation> = []) {
        self.everywhere = everywhere
        self.within = within
    }

    /// - Parameters:
    ///   - services: the names of the services without classes.
    ///   - classesWithScope: the classes that link to the objects that roles are granted in. In rules of other classes,
    ///     boxes of roles within an object have no effect.
    static func found(
        in document: RuleNode, of services: [String], classesWithScope: Set<String>
    ) -> [String: AskedBoxes] {
        var result = Dictionary(services.map { ($0, AskedBoxes()) }, uniquingKeysWith: { first, _ in first })
        guard case .map(let entries) = document.content else { return result }
        func note(_ node: RuleNode, isLinked: Bool) {
            for text in node.matrixQuestions {
                guard let box = box(text) else { continue }
                result[box.service]?.insert(box.operation, isLinked: isLinked && !box.isEverywhere)
            }
        }
        for (purpose, node) in purposes(in: entries) {
            for text in node.matrixQuestions {
                guard let box = box(text) else { continue }
                result[box.service]?.purposes[box.operation, default: []].insert(purpose)
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
            // Anchors. They count where they are used.
            case (let key, _) where key.hasPrefix("x-"): break
            default: noteClasses([entry])
            }
        }
        return result
    }

    /// The box that a string such as `%%matrix.trash.read` stands for.
    private static func box(_ text: String) -> (service: String, operation: Operation, isEverywhere: Bool)? {
        let isEverywhere = text.hasPrefix(ExpressionCompiler.everywherePrefix)
        let prefix = isEverywhere ? ExpressionCompiler.everywherePrefix : ExpressionCompiler.matrixPrefix
        let name = text.dropFirst(prefix.count)
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return (String(name[..<dot]), Operation(String(name[name.index(after: dot)...])), isEverywhere)
    }

    /// A document's conditions on operations, with the purpose of each.
    private static func purposes(in entries: [RuleNode.Entry]) -> [(purpose: BoxPurpose, condition: RuleNode)] {
        var found: [(purpose: BoxPurpose, condition: RuleNode)] = []
        func addClasses(_ node: RuleNode) {
            switch node.content {
            case .list(let nodes): nodes.forEach(addClasses)
            case .map(let entries):
                for entry in entries where entry.key != "fields" {
                    guard entry.key == "operations", case .map(let operations) = entry.value.content else {
                        addClasses(entry.value)
                        continue
                    }
                    found += operations.map { (.objects(Operation($0.key)), $0.value) }
                }
            case .string, .null, .bool, .int, .double: break
            }
        }
        for entry in entries where !entry.key.hasPrefix("x-") {
            guard entry.key == "matrix" else {
                addClasses(entry.value)
                continue
            }
            let operations = entry.value["operations"]
            if let read = entry.value["read"] {
                found.append((.matrix(.read), read))
                // Users who may see the matrix may list accounts, unless the document says otherwise.
                if operations?["listAccounts"] == nil { found.append((.matrix(.listAccounts), read)) }
            }
            guard case .map(let operations)? = operations?.content else { continue }
            for operation in operations {
                found.append((.matrix(Operation(operation.key)), operation.value))
                if Operation(operation.key) == .manageAccounts {
                    found.append((.matrix(.listAccounts), operation.value))
                }
            }
        }
        return found
    }

    /// Permission to change something includes permission to read it, so the box for reading is asked for too.
    private mutating func insert(_ operation: Operation, isLinked: Bool) {
        everywhere.formUnion([operation, .read])
        if isLinked { within.formUnion([operation, .read]) }
    }
}

extension RuleNode {
    /// The strings in the node that stand for boxes, such as `%%matrix.trash.read`.
    var matrixQuestions: [String] {
        switch content {
        case .string(let text): text.hasPrefix(ExpressionCompiler.matrixPrefix) ? [text] : []
        case .list(let nodes): nodes.flatMap(\.matrixQuestions)
        case .map(let entries): entries.flatMap(\.value.matrixQuestions)
        case .null, .bool, .int, .double: []
        }
    }
}
