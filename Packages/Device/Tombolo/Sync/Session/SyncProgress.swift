extension SyncSession {
    /// The direction of a transfer.
    public enum ProgressDirection: Sendable {
        case upload
        case download
    }

    public enum ProgressMode: Sendable {
        /// Reports until the token is invalidated. New work lowers the estimate below 1 again.
        case reportIndefinitely
        /// Reports until the work that was outstanding at the first report is done.
        case forCurrentlyOutstandingWork
    }

    /// The progress of a transfer. A download is counted in objects, an upload in write transactions.
    public struct Progress: Hashable, Sendable {
        public let transferred: Int
        /// The total. An estimate until everything has been counted.
        public let transferrable: Int

        /// The progress from 0 to 1.
        public var progressEstimate: Double {
            transferrable == 0 ? 1 : min(1, Double(transferred) / Double(transferrable))
        }

        /// Whether there's nothing left to transfer.
        public var isTransferComplete: Bool { progressEstimate == 1 }
    }

    /// Ends a progress notification.
    public struct ProgressNotificationToken: Sendable {
        let end: @Sendable () -> Void

        /// Ends the notifications. One more call may already be under way.
        public func invalidate() { end() }
    }
}

/// The observers of a session's progress, and what they were last told.
struct ProgressObservers {
    typealias Block = @Sendable (SyncSession.Progress) -> Void

    private struct Observer {
        let direction: SyncSession.ProgressDirection
        let isOneShot: Bool
        let block: Block
        /// For one-shot uploads: the last transaction that was outstanding at the first report.
        var target: Int64?
        var last: SyncSession.Progress?
    }

    private var observers: [Int: Observer] = [:]
    /// The last acknowledged transaction when the queue was last empty.
    private var base: Int64?

    var wantsUploads: Bool { observers.values.contains { $0.direction == .upload } }

    mutating func add(
        _ id: Int, _ direction: SyncSession.ProgressDirection, isOneShot: Bool, _ block: @escaping Block
    ) {
        observers[id] = Observer(direction: direction, isOneShot: isOneShot, block: block)
    }

    mutating func remove(_ id: Int) { observers[id] = nil }

    /// The calls to make once no lock is held.
    typealias Calls = [(Block, SyncSession.Progress)]

    mutating func downloading(_ received: Int, of total: Int) -> Calls {
        // The download isn't complete until the batch is applied, whatever numbers the server sends.
        let next = received == .max ? received : received + 1
        let progress = SyncSession.Progress(transferred: received, transferrable: max(total, next))
        return tell(.download) { _ in
            progress
        } isDone: { _ in
            false
        }
    }

    /// Call this when the device has everything that the server had.
    mutating func downloaded() -> Calls {
        tell(.download) { observer in
            let count = observer.last?.transferrable ?? 0
            return SyncSession.Progress(transferred: count, transferrable: count)
        } isDone: { _ in
            true
        }
    }

    mutating func uploading(acknowledged: Int64, last: Int64) -> Calls {
        let start = min(base ?? acknowledged, acknowledged)
        if acknowledged >= last { base = nil } else { base = start }
        for id in observers.keys where observers[id]?.isOneShot == true && observers[id]?.target == nil {
            observers[id]?.target = last
        }
        return tell(.upload) { observer in
            let target = observer.target ?? last
            return SyncSession.Progress(
                transferred: Int(min(acknowledged, target) - min(start, target)),
                transferrable: Int(target - min(start, target)))
        } isDone: { observer in
            acknowledged >= observer.target ?? last
        }
    }

    /// Call this when the device starts over, which can renumber the outstanding transactions.
    mutating func startOver() {
        base = nil
        for id in observers.keys { observers[id]?.target = nil }
    }

    private mutating func tell(
        _ direction: SyncSession.ProgressDirection, _ progress: (Observer) -> SyncSession.Progress,
        isDone: (Observer) -> Bool
    ) -> Calls {
        var calls: Calls = []
        for (id, observer) in observers.sorted(by: { $0.key < $1.key }) where observer.direction == direction {
            let progress = progress(observer)
            if progress != observer.last { calls.append((observer.block, progress)) }
            observers[id]?.last = progress
            if observer.isOneShot, isDone(observer) { observers[id] = nil }
        }
        return calls
    }
}
