import Foundation
import Testing
import TomboloModel

@testable import Tombolo

/// Floods of logins, against a gateway process behind a trusted proxy.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct LoginFloodTests {
    private static let password = "correct horse battery"

    private func withAda(_ body: (Requests, _ realm: Realm, _ refreshToken: String) async throws -> Void) async throws {
        try await Phone.withServer(environment: Requests.environment) { server, phone in
            let app = phone.launch()
            try await app.emailPasswordAuth.registerUser(email: "ada@example.org", password: Self.password)
            let user = try await app.login(
                credentials: .emailPassword(email: "ada@example.org", password: Self.password))
            let realm = try await phone.open(user)
            try await realm.objects(Memo.self).subscribe()
            try await Requests.with(server.gateway.url) { post in
                let home = try await post.login("ada@example.org", Self.password, from: "192.0.2.10")
                #expect(home.status == 200, "\(home)")
                try await body(post, realm, home["refreshToken"] ?? "")
            }
        }
    }

    /// Everything that must keep working during a flood.
    private func expectService(_ post: Requests, _ realm: Realm, _ refreshToken: String) async throws {
        let refreshed = try await post("/session", token: refreshToken, from: "192.0.2.10")
        #expect(refreshed.status == 200, "\(refreshed)")
        try realm.write { realm.add(Memo(value: ["text": "during the flood"])) }
        try await realm.syncSession?.waitForUpload()
        let login = try await post.login("ada@example.org", Self.password, from: "192.0.2.10")
        #expect(login.status == 200, "\(login)")
    }

    @Test("One address that tries many accounts at once is told to wait, and others are served meanwhile")
    func oneAddress() async throws {
        try await withAda { post, realm, refreshToken in
            async let flood = withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<80 {
                    group.addTask {
                        try await post.login("user-\(number)@example.org", "guess number one", from: "203.0.113.7")
                            .status
                    }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            try await expectService(post, realm, refreshToken)
            // Wrong or busy, but never let in, and never an internal server error.
            #expect(try await flood.subtracting([401, 429, 503]).isEmpty)
        }
    }

    @Test("An account that is tried from many addresses makes strangers wait, but not its user's own address")
    func manyAddresses() async throws {
        try await withAda { post, realm, refreshToken in
            var statuses: [Int] = []
            for number in 0..<40 {
                statuses.append(
                    try await post.login("ada@example.org", "guess number one", from: "198.51.100.\(number)").status)
            }
            #expect(Set(statuses) == [401, 429])
            try await expectService(post, realm, refreshToken)
        }
    }

    @Test("Many addresses that try many accounts at once don't take the turns of the user's own address")
    func manyOfBoth() async throws {
        try await withAda { post, realm, refreshToken in
            async let flood = withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<90 {
                    group.addTask {
                        try await post.login(
                            "user-\(number)@example.org", "guess number one", from: "198.51.100.\(number % 15)"
                        ).status
                    }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            try await expectService(post, realm, refreshToken)
            #expect(try await flood.subtracting([401, 429, 503]).isEmpty)
        }
    }
}
