import Foundation
import TestSupport
import TomboloModel

@testable import Tombolo

/// A class that no document describes. Development mode adopts it from the device.
final class Memo: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var text: String
}

/// A device with the app's data, which can be relaunched.
struct Phone {
    let server: AnyAppServer
    let configuration: AppConfiguration
    let mails: MailFolder
    let folder: URL

    init(_ server: AnyAppServer, _ name: String, _ mails: MailFolder) async throws {
        self.server = server
        self.mails = mails
        folder = server.folder.appending(path: name)
        let (host, port) = await server.gateway.address
        configuration = AppConfiguration(baseURL: "http://\(host):\(port)", rootDirectory: folder)
    }

    /// A gateway with e-mail/password logins, anonymous users and API keys, and a device.
    /// - Parameters:
    ///   - environment: the gateway's variables; mails go to a folder by default.
    ///   - prepare: runs once the gateway listens.
    static func withServer(
        environment: [String: String] = [:], prepare: (AnyAppServer) async throws -> Void = { _ in },
        _ body: (AnyAppServer, _ phone: Phone) async throws -> Void
    ) async throws {
        let mails = MailFolder()
        try await AnyAppServer.with(
            gatewayArguments: ["--development"],
            environment: ["TOMBOLO_MAIL": "folder:\(mails.url.path)"].merging(environment) { $1 }
        ) { server in
            try await server.gateway.start()
            try await server.migrate([
                "providers", "set", "local-userpass", #"{"registration": true, "confirmation": "none"}"#,
            ])
            for provider in ["anon-user", "api-key"] { try await server.migrate(["providers", "enable", provider]) }
            try await prepare(server)
            try await body(server, Phone(server, "phone", mails))
        }
        mails.remove()
    }

    /// The app after a restart of its process.
    func launch() -> App {
        App("memos", configuration, AppUsers(UserStore(appID: "memos", configuration: configuration)))
    }

    func open(_ user: User) async throws -> Realm {
        var configuration = user.flexibleSyncConfiguration()
        configuration.objectTypes = [Memo.self]
        return try await Realm.open(configuration: configuration)
    }

    /// The parameters of the link in the newest mail.
    func mail() async throws -> (token: String, tokenID: String) {
        while true {
            if let text = mails.mails().last, let token = text.firstMatch(of: /token=([^&\s]+)/)?.1,
                let tokenID = text.firstMatch(of: /tokenId=([^&\s]+)/)?.1
            {
                return (String(token), String(tokenID))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
