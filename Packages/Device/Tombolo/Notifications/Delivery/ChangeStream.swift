internal import TomboloSQLiteStore

/// Changes for a task that requests them one by one. Each change is computed on request, so a slow reader gets merged
/// changes and nothing piles up. Confined like its Realm.
final class ChangeStream<Element> {
    private let core: RealmCore
    private let state: ObservationState
    private let signal = ChangeSignal()
    private var fileObserver: Int?
    private let makeObservation: (ObservationState, RealmCore, @escaping (Element) -> Void) -> Observation
    private var observation: Observation?
    private var told: Element?

    init(
        _ core: RealmCore,
        _ makeObservation: @escaping (ObservationState, RealmCore, @escaping (Element) -> Void) -> Observation
    ) {
        self.core = core
        self.makeObservation = makeObservation
        state = ObservationState()
    }

    deinit {
        if let fileObserver { core.file.observers.remove(fileObserver) }
        if state.end() { core.letGo() }
    }

    func next(isolation: isolated (any Actor)?) async -> Element? {
        start()
        while !Task.isCancelled, state.isActive || told != nil {
            core.confinement.check()
            // If nothing else refreshes the Realm, the reader does.
            if core.autorefresh, !core.isInWrite { _ = core.refresh() }
            if let observation, !core.isInWrite { core.notifier.pull(observation) }
            if let element = told {
                told = nil
                return element
            }
            if !state.isActive { return nil }
            await signal.wait()
        }
        return nil
    }

    /// Starts reporting changes. Has no effect in a write transaction.
    func listen() {
        start()
        if let observation, !core.isInWrite { core.notifier.pull(observation) }
    }

    private func start() {
        guard observation == nil, state.isActive else { return }
        core.confinement.check()
        let signal = signal
        fileObserver = core.file.observers.add(watchingProcesses: true) { _ in signal.signal() }
        let observation = makeObservation(state, core) { [unowned self] in told = $0 }
        self.observation = observation
        core.notifier.addPulled(observation) { signal.signal() }
    }
}
