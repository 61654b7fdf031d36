internal import TomboloChangesets
internal import TomboloModel

/// One row of the simulated changelog.
struct LogRow {
    let sequence: Int64
    let xid: UInt64
    let reference: ObjectReference
    let operation: LogEntry.Operation
    let marks: [Int: LogEntry.Mark]
    /// Old values of changed columns.
    let oldValues: [Int: Value]
    /// The whole row before an erase.
    let oldRow: Row?
    let stamp: Stamp
    let client: ClientID?
    let number: Int64

    var entry: LogEntry {
        LogEntry(reference: reference, operation: operation, marks: marks, xid: xid, stamp: stamp, client: client)
    }
}
