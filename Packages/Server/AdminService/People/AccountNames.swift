import PostgresClient
import PostgresValues
import TomboloModel

/// What the users behind entries of the trash and of the audit log are called.
enum AccountNames {
    /// The names of users' accounts by the texts of the users' ids, as far as the accounts are still there.
    nonisolated(nonsending) static func of(
        _ users: Set<ObjectId>, _ connection: PostgresConnection
    ) async throws -> [String: String] {
        guard !users.isEmpty else { return [:] }
        let found = try await connection.query(
            "SELECT id, display_name FROM tombolo.account WHERE id = ANY ($1)", [.byteaArray(users.map(\.bytes))])
        return Dictionary(
            uniqueKeysWithValues: try found.map { (try $0[0].objectId.stringValue, try $0[1].string) })
    }
}
