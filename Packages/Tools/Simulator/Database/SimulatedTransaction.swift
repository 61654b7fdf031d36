internal import TomboloChangesets
internal import TomboloModel

/// A transaction under way: read committed, as the writers are.
final class SimulatedTransaction {
    enum LockKey: Hashable {
        case row(ObjectReference)
        case client(ClientID)
    }

    enum Undo {
        case version(ObjectReference)
        case client(ClientID)
        case log
    }

    let id: Int
    /// Assigned at the first write.
    var xid: UInt64?
    var locks: Set<LockKey> = []
    var undo: [Undo] = []
    var log: [LogRow] = []
    /// The transaction that has the lock that this one waits for.
    var waitsFor: Int?
    /// What the changelog's triggers stamp rows with; nil: plain SQL, at the time of the statement.
    var origin: (client: ClientID, number: Int64, stamp: Stamp)?
    var isFinished = false

    init(id: Int) { self.id = id }
}

/// Two transactions wait for each other; this one must roll back and try again.
struct SimulatedDeadlock: Error {}

/// A unique rule of the database.
struct UniqueViolation: Error {
    let className: String
    let key: Value
    let properties: [String]
}
