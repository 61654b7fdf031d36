internal import TomboloModel

extension LocalMigration {
    /// Where the properties of a class are in the old file and in the new one. An embedded class has a place for each
    /// property or list that embeds it.
    private struct Place {
        let old: StoredClass
        let new: StoredClass
        /// The prefix of an embedded object's columns, such as `home.`.
        var oldPrefix = ""
        var newPrefix = ""
    }

    /// A new property of the app's that takes over the values of a removed one.
    struct Rename {
        let className: String
        /// The name in the old file.
        let origin: String
        /// The name that the block used: the original name, or a name from a release in between.
        let name: String
        let newName: String
        /// The places where the rename is done, by old path.
        var places: Set<String> = []
    }

    /// Gives a new property the values of a removed one. Embedded objects and lists move with their content.
    /// - Throws: ``SQLiteStoreError`` with the code `invalidInput` and Realm's reasons.
    package func rename(_ name: String, to newName: String, of className: String) throws {
        let what = "Cannot rename property '\(className).\(name)'"
        guard let old = properties(of: className, in: before.schema) else {
            throw refusal("Cannot rename properties for type '\(className)' because it does not exist.")
        }
        guard let new = properties(of: className, in: target),
            (before.schema[className] == nil) == (target[className] == nil)
        else {
            throw refusal(
                "Cannot rename properties for type '\(className)' because it has been removed from the Realm.")
        }
        let origin = halfwayNames[className]?.removeValue(forKey: name) ?? name
        guard old.contains(origin) else { throw refusal("\(what) because it does not exist.") }
        guard !new.contains(name) else {
            throw refusal("\(what) to '\(newName)' because the source property still exists.")
        }
        guard new.contains(newName) else {
            // Only a release in between had a property with the new name.
            halfwayNames[className, default: [:]][newName] = origin
            return
        }
        renames.append(Rename(className: className, origin: origin, name: name, newName: newName))
        try rename()
    }

    /// - Throws: ``SQLiteStoreError`` if the block renamed a property to one that the app doesn't have.
    func requireRenamed() throws {
        for (className, names) in halfwayNames.sorted(by: { $0.key < $1.key }) {
            guard let name = names.keys.min() else { continue }
            throw refusal("Renamed property '\(className).\(name)' does not exist.")
        }
    }

    /// The names of a class's properties. If the class is embedded, of all places where it is. Nil if there's no such
    /// class.
    private func properties(of className: String, in schema: StoredSchema) -> Set<String>? {
        var prefixes = schema[className] == nil ? [] : ["\(className)."]
        if prefixes.isEmpty {
            for item in schema.sorted {
                if item.embeddedClass == className { prefixes.append("\(item.name).") }
                prefixes += item.properties.filter { $0.type == .embedded(className) }.map {
                    "\(item.name).\($0.name)."
                }
            }
        }
        guard !prefixes.isEmpty else { return nil }
        let paths = schema.sorted.flatMap { item in
            [item.name] + item.content.map { "\(item.name).\($0.name)" }
        }
        return Set(
            prefixes.flatMap { prefix in
                paths.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            })
    }

    /// Applies the renames in every place where they haven't been applied yet. A rename can lead to an embedded object
    /// whose properties were renamed before it.
    private func rename() throws {
        var isDone = false
        while !isDone {
            isDone = true
            for index in renames.indices {
                for place in places(of: renames[index].className) {
                    guard renames[index].places.insert("\(place.old.name).\(place.oldPrefix)").inserted else {
                        continue
                    }
                    isDone = false
                    try rename(renames[index], place)
                }
            }
        }
    }

    /// The places that exist in both the old file and the new one.
    private func places(of className: String) -> [Place] {
        if let old = before.schema[className] {
            return after.schema[className].map { [Place(old: old, new: $0)] } ?? []
        }
        var places: [Place] = []
        for old in before.schema.sorted {
            let name = newPath(of: old.name)
            guard target[name] != nil, let new = after.schema[name] else { continue }
            if old.embeddedClass == className, new.embeddedClass == className {
                places.append(Place(old: old, new: new))
            }
            for property in old.properties where property.type == .embedded(className) {
                let path = String(newPath(of: "\(old.name).\(property.name)").dropFirst(new.name.count + 1))
                guard new.properties.contains(where: { $0.name == path && $0.type == property.type }) else { continue }
                places.append(Place(old: old, new: new, oldPrefix: "\(property.name).", newPrefix: "\(path)."))
            }
        }
        return places
    }

    private func rename(_ rename: Rename, _ place: Place) throws {
        let (old, new, newName) = (place.old, place.new, rename.newName)
        let (oldName, ownName) = (place.oldPrefix + rename.origin, place.newPrefix + newName)
        let (oldPath, newPath) = ("\(old.name).\(oldName)", "\(new.name).\(ownName)")
        let what = "Cannot rename property '\(rename.className).\(rename.name)'"
        let oldList = before.schema[oldPath]
        let newList = target[newPath]
        guard old.index(of: oldName) != nil || oldList != nil else {
            throw refusal("\(what) because it does not exist.")
        }
        if let oldList, let newList {
            guard hasSameElements(oldList, newList) else {
                throw typeRefusal(what, newName, text(oldList), text(newList))
            }
            return try moveLists(in: oldPath, to: newPath)
        }
        guard let from = old.index(of: oldName), let to = new.index(of: ownName) else {
            throw typeRefusal(
                what, newName, oldList.map(text) ?? old.index(of: oldName).map { old.properties[$0].type.name } ?? "",
                newList.map(text) ?? new.index(of: ownName).map { new.properties[$0].type.name } ?? "")
        }
        let (source, destination) = (old.properties[from], new.properties[to])
        guard source.type.isStored(as: destination.type) else {
            throw typeRefusal(what, newName, source.type.name, destination.type.name)
        }
        guard !source.takesNil || destination.takesNil else {
            throw refusal("\(what) to '\(newName)' because it would change from optional to required.")
        }
        try moveValues(source, to: destination, old, new)
        for inner in old.properties where inner.name.hasPrefix("\(oldName).") {
            guard let position = new.index(of: ownName + inner.name.dropFirst(oldName.count)),
                inner.type.isStored(as: new.properties[position].type)
            else { continue }
            try moveValues(inner, to: new.properties[position], old, new)
        }
        try moveLists(in: oldPath, to: newPath)
    }

    /// The current path of an old list or embedded object, whether or not the app still has it. For example
    /// `Person.mates` for `Person.friends`, if that was renamed.
    package func newPath(of old: String) -> String {
        let renamed = renamedPaths.filter { old == $0.key || old.hasPrefix("\($0.key).") }
            .max { $0.key.utf8.count < $1.key.utf8.count }
        return renamed.map { $0.value + old.dropFirst($0.key.count) } ?? old
    }

    /// Moves the list at a path, and the lists inside the object or elements at that path.
    private func moveLists(in path: String, to newPath: String) throws {
        renamedPaths[path] = newPath
        for item in before.schema.sorted where item.name == path || item.name.hasPrefix("\(path).") {
            try moveElements(item.name, to: newPath + item.name.dropFirst(path.count))
        }
    }

    private func hasSameElements(_ old: StoredClass, _ new: StoredClass) -> Bool {
        guard old.embeddedClass == nil else { return old.embeddedClass == new.embeddedClass }
        return old.content.map(\.type) == new.content.map(\.type) && new.embeddedClass == nil
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
        let linked: Linked? =
            if case .link(let name) = source.type, rekeyed.contains(name) || rowChanges[name] != nil,
                let old = before.schema[name], let new = after.schema[name]
            {
                Linked(old: old, new: new)
            } else {
                nil
            }
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
            if let linked, !value.isNull { value = try self.link(value, linked) }
            _ = try set(value, destination, of: target, in: new)
        }
    }

    /// A class whose objects may have different keys than in the old file, or may have been deleted.
    private struct Linked {
        let old: StoredClass
        let new: StoredClass
    }

    /// The value of a link in the new file, or null if its target was deleted.
    private func link(_ value: Value, _ linked: Linked) throws -> Value {
        guard let old = try before.row(withKey: value, in: linked.old), let row = newRow(for: old, in: linked.new),
            try after.exists(row, in: linked.new)
        else { return .null }
        return try after.key(of: row, in: linked.new)
    }

    /// Moves the elements of a list. They keep their rowids. Whatever the block has added to the new list is dropped.
    /// Both tables identify owners, parents and targets in the same way.
    private func moveElements(_ name: String, to newName: String) throws {
        guard let old = after.schema[name], let new = after.schema[newName], hasSameElements(old, new) else { return }
        let table = MigrationSide.quoted(new.table)
        try connection.execute("DELETE FROM \(table)")
        appended[newName] = nil
        noteRows(of: new)
        let change = ClassChange(from: old, to: new)
        var names = ["rowid"]
        var parts = [SQLPart(sql: "s.rowid")]
        for (position, property) in new.properties.enumerated() {
            names.append(MigrationSide.quoted(property.column))
            if !new.content.indices.contains(position) {
                // The element's own columns come first, and the parent column last.
                let own = position < ElementColumn.content ? position : old.properties.count - 1
                parts.append(SQLPart(sql: "s.\(MigrationSide.quoted(old.properties[own].column))"))
            } else if property.isEncrypted {
                parts.append(
                    initial(property, of: new) { self.source($0, of: new, in: old, change, self.after.schema) })
            } else {
                parts.append(source(property, of: new, in: old, change, after.schema))
            }
        }
        try connection.run(
            SQLPart(
                sql: "INSERT INTO \(table) (\(names.joined(separator: ", "))) "
                    + "SELECT \(parts.map(\.sql).joined(separator: ", ")) FROM \(MigrationSide.quoted(old.table)) AS s "
                    + "ORDER BY s.rowid", values: parts.flatMap(\.values)))
        lastElements[newName] = max(
            lastElements[newName] ?? 0, try after.lastRow(of: old), try before.schema[name].map(before.lastRow) ?? 0)
        try sealElements(of: new, from: old, change)
    }

    /// Re-encrypts values, because they are encrypted for their place.
    private func sealElements(of new: StoredClass, from old: StoredClass, _ change: ClassChange) throws {
        let kept = change.kept + change.resealed
        let sealed = new.content.indices.compactMap { position in
            let (property, pair) = (new.properties[position], kept.first { $0.new == position })
            let previous = pair.map { old.properties[$0.old] }
            return property.isEncrypted || previous?.isEncrypted == true ? (property, previous) : nil
        }
        guard !sealed.isEmpty else { return }
        try after.forEachRow(of: new) { row in
            for (property, previous) in sealed {
                if let path = property.presencePath, let presence = new.index(of: path),
                    try after.value(new.properties[presence], of: row, in: new).isNull
                {
                    continue
                }
                var value =
                    try previous.map { try after.value($0, of: row, in: old) }
                    ?? plan.initialValue(new.name, property.name) ?? .null
                if value.isNull, !property.isOptional || property.isRequiredWhenPresent { value = property.type.zero }
                _ = try set(value, property, of: row, in: new)
            }
        }
    }
}

extension StoredClass.Property {
    /// Whether the app's property is optional. In an embedded object every column is optional.
    fileprivate var takesNil: Bool { isOptional && !isRequiredWhenPresent }
}
