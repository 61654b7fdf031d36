internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// The device's executor: performs the session's actions in order, one store action at a time.
extension Simulation {
    func wall(_ device: SimulatedDevice) -> Int64 { database.now() + device.skew }

    func act(_ device: SimulatedDevice, _ event: ClientSession.Event) {
        guard device.isUp else { return }
        let actions = device.session.handle(event)
        if actions.count(where: { if case .send(.applied) = $0 { true } else { false } }) > 1 { hit(.joinedBatches) }
        device.actions += actions
        pump(device)
    }

    private func pump(_ device: SimulatedDevice) {
        while !device.isStoreBusy, !device.actions.isEmpty {
            let action = device.actions.removeFirst()
            switch action {
            case .connect: schedule(.connect(device, life: device.life), in: soon())
            case .disconnect:
                if let connection = device.connection {
                    device.connection = nil
                    close(connection)
                }
            case .wait(let duration):
                let milliseconds =
                    Int(duration.components.seconds) * 1000
                    + Int(duration.components.attoseconds / 1_000_000_000_000_000)
                schedule(.retry(device, life: device.life), in: max(1, milliseconds / 4))
            case .send(let message):
                guard let connection = device.connection, connection.isOpen else { continue }
                connection.up.append(message)
                if connection.up.count == 1 { schedule(.deliverUp(connection), in: delay(connection)) }
            case .stage, .apply, .loadPending, .resetStore, .noteReset, .refuseSubscriptions:
                device.isStoreBusy = true
                schedule(.store(device, life: device.life, action), in: random.below(4))
            case .report(let report): note(report, device)
            }
        }
    }

    private func note(_ report: ClientSession.Report, _ device: SimulatedDevice) {
        switch report {
        case .reset(let reason):
            log("device \(device.id) resets: \(reason)")
            hit(.reset)
            if !reason.contains("copy"), !reason.contains("no longer knows") {
                fail("device \(device.id) was reset: \(reason)")
            }
        case .subscriptionsRefused(let version, let failure):
            fail("device \(device.id) was refused version \(version) of its subscriptions: \(failure)")
        case .failure(let failure):
            log("device \(device.id) was refused: \(failure)")
            if !failure.isRetryable { fail("device \(device.id) was refused for good: \(failure)") }
        default: break
        }
    }

    func performStore(_ action: ClientSession.Action, _ device: SimulatedDevice) {
        device.isStoreBusy = false
        do {
            switch action {
            case .stage(let frame):
                if frame.sequence == 0, device.store.stagedCount > 0 { hit(.staleFrames) }
                try device.store.stage(frame)
                checkContent(device, "staging a frame")
                pump(device)
            case .apply(let end, let frames):
                let previous = try device.store.state()
                if frames.count == end.frameCount, device.store.stagedCount > 0 { hit(.staleFrames) }
                let batch = try device.store.apply(end, frames: frames, wallMicroseconds: wall(device))
                batches += 1
                log(
                    "device \(device.id) applied tick \(batch.position.tick) from \(previous.position.tick), "
                        + "\(end.frameCount) frames, acknowledged \(batch.acknowledged)"
                        + "\(end.replacesAll ? ", everything" : "")")
                if end.replacesAll { hit(.firstBatch) }
                try device.store.finishReset()
                check(device, previous: previous)
                act(device, .applied(batch))
            case .loadPending(let after, let count, let bytes):
                let changesets = try device.store.pendingChangesets(
                    after: after, maximumCount: count, maximumByteCount: bytes)
                act(device, .pending(changesets))
            case .resetStore:
                let tags = ledger.tags(of: device.store)
                let client = ClientID(rawValue: Int64(1 + random.below(1_000_000_000)))
                try device.store.reset(client: client, discardsPending: false)
                ledger.rename(device.store, tags)
                device.lastTick = 0
                act(device, .storeReset)
            case .noteReset: try device.store.noteReset()
            case .refuseSubscriptions(let version, let reason):
                try device.store.refuseSubscriptions(version: version, reason: reason)
            default: break
            }
        } catch {
            fail("device \(device.id): \(error)")
        }
        pump(device)
    }

    func connect(_ device: SimulatedDevice) {
        let gateway = random.pick(gateways)
        guard gateway.isUp, isHealed || !random.chance(percent: 8) else {
            hit(.connectRefused)
            return act(device, .disconnected(random: random.fraction()))
        }
        let connection = SimulatedConnection(id: nextConnection, device: device, gateway: gateway)
        nextConnection += 1
        connection.delay = random.pick([1, 2, 2, 5, 20])
        if isHealed { connection.delay = 2 }
        gateway.connections.append(connection)
        device.connection = connection
        do {
            let state = try device.store.state()
            log(
                "device \(device.id) connects to gateway \(gateway.id) at tick \(state.position.tick), acknowledged "
                    + "\(state.acknowledged) of \(state.lastChangeset)")
            if state.position.tick > 0 { hit(.reconnected) }
            act(device, .connected(state, accessToken: "user \(device.user)"))
        } catch {
            fail("device \(device.id): \(error)")
        }
    }

    func deliverDown(_ connection: SimulatedConnection) {
        guard connection.isOpen, !connection.down.isEmpty else { return }
        let count = random.chance(percent: 30) ? 1 + random.below(connection.down.count) : 1
        let messages = Array(connection.down.prefix(count))
        connection.down.removeFirst(count)
        if connection.down.isEmpty {
            if connection.isClosing {
                connection.isOpen = false
                schedule(.lost(connection.device, life: connection.device.life, connection), in: 1)
            }
        } else {
            schedule(.deliverDown(connection), in: delay(connection))
        }
        if !connection.isWritable, connection.down.count <= 2 { schedule(.writable(connection), in: 0) }
        guard connection.device.connection === connection else { return }
        act(connection.device, .messages(messages))
    }

    func delay(_ connection: SimulatedConnection) -> Int { connection.delay + random.below(connection.delay + 1) }

    /// Ends a connection and loses the messages in flight.
    func close(_ connection: SimulatedConnection) {
        if !connection.up.isEmpty || !connection.down.isEmpty { hit(.messageLost) }
        connection.isOpen = false
        connection.up = []
        connection.down = []
        connection.gateway.connections.removeAll { $0 === connection }
        if connection.device.connection === connection {
            schedule(.lost(connection.device, life: connection.device.life, connection), in: soon())
        }
    }

    func crash(_ device: SimulatedDevice) {
        hit(.deviceCrash)
        log("device \(device.id) crashes")
        if device.store.stagedCount > 0 || device.isStoreBusy { hit(.crashStaged) }
        device.isUp = false
        device.life += 1
        device.actions = []
        device.isStoreBusy = false
        device.beginSession()
        if let connection = device.connection {
            device.connection = nil
            close(connection)
        }
        schedule(.start(device, life: device.life), in: 5 + random.below(400))
    }

    func write(_ device: SimulatedDevice) {
        let instructions = Workload.instructions(device.store.rows, &random)
        guard !instructions.isEmpty else { return }
        let changeset = device.store.write(instructions, wallMicroseconds: wall(device))
        ledger.register(changeset, device.store)
        log(
            "device \(device.id) writes changeset \(changeset.number) on \(changeset.base) at \(changeset.stamp): "
                + instructions.map { "\($0)" }.joined(separator: ", "))
        act(device, .changesetQueued)
    }

    func changeSubscriptions(_ device: SimulatedDevice) {
        let set = Workload.subscriptions(version: device.nextSet, &random)
        device.nextSet += 1
        do {
            try device.store.setWantedSubscriptions(set)
        } catch {
            fail("device \(device.id): \(error)")
        }
        log("device \(device.id) wants set \(set.version): \(set.subscriptions.map(\.predicate))")
        act(device, .subscriptionsChanged(set))
    }
}
