internal import TomboloChangesets
internal import TomboloModel

/// The next changesets in the queue, kept as they were decoded for the upload. Every batch replays them until it
/// contains their outcome.
///
/// A changeset is identified by its stamp, which never changes; a reset changes its number. Confined like its
/// connection.
final class DecodedChangesets {
    /// The maximum encoded size of the kept changesets, in bytes. Decoded they take several times as much.
    static let maximumByteCount = 2 << 20

    private var changesets: [Stamp: (changeset: Changeset, byteCount: Int)] = [:]
    private var byteCount = 0
    /// For each object, how many instructions of the kept changesets are on it.
    private var instructionCounts: [ObjectReference: Int] = [:]

    var count: Int { changesets.count }
    var lastNumber: Int64? { changesets.values.map(\.changeset.number).max() }

    /// Whether a kept changeset has an instruction on an object.
    func touches(_ reference: ObjectReference) -> Bool { instructionCounts[reference] != nil }

    subscript(stamp: Stamp) -> Changeset? { changesets[stamp]?.changeset }

    /// Keeps a changeset if there's room. The oldest changesets are added first and removed first.
    func add(_ changeset: Changeset, byteCount count: Int) {
        // A stamp of `.max` isn't unique: the clock has no later one, so the next changeset gets the same stamp.
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
