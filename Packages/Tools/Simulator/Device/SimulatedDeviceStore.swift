public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol
public import TomboloSyncSession

/// A device file in memory: the server's rows with pending changesets replayed on top, and the server's rows kept
/// beneath every object that a pending instruction touches. Everything in it is durable; whatever a crash loses is in
/// the session.
public final class SimulatedDeviceStore: DeviceStore {
    /// The schema of the file.
    public let schema: Schema
    /// The rows that the app sees.
    public private(set) var rows: [ObjectReference: Row] = [:]
    /// The server's row, or nil for none, beneath each object in pending changesets.
    private var beneath: [ObjectReference: Row?] = [:]
    /// The upload queue, oldest first.
    public private(set) var pending: [Changeset] = []
    private var staged: [BatchFrame] = []
    /// The device's clock.
    public private(set) var clock = HybridClock()
    private var device: DeviceState
    /// Subscription sets that a batch may name, by version.
    private var sets: [Int64: SubscriptionSet] = [:]
    /// The set that the app asked for last, even if the server refused it.
    private var newestSet = SubscriptionSet.empty
    private var refusedSets: Set<Int64> = []
    private var untold: [UntoldRefusal] = []
    private var refusalCount: Int64 = 0
    var mutant: Mutant?

    public init(schema: Schema = SimulatedSchema.schema, client: ClientID) {
        self.schema = schema
        device = DeviceState(
            client: client, position: .none, active: .empty, wanted: .empty, acknowledged: 0, lastChangeset: 0)
    }

    /// Another file with the same content, including the client ID.
    public func copy() -> SimulatedDeviceStore {
        let result = SimulatedDeviceStore(schema: schema, client: device.client)
        result.rows = rows
        result.beneath = beneath
        result.pending = pending
        result.staged = staged
        result.clock = clock
        result.device = device
        result.sets = sets
        result.newestSet = newestSet
        result.refusedSets = refusedSets
        result.untold = untold
        result.refusalCount = refusalCount
        result.mutant = mutant
        return result
    }

    /// The number of staged frames.
    public var stagedCount: Int { staged.count }

    /// The server's rows, without pending changesets.
    public var serverRows: [ObjectReference: Row] {
        var result = rows
        for (reference, row) in beneath { result[reference] = row }
        return result
    }

    // MARK: The app's side

    /// Runs a write transaction: applies the instructions and queues them.
    @discardableResult
    public func write(_ instructions: [Instruction], wallMicroseconds: Int64) -> Changeset {
        device.lastChangeset += 1
        let changeset = Changeset(
            number: device.lastChangeset, base: device.position.tick,
            stamp: clock.next(wallMicroseconds: wallMicroseconds), instructions: instructions)
        pending.append(changeset)
        for instruction in instructions { perform(instruction) }
        return changeset
    }

    private func touch(_ reference: ObjectReference) {
        if beneath[reference] == nil { beneath[reference] = .some(rows[reference]) }
    }

    private func perform(_ instruction: Instruction) {
        let reference = instruction.reference
        let item = schema[reference.classIndex]
        touch(reference)
        switch instruction {
        case .create(_, let fields):
            let existing = rows[reference]
            var row = existing ?? Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
            if let key = item.primaryKeyIndex { row[key] = reference.key }
            for field in fields where existing == nil || !field.isDefault { row[field.column] = field.value }
            rows[reference] = row
        case .set(_, let fields):
            for field in fields { rows[reference]?[field.column] = field.value }
        case .add(_, let column, let amount):
            guard let row = rows[reference] else { return }
            let number: Int64 = if case .int(let value) = row[column] { value } else { 0 }
            let sum = number.addingReportingOverflow(amount)
            if !sum.overflow { rows[reference]?[column] = .int(sum.partialValue) }
        case .erase:
            rows[reference] = nil
            for element in elements(of: reference) {
                touch(element)
                rows[element] = nil
            }
        }
    }

    private func elements(of owner: ObjectReference) -> [ObjectReference] {
        let classes = schema.elementClassIndexes(of: owner.classIndex)
        guard !classes.isEmpty else { return [] }
        return rows.keys.filter { classes.contains($0.classIndex) && rows[$0]?[ElementColumn.owner] == owner.key }
    }

    // MARK: DeviceStore

    public func state() throws -> DeviceState { device }

    public func pendingChangesets(
        after number: Int64, maximumCount: Int, maximumByteCount: Int
    ) throws -> [Changeset] {
        var result: [Changeset] = []
        var bytes = 0
        for changeset in pending where changeset.number > number {
            bytes += Self.byteCount(changeset)
            guard result.isEmpty || (result.count < maximumCount && bytes <= maximumByteCount) else { break }
            result.append(changeset)
        }
        return result
    }

    /// The approximate size on the wire, in bytes.
    private static func byteCount(_ changeset: Changeset) -> Int {
        changeset.instructions.reduce(32) { sum, instruction in
            switch instruction {
            case .create(_, let fields), .set(_, let fields): sum + 16 + 16 * fields.count
            case .add, .erase: sum + 24
            }
        }
    }

    public func stage(_ frame: BatchFrame) throws {
        if frame.sequence == 0 { staged = [] }
        staged.append(frame)
        if mutant == .framesAppliedBeforeEnd { apply(frame) }
    }

    public func apply(
        _ end: BatchEnd, frames unstaged: [BatchFrame], wallMicroseconds: Int64
    ) throws -> AppliedBatch {
        var frames = unstaged.first?.sequence == 0 || end.frameCount == 0 ? [] : staged
        frames += unstaged
        guard frames.map(\.sequence) == Array(0..<end.frameCount) else {
            throw StagedFramesMissing(expected: end.frameCount, found: frames.count)
        }
        staged = []
        for (reference, row) in beneath { rows[reference] = row }
        beneath = [:]
        if end.replacesAll { rows = [:] }
        for frame in frames { apply(frame) }
        if end.acknowledged > device.acknowledged {
            device.acknowledged = end.acknowledged
            device.lastChangeset = max(device.lastChangeset, end.acknowledged)
            pending.removeAll { $0.number <= end.acknowledged || mutant == .pendingDroppedAtAcknowledgement }
        }
        if end.replacesAll, let reset = device.reset {
            if reset == .discarding {
                pending = []
                device.lastChangeset = device.acknowledged
            }
            device.reset = .applied
        }
        if end.replacesAll {
            for index in pending.indices { pending[index].base = end.position.tick }
        }
        if mutant != .pendingNotReplayed {
            for changeset in pending { for instruction in changeset.instructions { perform(instruction) } }
        }
        for refusal in end.refusals {
            refusalCount += 1
            untold.append(UntoldRefusal(id: refusalCount, write: refusal))
        }
        untold = untold.suffix(UntoldRefusal.maximumCount)
        device.position = end.position
        if let set = sets[end.position.subscriptionVersion] { device.active = set }
        sets = sets.filter { $0.key >= end.position.subscriptionVersion }
        clock.adopt(serverTime: end.serverTime, wallMicroseconds: wallMicroseconds)
        return AppliedBatch(
            position: end.position, acknowledged: device.acknowledged, refusals: end.refusals,
            objectCount: frames.reduce(0) { $0 + $1.blocks.reduce(0) { $0 + $1.rowCount } },
            isEverything: end.replacesAll)
    }

    private func apply(_ frame: BatchFrame) {
        for removal in frame.removals {
            for key in removal.keys {
                let reference = ObjectReference(classIndex: removal.classIndex, key: key)
                rows[reference] = nil
                for element in elements(of: reference) { rows[element] = nil }
            }
        }
        for block in frame.blocks {
            let item = schema[block.classIndex]
            for index in 0..<block.rowCount {
                let reference = ObjectReference(
                    classIndex: block.classIndex, key: block.key(row: index, schema: schema))
                guard
                    var row = rows[reference]
                        ?? (block.isWhole ? Row(item.columns.map { $0.isOptional ? .null : $0.type.zero }) : nil)
                else { continue }
                for (position, column) in block.columns.enumerated() {
                    row[column] = block.value(row: index, position: position, schema: schema)
                }
                rows[reference] = row
            }
        }
    }

    public func untoldRefusals(after id: Int64) throws -> [UntoldRefusal] { untold.filter { $0.id > id } }

    public func forgetRefusals(through id: Int64) throws { untold.removeAll { $0.id <= id } }

    public func setWantedSubscriptions(_ subscriptions: SubscriptionSet) throws {
        guard subscriptions.version > newestSet.version || subscriptions == newestSet else {
            throw OutdatedSubscriptions(version: subscriptions.version, wanted: newestSet.version)
        }
        newestSet = subscriptions
        sets[subscriptions.version] = subscriptions
        if !refusedSets.contains(subscriptions.version) { device.wanted = subscriptions }
    }

    public func refuseSubscriptions(version: Int64, reason: String) throws {
        refusedSets.insert(version)
        let others = sets.values.filter { !refusedSets.contains($0.version) }
        device.wanted = others.max { $0.version < $1.version } ?? .empty
    }

    public func noteReset() throws { if device.reset != .discarding { device.reset = .recovering } }

    public func finishReset() throws { if device.reset == .applied { device.reset = nil } }

    public func reset(client: ClientID, discardsPending: Bool) throws {
        device.reset = discardsPending ? .discarding : .recovering
        device.client = client
        device.position = .none
        device.acknowledged = 0
        staged = []
        for index in pending.indices { pending[index].number = Int64(index + 1) }
        device.lastChangeset = Int64(pending.count)
    }
}
