import Logging
import TestSupport
import Testing
import TomboloModel

@testable import TomboloAuthentication

/// A server that writes its mails to a folder.
struct MailPlace: Sendable {
    let place: AccountPlace
    let server: Authenticator
    let folder: MailFolder

    static func with(
        _ settings: String = #"{"registration": true}"#, _ body: @escaping @Sendable (MailPlace) async throws -> Void
    ) async throws {
        try await AccountPlace.with { place in
            let folder = MailFolder()
            defer { folder.remove() }
            let room = MailRoom(.folder(folder.url), logger: Logger(label: "mail"))
            let server = await Authenticator(
                pool: place.pool, tokens: place.tokens, hasher: PasswordHasher(parameters: .weakForTests), mail: room)
            try await place.switchOn("local-userpass", settings)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await room.run() }
                group.addTask { try await body(MailPlace(place: place, server: server, folder: folder)) }
                try await group.next()
                group.cancelAll()
            }
        }
    }

    func token(in mail: String) throws -> (token: String, id: String) {
        let lines = mail.split(separator: "\n")
        let token = try #require(lines.first { $0.hasPrefix("token ") && !$0.hasPrefix("token id") })
        let id = try #require(lines.first { $0.hasPrefix("token id ") })
        return (String(token.dropFirst(6)), String(id.dropFirst(9)))
    }

    func register(_ email: String = AccountPlace.email) async throws -> Bool {
        try await server.requestRegistration(email: email, password: AccountPlace.password, name: nil)
    }
}
