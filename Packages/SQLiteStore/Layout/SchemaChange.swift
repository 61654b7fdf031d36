internal import TomboloModel

/// The steps from a class as the file has it to the class as the app has it.
struct SchemaChange {
    var added: [Int] = []
    var removed: [String] = []
    var indexed: [Column] = []
    var unindexed: [String] = []
    /// Differences that need the schema version raised, as sentences.
    var differences: [String] = []
    /// Differences that rows cannot follow by themselves.
    var incompatible: [String] = []

    init(from old: StoredClass, to layout: TableLayout) {
        let new = StoredClass(layout)
        let name = layout.schema.name
        if old.table != new.table {
            incompatible.append(
                "Class '\(name)' has the table '\(old.table)' in the file and '\(new.table)' in the app.")
        }
        var known: [String: StoredClass.Property] = [:]
        for property in old.properties { known[property.name] = property }
        for (index, property) in new.properties.enumerated() {
            guard let before = known.removeValue(forKey: property.name) else {
                added.append(index)
                if property.isIndexed { indexed.append(layout.schema.columns[index]) }
                differences.append("Property '\(name).\(property.name)' has been added.")
                if property.isPrimaryKey {
                    incompatible.append("Primary key '\(name).\(property.name)' has been added.")
                }
                continue
            }
            compare(before, property, name)
            switch (before.isIndexed, property.isIndexed) {
            case (false, true): indexed.append(layout.schema.columns[index])
            case (true, false): unindexed.append(property.name)
            default: break
            }
        }
        for property in old.properties where known[property.name] != nil {
            removed.append(property.name)
            if property.isIndexed { unindexed.append(property.name) }
            differences.append("Property '\(name).\(property.name)' has been removed.")
            if property.isPrimaryKey {
                incompatible.append("Primary key '\(name).\(property.name)' has been removed.")
            }
        }
    }

    private mutating func compare(_ old: StoredClass.Property, _ new: StoredClass.Property, _ className: String) {
        let name = "\(className).\(new.name)"
        if old.type != new.type {
            incompatible.append("Property '\(name)' has been changed from '\(old.type)' to '\(new.type)'.")
        } else if old.isOptional != new.isOptional {
            incompatible.append("Property '\(name)' has been made \(new.isOptional ? "optional" : "required").")
        }
        if old.isPrimaryKey != new.isPrimaryKey {
            incompatible.append(
                "Property '\(name)' has been made \(new.isPrimaryKey ? "the primary key" : "an ordinary property").")
        }
    }
}
