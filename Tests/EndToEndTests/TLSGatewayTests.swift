import Foundation
import TestSupport
import Testing
import TomboloModel

@testable import Tombolo

/// A gateway process that terminates TLS itself.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct TLSGatewayTests {
    /// The paths of the gateway's certificate and key, and the authority that signed the certificate.
    private struct Certificates: Sendable {
        let certificate: URL
        let key: URL
        let folder: URL

        init(in folder: URL) {
            self.folder = folder
            certificate = folder.appending(path: "server.pem")
            key = folder.appending(path: "server.key")
        }

        var settings: [String: String] {
            ["TOMBOLO_TLS_CERTIFICATE": certificate.path(), "TOMBOLO_TLS_KEY": key.path()]
        }

        func authority(_ name: String) throws -> TestAuthority { try TestAuthority(in: folder.appending(path: name)) }

        func put(_ issued: TestAuthority.Issued) throws {
            try Data(contentsOf: issued.certificate).write(to: certificate)
            try Data(contentsOf: issued.key).write(to: key)
        }
    }

    private static func device(
        _ platform: Platform, _ name: String, trusting trusted: URL
    ) async throws -> DeviceProcess {
        let device = DeviceProcess(
            name: name, file: platform.folder.appending(path: "\(name).realm"), url: await platform.gateways[0].url,
            trusted: trusted, token: try platform.token(of: "organizer"))
        try await device.start()
        try await device.ask("subscribe", "Listing")
        return device
    }

    @Test("devices sync over TLS, and keep their sessions while the certificate is replaced")
    func certificateIsReplaced() async throws {
        try await withTemporaryFolder { folder in
            let certificates = Certificates(in: folder)
            let (first, second) = (try certificates.authority("first"), try certificates.authority("second"))
            try certificates.put(first.issue())
            try await Platform.with(settings: certificates.settings) { platform in
                let gateway = platform.gateways[0]
                let old = try await Self.device(platform, "old", trusting: first.certificate)
                try await platform.quiet([old])

                // A key that doesn't match the certificate changes nothing.
                try Data(contentsOf: second.issue().key).write(to: certificates.key)
                try await gateway.signal(SIGHUP)
                try await platform.eventually("the refusal in the log") {
                    try String(contentsOf: gateway.messages, encoding: .utf8).contains(
                        "doesn't match the certificate")
                }
                let other = try await Self.device(platform, "other", trusting: first.certificate)
                try await platform.quiet([old, other])

                // A certificate by another authority: a device that trusts only the first authority couldn't reconnect.
                try certificates.put(second.issue())
                try await gateway.signal(SIGHUP)
                try await platform.eventually("the new certificate in the log") {
                    try String(contentsOf: gateway.messages, encoding: .utf8)
                        .components(separatedBy: "New connections get the certificate").count > 2
                }
                let new = try await Self.device(platform, "new", trusting: second.certificate)
                try await platform.quiet([old, other, new])
                #expect(try await old.ask("problems") == "")
                for device in [old, other, new] { try await device.kill9() }
            }
        }
    }

    @Test("a certificate that is replaced without a signal is found")
    func certificateIsFound() async throws {
        try await withTemporaryFolder { folder in
            let certificates = Certificates(in: folder)
            let (first, second) = (try certificates.authority("first"), try certificates.authority("second"))
            try certificates.put(first.issue())
            try await Platform.with(settings: certificates.settings) { platform in
                try certificates.put(second.issue())
                let url = await platform.gateways[0].url
                try await Requests.with(url, trusting: second.certificate) { post in
                    try await platform.eventually("the new certificate") {
                        (try? await post("/login", "{}").status) != nil
                    }
                }
            }
        }
    }

    @Test("a login at an untrusted gateway says why it failed")
    func loginSaysWhy() async throws {
        try await withTemporaryFolder { folder in
            let certificates = Certificates(in: folder)
            let (first, second) = (try certificates.authority("first"), try certificates.authority("second"))
            try certificates.put(first.issue())
            try await Platform.with(settings: certificates.settings) { platform in
                let url = await platform.gateways[0].url
                @Sendable func problem(_ trusted: URL?, _ url: String) async throws -> String {
                    let app = App(
                        id: "tls",
                        configuration: AppConfiguration(
                            baseURL: url, rootDirectory: folder.appending(path: UUID().uuidString),
                            trustedCertificates: trusted))
                    do {
                        let user = try await app.login(
                            credentials: .emailPassword(
                                email: Platform.email("attendee"), password: Platform.password))
                        return "logged in as \(user.id)"
                    } catch let error as AppError {
                        return error.message
                    }
                }
                let user = try platform.id(of: "attendee").stringValue
                #expect(try await problem(first.certificate, url) == "logged in as \(user)")
                for trusted in [second.certificate, nil] {
                    let text = try await problem(trusted, url)
                    #expect(text.contains("isn't accepted") && text.contains("authority"), "\(text)")
                }
                try certificates.put(first.issue(for: "DNS:gateway.example.org"))
                try await platform.gateways[0].signal(SIGHUP)
                // Under another host name, so that no earlier connection is reused.
                let copy = folder.appending(path: "copy.pem")
                try FileManager.default.copyItem(at: first.certificate, to: copy)
                try await platform.eventually("the new certificate in the log") {
                    try String(contentsOf: platform.gateways[0].messages, encoding: .utf8)
                        .components(separatedBy: "New connections get the certificate").count > 2
                }
                let text = try await problem(copy, url)
                #expect(text.contains("for another name"), "\(text)")
            }
        }
    }
}
