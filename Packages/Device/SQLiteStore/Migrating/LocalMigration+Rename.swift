internal import TomboloModel

extension LocalMigration {
    /// Gives a new property the values of a removed one. Embedded objects and lists move with their content.
    /// - Throws: ``SQLiteStoreError`` with the code `invalidInput` and Realm's reasons.
    package func rename(_ name: String, to newName: String, of className: String) throws {
        guard let old = before.schema[className] else {
            throw refusal("Cannot rename properties for type '\(className)' because it does not exist.")
        }
        guard let new = after.schema[className], target[className] != nil else {
            throw refusal(
                "Cannot rename properties for type '\(className)' because it has been removed from the Realm.")
        }
        let place = "Cannot rename property '\(className).\(name)'"
        let oldList = before.schema["\(className).\(name)"]
        guard old.index(of: name) != nil || oldList != nil else {
            throw refusal("\(place) because it does not exist.")
        }
        guard new.index(of: name) == nil, target["\(className).\(name)"] == nil else {
            throw refusal("\(place) to '\(newName)' because the source property still exists.")
        }
        let newList = target["\(className).\(newName)"]
        guard new.index(of: newName) != nil || newList != nil else {
            throw refusal("Renamed property '\(className).\(newName)' does not exist.")
        }
        if let oldList, let newList {
            guard oldList.properties.map(\.type) == newList.properties.map(\.type),
                oldList.embeddedClass == newList.embeddedClass
            else { throw typeRefusal(place, newName, text(oldList), text(newList)) }
            for item in before.schema.sorted
            where item.name == oldList.name || item.name.hasPrefix("\(oldList.name).") {
                try moveElements(item.name, to: newList.name + item.name.dropFirst(oldList.name.count))
            }
            return
        }
        guard let from = old.index(of: name), let to = new.index(of: newName) else {
            throw typeRefusal(
                place, newName, oldList.map(text) ?? old.index(of: name).map { old.properties[$0].type.name } ?? "",
                newList.map(text) ?? new.index(of: newName).map { new.properties[$0].type.name } ?? "")
        }
        let (source, destination) = (old.properties[from], new.properties[to])
        guard source.type.isStored(as: destination.type) else {
            throw typeRefusal(place, newName, source.type.name, destination.type.name)
        }
        guard !source.isOptional || destination.isOptional else {
            throw refusal("\(place) to '\(newName)' because it would change from optional to required.")
        }
        try moveValues(source, to: destination, old, new)
        for inner in old.properties where inner.name.hasPrefix("\(name).") {
            guard let position = new.index(of: newName + inner.name.dropFirst(name.count)),
                inner.type.isStored(as: new.properties[position].type)
            else { continue }
            try moveValues(inner, to: new.properties[position], old, new)
        }
    }

    private func refusal(_ message: String) -> SQLiteStoreError { SQLiteStoreError(.invalidInput, message) }

    private func typeRefusal(_ place: String, _ name: String, _ old: String, _ new: String) -> SQLiteStoreError {
        refusal("\(place) to '\(name)' because it would change from type '\(old)' to '\(new)'.")
    }

    private func text(_ list: StoredClass) -> String {
        "array<\(list.embeddedClass ?? list.content.first?.type.className ?? list.content.first?.type.name ?? "")>"
    }

    private func moveValues(
        _ source: StoredClass.Property, to destination: StoredClass.Property, _ old: StoredClass, _ new: StoredClass
    ) throws {
        let linked: StoredClass? =
            if case .link(let name) = source.type, rekeyed.contains(name) { before.schema[name] } else { nil }
        if let column = gone[new.name]?[source.name], linked == nil, !source.isEncrypted, !destination.isEncrypted,
            !destination.isPrimaryKey
        {
            try connection.run(
                SQLPart(
                    sql: "UPDATE \(MigrationSide.quoted(new.table)) "
                        + "SET \(MigrationSide.quoted(destination.column)) = \(MigrationSide.quoted(column))"))
            return
        }
        try before.forEachRow(of: old) { row in
            guard let target = newRow(for: row, in: new), try after.exists(target, in: new) else { return }
            var value = try before.value(source, of: row, in: old)
            if let linked, !value.isNull {
                value = try before.row(withKey: value, in: linked).map(Value.int) ?? .null
            }
            _ = try set(value, destination, of: target, in: new)
        }
    }

    /// The tables have the same columns, and owners and targets are identified in the same way.
    private func moveElements(_ name: String, to newName: String) throws {
        guard let old = after.schema[name], let new = after.schema[newName] else { return }
        let names = zip(old.properties, new.properties).map {
            (MigrationSide.quoted($0.column), MigrationSide.quoted($1.column))
        }
        try connection.run(
            SQLPart(
                sql: "INSERT INTO \(MigrationSide.quoted(new.table)) (\(names.map(\.1).joined(separator: ", "))) "
                    + "SELECT \(names.map(\.0).joined(separator: ", ")) FROM \(MigrationSide.quoted(old.table)) "
                    + "ORDER BY rowid"))
    }
}
