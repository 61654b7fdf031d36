internal import TomboloChangesets

/// The queue's next changesets as they were decoded to be uploaded: every batch replays them until it has their outcome.
///
/// A stamp names a changeset for good; a reset changes its number. Confined like its connection.
final class DecodedChangesets {
    /// The encoded size of what is kept, in bytes; decoded it takes some times as much.
    static let maximumByteCount = 2 << 20

    private var changesets: [Stamp: (changeset: Changeset, byteCount: Int)] = [:]
    private var byteCount = 0

    subscript(stamp: Stamp) -> Changeset? { changesets[stamp]?.changeset }

    /// Keeps a changeset if there is room. The oldest come first, and go first.
    func add(_ changeset: Changeset, byteCount count: Int) {
        // The clock has no later stamp, so that the next changeset has the same.
        guard byteCount + count <= Self.maximumByteCount, changeset.stamp.microseconds < .max else { return }
        changesets[changeset.stamp] = (changeset, count)
        byteCount += count
    }

    func removeAll(upTo number: Int64) {
        for (stamp, known) in changesets where known.changeset.number <= number {
            changesets[stamp] = nil
            byteCount -= known.byteCount
        }
    }

    func removeAll() {
        changesets = [:]
        byteCount = 0
    }
}
