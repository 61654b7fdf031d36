import ChildPrograms
import Foundation
import PostgresClient
import TestSupport
import TomboloAuthentication
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel
import TomboloSyncProtocol
import TomboloSyncSession

/// An empty database with the stock programs running on it.
final class AnyAppServer: Sendable {
    /// The application name of the test's own connections.
    private static let applicationName = "any-app-test"

    let pool: PostgresPool
    let folder: URL
    let gateway: Server
    private let address: String

    private init(pool: PostgresPool, folder: URL, gateway: Server, address: String) {
        self.pool = pool
        self.folder = folder
        self.gateway = gateway
        self.address = address
    }

    static func with(
        gatewayArguments: [String] = [], environment: [String: String] = [:],
        _ body: (AnyAppServer) async throws -> Void
    ) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let keywords = configuration.keywords
        func address(_ user: PostgresConfiguration) -> String {
            "host=\(keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(user.user ?? "") "
                + "dbname=\(configuration.database ?? "")"
        }
        // In development mode the gateway makes tables, so it needs the owner's rights.
        let gatewayUser =
            gatewayArguments.contains("--development")
            ? configuration : try await TestCluster.member(of: "tombolo_gateway", configuration)
        let folder = FileManager.default.temporaryDirectory.appending(path: "any-app-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let gateway = Server(
            gatewayArguments,
            environment: ["TOMBOLO_DATABASE_URL": address(gatewayUser), "TOMBOLO_JWT_SECRET": Platform.secret]
                .merging(environment) { _, new in new },
            messages: folder.appending(path: "gateway.log"))
        var own = configuration
        own.applicationName = applicationName
        let pool = PostgresPool(configuration: own, options: .patient(6))
        let server = AnyAppServer(pool: pool, folder: folder, gateway: gateway, address: address(configuration))
        do {
            try await body(server)
        } catch {
            try? await gateway.kill9()
            await pool.shutdown()
            let log = (try? String(contentsOf: gateway.messages, encoding: .utf8)) ?? ""
            print("The gateway's log: \(log.suffix(4_000))")
            throw error
        }
        try await gateway.kill9()
        await pool.shutdown()
        try await FileManager.default.removeBusyFolder(at: folder)
    }

    /// Runs `migration-tool`.
    /// - Returns: its output.
    /// - Throws: its error message, if it failed.
    @discardableResult
    func migrate(_ arguments: [String]) async throws -> String {
        let outcome = try await BuiltProgram("migration-tool", "MigrationTool").run(
            arguments, environment: ["TOMBOLO_DATABASE_URL": address])
        guard outcome.status == 0 else {
            throw EndToEndFailure("migration-tool \(arguments.joined(separator: " ")): \(outcome.messages)")
        }
        return outcome.output
    }

    /// Applies the models and rules of apps as their developers would.
    func apply(_ apps: [(document: ModelDocument, rules: String)]) async throws {
        var models: [String] = []
        var rules: [String] = []
        for app in apps {
            let file = folder.appending(path: "\(app.document.app).json")
            try app.document.json.write(to: file, atomically: true, encoding: .utf8)
            models.append(file.path())
            let ruleFile = folder.appending(path: "\(app.document.app).yaml")
            try app.rules.write(to: ruleFile, atomically: true, encoding: .utf8)
            rules.append(ruleFile.path())
        }
        while true {
            do {
                try await migrate(["apply", "--models"] + models + ["--rules"] + rules)
                return
            } catch let failure as EndToEndFailure where failure.description.contains("lock timeout") {
                // On a busy machine a gateway may hold a table's lock for longer than the tool waits. Then run it
                // again.
                try Task.checkCancellation()
            }
        }
    }

    /// Creates an account.
    func user(_ name: String) async throws -> (id: String, token: String) {
        let authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: Platform.secret),
            hasher: PasswordHasher(parameters: .weakForTests))
        let email = Platform.email(name)
        let id = try await authenticator.register(email: email, password: Platform.password, displayName: name)
        return (id.stringValue, try await authenticator.login(email: email, password: Platform.password).token)
    }

    /// The URL that devices connect to.
    func url() async throws -> URL {
        let (host, port) = await gateway.address
        guard let url = URL(string: "ws://\(host):\(port)/sync") else { throw EndToEndFailure("no address") }
        return url
    }

    /// Waits for the last statements of a killed gateway, which may be running or still unread in a socket. Once its
    /// connections are gone, they have ended, committed or not.
    func untilDisconnected() async throws {
        let others = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
                AND application_name <> '\(Self.applicationName)'
            """
        while try await pool.query(others)[0, 0].int > 0 { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// Whether all of an app's classes are there after the gateway was killed.
    /// - Throws: if only some of them are.
    func isWhole(_ document: ModelDocument) async throws -> Bool {
        try await untilDisconnected()
        let live = try await pool.withConnection { try await PostgresCatalog.read($0) }
        let model = try await ServerModels.load(pool).current
        let difference = PostgresSchema.difference(from: live, to: model.schema)
        guard difference.steps.isEmpty, difference.problems.isEmpty else {
            throw EndToEndFailure("The tables lack \(difference.steps.map(\.name)), \(difference.problems)")
        }
        let names = document.classes.filter { !$0.isEmbedded }.map(\.name)
        let known = names.filter { model.schema[$0] != nil }
        guard known.isEmpty else {
            guard known == names else { throw EndToEndFailure("Only \(known) of \(names) are in the model.") }
            return true
        }
        let left = names.filter { live.tables[Column.sqlName(for: $0)] != nil || live.identifiers.classes[$0] != nil }
        guard left.isEmpty else { throw EndToEndFailure("\(left) have tables or numbers, and no model.") }
        return false
    }

    // MARK: Comparing

    /// Describes how a device's file differs from the rows that its user may read; empty if it doesn't.
    func differences(_ device: AnyDevice, _ readable: TomboloModel.Predicate) async throws -> [String] {
        let schema = try await ServerModels.load(pool).current.schema
        let store = try await PostgresServerStore.open(schema: schema, pool: pool)
        let expected = try await store.withReader { reader in
            var rows: [String: [Row]] = [:]
            for index in schema.classes.indices {
                let item = schema[index]
                let collected = CollectedRows()
                let columns = [item.primaryKeyIndex ?? 0] + item.columns.indices.filter { $0 != item.primaryKeyIndex }
                if item.owner == nil {
                    guard item.columnIndex(AnyDevice.ownerName) != nil else { continue }
                    try await reader.rows(classIndex: index, matching: readable, columns: columns) {
                        await collected.add($0, schema)
                    }
                } else {
                    try await reader.elements(classIndex: index, ofOwnersMatching: readable, columns: columns) {
                        await collected.add($0, schema)
                    }
                }
                rows[item.name] = await collected.rows
            }
            return rows
        }
        var differences: [String] = []
        for index in device.schema.classes.indices {
            let item = device.schema[index]
            guard let serverIndex = schema.index(of: item.name) else {
                differences.append("The server lacks \(item.name).")
                continue
            }
            let serverItem = schema[serverIndex]
            // The device's columns, by the names that the server has for them.
            let positions = item.columns.compactMap { serverItem.columnIndex($0.name) }
            let wanted = Set(
                (expected[serverItem.name] ?? []).map { row in
                    Row(
                        zip(item.columns, positions).map { column, position in
                            let value = row[position]
                            return value.isNull && !column.isOptional
                                ? device.schema.storedType(of: column).zero : value
                        })
                })
            let found = Set(try device.rows(ofClass: index))
            differences += wanted.subtracting(found).map { "\(device.name) lacks \(item.name) \($0.values)" }
            differences += found.subtracting(wanted).map { "\(device.name) has \(item.name) \($0.values)" }
        }
        return differences
    }

    /// Waits until a device has exactly the rows that its user may read.
    func settle(_ device: AnyDevice, _ readable: TomboloModel.Predicate, within limit: Duration = .seconds(600))
        async throws
    {
        let deadline = ContinuousClock.now + limit
        while true {
            let differences: [String]
            do {
                differences = try await self.differences(device, readable)
            } catch let error as PostgresStoreError where error.isRetryable {
                differences = ["\(error)"]
            }
            if differences.isEmpty { return }
            guard ContinuousClock.now < deadline else {
                throw EndToEndFailure(
                    "after \(limit):\n\(differences.prefix(10).joined(separator: "\n"))\n"
                        + device.reports.failures.joined(separator: "\n"))
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

/// The rows of some blocks, in the class's column order.
private actor CollectedRows {
    private(set) var rows: [Row] = []

    func add(_ block: RowBlock, _ schema: Schema) {
        for index in 0..<block.rowCount {
            var row = Row(schema[block.classIndex].columns.map { _ in Value.null })
            for (position, column) in block.columns.enumerated() {
                row[column] = block.value(row: index, position: position, schema: schema)
            }
            rows.append(row)
        }
    }
}
