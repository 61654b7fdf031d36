internal import Dispatch
internal import Synchronization
internal import TomboloChangesets
internal import TomboloSyncClient
internal import TomboloSyncProtocol
internal import TomboloSyncSession

extension SyncSession {
    /// Tells the app what the server refused, once there's a handler. A refusal is forgotten only after the handler has
    /// returned. If the app is killed before that, it's told again after the next launch. Called on the engine's
    /// thread.
    func tellRefusals() {
        let (handler, queue, told) = situation.value.withLock { state in
            let configuration = state.configuration
            let own = configuration.errorHandler
            return (
                own ?? configuration.user.app.syncManager.errorHandler, own == nil ? DispatchQueue.main : nil,
                state.toldThrough
            )
        }
        guard let handler, let refusals = try? engine.assumeIsolated({ try $0.untoldRefusals(after: told) }),
            let last = refusals.last
        else { return }
        situation.value.withLock { $0.toldThrough = last.id }
        let error = SyncError(
            .writeRejected, refusals.map(\.write.refusal.message).joined(separator: " "),
            compensatingWrites: refusals.map { CompensatingWriteInfo($0.write) })
        guard let queue else {
            handler(error, self)
            engine.assumeIsolated { forgetRefusals(through: last.id, $0) }
            return
        }
        let engine = engine
        queue.async {
            handler(error, self)
            Task { await self.forgetRefusals(through: last.id, engine) }
        }
    }

    private func forgetRefusals(through id: Int64, _ engine: isolated SyncEngine) {
        guard (try? engine.forgetRefusals(through: id)) != nil else { return }
        // Once the table is empty, its ids start over.
        situation.value.withLock { if $0.toldThrough == id { $0.toldThrough = 0 } }
    }

    /// The same, callable from any thread.
    func tellRefusalsLater() {
        Task { await tellRefusals(onThreadOf: engine) }
    }

    private func tellRefusals(onThreadOf engine: isolated SyncEngine) { tellRefusals() }

    /// Call this when the sessions of an app get a handler.
    static func tellRefusals(of manager: SyncManager) {
        for session in all(where: { $0.user.app.syncManager === manager }) { session.tellRefusalsLater() }
    }
}
