import Foundation
import Logging
import Tombolo

/// A user whose gateway doesn't answer, so a synced file's local writes queue up.
enum OfflineUser {
    static func login() async throws -> User {
        // The lack of a connection is expected, so don't log it.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        // Nothing answers on port 9 (discard), and only the gateway would check the token's signature.
        let app = App(id: "bench", configuration: AppConfiguration(baseURL: "http://127.0.0.1:9"))
        let claims = Data(#"{"sub":"bench"}"#.utf8).base64EncodedString().replacing("=", with: "")
        return try await app.login(credentials: .accessToken("e30.\(claims).none"))
    }
}
