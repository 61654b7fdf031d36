import Foundation
import Logging
import Tombolo

/// A user whose gateway does not answer: local writes of a synced file queue up.
enum OfflineUser {
    static func login() async throws -> User {
        // That there is no connection is no news.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        // Nothing answers at port 9 (discard), and a token's signature is the gateway's business.
        let app = App(id: "bench", configuration: AppConfiguration(baseURL: "http://127.0.0.1:9"))
        let claims = Data(#"{"sub":"bench"}"#.utf8).base64EncodedString().replacing("=", with: "")
        return try await app.login(credentials: .accessToken("e30.\(claims).none"))
    }
}
