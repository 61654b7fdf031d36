internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Conditions that must hold after every batch and at the end.
extension Simulation {
    /// The database as of a tick, computed from row versions: the truth.
    private func content(at number: Int64, token: Int64) -> [ObjectReference: Row]? {
        if let known = contents[number], known.token == token { return known.rows }
        guard let tick = database.ticks[number], tick.token == token else { return nil }
        let rows = database.content(in: tick.snapshot)
        contents[number] = (token, rows)
        return rows
    }

    /// The part of the content that a device wants and may have.
    private func visible(
        _ rows: [ObjectReference: Row], _ set: SubscriptionSet, _ fingerprint: UInt64
    ) -> [ObjectReference: Row] {
        let visibility = Visibility(subscriptions: set, schema: schema) { Self.readable(fingerprint, $0) }
        var roots = Set<ObjectReference>()
        var result: [ObjectReference: Row] = [:]
        for (reference, row) in rows where schema[reference.classIndex].owner == nil {
            if visibility.includes(row, classIndex: reference.classIndex, schema: schema) {
                roots.insert(reference)
                result[reference] = row
            }
        }
        for (reference, row) in rows where schema[reference.classIndex].owner != nil {
            let root = ObjectReference(
                classIndex: schema.rootClassIndex(of: reference.classIndex), key: row[ElementColumn.owner])
            if roots.contains(root) { result[reference] = row }
        }
        return result
    }

    private func firstDifference(
        _ actual: [ObjectReference: Row], _ expected: [ObjectReference: Row]
    ) -> String? {
        guard actual != expected else { return nil }
        for reference in Set(actual.keys).union(expected.keys).sorted(by: SimulatedSchema.precedes)
        where actual[reference] != expected[reference] {
            return "\(reference) is \(actual[reference].map { "\($0.values)" } ?? "absent") instead of "
                + (expected[reference].map { "\($0.values)" } ?? "absent")
        }
        return nil
    }

    func check(_ device: SimulatedDevice, previous: DeviceState) {
        guard let state = try? device.store.state() else { return }
        if state.position.tick < device.lastTick {
            fail("device \(device.id) went back from tick \(device.lastTick) to \(state.position.tick)")
        }
        device.lastTick = state.position.tick
        guard state.position.tick == 0 || content(at: state.position.tick, token: state.position.token) != nil else {
            return fail("device \(device.id) is at tick \(state.position.tick), which the database doesn't have")
        }
        checkContent(device, "a batch")
        // A copied file that is about to be reset finds out early which changesets are its own.
        if !hasCopied, let tick = database.ticks[state.position.tick] {
            let known = database.progress(state.client, in: tick.snapshot)?.last ?? 0
            if state.acknowledged > known {
                fail(
                    "device \(device.id) at tick \(tick.number) considers changeset \(state.acknowledged) done, but "
                        + "the tick knows only up to \(known)")
            }
        }
        if !device.store.pending.isEmpty { hit(.pendingReplayed) }
        var number = state.acknowledged
        for changeset in device.store.pending {
            number += 1
            if changeset.number != number {
                return fail("device \(device.id): changeset \(number) is missing from the queue")
            }
        }
        if number != state.lastChangeset {
            fail(
                "device \(device.id) has numbered changesets up to \(state.lastChangeset), but its queue ends at "
                    + "\(number)")
        }
    }

    /// Checks that the device's content is the database's as of its tick, with its pending changesets on top.
    func checkContent(_ device: SimulatedDevice, _ occasion: String) {
        guard let state = try? device.store.state(), state.position.tick > 0,
            let rows = content(at: state.position.tick, token: state.position.token)
        else { return }
        let expected = visible(rows, state.active, state.position.rulesFingerprint)
        let server = device.store.serverRows
        if let difference = firstDifference(server, expected) {
            return fail("after \(occasion), beneath pending changesets of device \(device.id): \(difference)")
        }
        if let difference = firstDifference(device.store.rows, Self.replay(device.store.pending, on: expected)) {
            return fail("after \(occasion), on device \(device.id): \(difference)")
        }
        checkCauses(server, rows, device)
    }

    /// Checks the sums that transfers preserve, and that no child is without its parent if both are visible.
    private func checkCauses(
        _ server: [ObjectReference: Row], _ rows: [ObjectReference: Row], _ device: SimulatedDevice
    ) {
        var sum: Int64 = 0
        for (reference, row) in server {
            switch reference.classIndex {
            case SimulatedSchema.vault:
                if case .int(let balance) = row[SimulatedSchema.Vault.balance] { sum += balance }
            case SimulatedSchema.item:
                let key = row[SimulatedSchema.Item.parent]
                guard !key.isNull else { continue }
                let parent = ObjectReference(classIndex: SimulatedSchema.item, key: key)
                if rows[parent] == nil { fail("device \(device.id) has \(reference) without its parent \(parent)") }
            default: break
            }
        }
        if sum != Workload.vaultStart * Int64(Workload.vaultCount) {
            fail("device \(device.id) sees half of a transfer: the balances sum to \(sum)")
        }
    }

    /// Replays local writes on top of the server's rows.
    private static func replay(
        _ changesets: [Changeset], on rows: [ObjectReference: Row]
    ) -> [ObjectReference: Row] {
        var rows = rows
        for instruction in changesets.flatMap(\.instructions) {
            let reference = instruction.reference
            switch instruction {
            case .create(_, let fields):
                let old = rows[reference]
                var row =
                    old
                    ?? (reference.classIndex == SimulatedSchema.item
                        ? Row([reference.key, .string(""), .int(0), .null, .int(0), .null])
                        : Row([reference.key, .null, .string(""), .null]))
                for field in fields where old == nil || !field.isDefault { row[field.column] = field.value }
                rows[reference] = row
            case .set(_, let fields):
                guard var row = rows[reference] else { continue }
                for field in fields { row[field.column] = field.value }
                rows[reference] = row
            case .add(_, let column, let amount):
                guard var row = rows[reference], case .int(let number) = row[column] else { continue }
                row[column] = .int(number + amount)
                rows[reference] = row
            case .erase:
                rows[reference] = nil
                guard reference.classIndex == SimulatedSchema.item else { continue }
                rows = rows.filter {
                    $0.key.classIndex != SimulatedSchema.link || $0.value[ElementColumn.owner] != reference.key
                }
            }
        }
        return rows
    }

    // MARK: The end

    func checkQuiet() {
        let waits =
            database.hasNews || !runningUploads.isEmpty || !runningSQL.isEmpty
            || devices.contains { device in
                guard let state = try? device.store.state() else { return true }
                return !device.store.pending.isEmpty || !device.session.isLive
                    || state.position.tick != database.latest.number
                    || state.position.subscriptionVersion != state.wanted.version
                    || state.position.rulesFingerprint != authority(device.user).rulesFingerprint
            }
        isQuiet = !waits
        guard waits else { return }
        if now - healedAt > Self.livenessBound {
            let states = devices.map { device -> String in
                let state = try? device.store.state()
                return "device \(device.id) \(device.session.isLive ? "live" : "away") at tick "
                    + "\(state?.position.tick ?? -1) with \(device.store.pending.count) pending, set "
                    + "\(state?.position.subscriptionVersion ?? -1) of \(state?.wanted.version ?? -1), roles "
                    + "\(state?.position.rulesFingerprint ?? 0) of \(authority(device.user).rulesFingerprint)"
            }
            return fail(
                "still not quiet \(Self.livenessBound) ms after the last fault; the database is at tick "
                    + "\(database.latest.number): \(states.joined(separator: "; "))")
        }
        schedule(.checkQuiet, in: 200)
    }

    func checkEnd() {
        for device in devices { checkContent(device, "the last batch") }
        if let problem = ledger.checkEnd() { fail(problem) }
        var hits: Int64 = 0
        for key in 0..<Workload.vaultCount {
            if case .int(let number) = database.current(SimulatedSchema.vault(key))?[SimulatedSchema.Vault.hits] {
                hits += number
            }
        }
        if hits != ledger.acceptedHits {
            fail("the counters sum to \(hits), but the accepted additions to \(ledger.acceptedHits)")
        }
    }
}
