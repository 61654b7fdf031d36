internal import TomboloChangesets
internal import TomboloModel

/// A transaction of another service: plain SQL, executed step by step.
final class SQLProcedure {
    enum Statement {
        case transfer(from: ObjectReference, to: ObjectReference, amount: Int64)
        case insert(ObjectReference, Row)
        case update(ObjectReference, [Int: Value])
        case erase(ObjectReference)
        case pause(Int)
    }

    enum Step {
        case moved
        case waits
        case pauses(Int)
        case ready
    }

    let database: SimulatedDatabase
    let isSynchronous: Bool
    let transaction: SimulatedTransaction
    private var statements: [Statement]
    private(set) var isDone = false

    init(database: SimulatedDatabase, statements: [Statement], isSynchronous: Bool) {
        self.database = database
        self.statements = statements
        self.isSynchronous = isSynchronous
        transaction = database.begin()
    }

    /// - Throws: if the transaction had to roll back, which it has done.
    func step() throws -> Step {
        guard let statement = statements.first else { return .ready }
        do {
            if case .pause(let milliseconds) = statement {
                statements.removeFirst()
                return .pauses(milliseconds)
            }
            guard try execute(statement) else { return .waits }
            statements.removeFirst()
            return .moved
        } catch {
            abort()
            throw error
        }
    }

    func commit() {
        database.commit(transaction, synchronous: isSynchronous)
        isDone = true
    }

    func abort() {
        database.rollBack(transaction)
        isDone = true
    }

    private func lock(_ references: [ObjectReference]) throws -> Bool {
        for reference in references {
            guard try database.lock(.row(reference), transaction) else { return false }
        }
        return true
    }

    private func execute(_ statement: Statement) throws -> Bool {
        switch statement {
        case .pause: return true
        case .transfer(let from, let to, let amount):
            guard try lock([from, to]) else { return false }
            for (reference, change) in [(from, -amount), (to, amount)] {
                guard var row = database.current(reference, transaction),
                    case .int(let balance) = row[SimulatedSchema.Vault.balance]
                else { continue }
                row[SimulatedSchema.Vault.balance] = .int(balance + change)
                _ = try database.write(
                    reference, row, marks: [SimulatedSchema.Vault.balance: .set], transaction)
            }
            return true
        case .insert(let reference, let row):
            guard try lock([reference] + target(of: row)) else { return false }
            guard database.current(reference, transaction) == nil, isLinked(row) else { return true }
            return try database.write(reference, row, transaction)
        case .update(let reference, let values):
            guard try lock([reference]), var row = database.current(reference, transaction) else {
                return transaction.waitsFor == nil
            }
            var marks: [Int: LogEntry.Mark] = [:]
            for (column, value) in values where row[column] != value {
                row[column] = value
                marks[column] = .set
            }
            guard try lock(target(of: row)) else { return false }
            guard !marks.isEmpty, isLinked(row) else { return true }
            return try database.write(reference, row, marks: marks, transaction)
        case .erase(let reference):
            guard try lock([reference]), try lock(database.dependents(of: reference, transaction)) else { return false }
            return try database.write(reference, nil, transaction)
        }
    }

    private func target(of row: Row) -> [ObjectReference] {
        let key = row[SimulatedSchema.Item.parent]
        return key.isNull ? [] : [ObjectReference(classIndex: SimulatedSchema.item, key: key)]
    }

    private func isLinked(_ row: Row) -> Bool {
        target(of: row).allSatisfy { database.current($0, transaction) != nil }
    }
}
