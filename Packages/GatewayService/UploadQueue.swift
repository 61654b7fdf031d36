internal import TomboloChangesets
public import TomboloSyncSession

/// Puts the changesets of many sessions into shared transactions.
public actor UploadQueue {
    /// Changesets of one transaction.
    public static let maximumGroupSize = 100
    /// Rough size of one transaction's changesets, in bytes; a longer changeset is alone in its own.
    public static let maximumGroupByteCount = 8 << 20
    /// Transactions under way at once.
    public static let maximumConcurrency = 2

    private struct Waiting {
        let uploads: [Upload]
        let byteCount: Int
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
            let (part, byteCount) = Self.firstGroup(of: rest)
            rest = rest.dropFirst(part.count)
            results += try await withCheckedThrowingContinuation { done in
                waiting.append(Waiting(uploads: part, byteCount: byteCount, done: done))
                startIfPossible()
            }
            // What follows a changeset that could not be taken would only be refused as a gap.
            guard results.allSatisfy(\.isTaken) else { break }
        }
        return results
    }

    private static func firstGroup(of uploads: ArraySlice<Upload>) -> (uploads: [Upload], byteCount: Int) {
        var part: [Upload] = []
        var byteCount = 0
        for upload in uploads.prefix(maximumGroupSize) {
            let size = upload.changeset.byteCount
            guard part.isEmpty || byteCount + size <= maximumGroupByteCount else { break }
            part.append(upload)
            byteCount += size
        }
        return (part, byteCount)
    }

    private func startIfPossible() {
        while underWay < Self.maximumConcurrency, !waiting.isEmpty {
            var group: [Waiting] = []
            var clients: Set<ClientID> = []
            var size = 0
            var byteCount = 0
            var later: [Waiting] = []
            // Two sessions of one client, as a copied file has, must not meet in one group: what refuses the one would
            // make a gap for the other.
            for next in waiting {
                let own = Set(next.uploads.map(\.client))
                let fits =
                    size + next.uploads.count <= Self.maximumGroupSize
                    && byteCount + next.byteCount <= Self.maximumGroupByteCount
                if clients.isDisjoint(with: own), group.isEmpty || fits {
                    size += next.uploads.count
                    byteCount += next.byteCount
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
