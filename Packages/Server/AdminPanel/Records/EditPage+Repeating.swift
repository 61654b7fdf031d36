import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloSQL

/// Forms that arrive twice: somebody clicks twice, loads the answer again, or the network sends again. What the first did
/// isn't done again, and the second gets the same answer.
extension EditPage {
    static var madeOnce: PanelNotice { PanelNotice(localized("Created once, though the form was sent twice.")) }

    var keys: FormKeys { FormKeys(request) }

    /// The key of a new object.
    /// - Throws: ``RequestFailure`` with status 422 for what was entered as the id of a class whose ids aren't made.
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

    /// Whether this form has made an object already, which is asked when making it was refused: another arrival may have
    /// been faster. It takes no right to see the object, whose key nobody can choose.
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

    /// Whether an object has all that a form wants to write: the form has arrived before, or somebody else did the same.
    func holds(_ stored: PanelResource, _ document: JSON) -> Bool {
        view.fields(of: type).allSatisfy { field in
            guard let wanted = Self.value(of: field, document) else { return true }
            // What is too long to be read isn't known to be the same.
            return value(of: field, stored).map { field.isSame(wanted, $0) } ?? false
        }
    }
}
