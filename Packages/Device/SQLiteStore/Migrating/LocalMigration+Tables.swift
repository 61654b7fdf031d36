internal import TomboloModel

extension LocalMigration {
    private typealias Rebuild = MigrationTables.Rebuild

    // MARK: Before the block

    /// - Parameter current: the classes as they are in the tables now.
    func prepare(_ current: StoredSchema) throws {
        let working = after.schema
        let rebuilds = working.sorted.compactMap { rebuild($0, current) }
        for item in rebuilds { try MigrationTables.fill(item, in: working, connection) }
        for item in rebuilds { try MigrationTables.swap(item, connection) }
        try emptyReplacedLists()
        let rebuilt = Set(rebuilds.map(\.item.name))
        for item in working.sorted where current[item.name] == nil { try connection.execute(working.createTable(item)) }
        for (name, change) in changes where !rebuilt.contains(name) {
            for position in change.added { try add(change.new.properties[position], to: change.new) }
        }
        try fillEncrypted()
        for item in target.sorted where current[item.name] != item { try createIndexes(item) }
    }

    /// If an embedded object was lost because its property or list has a different class now, deletes the elements of
    /// the object's lists.
    private func emptyReplacedLists() throws {
        for (name, change) in changes {
            for path in change.replacesElements ? [name] : change.replaced.map({ "\(name).\($0)" }) {
                for list in target.elementClasses(of: path) where before.schema[list.name] != nil {
                    try connection.execute("DELETE FROM \(MigrationSide.quoted(list.table))")
                }
            }
        }
    }

    private func add(_ property: StoredClass.Property, to item: StoredClass) throws {
        for statement in after.schema.addColumn(property, to: item, hasBeneath: false) {
            try connection.execute(statement)
        }
        let value = initial(property, of: item)
        guard value.sql != SQLPart.null.sql, value.values != [property.type.zero] || property.isRequiredWhenPresent,
            value.sql != "x''"
        else { return }
        try connection.run(
            SQLPart(
                sql: "UPDATE \(MigrationSide.quoted(item.table)) SET \(MigrationSide.quoted(property.column)) = "
                    + value.sql, values: value.values))
    }

    private func createIndexes(_ item: StoredClass) throws {
        for property in item.properties where property.isIndexed {
            try connection.execute(StoredSchema.createIndex(property, of: item))
        }
    }

    /// Nil if the table doesn't need to be rebuilt.
    private func rebuild(_ item: StoredClass, _ current: StoredSchema) -> Rebuild? {
        guard let old = current[item.name] else { return nil }
        let change = changes[item.name]
        let isRelinked = item.properties.contains { isLinkToRekeyed($0.type) }
        guard isRelinked || change?.needsRebuild == true || change?.replacesElements == true else { return nil }
        guard change?.replacesElements != true else {
            return Rebuild(item: item, source: nil, columns: [], others: [], required: [])
        }
        let columns = item.properties.map { source($0, of: item, in: old, change, current) }
        let names = gone[item.name] ?? [:]
        let others = old.properties.compactMap { property in
            names[property.name].map {
                (definition: "\(MigrationSide.quoted($0)) \(before.schema.columnType(of: property))", name: $0)
            }
        }
        let required =
            item.isElement ? item.properties.indices.filter { isLinkToRekeyed(item.properties[$0].type) } : []
        return Rebuild(
            item: item, source: old, columns: columns, others: others,
            required: required.filter { !item.properties[$0].isOptional })
    }

    private func isLinkToRekeyed(_ type: PropertyType) -> Bool {
        if case .link(let target) = type { rekeyed.contains(target) } else { false }
    }

    /// The source of a column's values, in the old table `s`.
    func source(
        _ property: StoredClass.Property, of item: StoredClass, in old: StoredClass, _ change: ClassChange?,
        _ current: StoredSchema
    ) -> SQLPart {
        let isKept = change?.kept.contains { item.properties[$0.new].name == property.name } ?? true
        guard isKept, let position = old.index(of: property.name) else {
            // The old table doesn't have the presence column of a new embedded object.
            return embeddedSource(property, of: item, in: old, current)
                ?? initial(property, of: item) { self.source($0, of: item, in: old, change, current) }
        }
        var part = SQLPart(sql: "s.\(MigrationSide.quoted(old.properties[position].column))")
        if case .link(let name) = property.type, rekeyed.contains(name), let linked = current[name],
            let key = linked.keyIndex
        {
            part.sql =
                "(SELECT t.rowid FROM \(MigrationSide.quoted(linked.table)) AS t "
                + "WHERE t.\(MigrationSide.quoted(linked.properties[key].column)) = \(part.sql))"
        }
        if old.properties[position].isOptional, !property.isOptional {
            let value = initial(property, of: item)
            part = SQLPart(sql: "coalesce(\(part.sql), \(value.sql))", values: value.values)
        }
        return part
    }

    /// For a link that became an embedded object: copies the linked object into the row.
    private func embeddedSource(
        _ property: StoredClass.Property, of item: StoredClass, in old: StoredClass, _ current: StoredSchema
    ) -> SQLPart? {
        let names = property.name.split(separator: ".").map(String.init)
        guard let position = old.index(of: names[0]), case .link(let name) = old.properties[position].type,
            let linked = current[name],
            item.properties.contains(where: { $0.name == names[0] && $0.type == .embedded(name) })
        else { return nil }
        let column: String
        if names.count == 1 {
            column = "1"
        } else {
            guard let inner = linked.index(of: names.dropFirst().joined(separator: ".")),
                linked.properties[inner].type.isStored(as: property.type),
                linked.properties[inner].isEncrypted == property.isEncrypted, !property.isEncrypted
            else { return nil }
            column = "t.\(MigrationSide.quoted(linked.properties[inner].column))"
        }
        let key = linked.keyIndex.map { "t.\(MigrationSide.quoted(linked.properties[$0].column))" } ?? "t.rowid"
        let link = "s.\(MigrationSide.quoted(old.properties[position].column))"
        return SQLPart(
            sql: "(SELECT \(column) FROM \(MigrationSide.quoted(linked.table)) AS t WHERE \(key) = \(link))")
    }

    // MARK: Encrypted values

    /// Sets initial values of new required properties, encrypts values that were plain, and re-encrypts the values of
    /// rows whose key changes, for now with the rowid as the key.
    private func fillEncrypted() throws {
        for item in after.schema.sorted {
            guard let change = changes[item.name], !change.replacesElements else { continue }
            let added = change.added.filter {
                item.properties[$0].isEncrypted
                    && (!item.properties[$0].isOptional || item.properties[$0].isRequiredWhenPresent)
            }
            let moved =
                change.resealed
                + (change.isKeyChanged ? change.kept.filter { item.properties[$0.new].isEncrypted } : [])
            guard !added.isEmpty || !moved.isEmpty, let old = before.schema[item.name] else { continue }
            try before.forEachRow(of: old) { row in
                for position in added {
                    let property = item.properties[position]
                    if let path = property.presencePath, let presence = item.index(of: path),
                        try after.value(item.properties[presence], of: row, in: item).isNull
                    {
                        continue
                    }
                    let value = plan.initialValue(item.name, property.name) ?? property.type.zero
                    _ = try set(value.isNull ? property.type.zero : value, property, of: row, in: item)
                }
                for pair in moved {
                    let property = item.properties[pair.new]
                    var value = try before.value(old.properties[pair.old], of: row, in: old)
                    if value.isNull, !property.isOptional { value = property.type.zero }
                    _ = try set(value, property, of: row, in: item)
                }
            }
        }
    }

    /// Re-encrypts values for primary keys instead of rowids.
    private func resealForKeys(_ item: StoredClass) throws {
        let encrypted = item.properties.filter(\.isEncrypted)
        guard !encrypted.isEmpty, let key = item.keyIndex, let working = after.schema[item.name] else { return }
        try after.forEachRow(of: working) { row in
            let newKey = try after.value(working.properties[key], of: row, in: working)
            for property in encrypted {
                let value = try after.value(property, of: row, in: working)
                try store(value, property, of: row, in: working, sealedFor: newKey)
            }
        }
    }

    // MARK: After the block

    func finish() throws {
        let final = Set(rekeyed.filter { target[$0]?.keyIndex != nil && !dropped.contains($0) })
        for name in final.sorted() {
            guard let item = target[name] else { continue }
            try requireUniqueKeys(item)
            try resealForKeys(item)
        }
        let rebuilds = target.sorted.compactMap { finalRebuild($0, final) }
        for item in rebuilds { try MigrationTables.fill(item, in: target, connection) }
        for item in rebuilds { try MigrationTables.swap(item, connection) }
        let rebuilt = Set(rebuilds.map(\.item.name))
        for (name, columns) in gone where !rebuilt.contains(name) && changes[name]?.replacesElements != true {
            guard let item = target[name] else { continue }
            for column in columns.values.sorted() {
                for statement in StoredSchema.dropColumn(column, of: item, hasBeneath: false) {
                    try connection.execute(statement)
                }
            }
        }
        for item in rebuilds.map(\.item) { try createIndexes(item) }
        try dropTables()
    }

    private func requireUniqueKeys(_ item: StoredClass) throws {
        guard let position = item.keyIndex else { return }
        let property = item.properties[position]
        let column = MigrationSide.quoted(property.column)
        let statement = try connection.statement(
            "SELECT \(column) FROM \(MigrationSide.quoted(item.table)) GROUP BY \(column) HAVING count(*) > 1 LIMIT 1")
        defer { statement.reset() }
        guard try statement.step() else { return }
        throw SQLiteStoreError(
            .failure,
            "Primary key property '\(item.name).\(property.name)' has duplicate values after migration, including "
                + "\(statement.value(at: 0, as: property.type.stored)). Give each object its own value in the "
                + "migrationBlock."
        )
    }

    /// Rebuilds the table with the app's keys, and with links to them.
    private func finalRebuild(_ item: StoredClass, _ final: Set<String>) -> Rebuild? {
        func isLink(_ property: StoredClass.Property) -> Bool {
            if case .link(let name) = property.type { final.contains(name) } else { false }
        }
        guard final.contains(item.name) || item.properties.contains(where: isLink) else { return nil }
        let columns = item.properties.map { property in
            let column = "s.\(MigrationSide.quoted(property.column))"
            guard case .link(let name) = property.type, final.contains(name), let linked = target[name],
                let key = linked.keyIndex
            else { return SQLPart(sql: column) }
            return SQLPart(
                sql: "(SELECT t.\(MigrationSide.quoted(linked.properties[key].column)) "
                    + "FROM \(MigrationSide.quoted(linked.table)) AS t WHERE t.rowid = \(column))")
        }
        let required = item.properties.indices.filter {
            isLink(item.properties[$0]) && !item.properties[$0].isOptional
        }
        return Rebuild(item: item, source: item, columns: columns, others: [], required: required)
    }

    /// Drops the tables of removed lists, of classes that the block deleted, and of classes that became embedded.
    private func dropTables() throws {
        let embedded = Set(
            target.classes.values.flatMap {
                $0.properties.compactMap(\.embeddedClass) + [$0.embeddedClass].compactMap(\.self)
            })
        var names = Set(retired.map(\.name))
        for item in before.schema.classes.values where target[item.name] == nil {
            if dropped.contains(item.rootName) || (target[item.rootName] == nil && embedded.contains(item.rootName)) {
                names.insert(item.name)
            }
        }
        for name in names.sorted() {
            guard let item = after.schema[name] ?? before.schema[name] else { continue }
            try connection.execute("DROP TABLE IF EXISTS \(MigrationSide.quoted(item.table))")
            let delete = try connection.statement("DELETE FROM tombolo_class WHERE name = ?")
            delete.bind(.string(name), at: 1)
            try delete.run()
        }
    }
}

extension StoredClass.Property {
    /// The name of the presence column of the embedded object that has this property.
    var presencePath: String? { name.lastIndex(of: ".").map { String(name[..<$0]) } }

    fileprivate var embeddedClass: String? { if case .embedded(let name) = type { name } else { nil } }
}

extension MigrationSide {
    private static let pageSize = 500

    /// Calls `body` for every row. Skips rows that were deleted before their turn.
    package func forEachRow(of item: StoredClass, _ body: (Int64) throws -> Void) throws {
        var next = Int64.min
        while true {
            let page = try rows(of: item, from: next, limit: Self.pageSize)
            for row in page { try body(row) }
            guard let last = page.last, last < .max else { return }
            next = last + 1
        }
    }
}
