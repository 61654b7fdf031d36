package import TomboloChangesets
package import TomboloModel

extension StoreFile {
    /// Decrypts the value of an encrypted column.
    /// - Parameter key: the row's primary key, or its rowid if the class has none.
    /// - Throws: ``SQLiteStoreError`` for bytes that weren't encrypted for this place.
    package func decrypted(_ value: Value, _ column: Int, of table: TableLayout, key: Value) throws -> Value {
        guard !value.isNull else { return .null }
        let definition = table.schema.columns[column]
        guard let cipher else { throw missingKey(definition, table) }
        return try cipher.open(value, as: definition.type, table.schema.name, definition.name, key: key)
    }

    /// The fields in the form that the table stores.
    package func encrypted(_ fields: [FieldWrite], of table: TableLayout, key: Value) throws -> [FieldWrite] {
        guard !table.encryptedColumns.isEmpty else { return fields }
        return try fields.map { field in
            let definition = table.schema.columns[field.column]
            guard definition.isEncrypted else { return field }
            guard let cipher else { throw missingKey(definition, table) }
            return FieldWrite(
                column: field.column,
                value: try cipher.seal(field.value, table.schema.name, definition.name, key: key),
                isDefault: field.isDefault)
        }
    }

    private func missingKey(_ column: Column, _ table: TableLayout) -> SQLiteStoreError {
        SQLiteStoreError(
            .invalidInput,
            "'\(table.schema.name).\(column.name)' is encrypted: set the configuration's encryptionKey.")
    }
}
