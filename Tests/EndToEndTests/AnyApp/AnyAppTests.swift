import ChildPrograms
import Foundation
import PostgresClient
import RandomValues
import Synchronization
import TestSupport
import Testing
import TomboloModel

/// The stock programs serve apps that were unknown when the programs were built.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct AnyAppTests {
    @Test("Two unknown apps share the stock programs, and change models and rules while their devices are connected")
    func twoApps() async throws {
        var random = SeededGenerator.printed(for: "two unknown apps")
        func fork() -> SeededGenerator { SeededGenerator(seed: random.next()) }
        var apps = [
            try AnyApp("alpha", prefix: "Alpha", random: fork()), try AnyApp("beta", prefix: "Beta", random: fork()),
        ]
        try await AnyAppServer.with { server in
            try await server.apply(apps.map { ($0.document, $0.rules) })
            try await server.gateway.start()
            let users = [try await server.user("ann"), try await server.user("bob")]
            var devices: [(device: AnyDevice, app: Int, user: Int)] = []
            func add(_ name: String, _ app: Int, _ user: Int, _ document: ModelDocument) async throws {
                let device = try await AnyDevice(
                    name, schema: try document.schema(), url: try await server.url(), token: users[user].token,
                    owner: users[user].id, folder: server.folder, values: RandomValues(fork()))
                devices.append((device, app, user))
            }
            for app in apps.indices {
                for user in users.indices { try await add("\(app)-\(user)", app, user, apps[app].document) }
            }
            func writeAndSettle(_ what: String) async throws {
                for (device, _, _) in devices { try await device.write(transactions: 5) }
                for (device, app, user) in devices {
                    do {
                        try await server.settle(device, apps[app].readable(by: users[user].id))
                    } catch {
                        throw EndToEndFailure("\(what): \(error)")
                    }
                }
            }
            try await writeAndSettle("with the first models")

            // Rules: shared objects become private to their owner, without a reset or a reconnection. A slow machine
            // can drop a connection, so there are three attempts.
            var before: [Int] = []
            for attempt in 1...3 {
                before = devices.map(\.device.reports.connections)
                apps[0].sharesRows = false
                try await server.apply([(apps[0].document, apps[0].rules)])
                try await writeAndSettle("with stricter rules")
                apps[0].sharesRows = true
                try await server.apply([(apps[0].document, apps[0].rules)])
                try await writeAndSettle("with the former rules again")
                if devices.map(\.device.reports.connections) == before { break }
                print("two unknown apps: sessions ended at attempt \(attempt)")
            }
            #expect(devices.map(\.device.reports.connections) == before, "A change of rules ended a session.")

            // Models: devices of both versions, side by side. One app without an ended session is enough, for the
            // reason above.
            var endsNone = false
            for index in apps.indices where !endsNone {
                before = devices.map(\.device.reports.connections)
                var next = apps[index]
                next.document = try next.evolved()
                try await server.apply([(next.document, next.rules)])
                try await add("\(index)-next", index, 0, next.document)
                try await writeAndSettle("with two versions of an app")
                endsNone = devices.prefix(before.count).map(\.device.reports.connections) == before
            }
            #expect(endsNone, "A change of models ended a session.")
            for (device, _, _) in devices {
                #expect(device.reports.failures.isEmpty, "\(device.reports.failures)")
                device.close()
            }
        }
    }

    @Test("Classes and properties are renamed while devices write: no session ends, and nothing is lost")
    func renames() async throws {
        var random = SeededGenerator.printed(for: "renames")
        func fork() -> SeededGenerator { SeededGenerator(seed: random.next()) }
        var app = try AnyApp("delta", prefix: "Delta", random: fork())
        try await AnyAppServer.with { server in
            try await server.apply([(app.document, app.rules)])
            try await server.gateway.start()
            let users = [try await server.user("ann"), try await server.user("bob")]
            var devices: [(device: AnyDevice, user: Int)] = []
            func add(_ name: String, _ user: Int) async throws {
                let device = try await AnyDevice(
                    name, schema: try app.document.schema(), url: try await server.url(), token: users[user].token,
                    owner: users[user].id, folder: server.folder, values: RandomValues(fork()))
                devices.append((device, user))
            }
            func settle(_ what: String) async throws {
                for (device, user) in devices {
                    do {
                        try await server.settle(device, app.readable(by: users[user].id))
                    } catch {
                        throw EndToEndFailure("\(what): \(error)")
                    }
                }
            }
            for user in users.indices { try await add("first-\(user)", user) }
            for (device, _) in devices { try await device.write(transactions: 5) }
            try await settle("before the renames")
            // Three renames must end no session. A slow machine can drop a connection, so there are five attempts.
            var calmCount = 0
            for number in 1...5 where calmCount < 3 {
                let before = devices.map(\.device.reports.connections)
                app = try app.renamed(number)
                let documents = [(document: app.document, rules: app.rules)]
                let isDone = Flag()
                let migration = Task {
                    defer { isDone.set() }
                    try await server.apply(documents)
                }
                var writes = 0
                while !isDone.isSet {
                    for (device, _) in devices { try await device.write(transactions: 1) }
                    writes += 1
                    // The migration takes long on a busy machine, and more writes would slow it further.
                    try await Task.sleep(for: .milliseconds(writes < 100 ? 10 : 500))
                }
                try await migration.value
                for (device, _) in devices { try await device.write(transactions: 2) }
                try await settle("after rename \(number)")
                try await add("next-\(number)", number % users.count)
                try await settle("with a device of version \(number)")
                let after = devices.prefix(before.count).map(\.device.reports.connections)
                if after == before { calmCount += 1 } else { print("renames: sessions ended at rename \(number)") }
            }
            #expect(calmCount == 3, "Fewer than three of five renames ended no session.")
            for (device, _) in devices {
                #expect(device.reports.failures.isEmpty, "\(device.reports.failures)")
                device.close()
            }
        }
    }

    @Test(
        "In development mode an empty database adopts the classes of any device that connects, and of its app's next version"
    )
    func developmentMode() async throws {
        var random = SeededGenerator.printed(for: "development mode")
        let app = try AnyApp("gamma", prefix: "Gamma", random: SeededGenerator(seed: random.next()))
        try await AnyAppServer.with(gatewayArguments: ["--development"]) { server in
            try await server.gateway.start()
            let user = try await server.user("ann")
            func device(_ name: String, _ document: ModelDocument) async throws -> AnyDevice {
                try await AnyDevice(
                    name, schema: try document.schema(), url: try await server.url(), token: user.token,
                    owner: user.id, folder: server.folder,
                    values: RandomValues(SeededGenerator(seed: random.next())))
            }
            var devices = [try await device("first", app.document), try await device("second", app.document)]
            for device in devices { try await device.write(transactions: 5) }
            for device in devices { try await server.settle(device, .constant(true)) }

            var classes = app.document.classes
            if let index = classes.firstIndex(where: { !$0.isEmbedded }) {
                // A link has an index, which must not wait for the feed to be built.
                let added = [
                    ModelProperty(name: "added", type: .int(bits: 64)),
                    ModelProperty(name: "addedLink", type: .link(to: classes[index].name), isOptional: true),
                ]
                classes[index] = ModelClass(
                    name: classes[index].name, table: classes[index].table,
                    properties: classes[index].properties + added)
            }
            devices.append(try await device("next", try ModelDocument(app: "gamma", classes: classes)))
            for device in devices { try await device.write(transactions: 5) }
            for device in devices { try await server.settle(device, .constant(true)) }
            for device in devices {
                #expect(device.reports.failures.isEmpty, "\(device.reports.failures)")
                device.close()
            }
        }
    }

    @Test("A gateway killed while it adds classes leaves all or none of them, and devices sync on after its restart")
    func killedWhileAdding() async throws {
        var random = SeededGenerator.printed(for: "kills while classes are added")
        let isLong = ProcessInfo.processInfo.environment["TOMBOLO_LONG_TESTS"] == "1"
        try await AnyAppServer.with(gatewayArguments: ["--development"]) { server in
            try await server.gateway.start()
            let user = try await server.user("ann")
            var devices: [AnyDevice] = []
            var outcomes: [Bool] = []
            for round in 1...(isLong ? 40 : 6) {
                let name = "round\(round)"
                let app = try AnyApp(
                    name, prefix: "Round\(round)x", random: SeededGenerator(seed: random.next()))
                let device = try await AnyDevice(
                    name, schema: try app.document.schema(), url: try await server.url(), token: user.token,
                    owner: user.id, folder: server.folder,
                    values: RandomValues(SeededGenerator(seed: random.next())))
                devices.append(device)
                for device in devices { try await device.write(transactions: 2) }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...400, using: &random)))
                try await server.gateway.kill9()
                do {
                    outcomes.append(try await server.isWhole(app.document))
                } catch {
                    throw EndToEndFailure("round \(round): \(error)")
                }
                for device in devices { try await device.write(transactions: 1) }
                try await server.gateway.start()
                for device in devices {
                    do {
                        try await server.settle(device, .constant(true))
                    } catch {
                        throw EndToEndFailure("round \(round): \(error)")
                    }
                }
            }
            print("Classes that were there after the kill: \(outcomes)")
            for device in devices {
                #expect(device.reports.failures.isEmpty, "\(device.reports.failures)")
                device.close()
            }
        }
    }

    @Test("A device that was offline while its classes were renamed keeps its objects, and its edits reach the server")
    func renamedOffline() async throws {
        var random = SeededGenerator.printed(for: "renamed offline")
        func fork() -> SeededGenerator { SeededGenerator(seed: random.next()) }
        let app = try AnyApp("delta", prefix: "Delta", random: fork())
        let renamed = try app.renamed()
        try await AnyAppServer.with { server in
            try await server.apply([(app.document, app.rules)])
            try await server.gateway.start()
            let user = try await server.user("ann")
            func device(_ document: ModelDocument, _ version: Int64) async throws -> AnyDevice {
                try await AnyDevice(
                    "phone", schema: try document.schema(), url: try await server.url(), token: user.token,
                    owner: user.id, folder: server.folder, values: RandomValues(fork()), subscriptionVersion: version)
            }
            let before = try await device(app.document, 1)
            try await before.write(transactions: 5, erases: false)
            try await server.settle(before, app.readable(by: user.id))
            try await server.gateway.kill9()
            try await before.write(transactions: 20, erases: false)
            var rows: [String: Set<Row>] = [:]
            for index in before.schema.classes.indices {
                rows[before.schema[index].name] = Set(try before.rows(ofClass: index))
            }
            before.close()

            try await server.apply([(renamed, app.rules(of: renamed))])
            let after = try await device(renamed, 2)
            func expectRows(_ when: String) throws {
                for index in after.schema.classes.indices {
                    let item = after.schema[index]
                    let former = try #require(item.previousNames.last ?? rows.keys.first { $0 == item.name })
                    let (found, expected) = (Set(try after.rows(ofClass: index)), rows[former] ?? [])
                    let differences =
                        found.subtracting(expected).map { "new \($0.values)" }
                        + expected.subtracting(found).map { "lost \($0.values)" }
                    #expect(differences.isEmpty, "\(item.name) \(when)")
                }
            }
            try expectRows("before it connects")
            try await server.gateway.start()
            try await server.settle(after, app.readable(by: user.id))
            try expectRows("on the server")
            #expect(after.reports.failures.isEmpty, "\(after.reports.failures)")
            after.close()
        }
    }

    @Test("Development mode on a database that doesn't exist says how to create it")
    func missingDatabase() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let address =
            "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432") "
            + "user=\(configuration.user ?? "") dbname=nowhere"
        let outcome = try await BuiltProgram("sync-gateway", "SyncGateway").run(
            ["--development"],
            environment: ["TOMBOLO_DATABASE_URL": address, "TOMBOLO_JWT_SECRET": Platform.secret])
        #expect(outcome.status != 0)
        #expect(outcome.messages.contains("createdb nowhere"), "\(outcome.messages)")
    }

    @Test("Development mode is refused on an address that others can reach")
    func developmentModeIsLocal() async throws {
        try await AnyAppServer.with(gatewayArguments: ["--development", "--host", "0.0.0.0"]) { server in
            let failure = await #expect(throws: EndToEndFailure.self) { try await server.gateway.start() }
            #expect("\(String(describing: failure))".contains("--development-for-everybody"))
        }
    }
}

private final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() { value.withLock { $0 = true } }
}
