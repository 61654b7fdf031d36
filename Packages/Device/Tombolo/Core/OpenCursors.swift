/// Loops over results that still read from the file. None is kept alive by this: each takes itself out before it goes.
final class OpenCursors {
    private var cursors: [ObjectIdentifier: Unmanaged<RowCursor>] = [:]

    func insert(_ cursor: RowCursor) { cursors[ObjectIdentifier(cursor)] = Unmanaged.passUnretained(cursor) }

    func remove(_ cursor: RowCursor) { cursors[ObjectIdentifier(cursor)] = nil }

    /// Has each read what is left: before the tables change under them, or their transaction ends.
    func drain() {
        guard !cursors.isEmpty else { return }
        for cursor in cursors.values { cursor.takeUnretainedValue().drain() }
        cursors = [:]
    }
}
