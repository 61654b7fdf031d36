import Foundation
import PostgresClient
import TestSupport

/// An admin server of its own process on a platform's database, with the rights of its role.
enum AdminProcess {
    /// - Parameter body: gets the server's address.
    static func with(
        _ platform: Platform, kind: Server.Kind = .admin, _ body: (_ url: String) async throws -> Void
    ) async throws {
        let server = try await server(platform, kind: kind)
        try await server.start()
        do {
            try await body(await server.url)
        } catch {
            try? await server.kill9()
            throw error
        }
        try await server.kill9()
    }

    /// Not started.
    static func server(_ platform: Platform, kind: Server.Kind = .admin) async throws -> Server {
        let user = try await TestCluster.member(of: "tombolo_admin", platform.configuration)
        let keywords = platform.configuration.keywords
        let address =
            "host=\(keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(user.user ?? "") "
            + "dbname=\(platform.configuration.database ?? "")"
        return Server(
            [], kind: kind, environment: ["TOMBOLO_DATABASE_URL": address, "TOMBOLO_JWT_SECRET": Platform.secret],
            messages: platform.folder.appending(path: "admin.messages"))
    }
}
