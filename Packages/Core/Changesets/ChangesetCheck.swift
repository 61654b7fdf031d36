public import TomboloModel

/// Checks that refuse a changeset before any row is read or locked.
public struct ChangesetCheck: Sendable {
    private let schema: Schema

    /// Checks against the server's schema.
    public init(schema: Schema) { self.schema = schema }

    // MARK: Content

    /// Checks classes, columns, keys and values against the schema. ``Arbiter`` does so too.
    /// - Throws: ``Refusal`` with the code ``Refusal/Code/invalid`` if the changeset is wrong whatever the rows are.
    public func requireValid(_ changeset: Changeset) throws(Refusal) {
        if let defect = changeset.defect { throw defect.refusal }
        // For each column, the index of the last instruction that named it.
        var namedBy = Array(repeating: -1, count: schema.classes.map(\.columns.count).max() ?? 0)
        for (index, instruction) in changeset.instructions.enumerated() {
            let reference = instruction.reference
            let item = try item(of: reference)
            switch instruction {
            case .create(_, let fields), .set(_, let fields):
                for field in fields {
                    try requireValid(field, of: reference, item)
                    guard namedBy[field.column] != index else {
                        throw invalid(
                            "One instruction writes \(item.name).\(item.columns[field.column].name) twice.", reference)
                    }
                    namedBy[field.column] = index
                }
            case .add(_, let column, _):
                guard item.columns.indices.contains(column), case .int = item.columns[column].type,
                    column != item.primaryKeyIndex
                else {
                    throw invalid("Only an integer property that isn't the primary key can be added to.", reference)
                }
            case .erase: break
            }
        }
    }

    private func item(of reference: ObjectReference) throws(Refusal) -> ClassSchema {
        guard schema.classes.indices.contains(reference.classIndex) else {
            throw Refusal(.invalid, "The changeset names a class that the server doesn't have.")
        }
        let item = schema[reference.classIndex]
        guard let key = item.primaryKey else {
            throw Refusal(.invalid, "\(item.name) has no primary key and isn't synchronised.")
        }
        do {
            try key.validate(reference.key)
        } catch {
            throw Refusal(.invalid, "The key of a \(item.name): \(error.message)")
        }
        return item
    }

    /// Checks one field. A primary key may be written only with its own value, because permissions and locks are about
    /// the object that the changeset names.
    func requireValid(_ field: FieldWrite, of reference: ObjectReference, _ item: ClassSchema) throws(Refusal) {
        guard item.columns.indices.contains(field.column) else {
            throw invalid("\(item.name) has no column \(field.column).", reference)
        }
        let column = item.columns[field.column]
        do {
            try column.validate(field.value, linkKeyType: schema.keyType(ofLink: column))
        } catch {
            throw invalid("\(item.name): \(error.message)", reference)
        }
        guard field.column != item.primaryKeyIndex || field.value == reference.key else {
            throw invalid(
                "\(item.name).\(column.name) is the primary key but isn't the object's key: "
                    + "erase the object and create another.", reference)
        }
    }

    private func invalid(_ message: String, _ reference: ObjectReference) -> Refusal {
        Refusal(.invalid, message, className: schema[reference.classIndex].name, key: reference.key)
    }

    // MARK: Permission

    /// What a changeset does to one object.
    private struct Deeds {
        var creates = false
        var updates = false
        var erases = false
    }

    /// Refuses writes that aren't permitted for any object of a class, so that nobody locks rows they may never write.
    /// Writes permitted for some objects are decided by ``Arbiter``, which sees the rows.
    /// - Parameter denial: why an operation isn't permitted for any object of the class at a position, or nil if it's
    ///   permitted for some.
    /// - Throws: ``Refusal`` with the code ``Refusal/Code/notPermitted``.
    public func requirePermission(
        _ changeset: Changeset, denial: (WriteRequest.Operation, Int) -> String?
    ) throws(Refusal) {
        var denials: [Int: [WriteRequest.Operation: String]] = [:]
        var written: Set<Int> = []
        for instruction in changeset.instructions { written.insert(instruction.reference.classIndex) }
        for index in written {
            let root = schema.rootClassIndex(of: index)
            guard denials[root] == nil else { continue }
            denials[root] = [:]
            for operation in [WriteRequest.Operation.create, .update, .delete] {
                denials[root]?[operation] = denial(operation, root)
            }
        }
        guard denials.values.contains(where: { !$0.isEmpty }) else { return }
        var deeds: [ObjectReference: Deeds] = [:]
        for instruction in changeset.instructions {
            switch instruction {
            case .create: deeds[instruction.reference, default: Deeds()].creates = true
            case .set, .add: deeds[instruction.reference, default: Deeds()].updates = true
            case .erase: deeds[instruction.reference, default: Deeds()].erases = true
            }
        }
        for instruction in changeset.instructions {
            let reference = instruction.reference
            guard let deeds = deeds.removeValue(forKey: reference) else { continue }
            let root = schema.rootClassIndex(of: reference.classIndex)
            // If the changeset writes an object of the class that has the list, that object's requests decide.
            if root != reference.classIndex, written.contains(root) { continue }
            let isElement = root != reference.classIndex
            guard let reason = reason(isElement ? Deeds(updates: true) : deeds, denials[root] ?? [:]) else { continue }
            throw Refusal(
                .notPermitted, reason, className: schema[reference.classIndex].name, key: reference.key)
        }
    }

    /// Nil if the current row may allow it: a create makes an object or edits the existing one.
    private func reason(_ deeds: Deeds, _ denied: [WriteRequest.Operation: String]) -> String? {
        let present = deeds.erases ? denied[.delete] : denied[.update]
        guard deeds.creates else { return present }
        return present == nil ? nil : denied[.create]
    }
}
