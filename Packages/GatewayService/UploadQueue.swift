internal import TomboloChangesets
public import TomboloSyncSession

/// Puts the changesets of many sessions into shared transactions.
public actor UploadQueue {
    /// Changesets of one transaction.
    public static let maximumGroupSize = 100
    /// Transactions under way at once.
    public static let maximumConcurrency = 2

    private struct Waiting {
        let uploads: [Upload]
        let done: CheckedContinuation<[UploadResult], any Error>
    }

    private let store: any ServerStore
    private let onCommit: @Sendable () -> Void
    private var waiting: [Waiting] = []
    private var underWay = 0

    /// - Parameter onCommit: called after every transaction that may have changed something: nudges the sequencer.
    public init(store: any ServerStore, onCommit: @escaping @Sendable () -> Void) {
        self.store = store
        self.onCommit = onCommit
    }

    /// Applies one client's changesets in order. A client has one call under way at a time.
    public func upload(_ uploads: [Upload]) async throws -> [UploadResult] {
        var results: [UploadResult] = []
        var rest = uploads[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.maximumGroupSize))
            rest = rest.dropFirst(part.count)
            results += try await withCheckedThrowingContinuation { done in
                waiting.append(Waiting(uploads: part, done: done))
                startIfPossible()
            }
            // What follows a changeset that could not be taken would only be refused as a gap.
            guard results.allSatisfy(\.isTaken) else { break }
        }
        return results
    }

    private func startIfPossible() {
        while underWay < Self.maximumConcurrency, !waiting.isEmpty {
            var group: [Waiting] = []
            var clients: Set<ClientID> = []
            var size = 0
            var later: [Waiting] = []
            // Two sessions of one client, as a copied file has, must not meet in one group: what refuses the one would
            // make a gap for the other.
            for next in waiting {
                let own = Set(next.uploads.map(\.client))
                if clients.isDisjoint(with: own), group.isEmpty || size + next.uploads.count <= Self.maximumGroupSize {
                    size += next.uploads.count
                    clients.formUnion(own)
                    group.append(next)
                } else {
                    later.append(next)
                }
            }
            waiting = later
            underWay += 1
            let taken = group
            Task { await self.apply(taken) }
        }
    }

    private func apply(_ group: [Waiting]) async {
        do {
            let results = try await store.upload(group.flatMap(\.uploads))
            onCommit()
            var position = 0
            for item in group {
                item.done.resume(returning: Array(results[position..<position + item.uploads.count]))
                position += item.uploads.count
            }
        } catch {
            for item in group { item.done.resume(throwing: error) }
        }
        underWay -= 1
        startIfPossible()
    }
}

extension UploadResult {
    fileprivate var isTaken: Bool {
        switch self {
        case .applied, .refused, .duplicate: true
        case .gap, .conflict, .unknownBase: false
        }
    }
}
