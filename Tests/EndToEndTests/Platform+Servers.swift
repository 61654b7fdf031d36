import Foundation
import PostgresClient
import TestSupport

extension Platform {
    /// Servers of one kind, each in a process of its own, with their role's rights. They aren't started yet. Call this
    /// once per role, because the servers of a role share its user.
    func servers(_ count: Int, kind: Server.Kind) async throws -> [Server] {
        let user = try await TestCluster.member(of: kind.role, configuration)
        let keywords = configuration.keywords
        let address =
            "host=\(keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(user.user ?? "") "
            + "dbname=\(configuration.database ?? "")"
        return (0..<count).map { place in
            Server(
                [], kind: kind, environment: ["TOMBOLO_DATABASE_URL": address, "TOMBOLO_JWT_SECRET": Platform.secret],
                messages: folder.appending(path: "\(kind.name)-\(place).messages"))
        }
    }
}
