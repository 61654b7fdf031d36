package import TomboloModel

/// Values as the changelog and the audit log write them.
package enum LoggedValue {
    /// - Parameter type: a stored type (`Schema.storedType(of:)`).
    /// - Returns: nil if the text isn't a value of the type.
    package static func value(_ text: String?, _ type: PropertyType) -> Value? { KeyText.value(text, type) }

    /// An SQL expression that converts a key's text, itself an expression, back to the key's type.
    package static func key(_ sql: String, _ type: PropertyType) -> String { KeyText.parsingExpression(sql, type) }

    /// Column numbers in the audit log's values that don't belong to a property.
    package static let trashColumn = String(SchemaIdentifiers.trashColumn)
    package static let trashReasonColumn = String(SchemaIdentifiers.trashReasonColumn)

    /// Numbers in the audit log's class column that don't belong to a class.
    package static let (logClass, accountClass, documentClass) = (
        AuditSchema.logClass, SchemaIdentifiers.accountClass, SchemaIdentifiers.documentClass
    )
}
