internal import Foundation
internal import Hummingbird
internal import PostgresClient
internal import TomboloAuthentication
internal import TomboloChangesets
internal import TomboloHTTP
internal import TomboloModel
internal import TomboloRules
internal import TomboloServerModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Tells administrators who is connected to this gateway, how far behind each device is, and why a device has or
/// lacks an object. It reads the sessions' own values and applies the same rules as they do. It changes nothing, and
/// never blocks a session.
public struct Inspector: Sendable {
    /// Sessions on one page of the list.
    public static let pageSize = 100
    /// The most devices of one user for which a question is answered. With more, ask about a single device.
    public static let maximumDeviceCount = 20
    /// The most subscriptions shown for one session.
    static let maximumSubscriptionCount = 100
    /// The most questions that read the database at once, because sessions need its connections.
    static let maximumConcurrentQuestions = 2

    let services: SessionRunner.Services
    let models: ServerModels
    let authenticator: Authenticator
    let pool: PostgresPool
    let slots = ReadSlots(count: Inspector.maximumConcurrentQuestions)
    /// Tells people which of several gateways answered.
    let gateway: String
    /// Identifies the process. Names aren't unique over time, for example with containers.
    let id = ObjectId.generate().stringValue

    init(services: SessionRunner.Services, models: ServerModels, authenticator: Authenticator, pool: PostgresPool) {
        self.services = services
        self.models = models
        self.authenticator = authenticator
        self.pool = pool
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        gateway = "\(host):\(ProcessInfo.processInfo.processIdentifier)"
    }

    /// Answers a question that came over HTTP or through the database.
    /// - Throws: ``RequestFailure``: 400 for a question that can't be answered, 404 for something that isn't here.
    func answer(_ request: Request, _ view: InspectorView) async throws -> JSON {
        // The router also accepts paths with a trailing slash.
        let path = request.uri.path.hasSuffix("/") ? String(request.uri.path.dropLast()) : request.uri.path
        switch path {
        case InspectorRoutes.sessions:
            return try await list(
                try request.sessionFilter(), page: try request.page(), subscriptions: try request.subscriptionCount(),
                view)
        case InspectorRoutes.why: return try await why(try InspectorQuestion(request, view), view)
        case _ where path.hasPrefix("\(InspectorRoutes.sessions)/"):
            guard let number = UInt64(path.dropFirst(InspectorRoutes.sessions.count + 1)) else {
                throw RequestFailure(
                    .badRequest, "The path has something that isn't a session's number.",
                    hint: "GET /inspector/sessions lists them.")
            }
            return try await session(number, view)
        default: throw RequestFailure(.notFound, "There is nothing at this address.")
        }
    }

    // MARK: Sessions

    private func list(
        _ filter: SessionFilter, page: Int, subscriptions: Int, _ view: InspectorView
    ) async throws -> JSON {
        let all = await services.clocks.sessions(filter)
        let newest = try await services.generations.newest().feed.figures.newest
        var sessions: [JSON] = []
        for runner in all.dropFirst((page - 1) * Self.pageSize).prefix(Self.pageSize) {
            sessions.append(json(await runner.inspect(), newest: newest, subscriptions: subscriptions, view))
        }
        return [
            "gateway": .string(gateway), "count": .int(Int64(all.count)), "page": .int(Int64(page)),
            "newestTick": .int(newest.number), "sessions": .array(sessions),
        ]
    }

    private func session(_ number: UInt64, _ view: InspectorView) async throws -> JSON {
        guard let runner = await services.clocks.sessions(SessionFilter(number: number)).first else {
            throw RequestFailure(
                .notFound, "Gateway \(gateway) has no session with this number.",
                hint: "It has ended or belongs to another gateway. GET /inspector/sessions lists them.")
        }
        let newest = try await services.generations.newest().feed.figures.newest
        return [
            "gateway": .string(gateway),
            "session": json(
                await runner.inspect(), newest: newest, subscriptions: Self.maximumSubscriptionCount, view),
        ]
    }

    // MARK: One object

    /// The object that a question is about.
    struct Found: Sendable {
        /// The row as it is now in the database. Nil if there is none, or if the caller may not inspect it.
        let row: Row?
        /// Whether the object is in the trash, and the caller may list that trash. To everybody else, the object
        /// doesn't exist.
        let isInTrash: Bool
    }

    /// Explains why the devices in the question have or lack the object.
    private func why(_ question: InspectorQuestion, _ view: InspectorView) async throws -> JSON {
        let user = view.grant.subject.userID?.stringValue ?? ""
        let outcome = try await slots.run(
            Peer(user), progress: { ReadProgress(isWaitingForDevice: false, takenByteCount: 0) }
        ) {
            await Self.result { try await answer(question, view) }
        }
        return try outcome.get()
    }

    private static func result(_ body: () async throws -> JSON) async -> Result<JSON, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    private func answer(_ question: InspectorQuestion, _ view: InspectorView) async throws -> JSON {
        let found = try await find(question, view)
        let filter = SessionFilter(client: question.client, user: question.user)
        let runners = await services.clocks.sessions(filter)
        var devices: [JSON] = []
        for runner in runners.prefix(Self.maximumDeviceCount) {
            devices.append(try await connected(runner, question, found, view))
        }
        devices += try await absent(question, found, besides: devices, view)
        return [
            "gateway": .string(gateway), "class": .string(question.className), "id": JSON(question.key),
            "property": question.property.map(JSON.string) ?? .null, "connectedDevices": .int(Int64(runners.count)),
            "devices": .array(devices),
        ]
    }

    /// The object as it is now in the database, if the caller may inspect it.
    private func find(_ question: InspectorQuestion, _ view: InspectorView) async throws -> Found {
        let schema = view.grant.rules.schema
        guard let item = schema[question.className], let key = item.primaryKey,
            let filter = view.grant.filters[question.className]
        else { return Found(row: nil, isInTrash: false) }
        let condition = Predicate.all([.compare(PropertyPath(key.name), .equal, question.key), filter])
        let reader = RowReader(schema: schema, pool: pool)
        if let row = try await reader.objects(item.name, matching: condition, limit: 1).first {
            return Found(row: row, isInTrash: false)
        }
        guard item.isTrashable, let index = schema.index(of: item.name),
            case .allowed(let listed) = view.grant.rules.authorize(
                view.grant.subject, .listTrash, .objects(classIndex: index)),
            try await !reader.objects(
                item.name, matching: .all([condition, listed]), isTrashed: true, limit: 1
            ).isEmpty
        else { return Found(row: nil, isInTrash: false) }
        return Found(row: nil, isInTrash: true)
    }

    /// The object as of the newest tick, as a generation's sessions read it.
    private func row(_ question: InspectorQuestion, _ store: any ServerStore) async throws -> (row: Row?, tick: Tick)? {
        let schema = store.schema
        guard let index = schema.index(of: question.className), let key = schema[index].primaryKeyIndex else {
            return nil
        }
        let condition = Predicate.compare(
            PropertyPath(schema[index].columns[key].name), .equal, question.key)
        let columns = [key] + schema[index].columns.indices.filter { $0 != key }
        return try await store.withReader { reader in
            var found: Row?
            try await reader.rows(classIndex: index, matching: condition, columns: columns) { block in
                guard block.rowCount > 0 else { return }
                var values = [Value](repeating: .null, count: columns.count)
                for (position, column) in columns.enumerated() {
                    values[column] = block.value(row: 0, position: position, schema: schema)
                }
                found = Row(values)
            }
            return (found, reader.tick)
        }
    }

    private func connected(
        _ runner: SessionRunner, _ question: InspectorQuestion, _ found: Found, _ view: InspectorView
    ) async throws -> JSON {
        let (report, session, generation) = await runner.inspectSight()
        var reasons: [InspectorReason] = InspectorReason.ofObject(found, question)
        var sees = false
        if reasons.isEmpty, let generation, let index = generation.store.schema.index(of: question.className) {
            if let (row, tick) = try await row(question, generation.store) {
                if let row {
                    let sight = session.sight(of: row, classIndex: index)
                    sees = sight.isVisible
                    let rules = try await explanation(session: report, generation, question.className, row, view)
                    reasons = InspectorReason.ofSight(
                        sight, row, generation.store.schema[index], in: generation.store.schema, rules: rules, view)
                    if sight.isVisible, let property = question.property,
                        let obstacle = session.obstacle(to: property, classIndex: index)
                    {
                        reasons.append(.ofProperty(property, obstacle))
                    }
                    if reasons.isEmpty {
                        let newest = await generation.feed.figures.newest
                        reasons = [.delivery(report, newest: newest)]
                    }
                } else {
                    reasons = [.notInTick(tick)]
                }
            }
        } else if reasons.isEmpty {
            reasons = [.notOpen(report.session.state)]
        }
        return [
            "client": report.client.rawValue > 0 ? .string(report.client.description) : .null,
            "session": .string(String(report.number)), "user": report.user.map(JSON.string) ?? .null,
            "isConnectedHere": true, "state": .string(report.session.state.rawValue), "isVisible": .bool(sees),
            "tick": .int(report.reached.number), "answer": .string(reasons.first?.message.description ?? ""),
            "reasons": .array(reasons.map(\.json)),
        ]
    }

    /// What the rules say about the user and the object, or nil if the user can't be looked up.
    private func explanation(
        session report: SessionReport, _ generation: Generation, _ className: String, _ row: Row, _ view: InspectorView
    ) async throws -> InspectorReason.Rules? {
        guard let user = report.user.flatMap({ try? ObjectId(string: $0) }),
            let rules = try? models.current.rules(on: generation.store.schema),
            var subject = try? await authenticator.subject(of: user)
        else { return nil }
        if let partition = report.session.partition { subject = subject.inPartition(partition) }
        guard let explanation = rules.explain(subject, className: className, row: row) else { return nil }
        return InspectorReason.Rules(
            explanation, mayShow: view.mayRead(row, of: className, in: generation.store.schema), view)
    }

    // MARK: Devices that aren't connected here

    /// - Parameter connected: the answers for connected devices.
    private func absent(
        _ question: InspectorQuestion, _ found: Found, besides connected: [JSON], _ view: InspectorView
    ) async throws -> [JSON] {
        let present = Set(connected.compactMap { $0["client"] })
        let known = try await pool.query(
            """
            SELECT id, user_id, (extract(epoch FROM seen_at) * 1000000)::bigint FROM tombolo.client
            WHERE ($1::bigint IS NULL OR id = $1) AND ($2::text IS NULL OR user_id = $2)
            ORDER BY seen_at DESC LIMIT \(Self.maximumDeviceCount)
            """,
            [
                question.client.map { .int64($0.rawValue) } ?? .null,
                question.user.map { .text($0) } ?? .null,
            ])
        var devices: [JSON] = []
        for device in known {
            let client = ClientID(rawValue: try device[0].int64)
            guard !present.contains(.string(client.description)),
                connected.count + devices.count < Self.maximumDeviceCount
            else { continue }
            devices.append(
                try await absent(
                    client, user: try device[1].string, lastSeen: JSON.timestamp(try device[2].int64), question, found,
                    view))
        }
        if devices.isEmpty, connected.isEmpty {
            devices.append(
                try await absent(nil, user: question.user, lastSeen: nil, question, found, view))
        }
        return devices
    }

    private func absent(
        _ client: ClientID?, user: String?, lastSeen: String?, _ question: InspectorQuestion, _ found: Found,
        _ view: InspectorView
    ) async throws -> JSON {
        var reasons = InspectorReason.ofObject(found, question)
        let rules = view.grant.rules
        if let row = found.row, let id = user.flatMap({ try? ObjectId(string: $0) }) {
            do throws(AuthenticationError) {
                let subject = try await self.subject(of: id)
                if let explanation = rules.explain(subject, className: question.className, row: row),
                    explanation.permissions.first(where: { $0.operation == .read })?.isPermitted != true
                {
                    let mayShow = view.mayRead(row, of: question.className, in: rules.schema)
                    reasons.append(.notReadable(nil, .init(explanation, mayShow: mayShow, view)))
                }
            } catch {
                reasons.append(.noUser)
            }
        }
        reasons.append(.notConnected(gateway, lastSeen: lastSeen))
        return [
            "client": client.map { .string($0.description) } ?? .null, "user": user.map(JSON.string) ?? .null,
            "isConnectedHere": false, "lastSeen": lastSeen.map(JSON.string) ?? .null,
            "answer": .string(reasons[0].message.description), "reasons": .array(reasons.map(\.json)),
        ]
    }

    private func subject(of user: ObjectId) async throws(AuthenticationError) -> Subject {
        do {
            return try await authenticator.subject(of: user)
        } catch {
            throw .unknownUser
        }
    }
}
