import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import PostgresClient
import Testing
import TomboloModel

@testable import TomboloAuthentication

/// What strangers can learn about whether an address has an account: from text, status, headers, work and time.
@Suite struct EnumerationTests {
    private static let isLong = ProcessInfo.processInfo.environment["TOMBOLO_LONG_TESTS"] == "1"

    @Test("An address with an account, with a disabled one and with none cost the same hashes and get the same bytes")
    func sameWork() async throws {
        try await AccountPlace.with { place in
            let hasher = PasswordHasher(parameters: .weakForTests)
            // Nothing processes this room's mails, so whatever a request would find out there, it finds out after its
            // answer.
            let room = MailRoom(.folder(URL(fileURLWithPath: "/nowhere")), logger: Logger(label: "mail"))
            let server = await Authenticator(pool: place.pool, tokens: place.tokens, hasher: hasher, mail: room)
            try await place.switchOn("local-userpass", #"{"registration": true}"#)
            for name in ["known", "disabled"] { try await place.register("\(name)@example.org") }
            try await AccountRegistry(pool: place.pool).setEnabled(false, email: "disabled@example.org")
            try await place.pool.query(
                "INSERT INTO tombolo.account (id, email, display_name) VALUES ($1, 'imported@example.org', 'x')",
                [.bytea(ObjectId.generate().bytes)])
            let bodies = [
                ("/login", #"{"email": "EMAIL", "password": "wrong password"}"#, 1),
                ("/register", #"{"email": "EMAIL", "password": "some password"}"#, 1),
                ("/confirm/send", #"{"email": "EMAIL"}"#, 0), ("/reset/send", #"{"email": "EMAIL"}"#, 0),
            ]
            try await AccountClient.application(server).test(.router) { client in
                for (path, body, hashes) in bodies {
                    var answers: Set<String> = []
                    for name in ["known", "disabled", "imported", "unknown"] {
                        let before = hasher.computedCount
                        let text = body.replacing("EMAIL", with: "\(name)@example.org")
                        let answer = try await client.execute(
                            uri: path, method: .post, headers: [.contentType: "application/json"],
                            body: ByteBuffer(string: text))
                        #expect(hasher.computedCount - before == hashes, "\(path) \(name)")
                        // In headers that differ in each answer, such as the date, only the length could reveal
                        // something.
                        let headers = answer.headers.map { field in
                            let isOwn = field.name == .date || field.name.canonicalName.hasSuffix("request-id")
                            return "\(field.name): \(isOwn ? String(field.value.count) : field.value)"
                        }
                        answers.insert("\(answer.status) \(headers.sorted()) \(String(buffer: answer.body))")
                    }
                    #expect(answers.count == 1, "\(path): \(answers)")
                }
            }
            #expect(try await place.pool.query("SELECT 1 FROM tombolo.mail_token").isEmpty)
        }
    }

    @Test("Text longer than an address is refused before anything remembers it")
    func longAddresses() async throws {
        try await AccountPlace.with { place in
            let room = MailRoom(.folder(URL(fileURLWithPath: "/nowhere")), logger: Logger(label: "mail"))
            let server = await Authenticator(
                pool: place.pool, tokens: place.tokens, hasher: PasswordHasher(parameters: .weakForTests), mail: room)
            let long = String(repeating: "x", count: AccountRegistry.maximumEmailByteCount) + "@example.org"
            for request in [
                { try await server.sendReset(email: long) }, { try await server.resendConfirmation(email: long) },
            ] as [@Sendable () async throws -> Void] {
                let error = await #expect(throws: AuthenticationError.self) { try await request() }
                guard case .invalidEmail = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }
    }

    @Test(
        "An address that mail programs would read as several is refused",
        arguments: [
            "<x>@example.org", "root,me@example.org", "x(y)@example.org", "a@example.org;b",
            "root,\u{301}me@example.org", "me@\u{301}example.com@example.org",
        ])
    func severalAddresses(_ address: String) {
        #expect(throws: AuthenticationError.self) { try AccountRegistry.validated(email: address) }
        #expect(throws: Never.self) { try AccountRegistry.validated(email: "Zoë.O'Neil+news@example.org") }
    }

    @Test("A rank test finds a real difference, and finds none between equal samples")
    func ranks() {
        let values = (0..<100).map(Double.init)
        #expect(RankTest(values, values).superiority == 0.5)
        #expect(RankTest(values.map { $0 + 1_000 }, values).superiority == 1)
        #expect(RankTest(values, values.map { $0 + 1_000 }).superiority == 0)
        #expect(RankTest([1, 1, 1], [1, 1]).deviations == 0)
        #expect(RankTest(values.map { $0 + 20 }, values).deviations > 4)
    }

    /// Long, because it takes hundreds of samples of real hashes; and never part of the default run, because it
    /// measures times. They are only compared with each other.
    @Test("Times don't tell whether an address has an account", .enabled(if: isLong, "TOMBOLO_LONG_TESTS=1"))
    func sameTime() async throws {
        // Vargha and Delaney call a difference negligible up to 0.56 and small up to 0.64.
        let bound = 0.1
        try await AccountPlace.with { place in
            let folder = FileManager.default.temporaryDirectory.appending(path: "mail-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let room = MailRoom(.folder(folder), logger: Logger(label: "mail"))
            let hasher = PasswordHasher()
            let server = await Authenticator(pool: place.pool, tokens: place.tokens, hasher: hasher, mail: room)
            try await place.switchOn("local-userpass", #"{"registration": true}"#)
            let hash = try await hasher.hash(AccountPlace.password)
            let mailed = 600
            for number in 0..<mailed {
                try await AccountRegistry(pool: place.pool).insert(
                    .generate(), email: "known-\(number)@example.org", displayName: "x", hash)
            }
            let paths: [(name: String, count: Int, ask: @Sendable (_ email: String, _ address: String) async -> Void)] =
                [
                    (
                        "login", 120,
                        { _ = try? await server.login(email: $0, password: "wrong password", address: $1) }
                    ),
                    (
                        "registration", 120,
                        {
                            _ = try? await server.requestRegistration(
                                email: $0, password: "some password", name: nil, address: $1)
                        }
                    ),
                    ("reset", mailed, { try? await server.sendReset(email: $0, address: $1) }),
                    ("another confirmation", mailed, { try? await server.resendConfirmation(email: $0, address: $1) }),
                ]
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await room.run() }
                for (index, path) in paths.enumerated() {
                    let clock = ContinuousClock()
                    var seconds: [Bool: [Double]] = [:]
                    let order = (0..<path.count).flatMap { [($0, true), ($0, false)] }.shuffled()
                    for (sample, (number, isKnown)) in order.enumerated() {
                        let email = "\(isKnown ? "known" : "other")-\(number)@example.org"
                        let took = await clock.measure {
                            await path.ask(email, "10.\(index).\(sample / 250).\(sample % 250)")
                        }
                        seconds[isKnown, default: []].append(took / .seconds(1))
                    }
                    let (known, other) = (seconds[true] ?? [], seconds[false] ?? [])
                    let test = RankTest(known, other)
                    func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] * 1_000 }
                    print(
                        "\(path.name): medians \(median(known)) ms with, \(median(other)) ms without an account; "
                            + "superiority \(test.superiority), \(test.deviations) standard deviations, "
                            + "\(path.count) samples of each")
                    #expect(abs(test.superiority - 0.5) <= bound, "\(path.name): \(test)")
                }
                group.cancelAll()
            }
        }
    }
}
