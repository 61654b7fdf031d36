public import TomboloModel

extension Changeset {
    /// A stable hash (FNV-1a) of what the changeset does, by names: what a server remembers of an applied changeset,
    /// to tell one that comes again from another of the same number. Leaves the base out: a device that had to take
    /// everything anew sends its pending changesets again with a newer one.
    public func fingerprint(in schema: Schema) -> Int64 {
        if let defect { return defect.fingerprint }
        var hash = ChangesetFingerprint(number: number, stamp: stamp)
        for instruction in instructions {
            let item = schema[instruction.reference.classIndex]
            func add(_ fields: [FieldWrite]) {
                for field in fields {
                    hash.addField(item.columns[field.column].name, field.value, isDefault: field.isDefault)
                }
            }
            hash.beginInstruction(className: item.name, key: instruction.reference.key)
            switch instruction {
            case .create(_, let fields):
                hash.addCreate(fieldCount: fields.count)
                add(fields)
            case .set(_, let fields):
                hash.addSet(fieldCount: fields.count)
                add(fields)
            case .add(_, let column, let amount): hash.addAddition(item.columns[column].name, amount: amount)
            case .erase: hash.addErase()
            }
        }
        return hash.value
    }
}
