public import TomboloModel

extension Changeset {
    /// A stable FNV-1a hash of what the changeset does, by class and property names. The server stores it with the receipt of
    /// an applied changeset, to tell a repeated changeset from a different one with the same number. The base is left out:
    /// after a batch that replaces everything, a device sends its pending changesets again with a newer base.
    public func fingerprint(in schema: Schema) -> Int64 {
        fingerprint(in: schema, className: { $0.name }, propertyName: { $0.name })
    }

    /// The fingerprint by the names that classes and properties had first, so that it survives renames.
    public func originalFingerprint(in schema: Schema) -> Int64 {
        fingerprint(in: schema, className: { $0.firstName }, propertyName: { $0.firstName })
    }

    private func fingerprint(
        in schema: Schema, className: (ClassSchema) -> String, propertyName: (Column) -> String
    ) -> Int64 {
        if let defect { return defect.fingerprint }
        var hash = ChangesetFingerprint(number: number, stamp: stamp)
        // Consecutive instructions usually have the same class.
        var classIndex: Int?
        var (name, columns): (String, [String]) = ("", [])
        for instruction in instructions {
            if instruction.reference.classIndex != classIndex {
                classIndex = instruction.reference.classIndex
                let item = schema[instruction.reference.classIndex]
                name = className(item)
                columns = item.columns.map(propertyName)
            }
            func add(_ fields: [FieldWrite]) {
                for field in fields { hash.addField(columns[field.column], field.value, isDefault: field.isDefault) }
            }
            hash.beginInstruction(className: name, key: instruction.reference.key)
            switch instruction {
            case .create(_, let fields):
                hash.addCreate(fieldCount: fields.count)
                add(fields)
            case .set(_, let fields):
                hash.addSet(fieldCount: fields.count)
                add(fields)
            case .add(_, let column, let amount): hash.addAddition(columns[column], amount: amount)
            case .erase: hash.addErase()
            }
        }
        return hash.value
    }
}

extension ClassSchema {
    fileprivate var firstName: String { previousNames.last ?? name }
}

extension Column {
    fileprivate var firstName: String { previousNames.last ?? name }
}
