import Foundation
import Testing
import Tombolo

@testable import TomboloObservables

/// Nothing listens at the app's address. EndToEndTests/ObservedOpeningTests has a gateway.
@MainActor
@Suite("Opening a synced Realm without a gateway", .timeLimit(.minutes(15)))
struct ObservedOpeningTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "tombolo-opening-\(UUID().uuidString)")
    private let appID = "opening-\(UUID().uuidString)"
    private let app: App
    private let tally = Tally()

    init() {
        app = App(
            id: appID,
            configuration: AppConfiguration(
                baseURL: "http://127.0.0.1:9", defaultRequestTimeoutMS: 1_000, rootDirectory: folder))
    }

    private func logIn(_ id: String) async throws -> User {
        let claims = Data(#"{"sub":"\#(id)"}"#.utf8).base64EncodedString().replacing("=", with: "")
        return try await app.login(credentials: .accessToken("e30.\(claims).secret"))
    }

    private func opening(
        _ onFailure: ObservedOpening.FailureBehavior = .showError, timeout: Duration? = nil,
        configuration: Realm.Configuration = Realm.Configuration(objectTypes: [Dog.self, Tag.self])
    ) -> ObservedOpening {
        let opening = ObservedOpening(
            appID: appID, configuration: configuration, timeout: timeout, onFailure: onFailure)
        opening.willChange = { [tally] _ in tally.add() }
        return opening
    }

    @Test("It waits for a user, fails without a gateway, and waits again after logout")
    func course() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let opening = opening()
        guard case .waitingForUser = opening.state else { return #expect(Bool(false), "\(opening.state)") }
        #expect(tally.count == 0)
        let user = try await logIn("ada")
        try await until { if case .error = opening.state { true } else { false } }
        #expect(tally.count == 2)
        try? await user.logOut()
        try await until { if case .waitingForUser = opening.state { true } else { false } }
    }

    @Test("For working offline, it opens the logged-in user's file")
    func offline() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let ada = try await logIn("ada")
        let opening = opening(.openFile)
        guard case .connecting = opening.state else { return #expect(Bool(false), "\(opening.state)") }
        var realms: [Realm] = []
        for user in [ada, try await logIn("bob"), ada] {
            app.switch(to: user)
            try await until {
                guard case .open(let realm) = opening.state, realm.configuration.syncConfiguration?.user == user
                else { return false }
                realms.append(realm)
                return true
            }
        }
        #expect(realms[0].configuration.fileURL != realms[1].configuration.fileURL)
        #expect(realms[0] == realms[2])
        #expect(realms[0].configuration.objectTypes?.count == 2)
    }

    @Test("A time limit and cancellation end it with the system's error codes")
    func endings() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try await logIn("ada")
        // This server accepts connections but never answers.
        let silence = try SilentServer()
        let other = App(
            id: appID + "-silent",
            configuration: AppConfiguration(
                baseURL: "http://127.0.0.1:\(silence.port)", defaultRequestTimeoutMS: 600_000, rootDirectory: folder))
        let claims = Data(#"{"sub":"eve"}"#.utf8).base64EncodedString().replacing("=", with: "")
        _ = try await other.login(credentials: .accessToken("e30.\(claims).secret"))
        for isCancelled in [false, true] {
            var code: POSIXErrorCode?
            // Retry if the session gave up first, as it does after ten seconds.
            while code == nil {
                let opening = ObservedOpening(
                    appID: other.appId, configuration: Realm.Configuration(objectTypes: [Dog.self, Tag.self]),
                    timeout: isCancelled ? nil : .milliseconds(50))
                guard case .connecting = opening.state else { return #expect(Bool(false), "\(opening.state)") }
                if isCancelled { opening.cancel() }
                try await until {
                    guard case .error(let error) = opening.state else { return false }
                    code = (error as? POSIXError)?.code
                    return true
                }
            }
            #expect(code == (isCancelled ? .ECANCELED : .ETIMEDOUT))
        }
        withExtendedLifetime(silence) {}
    }

    @Test("Another partition is another Realm; the same one isn't opened twice")
    func partitions() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try await logIn("ada")
        let opening = opening(.openFile)
        let settings = Realm.Configuration(objectTypes: [Dog.self, Tag.self])
        var files: [String] = []
        for partition in ["user=1", "user=2", "user=2"] {
            opening.declare(partition: partition, configuration: settings)
            try await until {
                if case .open(let realm) = opening.state {
                    files.append(realm.configuration.fileURL?.lastPathComponent ?? "")
                    return true
                }
                return false
            }
        }
        #expect(files == ["s_user%3D1.realm", "s_user%3D2.realm", "s_user%3D2.realm"])
    }
}
