internal import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// Makes one batch from a reader: changes, move-ins and move-outs. The same code for every store.
public struct BatchReader {
    private let request: ReadRequest
    private let reader: any TickReader
    private let schema: Schema
    private let send: (BatchFrame) async throws -> Void
    private var frameCount = 0
    private var objectsSoFar = 0
    private var totalObjects = 0

    /// Reads a batch and passes its frames to `send` one by one. Waiting for `send` provides backpressure.
    public static func read(
        _ request: ReadRequest, from reader: any TickReader, schema: Schema,
        send: (BatchFrame) async throws -> Void
    ) async throws -> BatchEnd {
        try await withoutActuallyEscaping(send) { send in
            var batch = BatchReader(request: request, reader: reader, schema: schema, send: send)
            return try await batch.run()
        }
    }

    private init(
        request: ReadRequest, reader: any TickReader, schema: Schema,
        send: @escaping (BatchFrame) async throws -> Void
    ) {
        self.request = request
        self.reader = reader
        self.schema = schema
        self.send = send
    }

    private mutating func run() async throws -> BatchEnd {
        if let from = request.from {
            try await readDifference(from: from)
        } else {
            for (index, predicate) in request.new.predicates { try await count(index, predicate) }
            for (index, predicate) in request.new.predicates.sorted(by: { $0.key < $1.key }) {
                try await readMovedIn(index, matching: predicate, except: [])
            }
        }
        let progress = try await reader.progress(of: request.client)
        return BatchEnd(
            position: Position(
                tick: reader.tick.number, token: reader.tick.token, subscriptionVersion: request.subscriptionVersion,
                rulesFingerprint: request.rulesFingerprint, schemaFingerprint: request.schemaFingerprint),
            serverTime: reader.tick.time, acknowledged: progress.last, refusals: progress.refusals,
            replacesAll: request.from == nil, frameCount: frameCount)
    }

    private mutating func readDifference(from: Tick) async throws {
        var changed: [Int: Set<Value>] = [:]
        if from.number != reader.tick.number {
            let difference = try await reader.difference(from: from)
            var builder = FrameBuilder(
                schema: schema, deviceColumns: request.deviceColumns, hidden: request.mask.hidden)
            let old = RowVisibility(request.old, in: schema)
            let new = RowVisibility(request.new, in: schema)
            for change in difference.changes {
                changed[change.reference.classIndex, default: []].insert(change.reference.key)
                builder.add(change, old: old, new: new)
            }
            totalObjects += builder.objectCount
            for frame in builder.frames() { try await emit(frame) }
        }
        guard request.old != request.new else { return }
        let classes = Set(request.old.predicates.keys).union(request.new.predicates.keys).sorted()
        var movedIn: [(Int, Predicate)] = []
        var movedOut: [(Int, Predicate)] = []
        for index in classes {
            let old = request.old.predicates[index] ?? .constant(false)
            let new = request.new.predicates[index] ?? .constant(false)
            guard old != new else { continue }
            if new != .constant(false) { movedIn.append((index, .all([new, .not(old)]))) }
            if old != .constant(false) { movedOut.append((index, .all([old, .not(new)]))) }
        }
        for (index, predicate) in movedIn { try await count(index, predicate) }
        for (index, predicate) in movedOut {
            try await readMovedOut(index, matching: predicate, except: changed[index] ?? [])
        }
        for (index, predicate) in movedIn {
            try await readMovedIn(index, matching: predicate, except: changed[index] ?? [])
        }
    }

    private mutating func count(_ classIndex: Int, _ predicate: Predicate) async throws {
        totalObjects += try await reader.count(classIndex: classIndex, matching: predicate)
    }

    private mutating func readMovedIn(
        _ classIndex: Int, matching predicate: Predicate, except changed: Set<Value>
    ) async throws {
        guard let columns = request.deviceColumns[classIndex] else { return }
        var batch = self
        try await reader.rows(classIndex: classIndex, matching: predicate, columns: columns) { block in
            for part in batch.parts(of: block, position: 0, except: changed) {
                batch.objectsSoFar += part.rowCount
                try await batch.emit(BatchFrame(sequence: 0, blocks: [part]))
            }
        }
        for index in schema.elementClassIndexes(of: classIndex) {
            guard let columns = request.deviceColumns[index],
                let owner = columns.firstIndex(of: ElementColumn.owner)
            else { continue }
            try await reader.elements(classIndex: index, ofOwnersMatching: predicate, columns: columns) { block in
                for part in batch.parts(of: block, position: owner, except: changed) {
                    try await batch.emit(BatchFrame(sequence: 0, blocks: [part]))
                }
            }
        }
        self = batch
    }

    private mutating func readMovedOut(
        _ classIndex: Int, matching predicate: Predicate, except changed: Set<Value>
    ) async throws {
        guard request.deviceColumns[classIndex] != nil, let key = schema[classIndex].primaryKeyIndex else { return }
        var batch = self
        try await reader.rows(classIndex: classIndex, matching: predicate, columns: [key]) { block in
            for part in batch.parts(of: block, position: 0, except: changed) {
                let keys = (0..<part.rowCount).map { part.key(row: $0, schema: batch.schema) }
                try await batch.emit(
                    BatchFrame(sequence: 0, removals: [ObjectRemoval(classIndex: classIndex, keys: keys)]))
            }
        }
        self = batch
    }

    /// Splits a block into parts that fit into a frame. Leaves out rows whose objects are already in the difference.
    private func parts(of block: RowBlock, position: Int, except changed: Set<Value>) -> [RowBlock] {
        guard !changed.isEmpty else { return block.cut(schema: schema) }
        return block.cut(schema: schema) { row in
            !changed.contains(block.value(row: row, position: position, schema: schema))
        }
    }

    private mutating func emit(_ frame: BatchFrame) async throws {
        let rows = frame.blocks.contains { $0.rowCount > 0 }
        let removals = frame.removals.contains { !$0.keys.isEmpty }
        guard rows || removals else { return }
        var frame = frame
        frame.sequence = frameCount
        frame.totalObjects = max(totalObjects, objectsSoFar)
        frame.objectsSoFar = objectsSoFar
        frameCount += 1
        try await send(request.mask.apply(to: frame, schema: schema))
    }
}
