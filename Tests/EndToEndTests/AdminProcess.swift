import Foundation

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
        try await platform.servers(1, kind: kind)[0]
    }
}
