package import TomboloModel

/// Values as the changelog and the audit log write them.
package enum LoggedValue {
    /// - Parameter type: a stored type (`Schema.storedType(of:)`).
    /// - Returns: nil for text that no value of the type has.
    package static func value(_ text: String?, _ type: PropertyType) -> Value? { KeyText.value(text, type) }

    /// SQL that turns the text of a key, an expression, back into its type.
    package static func key(_ sql: String, _ type: PropertyType) -> String { KeyText.parsingExpression(sql, type) }

    /// The numbers that columns of the audit log's values have besides those of properties.
    package static let trashColumn = String(SchemaIdentifiers.trashColumn)
    package static let trashReasonColumn = String(SchemaIdentifiers.trashReasonColumn)

    /// What the audit log has in place of a class's number.
    package static let (logClass, accountClass, documentClass) = (
        AuditSchema.logClass, SchemaIdentifiers.accountClass, SchemaIdentifiers.documentClass
    )
}
