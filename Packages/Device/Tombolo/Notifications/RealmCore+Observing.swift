internal import TomboloModel
internal import TomboloSQLiteStore

extension RealmCore {
    /// Runs `body` soon, where the Realm may be used.
    /// - Returns: false if that place can't be reached.
    func visitSoon(_ body: @escaping @Sendable (RealmCore) -> Void) -> Bool {
        let visitor = RealmVisitor(core: self)
        return confinement.schedule { body(visitor.core) }
    }

    /// Releases a listener that has ended, possibly in another place.
    func letGo() {
        if confinement.isCurrent { notifier.sweep() } else { _ = visitSoon { $0.notifier.sweep() } }
    }

    /// Pins the version for the next reads.
    func pinVersion() { query {} }

    /// Adds a listener of an object or collection.
    func observe(_ observation: Observation) -> NotificationToken {
        requireObservable()
        pinVersion()
        notifier.add(observation)
        return NotificationToken(observation.state, self)
    }

    func requireLive() {
        if isFrozen {
            programError("Frozen Realms do not change and do not have change notifications: observe realm.thaw().")
        }
    }

    func requireObservable() {
        confinement.check()
        requireLive()
        if isInWrite { programError("Cannot register notification blocks from within write transactions.") }
    }

    /// Adds a listener to the Realm of the same file in another place. `make` runs there.
    func observe(
        in place: Confinement, _ state: ObservationState, _ make: @escaping (RealmCore) -> Observation,
        failed: @escaping (any Error) -> Void
    ) -> NotificationToken {
        requireObservable()
        let token = NotificationToken(state)
        let start = DeferredObservation(
            configuration: configuration, place: place, make: make, failed: failed, token: WeakToken(token: token))
        _ = place.schedule { start.run() }
        return token
    }
}

/// Carries a core to its Realm's place, and is opened only there.
private struct RealmVisitor: @unchecked Sendable {
    let core: RealmCore
}

/// An observation on its way to another place. The closures move with it as a whole.
private struct DeferredObservation: @unchecked Sendable {
    let configuration: Realm.Configuration
    let place: Confinement
    let make: (RealmCore) -> Observation
    let failed: (any Error) -> Void
    let token: WeakToken

    func run() {
        guard let token = token.token, token.state.isActive else { return }
        do {
            let core = try RealmCore.open(configuration, place)
            // The Realm must show everything that the caller has seen.
            _ = core.refresh()
            guard token.register(core) else { return }
            core.pinVersion()
            core.notifier.add(make(core))
        } catch {
            if token.state.isActive { failed(error) }
        }
    }
}

private struct WeakToken: Sendable {
    weak let token: NotificationToken?
}
