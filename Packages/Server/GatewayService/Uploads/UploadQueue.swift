internal import Synchronization
internal import TomboloChangesets
public import TomboloSyncSession
internal import Tracing

/// Puts the changesets of many sessions into shared transactions. While several users are connected, ``UploadTurns`` says whose
/// come next, and ``UploadPace`` how much of a user's, and when.
///
/// A user whose transactions take longer than ``patience`` travels apart for ``apartTime``: in transactions of their own,
/// of which there are only so many at once. Changesets that wait for a row, or that take long to write, then delay nobody
/// else.
public actor UploadQueue {
    /// Changesets of one transaction.
    public static let maximumGroupSize = 100
    /// Rough size of one transaction's changesets, in bytes; a longer changeset is alone in its own.
    public static let maximumGroupByteCount = 8 << 20
    /// Instructions of one transaction; a changeset with more is alone in its own. The feed keeps ticks of several such.
    public static let maximumGroupInstructionCount = 2_000
    /// Transactions under way at once: those that users share, those of users that travel apart, and those of one such
    /// user.
    static let maximum = (shared: 2, apart: 3, apartOfUser: 2)
    /// Of those apart, how many the users of one place have while others are connected.
    static let maximumApartOfPlace = 2
    /// Transactions under way at once, in all.
    public static let maximumConcurrency = maximum.shared + maximum.apart
    /// Less than a group waits for a row that others hold.
    static let patience = Duration.milliseconds(400)
    /// How long a user travels apart after a slow transaction.
    static let apartTime = Duration.seconds(30)

    /// One client's changesets that wait, or are in a transaction.
    private struct Call {
        /// In order of arrival.
        var number: Int
        let peer: Peer
        let client: ClientID
        /// What has no outcome yet.
        var rest: ArraySlice<Sized>
        var results: [UploadResult] = []
        let caller: Caller
        let done: CheckedContinuation<[UploadResult], any Error>

        /// Whether the call has all changesets that another one of the client still has, by their numbers.
        func covers(_ other: Call) -> Bool {
            guard let first = rest.first, let last = rest.last, let otherFirst = other.rest.first,
                let otherLast = other.rest.last
            else { return false }
            return first.upload.changeset.number <= otherFirst.upload.changeset.number
                && otherLast.upload.changeset.number <= last.upload.changeset.number
        }
    }

    private final class Caller: Sendable {
        /// Nobody waits for the outcome any more.
        let hasLeft = Atomic(false)
    }

    private struct Sized {
        let upload: Upload
        let byteCount: Int
        let instructionCount: Int
    }

    /// What a transaction has of a call: its first changesets.
    private struct Part {
        let call: Call
        let count: Int

        var uploads: ArraySlice<Sized> { call.rest.prefix(count) }
        var instructionCount: Int { uploads.reduce(0) { $0 + $1.instructionCount } }
        /// What it costs, as ``UploadPace`` counts.
        var load: Int {
            UploadPace.load(
                instructionCount: instructionCount, byteCount: uploads.reduce(0) { $0 + $1.byteCount })
        }
    }

    /// A transaction under way.
    private struct Group {
        let peers: Set<Peer>
        let since: ContinuousClock.Instant
        /// Other users were connected when it began.
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
    /// Calls that wait, by client.
    private var waitingCounts: [ClientID: Int] = [:]
    private var underWay: [Int: Group] = [:]
    private var nextCall = 0
    private var nextID = 0
    /// When what waits is looked at again.
    private var looksAgainAt: ContinuousClock.Instant?
    /// Until when a user travels apart.
    private var apartUntil: [String: ContinuousClock.Instant] = [:]
    private var pace = UploadPace()
    private var turns = UploadTurns()

    /// - Parameters:
    ///   - onCommit: called after every transaction that may have changed something: nudges the sequencer.
    ///   - onGroup: hears of every transaction.
    public init(
        store: any ServerStore, onCommit: @escaping @Sendable () -> Void,
        onGroup: @escaping @Sendable (UploadGroupReport) -> Void = { _ in }
    ) {
        self.init(store: store, backlog: UploadBacklog(), onCommit: onCommit, onGroup: onGroup)
    }

    /// Calls that have come so far.
    var callCount: Int { nextCall }
    /// Calls that wait for a transaction.
    var waitingCount: Int { waiting.count }
    /// Transactions under way.
    var transactionCount: Int { underWay.count }

    /// - Parameters:
    ///   - backlog: shared with the feed that tells what is uploaded.
    ///   - users: who is connected.
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

    /// Applies one client's changesets in order. A session has one call under way at a time.
    ///
    /// They are applied even if the caller's task is cancelled. But what then still waits gives its place to the same from
    /// another session of the client: a device that comes back sends it again.
    /// - Throws: `CancellationError` if another call has taken the place; what the store throws.
    public func upload(_ uploads: [Upload], user: String) async throws -> [UploadResult] {
        try await upload(uploads, of: Peer(user))
    }

    /// - Parameter peer: whose they are.
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

    /// Puts a call where it belongs in the order of arrival: a new one, or one of which a transaction had only the beginning.
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

    /// A call of a client whose caller has left, and another one that has all its changesets. Two copies of a file, both of
    /// which are connected, don't replace each other's.
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

    /// The feed has told enough of what was uploaded.
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

    /// What waits behind transactions that turn out to be slow need not wait for their end; and users have a time from which
    /// on they may go on.
    private func lookAgainLater() {
        guard !waiting.isEmpty else { return }
        let now = now()
        let next = waiting.compactMap { pace.wait(of: $0.peer.user, at: now) }.min() ?? now + Self.patience
        let time = min(next, now + Self.patience)
        guard looksAgainAt.map({ time < $0 }) ?? true else { return }
        looksAgainAt = time
        Task {
            try? await Task.sleep(for: now.duration(to: time))
            // An earlier look made this one's place its own.
            guard looksAgainAt == time else { return }
            looksAgainAt = nil
            startIfPossible()
        }
    }

    /// Takes the next transaction's changesets from those that wait: in order of arrival; where several users are connected, in
    /// ``UploadTurns``.
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
        /// Whether a user's turn has come, where several are connected.
        func hasTurn(_ user: String) -> Bool {
            guard isPaced else { return true }
            // A second one would make ticks larger, and gain little, unless the first waits for something.
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
            // Two sessions of one client, as a copied file has, must not meet in one group: what refuses the one would
            // make a gap for the other.
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

    /// - Parameter causes: of those clients that lack a result.
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
            // What follows a changeset that could not be taken would only be refused as a gap.
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
