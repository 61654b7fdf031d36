internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// The session's phases from hello to the first batch.
extension ServerSession {
    mutating func begin(_ hello: Hello) -> [Action] {
        guard (ProtocolVersion.oldest...ProtocolVersion.current).contains(hello.protocolVersion) else {
            let advice =
                hello.protocolVersion < ProtocolVersion.oldest
                ? "Update the app." : "Update the gateway, or use an older version of the app."
            return fail(
                SessionFailure(
                    .unsupportedVersion,
                    "This gateway speaks protocol versions \(ProtocolVersion.oldest) to \(ProtocolVersion.current); "
                        + "the device speaks \(hello.protocolVersion). \(advice)"))
        }
        client = hello.client
        phase = .authenticating(hello)
        return [.authenticate(accessToken: hello.accessToken)]
    }

    /// Examines the rest of the hello. This happens only after the user has been authenticated.
    mutating func authenticated(_ hello: Hello, _ authority: SessionAuthority) -> [Action] {
        do throws(SessionFailure) {
            let device = try Self.deviceSchema(hello.classes, in: schema)
            deviceColumns = device.columns
            deviceNames = device.names
            mask = ColumnMask(
                hidden: authority.hidden, hiddenLists: hiddenLists(by: authority.readable), required: device.required)
            try check(hello.wantedSubscriptions)
            try checkPartition(hello, authority)
        } catch {
            return fail(error)
        }
        var hello = hello
        if authority.partition != nil {
            hello.activeSubscriptions = everything
            hello.wantedSubscriptions = everything
        }
        // The device's set may be invalid because a gateway with higher limits accepted it, or because it uses
        // properties that the user can't read: the objects that stop matching would reveal their values. Such a set
        // isn't refused, because the device could never get rid of it. Instead, the content is replaced.
        if (try? check(hello.activeSubscriptions)) == nil { needsEverything = true }
        schemaFingerprint = HelloClass.fingerprint(of: hello.classes)
        self.authority = authority
        phase = .opening(hello)
        return [.open(hello.client, user: authority.user, acknowledged: hello.acknowledged, position: hello.position)]
    }

    func check(_ set: SubscriptionSet) throws(SessionFailure) {
        do throws(ValueError) {
            try set.check(in: schema)
        } catch {
            throw SessionFailure(.badSubscription, error.message)
        }
        // Which objects match would reveal values that the user can't read.
        for subscription in set.subscriptions {
            guard let index = schema.index(of: subscription.className), let hidden = mask.hidden[index] else {
                continue
            }
            let item = schema[index]
            for path in subscription.predicate.paths {
                // A path's names together may be the name of one column, which belongs to a property of an embedded object.
                guard let name = try? schema.resolve(path, from: item).column?.name,
                    let column = item.columnIndex(name), hidden.contains(column)
                else { continue }
                throw SessionFailure(
                    .badSubscription,
                    "A subscription on \(subscription.className) uses '\(path)', which the user may not read.")
            }
        }
    }

    mutating func open(_ hello: Hello, _ opening: ClientOpening, _ check: PositionCheck) -> [Action] {
        if let reason = opening.mustReset { return reset(reason) }
        subscriptions = hello.wantedSubscriptions
        acknowledged = hello.acknowledged
        confirmed = hello.acknowledged
        received = hello.acknowledged
        heartbeats = 0
        let content = Welcome(
            protocolVersion: hello.protocolVersion, serverTime: opening.serverTime, lastChangeset: opening.last,
            isExpired: check == .expired)
        let welcome = Action.send(.welcome(content))
        guard opening.last <= hello.acknowledged else {
            phase = .verifying(hello, check, opening)
            return [welcome]
        }
        if check == .foreign { return startFirstBatch(hello, check) }
        if case .valid(let tick) = check, canResume(hello) { return [welcome] + resume(hello, at: tick) }
        return [welcome] + startFirstBatch(hello, check)
    }

    /// Whether the device's content was made with the current subscriptions, rules and classes, so that it lacks only
    /// later ticks. Not used for a device whose changesets must be verified, because any tick may have their outcomes.
    func canResume(_ hello: Hello) -> Bool {
        hello.position.tick > 0 && !needsEverything && !hasNewAuthority
            && hello.position.subscriptionVersion == hello.wantedSubscriptions.version
            && hello.activeSubscriptions == hello.wantedSubscriptions
            && hello.position.schemaFingerprint == schemaFingerprint
            && hello.position.rulesFingerprint == authority?.rulesFingerprint
    }

    /// Continues at the device's tick. The feed then tells the session what came later. If the feed doesn't reach back
    /// that far, the changelog is read.
    mutating func resume(_ hello: Hello, at tick: Tick) -> [Action] {
        phase = .live
        visibility = visibility(of: subscriptions)
        self.tick = tick
        sentTick = tick.number
        progress = ClientProgress(last: hello.acknowledged, refusals: [])
        owesFirstBatch = true
        return followIfPossible()
    }

    mutating func startFirstBatch(_ hello: Hello, _ check: PositionCheck) -> [Action] {
        switch check {
        case .valid(let tick)
        where tick.number > 0 && hello.position.schemaFingerprint == schemaFingerprint:
            guard let before = formerVisibility(of: hello) else { return [startReading(from: nil)] }
            visibility = before
            self.tick = tick
            return [startReading(from: tick)]
        case .valid, .none, .expired: return [startReading(from: nil)]
        case .foreign:
            return confirmation()
                + reset("The server's history isn't the one this device knows: the server was restored or replaced.")
        }
    }

    /// What the device sees, under the current rules or those that its content was made with. Nil if that's unknown.
    func formerVisibility(of hello: Hello) -> Visibility? {
        if hello.position.rulesFingerprint == authority?.rulesFingerprint {
            return visibility(of: hello.activeSubscriptions)
        }
        guard let formerly = formerlyReadable else { return nil }
        let readable = { formerly[$0] ?? Predicate.constant(false) }
        // The former read conditions are kept only if no column was hidden then. If columns are hidden now, rows that
        // the device keeps have values that it may no longer have, or lack values that it may have now.
        guard onDevice(mask.hidden).isEmpty, hiddenLists(by: readable) == mask.hiddenLists else { return nil }
        return Visibility(subscriptions: hello.activeSubscriptions, schema: schema, readable: readable)
    }

    /// The element classes of the device's lists that its user can't read.
    func hiddenLists(by readable: (Int) -> Predicate) -> Set<Int> {
        Visibility.hiddenLists(of: deviceColumns.keys, in: schema, readable: readable)
    }

    /// The columns to send, by class: the device's columns, without lists that its user can't read.
    var sentColumns: [Int: [Int]] {
        mask.hiddenLists.isEmpty ? deviceColumns : deviceColumns.filter { !mask.hiddenLists.contains($0.key) }
    }

    func visibility(of set: SubscriptionSet) -> Visibility {
        guard let authority else { return .nothing }
        return Visibility(subscriptions: set, schema: schema, readable: authority.readable)
    }
}
