package import TomboloModel
internal import TomboloSQL

/// The objects of a file, either before or during a migration. They're identified by rowids, which are the same on both
/// sides.
package final class MigrationSide {
    package let connection: SQLiteConnection
    package let schema: StoredSchema
    let cipher: PropertyCipher?

    init(_ connection: SQLiteConnection, _ schema: StoredSchema, _ cipher: PropertyCipher?) {
        self.connection = connection
        self.schema = schema
        self.cipher = cipher
    }

    static func quoted(_ name: String) -> String { SQLDialect.sqlite.quoted(name) }

    /// The next rows of a class, starting at a rowid.
    func rows(of item: StoredClass, from row: Int64, limit: Int) throws -> [Int64] {
        let statement = try connection.statement(
            "SELECT rowid FROM \(Self.quoted(item.table)) WHERE rowid >= ? ORDER BY rowid LIMIT ?")
        defer { statement.reset() }
        statement.bind(row, at: 1)
        statement.bind(Int64(limit), at: 2)
        var rows: [Int64] = []
        while try statement.step() { rows.append(statement.integer(at: 0)) }
        return rows
    }

    /// The last row of a class; 0 if there's none.
    func lastRow(of item: StoredClass) throws -> Int64 {
        try connection.integer("SELECT max(rowid) FROM \(Self.quoted(item.table))") ?? 0
    }

    package func exists(_ row: Int64, in item: StoredClass) throws -> Bool {
        let statement = try connection.statement("SELECT 1 FROM \(Self.quoted(item.table)) WHERE rowid = ?")
        defer { statement.reset() }
        statement.bind(row, at: 1)
        return try statement.step()
    }

    /// The value that links to a row have: its key or rowid.
    package func key(of row: Int64, in item: StoredClass) throws -> Value {
        guard let key = item.keyIndex else { return .int(row) }
        return try stored(item.properties[key], row, item)
    }

    /// The row with a key, or nil.
    package func row(withKey key: Value, in item: StoredClass) throws -> Int64? {
        let column = item.keyIndex.map { Self.quoted(item.properties[$0].column) } ?? "rowid"
        let statement = try connection.statement(
            "SELECT rowid FROM \(Self.quoted(item.table)) WHERE \(column) = ?")
        defer { statement.reset() }
        statement.bind(key, at: 1)
        return try statement.step() ? statement.integer(at: 0) : nil
    }

    package func value(_ property: StoredClass.Property, of row: Int64, in item: StoredClass) throws -> Value {
        let value = try stored(property, row, item)
        guard property.isEncrypted, !value.isNull else { return value }
        return try requireCipher(property, item).open(
            value, as: property.type, item.name, property.name, key: key(of: row, in: item))
    }

    func requireCipher(_ property: StoredClass.Property, _ item: StoredClass) throws -> PropertyCipher {
        if let cipher { return cipher }
        throw SQLiteStoreError(
            .invalidInput, "'\(item.name).\(property.name)' is encrypted: set the configuration's encryptionKey.")
    }

    /// The value as stored in the table.
    private func stored(_ property: StoredClass.Property, _ row: Int64, _ item: StoredClass) throws -> Value {
        let statement = try connection.statement(
            "SELECT \(Self.quoted(property.column)) FROM \(Self.quoted(item.table)) WHERE rowid = ?")
        defer { statement.reset() }
        statement.bind(row, at: 1)
        guard try statement.step() else { return .null }
        return statement.value(at: 0, as: property.isEncrypted ? .data : schema.storedType(of: property))
    }

    /// The elements of a list, in order.
    /// - Parameter parent: the ID of the element that owns the list, for a list inside another list's embedded objects.
    package func elements(of list: StoredClass, owner: Value, parent: Value?) throws -> [Int64] {
        let names = list.properties.map { Self.quoted($0.column) }
        let inParent = parent == nil ? "" : " AND \(names[names.count - 1]) = ?"
        let statement = try connection.statement(
            "SELECT rowid FROM \(Self.quoted(list.table)) WHERE \(names[ElementColumn.owner]) = ?\(inParent) "
                + "ORDER BY \(names[ElementColumn.rank]), \(names[ElementColumn.id])")
        defer { statement.reset() }
        statement.bind(owner, at: 1)
        if let parent { statement.bind(parent, at: 2) }
        var rows: [Int64] = []
        while try statement.step() { rows.append(statement.integer(at: 0)) }
        return rows
    }

    /// The rank of a list's last element, or nil if there is none.
    /// - Parameter row: the only element to consider, or nil to consider all.
    func lastRank(of list: StoredClass, owner: Value, parent: Value?, row: Int64? = nil) throws -> String? {
        let names = list.properties.map { Self.quoted($0.column) }
        let inParent = parent == nil ? "" : " AND \(names[names.count - 1]) = ?2"
        let inRow = row == nil ? "" : " AND rowid = ?3"
        let statement = try connection.statement(
            "SELECT \(names[ElementColumn.rank]) FROM \(Self.quoted(list.table)) "
                + "WHERE \(names[ElementColumn.owner]) = ?1\(inParent)\(inRow) "
                + "ORDER BY \(names[ElementColumn.rank]) DESC, \(names[ElementColumn.id]) DESC LIMIT 1")
        defer { statement.reset() }
        statement.bind(owner, at: 1)
        if let parent { statement.bind(parent, at: 2) }
        if let row { statement.bind(row, at: 3) }
        return try statement.step() ? statement.text(at: 0) : nil
    }
}
