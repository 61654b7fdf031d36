internal import Synchronization
internal import TomboloChangesets
public import TomboloSyncSession
internal import Tracing

/// Combines the changesets of many sessions into shared transactions. While several users are connected,
/// ``UploadTurns`` decides whose changesets come next, and ``UploadPace`` how many of a user's, and when.
///
/// A user whose transactions take longer than ``patience`` travels apart for ``apartTime``: in separate transactions,
/// of which only a limited number run at once. So changesets that wait for a row or take long to write delay nobody
/// else.
public actor UploadQueue {
    /// The most changesets in one transaction.
    public static let maximumGroupSize = 100
    /// The approximate maximum of bytes of one transaction's changesets. A longer changeset gets its own transaction.
    public static let maximumGroupByteCount = 8 << 20
    /// The most instructions in one transaction. A changeset with more gets its own transaction. The feed keeps ticks
    /// of several such transactions.
    public static let maximumGroupInstructionCount = 2_000
    /// The most transactions in progress at once: those that users share, those of users who travel apart, and those
    /// of one such user.
    static let maximum = (shared: 2, apart: 3, apartOfUser: 2)
    /// The most transactions apart for the users of one place while others are connected.
    static let maximumApartOfPlace = 2
    /// The most transactions in progress at once, in total.
    public static let maximumConcurrency = maximum.shared + maximum.apart
    /// Shorter than the time that a group waits for a row that is locked elsewhere.
    static let patience = Duration.milliseconds(400)
    /// How long a user travels apart after a slow transaction.
    static let apartTime = Duration.seconds(30)

    /// One client's changesets that are waiting or in a transaction.
    private struct Call {
        /// In order of arrival.
        var number: Int
        let peer: Peer
        let client: ClientID
        /// The changesets without an outcome yet.
        var rest: ArraySlice<Sized>
        var results: [UploadResult] = []
        let caller: Caller
        let done: CheckedContinuation<[UploadResult], any Error>

        /// Whether the call includes, by number, all changesets that another call of the same client still has.
        func covers(_ other: Call) -> Bool {
            guard let first = rest.first, let last = rest.last, let otherFirst = other.rest.first,
                let otherLast = other.rest.last
            else { return false }
            return first.upload.changeset.number <= otherFirst.upload.changeset.number
                && otherLast.upload.changeset.number <= last.upload.changeset.number
        }
    }

    private final class Caller: Sendable {
        /// Whether nobody waits for the outcome any more.
        let hasLeft = Atomic(false)
    }

    private struct Sized {
        let upload: Upload
        let byteCount: Int
        let instructionCount: Int
    }

    /// A transaction's part of a call: its first changesets.
    private struct Part {
        let call: Call
        let count: Int

        var uploads: ArraySlice<Sized> { call.rest.prefix(count) }
        var instructionCount: Int { uploads.reduce(0) { $0 + $1.instructionCount } }
        /// The cost in ``UploadPace``'s terms.
        var load: Int {
            UploadPace.load(
                instructionCount: instructionCount, byteCount: uploads.reduce(0) { $0 + $1.byteCount })
        }
    }

    /// A transaction in progress.
    private struct Group {
        let peers: Set<Peer>
        let since: ContinuousClock.Instant
        /// Whether other users were connected when it began.
        let isPaced: Bool

        var users: Set<String> { Set(peers.map(\.user)) }
    }

    private let store: any ServerStore
    private let onCommit: @Sendable () -> Void
    private let onGroup: @Sendable (UploadGroupReport) -> Void
    private let backlog: UploadBacklog
    private let now: @Sendable () -> ContinuousClock.Instant
    private let users: ConnectedUsers
    private var waiting: [Call] = []
    /// Waiting calls, by client.
    private var waitingCounts: [ClientID: Int] = [:]
    private var underWay: [Int: Group] = [:]
    private var nextCall = 0
    private var nextID = 0
    /// When to look at the waiting calls again.
    private var looksAgainAt: ContinuousClock.Instant?
    /// The time until which a user travels apart.
    private var apartUntil: [String: ContinuousClock.Instant] = [:]
    private var pace = UploadPace()
    private var turns = UploadTurns()

    /// - Parameters:
    ///   - onCommit: called after each transaction that may have changed something, to nudge the sequencer.
    ///   - onGroup: receives a report on each transaction.
    public init(
        store: any ServerStore, onCommit: @escaping @Sendable () -> Void,
        onGroup: @escaping @Sendable (UploadGroupReport) -> Void = { _ in }
    ) {
        self.init(store: store, backlog: UploadBacklog(), onCommit: onCommit, onGroup: onGroup)
    }

    /// The number of calls so far.
    var callCount: Int { nextCall }
    /// Calls that wait for a transaction.
    var waitingCount: Int { waiting.count }
    /// The number of transactions in progress.
    var transactionCount: Int { underWay.count }

    /// - Parameters:
    ///   - backlog: shared with the feed that announces what is uploaded.
    ///   - users: the connected users.
    init(
        store: any ServerStore, backlog: UploadBacklog = UploadBacklog(), users: ConnectedUsers = ConnectedUsers(),
        onCommit: @escaping @Sendable () -> Void,
        onGroup: @escaping @Sendable (UploadGroupReport) -> Void = { _ in },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.store = store
        self.backlog = backlog
        self.users = users
        self.onCommit = onCommit
        self.onGroup = onGroup
        self.now = now
    }

    /// Applies one client's changesets in order. A session makes one call at a time.
    ///
    /// The changesets are applied even if the caller's task is cancelled. But if they are still waiting then, they
    /// give way to the same changesets from another session of the client, because a device that reconnects sends
    /// them again.
    /// - Throws: `CancellationError` if another call has replaced this one; what the store throws.
    public func upload(_ uploads: [Upload], user: String) async throws -> [UploadResult] {
        try await upload(uploads, of: Peer(user))
    }

    /// - Parameter peer: whose changesets they are.
    func upload(_ uploads: [Upload], of peer: Peer) async throws -> [UploadResult] {
        guard let client = uploads.first?.client else { return [] }
        let sized = uploads.map {
            Sized(
                upload: $0, byteCount: $0.changeset.byteCount, instructionCount: $0.changeset.instructions.count)
        }
        let caller = Caller()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { done in
                let number = nextCall
                nextCall += 1
                wait(
                    Call(number: number, peer: peer, client: client, rest: sized[...], caller: caller, done: done))
                startIfPossible()
            }
        } onCancel: {
            caller.hasLeft.store(true, ordering: .relaxed)
        }
    }

    /// Inserts a call by order of arrival: either a new one, or one of which a transaction had only the first part.
    private func wait(_ call: Call) {
        waiting.insert(call, at: waiting.lastIndex { $0.number < call.number }.map { $0 + 1 } ?? 0)
        waitingCounts[call.client, default: 0] += 1
        while let (left, other) = redundantCall(of: call.client) {
            let place = min(left, other)
            let number = waiting[place].number
            waiting[left].done.resume(throwing: CancellationError())
            waiting[place] = waiting[other]
            waiting[place].number = number
            waiting.remove(at: max(left, other))
            waitingCounts[call.client, default: 0] -= 1
        }
    }

    /// A waiting call whose caller has left, and another call of the same client that has all its changesets. Two
    /// copies of a file that are both connected don't replace each other's calls.
    private func redundantCall(of client: ClientID) -> (left: Int, other: Int)? {
        guard waitingCounts[client, default: 0] > 1 else { return nil }
        let own = waiting.indices.filter { waiting[$0].client == client }
        for left in own where waiting[left].caller.hasLeft.load(ordering: .relaxed) {
            if let other = own.first(where: { $0 != left && waiting[$0].covers(waiting[left]) }) {
                return (left, other)
            }
        }
        return nil
    }

    /// Call when the feed has announced enough of what was uploaded.
    func goOn() { startIfPossible() }

    private func startIfPossible() {
        while underWay.count < Self.maximumConcurrency, !waiting.isEmpty, !backlog.isFull {
            let isPaced = users.areSeveral
            let parts = nextGroup(isPaced: isPaced)
            guard !parts.isEmpty else { break }
            let id = nextID
            nextID += 1
            backlog.begin(parts.reduce(0) { $0 + $1.instructionCount })
            if isPaced {
                let now = now()
                turns.note(
                    parts.map { ($0.call.peer, $0.load) }, of: id,
                    waiting: Set((parts.map(\.call) + waiting).map(\.peer)),
                    underWay: underWay.values.reduce(into: []) { $0.formUnion($1.users) },
                    mayGoOn: { pace.wait(of: $0, at: now) == nil })
            }
            underWay[id] = Group(peers: Set(parts.map(\.call.peer)), since: now(), isPaced: isPaced)
            Task { await self.apply(parts, id) }
        }
        lookAgainLater()
    }

    /// Calls behind transactions that turn out to be slow don't have to wait for their end, and a user has a time
    /// from which they may continue.
    private func lookAgainLater() {
        guard !waiting.isEmpty else { return }
        let now = now()
        let next = waiting.compactMap { pace.wait(of: $0.peer.user, at: now) }.min() ?? now + Self.patience
        let time = min(next, now + Self.patience)
        guard looksAgainAt.map({ time < $0 }) ?? true else { return }
        looksAgainAt = time
        Task {
            try? await Task.sleep(for: now.duration(to: time))
            // Another look, due earlier, has replaced this one.
            guard looksAgainAt == time else { return }
            looksAgainAt = nil
            startIfPossible()
        }
    }

    /// Takes the changesets for the next transaction from the waiting calls: in order of arrival or, if several users
    /// are connected, by ``UploadTurns``.
    private func nextGroup(isPaced: Bool) -> [Part] {
        let now = now()
        let slow = Set(underWay.values.filter { $0.since.duration(to: now) >= Self.patience }.flatMap(\.users))
        apartUntil = apartUntil.filter { $0.value > now }
        func isApart(_ user: String) -> Bool { slow.contains(user) || apartUntil[user] != nil }
        let apart = underWay.values.filter { $0.users.contains(where: isApart) }
        let placesAreSeveral = users.placesAreSeveral
        let mayShare = underWay.count - apart.count < Self.maximum.shared
        func mayBegin(_ peer: Peer) -> Bool {
            guard isApart(peer.user) else { return mayShare }
            return apart.count < Self.maximum.apart
                && apart.count { $0.users.contains(peer.user) } < Self.maximum.apartOfUser
                && (!placesAreSeveral
                    || apart.count { $0.peers.contains { $0.place == peer.place } } < Self.maximumApartOfPlace)
        }
        /// Whether it's a user's turn, if several are connected.
        func hasTurn(_ user: String) -> Bool {
            guard isPaced else { return true }
            // A second transaction would make ticks larger and gain little, unless the first is waiting for
            // something.
            let isUnderWay = underWay.values.contains {
                $0.users.contains(user) && $0.since.duration(to: now) < Self.patience
            }
            return !isUnderWay && pace.wait(of: user, at: now) == nil
        }

        let maximumInstructionCount = isPaced ? pace.instructionCount : Self.maximumGroupInstructionCount
        var group: [Part] = []
        var clients: Set<ClientID> = []
        var (size, byteCount, instructionCount) = (0, 0, 0)
        for next in isPaced ? turns.order(waiting, { $0.peer }) : waiting {
            guard size < Self.maximumGroupSize, hasTurn(next.peer.user) else { continue }
            let mayTravel =
                if let first = group.first?.call {
                    isApart(first.peer.user) || isApart(next.peer.user) ? first.peer.user == next.peer.user : true
                } else {
                    mayBegin(next.peer)
                }
            // Two sessions of one client, which a copied file can cause, must not share a group: a refusal in one
            // would leave a gap for the other.
            guard mayTravel, !clients.contains(next.client) else { continue }
            var count = 0
            for changeset in next.rest.prefix(Self.maximumGroupSize - size) {
                guard
                    size + count == 0
                        || byteCount + changeset.byteCount <= Self.maximumGroupByteCount
                            && instructionCount + changeset.instructionCount <= maximumInstructionCount
                else { break }
                count += 1
                byteCount += changeset.byteCount
                instructionCount += changeset.instructionCount
            }
            guard count > 0 else { continue }
            size += count
            clients.insert(next.client)
            group.append(Part(call: next, count: count))
        }
        let taken = Set(group.map(\.call.number))
        waiting.removeAll { taken.contains($0.number) }
        for part in group {
            let left = waitingCounts[part.call.client, default: 0] - 1
            waitingCounts[part.call.client] = left > 0 ? left : nil
        }
        return group
    }

    private func apply(_ group: [Part], _ id: Int) async {
        let uploads = group.flatMap { $0.uploads.map(\.upload) }
        let results: [UploadResult?]
        var causes: [ClientID: any Error] = [:]
        let spans = UploadTraces.commits(uploads)
        defer { for span in spans { span.end() } }
        do {
            results = try await store.upload(uploads)
            onCommit()
        } catch let unfinished as UnfinishedUploads {
            (results, causes) = (unfinished.results, unfinished.causes)
            onCommit()
        } catch {
            results = uploads.map { _ in nil }
            for upload in uploads { causes[upload.client] = error }
        }
        finish(group, id, results, causes)
        startIfPossible()
    }

    /// - Parameter causes: the errors of clients that lack a result.
    private func finish(_ group: [Part], _ id: Int, _ results: [UploadResult?], _ causes: [ClientID: any Error]) {
        let now = now()
        backlog.end(group.reduce(0) { $0 + $1.instructionCount })
        if let known = underWay.removeValue(forKey: id) {
            let took = known.since.duration(to: now)
            onGroup(
                UploadGroupReport(
                    changesetCount: group.reduce(0) { $0 + $1.count }, took: took, results: results))
            if took >= Self.patience {
                for user in known.users { apartUntil[user] = now + Self.apartTime }
            }
            if known.isPaced {
                let loads = group.reduce(into: [String: Int]()) { $0[$1.call.peer.user, default: 0] += $1.load }
                pace.finish(loads, took: took, at: now)
            }
        }
        var position = 0
        for part in group {
            var call = part.call
            let own = results[position..<position + part.count].compactMap(\.self)
            position += part.count
            if let cause = causes[call.client] {
                call.done.resume(throwing: cause)
                continue
            }
            call.results += own
            call.rest = call.rest.dropFirst(part.count)
            // Changesets after one that wasn't accepted would only be refused as a gap.
            if call.rest.isEmpty || !own.allSatisfy(\.isTaken) {
                call.done.resume(returning: call.results)
            } else {
                wait(call)
            }
        }
    }
}

extension UploadResult {
    fileprivate var isTaken: Bool {
        switch self {
        case .applied, .duplicate: true
        case .gap, .conflict, .unknownBase: false
        }
    }
}
