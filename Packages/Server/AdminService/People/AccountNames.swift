import PostgresClient
import PostgresValues
import TomboloModel

/// The names of the users behind entries of the trash and the audit log.
enum AccountNames {
    /// The names of users' accounts, by the user's id as text. Accounts that no longer exist are left out.
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
