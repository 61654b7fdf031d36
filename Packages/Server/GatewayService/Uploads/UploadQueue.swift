internal import TomboloChangesets
public import TomboloSyncSession
internal import Tracing

/// Puts the changesets of many sessions into shared transactions.
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
    public static let maximumGroupInstructionCount = 5_000
    /// Transactions under way at once: those that users share, those of users that travel apart, and those of one such
    /// user.
    static let maximum = (shared: 2, apart: 3, apartOfUser: 2)
    /// Transactions under way at once, in all.
    public static let maximumConcurrency = maximum.shared + maximum.apart
    /// Less than a group waits for a row that others hold.
    static let patience = Duration.milliseconds(400)
    /// How long a user travels apart after a slow transaction.
    static let apartTime = Duration.seconds(30)

    private struct Waiting {
        let user: String
        let uploads: [Upload]
        let byteCount: Int
        let instructionCount: Int
        let done: CheckedContinuation<[UploadResult], any Error>
    }

    private let store: any ServerStore
    private let onCommit: @Sendable () -> Void
    private let onGroup: @Sendable (UploadGroupReport) -> Void
    private let backlog: UploadBacklog
    private let now: @Sendable () -> ContinuousClock.Instant
    private var waiting: [Waiting] = []
    /// The transactions under way: whose changesets they have, and since when.
    private var underWay: [Int: (users: Set<String>, since: ContinuousClock.Instant)] = [:]
    private var nextID = 0
    private var isLookingAgain = false
    /// Until when a user travels apart.
    private var apartUntil: [String: ContinuousClock.Instant] = [:]

    /// - Parameters:
    ///   - onCommit: called after every transaction that may have changed something: nudges the sequencer.
    ///   - onGroup: hears of every transaction.
    public init(
        store: any ServerStore, onCommit: @escaping @Sendable () -> Void,
        onGroup: @escaping @Sendable (UploadGroupReport) -> Void = { _ in }
    ) {
        self.init(store: store, backlog: UploadBacklog(), onCommit: onCommit, onGroup: onGroup, now: { .now })
    }

    /// Calls that wait for a transaction.
    var waitingCount: Int { waiting.count }
    /// Transactions under way.
    var transactionCount: Int { underWay.count }

    /// - Parameter backlog: shared with the feed that tells what is uploaded.
    init(
        store: any ServerStore, backlog: UploadBacklog = UploadBacklog(), onCommit: @escaping @Sendable () -> Void,
        onGroup: @escaping @Sendable (UploadGroupReport) -> Void = { _ in },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.store = store
        self.backlog = backlog
        self.onCommit = onCommit
        self.onGroup = onGroup
        self.now = now
    }

    /// Applies one client's changesets in order. A client has one call under way at a time.
    public func upload(_ uploads: [Upload], user: String) async throws -> [UploadResult] {
        var results: [UploadResult] = []
        var rest = uploads[...]
        while !rest.isEmpty {
            let (part, byteCount, instructionCount) = Self.firstGroup(of: rest)
            rest = rest.dropFirst(part.count)
            results += try await withCheckedThrowingContinuation { done in
                waiting.append(
                    Waiting(
                        user: user, uploads: part, byteCount: byteCount, instructionCount: instructionCount, done: done)
                )
                startIfPossible()
            }
            // What follows a changeset that could not be taken would only be refused as a gap.
            guard results.allSatisfy(\.isTaken) else { break }
        }
        return results
    }

    private static func firstGroup(
        of uploads: ArraySlice<Upload>
    ) -> (uploads: [Upload], byteCount: Int, instructionCount: Int) {
        var part: [Upload] = []
        var (byteCount, instructionCount) = (0, 0)
        for upload in uploads.prefix(maximumGroupSize) {
            let (size, count) = (upload.changeset.byteCount, upload.changeset.instructions.count)
            guard
                part.isEmpty
                    || byteCount + size <= maximumGroupByteCount
                        && instructionCount + count <= maximumGroupInstructionCount
            else { break }
            part.append(upload)
            byteCount += size
            instructionCount += count
        }
        return (part, byteCount, instructionCount)
    }

    /// The feed has told enough of what was uploaded.
    func goOn() { startIfPossible() }

    private func startIfPossible() {
        while underWay.count < Self.maximumConcurrency, !backlog.isFull {
            let group = nextGroup()
            guard !group.isEmpty else { break }
            backlog.begin(group.reduce(0) { $0 + $1.instructionCount })
            let id = nextID
            nextID += 1
            underWay[id] = (Set(group.map(\.user)), now())
            Task { await self.apply(group, id) }
        }
        lookAgainLater()
    }

    /// What waits behind transactions that turn out to be slow need not wait for their end.
    private func lookAgainLater() {
        guard !isLookingAgain, !waiting.isEmpty else { return }
        isLookingAgain = true
        Task {
            try? await Task.sleep(for: Self.patience)
            isLookingAgain = false
            startIfPossible()
        }
    }

    /// Takes the next transaction's changesets from those that wait, in order of arrival.
    private func nextGroup() -> [Waiting] {
        let now = now()
        let slow = Set(underWay.values.filter { $0.since.duration(to: now) >= Self.patience }.flatMap(\.users))
        apartUntil = apartUntil.filter { $0.value > now }
        func isApart(_ user: String) -> Bool { slow.contains(user) || apartUntil[user] != nil }
        let apart = underWay.values.filter { $0.users.contains(where: isApart) }
        let mayShare = underWay.count - apart.count < Self.maximum.shared
        func mayBegin(_ user: String) -> Bool {
            guard isApart(user) else { return mayShare }
            return apart.count < Self.maximum.apart
                && apart.filter { $0.users.contains(user) }.count < Self.maximum.apartOfUser
        }

        var group: [Waiting] = []
        var clients: Set<ClientID> = []
        var size = 0
        var (byteCount, instructionCount) = (0, 0)
        var later: [Waiting] = []
        // Two sessions of one client, as a copied file has, must not meet in one group: what refuses the one would
        // make a gap for the other.
        for next in waiting {
            let own = Set(next.uploads.map(\.client))
            let fits =
                group.isEmpty
                || size + next.uploads.count <= Self.maximumGroupSize
                    && byteCount + next.byteCount <= Self.maximumGroupByteCount
                    && instructionCount + next.instructionCount <= Self.maximumGroupInstructionCount
            let mayTravel =
                if let first = group.first {
                    isApart(first.user) || isApart(next.user) ? first.user == next.user : true
                } else {
                    mayBegin(next.user)
                }
            if clients.isDisjoint(with: own), fits, mayTravel {
                size += next.uploads.count
                byteCount += next.byteCount
                instructionCount += next.instructionCount
                clients.formUnion(own)
                group.append(next)
            } else {
                later.append(next)
            }
        }
        waiting = later
        return group
    }

    private func apply(_ group: [Waiting], _ id: Int) async {
        let result: Result<[UploadResult], any Error>
        let spans = UploadTraces.commits(group.flatMap(\.uploads))
        defer { for span in spans { span.end() } }
        do {
            result = .success(try await store.upload(group.flatMap(\.uploads)))
            onCommit()
        } catch {
            result = .failure(error)
        }
        backlog.end(group.reduce(0) { $0 + $1.instructionCount })
        let (users, since) = underWay.removeValue(forKey: id) ?? ([], now())
        onGroup(
            UploadGroupReport(
                changesetCount: group.reduce(0) { $0 + $1.uploads.count }, took: since.duration(to: now()),
                results: try? result.get()))
        if since.duration(to: now()) >= Self.patience {
            for user in users { apartUntil[user] = now() + Self.apartTime }
        }
        var position = 0
        for item in group {
            item.done.resume(with: result.map { Array($0[position..<position + item.uploads.count]) })
            position += item.uploads.count
        }
        startIfPossible()
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
