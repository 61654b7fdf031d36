internal import Foundation
internal import TomboloModel

extension MessageCodec {
    func wire(_ frame: BatchFrame) -> WireBatchFrame {
        var result = WireBatchFrame()
        result.sequence = UInt32(clamping: frame.sequence)
        result.totalObjects = UInt64(clamping: frame.totalObjects)
        result.objectsSoFar = UInt64(clamping: frame.objectsSoFar)
        result.blocks = frame.blocks.map(wire)
        result.removals = frame.removals.map(wire)
        return result
    }

    private func wire(_ block: RowBlock) -> WireRowBlock {
        let item = schema[block.classIndex]
        var result = WireRowBlock()
        result.className = names.name(of: item, at: block.classIndex)
        result.columns = block.columns.map { names.name(of: item.columns[$0], at: $0, inClass: block.classIndex) }
        result.isWhole = block.isWhole
        result.rowCount = UInt32(clamping: block.rowCount)
        result.vectors = zip(block.columns, block.vectors).map { column, vector in
            wire(vector, schema.storedType(of: item.columns[column]))
        }
        return result
    }

    private func wire(_ removal: ObjectRemoval) -> WireRemoval {
        let item = schema[removal.classIndex]
        let type = item.primaryKey.map { schema.storedType(of: $0) } ?? .objectId
        var keys = ColumnVector(type: type)
        for key in removal.keys { keys.append(key) }
        var result = WireRemoval()
        result.className = names.name(of: item, at: removal.classIndex)
        result.keys = wire(keys, type)
        return result
    }

    private func wire(_ vector: ColumnVector, _ type: PropertyType) -> WireColumnVector {
        var result = WireColumnVector()
        result.type = wireType(type)
        switch vector.storage {
        case .integers(let values): result.integers = values
        case .doubles(let values): result.doubles = values
        case .bytes(let ends, let heap):
            result.lengths = Self.lengths(ends)
            result.heap = Data(heap)
        }
        result.nils = Data(vector.nulls)
        return result
    }

    private static func lengths(_ ends: [UInt32]) -> [UInt32] {
        [UInt32](unsafeUninitializedCapacity: ends.count) { buffer, count in
            var previous: UInt32 = 0
            for (index, end) in ends.enumerated() {
                buffer.initializeElement(at: index, to: end &- previous)
                previous = end
            }
            count = ends.count
        }
    }

    func decode(_ frame: WireBatchFrame) throws(ProtocolError) -> BatchFrame {
        guard let total = Int(exactly: frame.totalObjects), let soFar = Int(exactly: frame.objectsSoFar) else {
            throw ProtocolError(.malformed, "frame \(frame.sequence): more objects than can be counted")
        }
        var result = BatchFrame(sequence: Int(frame.sequence), totalObjects: total, objectsSoFar: soFar)
        do throws(ProtocolError) {
            for block in frame.blocks { result.blocks.append(try decode(block)) }
            for removal in frame.removals { result.removals.append(try decode(removal)) }
        } catch {
            throw error.at("frame \(frame.sequence)")
        }
        return result
    }

    private func decode(_ wire: WireRowBlock) throws(ProtocolError) -> RowBlock {
        let index = try classIndex(wire.className)
        let item = schema[index]
        guard wire.columns.count == wire.vectors.count else {
            throw ProtocolError(
                .malformed,
                "a block of \(item.name) has \(wire.vectors.count) vectors for "
                    + "\(wire.columns.count) properties")
        }
        guard wire.rowCount <= RowBlock.maximumRowCount else {
            throw ProtocolError(
                .tooLarge,
                "a block of \(item.name) has \(wire.rowCount) rows; at most "
                    + "\(RowBlock.maximumRowCount) are accepted")
        }
        var columns: [Int] = []
        var vectors: [ColumnVector] = []
        for (name, vector) in zip(wire.columns, wire.vectors) {
            let column = try column(name, of: item)
            guard !columns.contains(column) else {
                throw ProtocolError(.malformed, "a block of \(item.name) has '\(name)' twice")
            }
            columns.append(column)
            do throws(ProtocolError) {
                vectors.append(try decode(vector, item.columns[column]))
            } catch {
                throw error.at("\(item.name).\(name)")
            }
        }
        let block = RowBlock(
            classIndex: index, columns: columns, isWhole: wire.isWhole, rowCount: Int(wire.rowCount), vectors: vectors)
        do {
            try block.check(in: schema)
        } catch {
            throw ProtocolError(.malformed, error.message)
        }
        return block
    }

    private func decode(_ wire: WireRemoval) throws(ProtocolError) -> ObjectRemoval {
        let index = try classIndex(wire.className)
        let item = schema[index]
        guard let key = item.primaryKey else {
            throw ProtocolError(.badSchema, "\(item.name) has no primary key and isn't synchronised")
        }
        do throws(ProtocolError) {
            let vector = try decode(wire.keys, key)
            let type = schema.storedType(of: key)
            var keys: [Value] = []
            keys.reserveCapacity(vector.count)
            for row in 0..<vector.count {
                let value = vector.value(row, as: type)
                guard !value.isNull else { throw ProtocolError(.malformed, "row \(row) has no key") }
                keys.append(value)
            }
            return ObjectRemoval(classIndex: index, keys: keys)
        } catch {
            throw error.at("removal of \(item.name)")
        }
    }

    /// Decodes a column's vector, checking that its offsets are in order and its text is valid UTF-8.
    private func decode(_ wire: WireColumnVector, _ column: Column) throws(ProtocolError) -> ColumnVector {
        let type = schema.storedType(of: column)
        guard wire.type == wireType(type) else {
            throw ProtocolError(
                .badSchema, "of type \(type.name) in the schema, but sent as type \(wire.type.rawValue)")
        }
        let storage: ColumnVector.Storage
        switch type {
        case .bool, .int, .date: storage = .integers(wire.integers)
        case .double: storage = .doubles(wire.doubles)
        case .string, .data, .objectId, .uuid, .decimal128, .float, .link, .embedded, .array, .list, .linkingObjects:
            let ends = try Self.ends(wire.lengths, heapByteCount: wire.heap.count)
            let heap = [UInt8](wire.heap)
            if type == .string { try Self.checkText(heap, ends) }
            if type == .decimal128 { try Self.checkDecimals(heap, ends) }
            storage = .bytes(ends: ends, heap: heap)
        }
        let nulls = [UInt8](wire.nils)
        if !column.isOptional, nulls.contains(where: { $0 != 0 }) {
            throw ProtocolError(.malformed, "nil in a required property")
        }
        return ColumnVector(storage: storage, nulls: nulls)
    }

    private static func ends(_ lengths: [UInt32], heapByteCount: Int) throws(ProtocolError) -> [UInt32] {
        var sum: UInt64 = 0
        let ends = [UInt32](unsafeUninitializedCapacity: lengths.count) { buffer, count in
            for (index, length) in lengths.enumerated() {
                // There are at most 20 Mi lengths of 32 bits, so the sum can't overflow. A sum that is too large is
                // refused below.
                sum += UInt64(length)
                buffer.initializeElement(at: index, to: UInt32(truncatingIfNeeded: sum))
            }
            count = lengths.count
        }
        guard sum == UInt64(heapByteCount) else {
            throw ProtocolError(.malformed, "values of \(sum) bytes in a heap of \(heapByteCount)")
        }
        return ends
    }

    /// Checks that every row has either 16 canonical bytes or none. The block decides which rows may have none.
    private static func checkDecimals(_ heap: [UInt8], _ ends: [UInt32]) throws(ProtocolError) {
        let bad = heap.withUnsafeBytes { heap in
            ends.indices.first { row in
                let bytes = heap[(row == 0 ? 0 : Int(ends[row - 1]))..<Int(ends[row])]
                return !bytes.isEmpty && Decimal128(canonicalBID: UnsafeRawBufferPointer(rebasing: bytes)) == nil
            }
        }
        guard let bad else { return }
        throw ProtocolError(
            .malformed, "a decimal that isn't \(Decimal128.byteCount) canonical bytes, in row \(bad)")
    }

    /// Validates all strings at once: the heap must be UTF-8, and no string may start within a character.
    private static func checkText(_ heap: [UInt8], _ ends: [UInt32]) throws(ProtocolError) {
        guard String(validating: heap, as: UTF8.self) != nil else {
            throw ProtocolError(.malformed, "text that isn't UTF-8")
        }
        for (row, end) in ends.enumerated() where Int(end) < heap.count && heap[Int(end)] & 0xc0 == 0x80 {
            throw ProtocolError(.malformed, "text that ends within a character, in row \(row)")
        }
    }
}
