internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// The gateway's executor.
extension Simulation {
    /// The number of messages in flight at which a connection stops accepting more.
    static let highWater = 6

    static let restricted = Predicate.compare(PropertyPath("group"), .notEqual, .int(3))

    static func readable(_ fingerprint: UInt64, _ classIndex: Int) -> Predicate {
        classIndex == SimulatedSchema.item && fingerprint % 2 == 1 ? restricted : .constant(true)
    }

    func authority(_ user: Int) -> SessionAuthority {
        let fingerprint = UInt64(1000 + roles[user])
        return SessionAuthority(
            user: "user \(user)", rulesFingerprint: fingerprint,
            readable: { Simulation.readable(fingerprint, $0) },
            permit: { request in
                request.classIndex == SimulatedSchema.item
                    && request.new?[SimulatedSchema.Item.title] == .string(Workload.forbiddenTitle)
                    ? "This title is not allowed." : nil
            })
    }

    func handle(_ connection: SimulatedConnection, _ event: ServerSession.Event) {
        guard connection.isOpen, connection.gateway.isUp else { return }
        connection.session.reach(connection.gateway.reached)
        for action in connection.session.handle(event) { perform(action, connection) }
    }

    private func perform(_ action: ServerSession.Action, _ connection: SimulatedConnection) {
        switch action {
        case .authenticate: schedule(.authenticate(connection), in: soon())
        case .open(let client, _, let acknowledged, let position):
            schedule(.open(connection, client, acknowledged: acknowledged, position), in: soon())
        case .send(let message): send(message, connection)
        case .read(let request):
            if request.from == nil {
                if connection.device.store.rows.isEmpty == false { hit(.positionDropped) }
            } else {
                hit(.caughtUp)
            }
            schedule(.read(connection, request), in: soon())
        case .upload(let changesets, let authority):
            connection.gateway.waitingUploads.append((connection, changesets, authority))
            guard !connection.gateway.isUploadScheduled else { return }
            connection.gateway.isUploadScheduled = true
            schedule(.upload(connection.gateway, life: connection.gateway.life), in: random.below(6))
        case .sendFrames(let frames): send(frames, connection)
        case .follow(let number, let after, let view):
            let member = SimulatedMember(connection: connection.id, number: number)
            ask(
                connection.gateway,
                .follow(
                    connection,
                    LiveFeed.Request(
                        member: member, view: view, client: connection.client,
                        user: "user \(connection.device.user)", after: after)))
        case .unfollow(let number):
            ask(connection.gateway, .unfollow(SimulatedMember(connection: connection.id, number: number)))
        case .close:
            connection.isClosing = true
            connection.gateway.connections.removeAll { $0 === connection }
            if connection.down.isEmpty {
                connection.isOpen = false
                schedule(.lost(connection.device, life: connection.device.life, connection), in: 1)
            }
        }
    }

    /// Shared content is sent in encoded form.
    private func send(_ frames: SharedFrames, _ connection: SimulatedConnection) {
        for message in frames.messages {
            do {
                send(try MessageCodec(schema: schema).decodeServerMessage(message), connection)
            } catch {
                fail("a live frame can't be decoded: \(error)")
            }
        }
    }

    private func send(_ message: ServerMessage, _ connection: SimulatedConnection) {
        if case .frame(let frame) = message, !frame.removals.isEmpty { hit(.movedOut) }
        connection.down.append(message)
        if connection.down.count == 1 { schedule(.deliverDown(connection), in: delay(connection)) }
        if connection.isWritable, connection.down.count > Self.highWater {
            connection.isWritable = false
            hit(.slowReader)
            handle(connection, .writable(false))
        }
    }

    func deliverUp(_ connection: SimulatedConnection) {
        guard connection.isOpen, !connection.up.isEmpty else { return }
        let message = connection.up.removeFirst()
        if !connection.up.isEmpty { schedule(.deliverUp(connection), in: delay(connection)) }
        handle(connection, .message(message))
    }

    func open(_ connection: SimulatedConnection, _ client: ClientID, _ acknowledged: Int64, _ position: Position) {
        connection.client = client
        guard isDatabaseUp else { return unavailable(connection) }
        let opening = database.openClient(
            client, user: "user \(connection.device.user)", acknowledged: acknowledged)
        let check = ServerSession.PositionCheck(
            position, known: database.tick(position.tick), latest: database.latest)
        if opening.last > acknowledged { hit(.verified) }
        let former = position.rulesFingerprint
        let formerly = Dictionary(
            uniqueKeysWithValues: schema.classes.indices.map { ($0, Simulation.readable(former, $0)) })
        handle(connection, .opened(opening, check, formerly: former == 0 ? nil : formerly))
        if connection.session.followingNumber != nil { hit(.resumed) }
    }

    func unavailable(_ connection: SimulatedConnection) {
        handle(connection, .failed(SessionFailure(.unavailable, "The database is down.", isRetryable: true)))
    }

    /// Reads a batch, whose frames are sent one by one.
    func read(_ connection: SimulatedConnection, _ request: ReadRequest) async {
        guard connection.isOpen, connection.gateway.isUp else { return }
        guard isDatabaseUp else { return unavailable(connection) }
        if let from = request.from, from.number < database.floor {
            return unavailable(connection)
        }
        let reader = SimulatedReader(database: database, gate: gate, tick: database.latest, mutant: mutant)
        var frames: [BatchFrame] = []
        do {
            let end = try await BatchReader.read(request, from: reader, schema: schema) { frames.append($0) }
            connection.frames = frames
            connection.readEnd = (end, reader.tick)
            schedule(.emit(connection), in: soon())
        } catch {
            fail("reading a batch: \(error)")
        }
    }

    func emit(_ connection: SimulatedConnection) {
        guard connection.isOpen else { return }
        // Waits while the device doesn't read, like the production reader.
        guard connection.isWritable else { return schedule(.emit(connection), in: 10) }
        if connection.frames.isEmpty {
            guard let (end, tick) = connection.readEnd else { return }
            connection.readEnd = nil
            handle(connection, .readFinished(end, tick))
        } else {
            let frame = connection.frames.removeFirst()
            send(.frame(mutant == .moveOutNotSent ? withoutMoveOuts(frame) : frame), connection)
            schedule(.emit(connection), in: random.below(3))
        }
    }

    /// Used only by a mutant: omits removals of objects that still exist.
    private func withoutMoveOuts(_ frame: BatchFrame) -> BatchFrame {
        var frame = frame
        frame.removals = frame.removals.map { removal in
            var kept = removal
            kept.keys = removal.keys.filter {
                database.current(ObjectReference(classIndex: removal.classIndex, key: $0)) == nil
            }
            return kept
        }
        return frame
    }

    private func ask(_ gateway: SimulatedGateway, _ request: SimulatedGateway.Request) {
        gateway.requests.append(request)
        schedule(.serve(gateway, life: gateway.life), in: random.below(3))
    }

    private func announce(_ gateway: SimulatedGateway, _ news: SimulatedGateway.News) {
        gateway.news.append(news)
        schedule(.tell(gateway, life: gateway.life), in: random.below(3))
    }

    func serve(_ gateway: SimulatedGateway) {
        switch gateway.requests.removeFirst() {
        case .unfollow(let member): gateway.live.leave(member)
        case .follow(let connection, let request):
            let answer = gateway.live.follow(mutant == .indexForgetsRange ? request.withoutRanges : request)
            if let answer { announce(gateway, .answer(connection, request.member.number, answer)) }
        }
    }

    func tell(_ gateway: SimulatedGateway) {
        func connection(_ member: SimulatedMember) -> SimulatedConnection? {
            gateway.connections.first { $0.id == member.connection }
        }
        switch gateway.news.removeFirst() {
        case .answer(let connection, let number, .following(let batches, let newest)):
            if !batches.isEmpty { hit(.liveBatch) }
            handle(connection, .following(number, batches, newest: newest))
        case .answer(let connection, let number, .matchAside(let ticks)):
            let batches = LiveFeed<SimulatedMember>.match(
                ticks, with: connection.session.liveView, client: connection.client, schema: schema)
            guard let last = ticks.last?.tick else { return }
            handle(connection, .matched(number, batches, last: last))
        case .answer(let connection, let number, .gone):
            hit(.tickSkipped)
            handle(connection, .ticksGone(number))
        case .batch(let member, let batch):
            hit(.liveBatch)
            if let connection = connection(member) { handle(connection, .live(member.number, batch)) }
        case .ended(let member):
            if let connection = connection(member) { handle(connection, .followingEnded(member.number)) }
        case .gone(let member):
            if let connection = connection(member) { handle(connection, .ticksGone(member.number)) }
        case .reached(let tick): gateway.reached = tick
        }
    }

    /// Reads the newest tick into the gateway's feed, once for all its sessions.
    func feed(_ gateway: SimulatedGateway) async {
        guard isDatabaseUp, database.latest.number > gateway.live.newest.number else { return }
        let previous = gateway.live.newest
        let reader = SimulatedReader(database: database, gate: gate, tick: database.latest, mutant: mutant)
        if previous.number > 0, previous.number >= database.floor {
            do {
                let difference = try await reader.difference(from: previous)
                var progress = try await reader.progress(of: difference.clients)
                if mutant == .acknowledgeBeforeCommit {
                    for connection in gateway.connections {
                        progress[connection.client] = try await reader.progress(of: connection.client)
                    }
                }
                let live = LiveTick(
                    tick: reader.tick, previous: previous.number,
                    difference: mutant == .moveOutNotSent ? withoutMoveOuts(difference) : difference,
                    progress: progress)
                guard let announcement = gateway.live.advance(live) else { return restart(gateway, at: reader.tick) }
                announce(gateway, announcement)
            } catch {
                fail("reading the feed: \(error)")
            }
        } else {
            restart(gateway, at: reader.tick)
        }
    }

    private func announce(_ gateway: SimulatedGateway, _ announcement: LiveFeed<SimulatedMember>.Announcement) {
        var told = announcement.batches.flatMap { members, batch in members.map { (member: $0, batch: batch) } }
        // The order of a set differs from run to run.
        told.sort { ($0.member.connection, $0.member.number) < ($1.member.connection, $1.member.number) }
        if mutant == .frameToWrongGroup {
            let frames = told.map(\.batch.frames)
            for (index, batch) in told.map(\.batch).enumerated() {
                told[index].batch = LiveBatch(
                    tick: batch.tick, frames: frames[(index + 1) % frames.count], progress: batch.progress)
            }
        }
        for (member, batch) in told { announce(gateway, .batch(member, batch)) }
        for member in announcement.aside.sorted(by: { ($0.connection, $0.number) < ($1.connection, $1.number) }) {
            announce(gateway, .ended(member))
        }
        announce(gateway, .reached(announcement.tick))
        for (member, answer) in announcement.answers.sorted(by: {
            ($0.member.connection, $0.member.number) < ($1.member.connection, $1.member.number)
        }) {
            guard let connection = gateway.connections.first(where: { $0.id == member.connection }) else { continue }
            announce(gateway, .answer(connection, member.number, answer))
        }
    }

    private func restart(_ gateway: SimulatedGateway, at tick: Tick) {
        let members = gateway.live.restart(at: tick)
        for member in members.sorted(by: { ($0.connection, $0.number) < ($1.connection, $1.number) }) {
            announce(gateway, .gone(member))
        }
        announce(gateway, .reached(tick))
    }

    private func withoutMoveOuts(_ difference: TickDifference) -> TickDifference {
        TickDifference(
            from: difference.from, to: difference.to,
            changes: difference.changes.map { change in
                guard let new = change.new, let old = change.old, old[0] == new[0] else { return change }
                var kept = new
                if change.reference.classIndex == SimulatedSchema.item {
                    kept[SimulatedSchema.Item.group] = old[SimulatedSchema.Item.group]
                }
                return RootChange(
                    reference: change.reference, old: old, new: kept, elements: change.elements,
                    changedElements: change.changedElements, removedElements: change.removedElements)
            }, clients: difference.clients)
    }

    // MARK: Uploads

    func upload(_ gateway: SimulatedGateway) {
        gateway.isUploadScheduled = false
        // Two sessions of one client, whose file was copied, never share a transaction.
        var clients: Set<ClientID> = []
        var waiting: [(connection: SimulatedConnection, changesets: [Changeset], authority: SessionAuthority)] = []
        var later: [(connection: SimulatedConnection, changesets: [Changeset], authority: SessionAuthority)] = []
        for item in gateway.waitingUploads where item.connection.isOpen {
            if clients.insert(item.connection.client).inserted { waiting.append(item) } else { later.append(item) }
        }
        gateway.waitingUploads = later
        if !later.isEmpty {
            gateway.isUploadScheduled = true
            schedule(.upload(gateway, life: gateway.life), in: soon())
        }
        guard !waiting.isEmpty else { return }
        guard isDatabaseUp else {
            for item in waiting { unavailable(item.connection) }
            return
        }
        var uploads: [Upload] = []
        for item in waiting {
            uploads += item.changesets.map {
                Upload(client: item.connection.client, changeset: $0, permit: item.authority.permit)
            }
        }
        let procedure = UploadProcedure(database: database, uploads: uploads, mutant: mutant)
        procedure.willCommit = { [unowned self] in self.judge($0) }
        let running = RunningUpload(
            procedure, waiting.map { ($0.connection, $0.changesets.count) }, databaseLife)
        runningUploads.append(running)
        schedule(.uploadStep(running), in: random.below(3))
    }

    func answer(_ connection: SimulatedConnection, _ results: [UploadResult]) {
        for result in results {
            switch result {
            case .duplicate: hit(.duplicate)
            case .conflict:
                hit(.conflict)
                if !hasCopied { fail("an upload of \(connection.device.id) conflicts, and no file was copied") }
            case .unknownBase: hit(.unknownBase)
            case .gap(let expected):
                if expected > 0, results.first == result {
                    log("gap of device \(connection.device.id): \(expected) expected")
                }
            case .applied: break
            }
        }
        handle(connection, .uploaded(results))
    }

    // MARK: Crashes

    func crash(_ gateway: SimulatedGateway) {
        hit(.gatewayCrash)
        log("gateway \(gateway.id) crashes")
        gateway.isUp = false
        gateway.life += 1
        for connection in gateway.connections { close(connection) }
        gateway.connections = []
        gateway.live = SimulatedGateway.emptyFeed
        gateway.requests = []
        gateway.news = []
        gateway.waitingUploads = []
        gateway.isUploadScheduled = false
        for upload in runningUploads where upload.parts.contains(where: { $0.connection.gateway === gateway }) {
            if random.chance(percent: 50) {
                hit(.gatewayCrashBackendGoesOn)
            } else {
                upload.procedure.abort()
            }
        }
        schedule(.bootGateway(gateway), in: 5 + random.below(300))
    }

    func boot(_ gateway: SimulatedGateway) {
        guard !gateway.isUp else { return }
        guard isDatabaseUp else { return schedule(.bootGateway(gateway), in: 50) }
        gateway.isUp = true
        _ = gateway.live.restart(at: database.latest)
        gateway.reached = database.latest
        schedule(.heartbeat(gateway, life: gateway.life), in: 300)
    }
}
