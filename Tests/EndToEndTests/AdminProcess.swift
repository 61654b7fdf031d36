import Foundation

/// An admin server in a process of its own, on a platform's database, with its role's rights.
enum AdminProcess {
    /// - Parameter body: receives the server's address.
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

    /// Returns a server that isn't started yet.
    static func server(_ platform: Platform, kind: Server.Kind = .admin) async throws -> Server {
        try await platform.servers(1, kind: kind)[0]
    }
}
