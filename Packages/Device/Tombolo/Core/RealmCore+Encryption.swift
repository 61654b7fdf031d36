internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

/// Encrypted properties. Rows in memory hold the file's bytes. Values are decrypted when they're read.
extension RealmCore {
    /// The field in the form that the table stores.
    func sealed(_ field: FieldWrite, _ type: ManagedClass, key: @autoclosure () -> Value) -> FieldWrite {
        guard type.hasEncryptedColumns, type.schema.columns[field.column].isEncrypted else { return field }
        return sealed([field], type, key: key())[0]
    }

    func sealed(_ fields: [FieldWrite], _ type: ManagedClass, key: Value) -> [FieldWrite] {
        guard type.hasEncryptedColumns else { return fields }
        do {
            return try file.encrypted(fields, of: type.table, key: key)
        } catch {
            fail(.invalidInput, "\(error)")
            return fields.map {
                type.schema.columns[$0.column].isEncrypted ? FieldWrite(column: $0.column, value: .null) : $0
            }
        }
    }

    /// The decrypted value of an encrypted column.
    func opened(_ value: Value, _ column: Int, _ type: ManagedClass, key: Value) -> Value {
        do {
            return try file.decrypted(value, column, of: type.table, key: key)
        } catch {
            programError("The Realm cannot be read. \(error)")
        }
    }
}
