/// The loops over results that still read from the file. They aren't retained: each removes itself before it's
/// released.
final class OpenCursors {
    private var cursors: [ObjectIdentifier: Unmanaged<RowCursor>] = [:]

    func insert(_ cursor: RowCursor) { cursors[ObjectIdentifier(cursor)] = Unmanaged.passUnretained(cursor) }

    func remove(_ cursor: RowCursor) { cursors[ObjectIdentifier(cursor)] = nil }

    /// Makes each loop read its remaining rows before the tables change or their transaction ends.
    func drain() {
        guard !cursors.isEmpty else { return }
        for cursor in cursors.values { cursor.takeUnretainedValue().drain() }
        cursors = [:]
    }
}
