import Foundation
import Testing

/// Guards the arrows of docs/ARCHITECTURE.md: every import of every file of a package against the list of what that
/// package may use. SwiftPM rejects cycles between targets, but says nothing about layers, nor about Foundation,
/// Dispatch or Glibc in the pure core.
@Suite struct ModuleGraphTests {
    /// What each folder of `Packages/` may import, by layer, lowest first.
    static let allowed: [String: Set<String>] = [
        // Pure core. Foundation for Date, Data and UUID; no sockets, files, clocks.
        "Model": ["Darwin", "Foundation", "ObjectiveC", "Swift", "Synchronization"],
        "SQL": ["TomboloModel"],
        "Changesets": ["Foundation", "TomboloModel"],
        "Rules": ["TomboloModel", "TomboloChangesets"],
        "SyncProtocol": ["Foundation", "FoundationEssentials", "SwiftProtobuf", "TomboloModel", "TomboloChangesets"],
        "SyncSession": ["TomboloModel", "TomboloChangesets", "TomboloSyncProtocol"],
        "EventModels": ["Foundation", "TomboloModel", "TomboloRules", "TomboloChangesets"],
        "Codemod": [],
        "Simulator": [
            "Foundation", "Synchronization", "TomboloModel", "TomboloChangesets", "TomboloSyncProtocol",
            "TomboloSyncSession",
        ],
        // Stores and network.
        "PostgresClient": ["CLibPQ", "Dispatch", "Foundation", "Glibc", "Logging", "Synchronization"],
        "SQLiteStore": [
            "Crypto", "Dispatch", "Foundation", "GRDB", "GRDBSQLite", "Synchronization", "TomboloModel", "TomboloSQL",
            "TomboloChangesets", "TomboloSyncProtocol", "TomboloSyncSession",
        ],
        "PostgresStore": [
            "Foundation", "Logging", "PostgresClient", "ServiceLifecycle", "Synchronization", "TomboloModel",
            "TomboloSQL", "TomboloChangesets", "TomboloSyncProtocol", "TomboloSyncSession",
        ],
        "WebSocket": [
            "Foundation", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOWebSocket", "Synchronization",
        ],
        // Client.
        "SyncClient": [
            "Dispatch", "Foundation", "Logging", "NIOCore", "NIOPosix", "TomboloModel", "TomboloChangesets",
            "TomboloSyncProtocol", "TomboloSyncSession", "TomboloWebSocket",
        ],
        "Tombolo": [
            "AsyncHTTPClient", "CDispatch", "Dispatch", "Foundation", "GRDB", "Glibc", "Logging", "NIOCore", "NIOHTTP1",
            "Synchronization", "TomboloModel", "TomboloSQL", "TomboloChangesets", "TomboloSyncProtocol",
            "TomboloSyncSession", "TomboloSQLiteStore", "TomboloSyncClient",
        ],
        "RealmSwift": ["Foundation", "Tombolo"],
        "DatabaseManager": ["Foundation", "Synchronization", "Tombolo"],
        // Services.
        "Authentication": [
            "CryptoExtras", "Dispatch", "EventModels", "Foundation", "JWTKit", "PostgresClient", "Synchronization",
            "TomboloModel", "TomboloRules",
        ],
        "HTTP": [
            "Foundation", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "NIOHTTP1",
            "PostgresClient", "ServiceLifecycle", "Synchronization", "TomboloAuthentication", "TomboloModel",
            "TomboloRules", "TomboloSQL",
        ],
        "GatewayService": [
            "Foundation", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "NIOHTTP1",
            "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "PostgresClient", "ServiceLifecycle",
            "Synchronization", "TomboloAuthentication", "TomboloChangesets", "TomboloHTTP", "TomboloModel",
            "TomboloPostgresStore", "TomboloRules", "TomboloSyncProtocol", "TomboloSyncSession", "TomboloWebSocket",
        ],
        "AdminService": [
            "EventModels", "Foundation", "HTTPTypes", "Hummingbird", "Logging", "PostgresClient",
            "TomboloAuthentication", "TomboloHTTP", "TomboloModel", "TomboloRules", "TomboloSQL",
        ],
        "TicketService": [
            "EventModels", "Foundation", "HTTPTypes", "Hummingbird", "Logging", "Mustache", "PostgresClient",
            "TomboloAuthentication", "TomboloHTTP", "TomboloModel", "TomboloRules",
        ],
        "Migration": [
            "EventModels", "Foundation", "OpenEventImport", "PostgresClient", "TomboloAuthentication", "TomboloModel",
            "TomboloPostgresStore",
        ],
        "OpenEventImport": ["Crypto", "EventModels", "Foundation", "PostgresClient", "TomboloModel"],
    ]

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func everyImportPointsDown() throws {
        var problems: [String] = []
        for (package, file, text) in try Self.sources() {
            guard let allowed = Self.allowed[package] else {
                problems.append("Packages/\(package) has no entry in this test: say what it may import.")
                continue
            }
            for line in text.split(separator: "\n") {
                guard let module = Self.importedModule(String(line)), !allowed.contains(module) else { continue }
                problems.append("\(package)/\(file) imports \(module), which its layer may not use.")
            }
        }
        #expect(problems.isEmpty, "\(Set(problems).sorted().joined(separator: "\n"))")
    }

    /// Identifiers and default values of objects are random, or the present, as in Realm; everything else comes as a
    /// parameter.
    @Test func thePureCoreHasNoClockAndNoRandomness() throws {
        let forbidden = ["Date()", "ContinuousClock", "SystemRandomNumberGenerator", "FileManager", "Task.sleep"]
        let exceptions = ["Model/ObjectId.swift", "Model/Persistable+Date.swift"]
        var problems: [String] = []
        for (package, file, text) in try Self.sources()
        where ["Model", "SQL", "Changesets", "Rules", "SyncProtocol", "SyncSession"].contains(package) {
            guard !exceptions.contains("\(package)/\(file)") else { continue }
            for word in forbidden where text.contains(word) {
                problems.append("\(package)/\(file) uses \(word).")
            }
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    private static func importedModule(_ line: String) -> String? {
        var words = line.split(separator: " ").map(String.init)
        while let first = words.first, first.hasPrefix("@") || ["public", "package", "internal"].contains(first) {
            words.removeFirst()
        }
        guard words.first == "import", words.count > 1 else { return nil }
        let kinds = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        let name = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
        return name.split(separator: ".").first.map(String.init)
    }

    private static func sources() throws -> [(package: String, file: String, text: String)] {
        let packages = root.appending(path: "Packages")
        let names = try FileManager.default.contentsOfDirectory(atPath: packages.path())
        return try names.flatMap { package -> [(String, String, String)] in
            let folder = packages.appending(path: package)
            guard let files = FileManager.default.enumerator(atPath: folder.path()) else { return [] }
            return try files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.map { file in
                (
                    package, (file as NSString).lastPathComponent,
                    try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                )
            }
        }
    }
}
