import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloSQL

/// Forms that arrive twice, because somebody clicks twice or reloads the page, or because the network retries. The
/// second one doesn't repeat the action, and gets the same answer.
extension EditPage {
    static var madeOnce: PanelNotice { PanelNotice(localized("Created only once, although the form was sent twice.")) }

    var keys: FormKeys { FormKeys(request) }

    /// The key of a new object.
    /// - Throws: ``RequestFailure`` with status 422 if the class's ids aren't generated and the entered id is invalid.
    func newKey(_ content: Content) throws -> Value {
        guard !FormKeys.make(type) else {
            let rows = content.children?.entered ?? []
            return keys.key(of: type, at: "", .array([newDocument(content)] + rows))
        }
        guard !content.id.isEmpty, let key = type.keyValue(content.id) else {
            throw RequestFailure(
                .unprocessable, "The id isn't \(ValueText.expected(type.keyType)).",
                source: .pointer((Self.pointer / "id").description))
        }
        return key
    }

    /// Whether this form has already created its object. This is checked when creating it was refused, since another
    /// arrival of the form may have been faster. It doesn't require the right to see the object: nobody can choose such
    /// a key.
    nonisolated(nonsending) func isMade(_ key: Value, _ connection: PostgresConnection) async throws -> Bool {
        guard FormKeys.make(type) else { return false }
        let (table, column) = (
            PostgresSQL.quoteIdentifier(type.item.table), PostgresSQL.quoteIdentifier(type.key.sqlName)
        )
        return try await connection.query(
            "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(column) = $1)",
            [try PostgresParameter(key, as: type.keyType)])[0, 0].bool
    }

    func isMade(_ key: Value) async throws -> Bool {
        try await request.core.pool.withConnection { try await isMade(key, $0) }
    }

    /// Whether an object already has all values that a form wants to write: the form has arrived before, or somebody
    /// else made the same change.
    func holds(_ stored: PanelResource, _ document: JSON) -> Bool {
        view.fields(of: type).allSatisfy { field in
            guard let wanted = Self.value(of: field, document) else { return true }
            // A value that is too long to be read may differ.
            return value(of: field, stored).map { field.isSame(wanted, $0) } ?? false
        }
    }
}
