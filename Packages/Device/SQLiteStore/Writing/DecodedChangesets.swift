internal import TomboloChangesets
internal import TomboloModel

/// The queue's next changesets as they were decoded to be uploaded: every batch replays them until it has their outcome.
///
/// A stamp names a changeset for good; a reset changes its number. Confined like its connection.
final class DecodedChangesets {
    /// The encoded size of what is kept, in bytes; decoded it takes some times as much.
    static let maximumByteCount = 2 << 20

    private var changesets: [Stamp: (changeset: Changeset, byteCount: Int)] = [:]
    private var byteCount = 0
    /// How many of their instructions are on an object.
    private var instructionCounts: [ObjectReference: Int] = [:]

    var count: Int { changesets.count }
    var lastNumber: Int64? { changesets.values.map(\.changeset.number).max() }

    /// Whether one of them has an instruction on an object.
    func touches(_ reference: ObjectReference) -> Bool { instructionCounts[reference] != nil }

    subscript(stamp: Stamp) -> Changeset? { changesets[stamp]?.changeset }

    /// Keeps a changeset if there is room. The oldest come first, and go first.
    func add(_ changeset: Changeset, byteCount count: Int) {
        // The clock has no later stamp, so that the next changeset has the same.
        guard byteCount + count <= Self.maximumByteCount, changeset.stamp.microseconds < .max,
            changesets[changeset.stamp] == nil
        else { return }
        changesets[changeset.stamp] = (changeset, count)
        byteCount += count
        for instruction in changeset.instructions { instructionCounts[instruction.reference, default: 0] += 1 }
    }

    func removeAll(upTo number: Int64) {
        for (stamp, known) in changesets where known.changeset.number <= number {
            changesets[stamp] = nil
            byteCount -= known.byteCount
            for instruction in known.changeset.instructions { forget(instruction.reference) }
        }
    }

    private func forget(_ reference: ObjectReference) {
        guard let count = instructionCounts[reference] else { return }
        instructionCounts[reference] = count > 1 ? count - 1 : nil
    }

    func removeAll() {
        changesets = [:]
        instructionCounts = [:]
        byteCount = 0
    }
}
