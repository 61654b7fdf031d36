internal import TomboloModel
internal import TomboloSQL

/// Re-encrypts all encrypted values of a file, including those of classes that the app no longer has.
struct Resealing {
    private let connection: SQLiteConnection
    private let old: PropertyCipher
    private let new: PropertyCipher
    private let keepsUnreadable: Bool

    /// - Parameter keepsUnreadable: whether values that can't be decrypted stay unchanged instead of causing an error.
    init(_ connection: SQLiteConnection, from old: PropertyCipher, to new: PropertyCipher, keepsUnreadable: Bool) {
        self.connection = connection
        self.old = old
        self.new = new
        self.keepsUnreadable = keepsUnreadable
    }

    /// Re-encrypts the values, in the caller's transaction.
    func run() throws {
        let schema = try FileOpening.storedSchema(connection)
        let side = MigrationSide(connection, schema, old)
        for item in schema.sorted {
            for property in item.properties where property.isEncrypted {
                let update = try connection.statement(
                    "UPDATE \(SQLDialect.sqlite.quoted(item.table)) "
                        + "SET \(SQLDialect.sqlite.quoted(property.column)) = ? WHERE rowid = ?")
                try side.forEachRow(of: item) { row in
                    guard let value = try value(property, of: row, in: item, side) else { return }
                    let key = try side.key(of: row, in: item)
                    update.bind(try new.seal(value, item.name, property.name, key: key), at: 1)
                    update.bind(row, at: 2)
                    try update.run()
                }
            }
        }
    }

    /// The re-encrypted value, or nil if the value stays unchanged.
    private func value(
        _ property: StoredClass.Property, of row: Int64, in item: StoredClass, _ side: MigrationSide
    ) throws -> Value? {
        do {
            return try side.value(property, of: row, in: item)
        } catch let error as SQLiteStoreError where keepsUnreadable && error.code == .invalidDatabase {
            return nil
        }
    }
}
