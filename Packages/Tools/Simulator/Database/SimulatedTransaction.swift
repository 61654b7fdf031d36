internal import TomboloChangesets
internal import TomboloModel

/// A running transaction with read committed isolation, like the real writers'.
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
    /// The transaction holding the lock that this one waits for.
    var waitsFor: Int?
    /// The origin with which the changelog's triggers stamp rows; nil for plain SQL, stamped at the time of the
    /// statement.
    var origin: (client: ClientID, number: Int64, stamp: Stamp)?
    var isFinished = false

    init(id: Int) { self.id = id }
}

/// Two transactions wait for each other. This one must roll back and try again.
struct SimulatedDeadlock: Error {}

/// A violated unique rule.
struct UniqueViolation: Error {
    let className: String
    let key: Value
    let properties: [String]
}
