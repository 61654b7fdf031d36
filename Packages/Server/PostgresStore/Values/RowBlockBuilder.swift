internal import PostgresClient
internal import TomboloModel
internal import TomboloSyncProtocol

/// Turns binary results into the columns of a ``RowBlock``, without allocating per value.
struct RowBlockBuilder {
    private let layout: ClassLayout
    private let columns: [Int]

    init(layout: ClassLayout, columns: [Int]) {
        self.layout = layout
        self.columns = columns
    }

    /// The rows of a result whose query selected the columns in order.
    func block(_ result: PostgresResult) throws -> RowBlock {
        var vectors: [ColumnVector] = []
        vectors.reserveCapacity(columns.count)
        for (position, column) in columns.enumerated() {
            vectors.append(try vector(result, position, layout.storedTypes[column]))
        }
        return RowBlock(
            classIndex: layout.classIndex, columns: columns, isWhole: true, rowCount: result.count, vectors: vectors)
    }

    private func vector(_ result: PostgresResult, _ position: Int, _ type: PropertyType) throws -> ColumnVector {
        var nulls: [UInt8] = []
        func markNull(_ row: Int) {
            if nulls.isEmpty { nulls = [UInt8](repeating: 0, count: (result.count + 7) / 8) }
            nulls[row >> 3] |= 1 << UInt8(row & 7)
        }
        let count = result.count
        switch type {
        case .bool, .int, .date:
            let width = type == .bool ? 1 : 8
            let offset = type == .date ? PostgresTime.epochMicroseconds : 0
            var values = [Int64](repeating: 0, count: count)
            for row in 0..<count {
                let cell = result[row, position]
                guard !cell.isNull else {
                    markNull(row)
                    continue
                }
                values[row] = try cell.withUnsafeBytes { bytes in
                    guard bytes.count == width else { throw mismatch(position, bytes.count) }
                    return width == 1
                        ? Int64(bytes[0]) : Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) &+ offset
                }
            }
            return ColumnVector(storage: .integers(values), nulls: nulls)
        case .double:
            var values = [Double](repeating: 0, count: count)
            for row in 0..<count {
                let cell = result[row, position]
                guard !cell.isNull else {
                    markNull(row)
                    continue
                }
                values[row] = try cell.withUnsafeBytes { bytes in
                    guard bytes.count == 8 else { throw mismatch(position, bytes.count) }
                    return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
                }
            }
            return ColumnVector(storage: .doubles(values), nulls: nulls)
        case .decimal128:
            var ends = [UInt32](repeating: 0, count: count)
            var heap: [UInt8] = []
            heap.reserveCapacity(count * Decimal128.byteCount)
            for row in 0..<count {
                let cell = result[row, position]
                if cell.isNull {
                    markNull(row)
                } else {
                    let number = Decimal128(try cell.scientific) ?? .nan
                    number.withBIDBytes { heap.append(contentsOf: $0) }
                }
                ends[row] = UInt32(heap.count)
            }
            return ColumnVector(storage: .bytes(ends: ends, heap: heap), nulls: nulls)
        case .string, .data, .objectId, .uuid, .float, .link, .embedded, .array, .list, .linkingObjects:
            var ends = [UInt32](repeating: 0, count: count)
            var heap: [UInt8] = []
            heap.reserveCapacity(count * 16)
            for row in 0..<count {
                let cell = result[row, position]
                if cell.isNull { markNull(row) } else { cell.withUnsafeBytes { heap.append(contentsOf: $0) } }
                ends[row] = UInt32(heap.count)
            }
            return ColumnVector(storage: .bytes(ends: ends, heap: heap), nulls: nulls)
        }
    }

    private func mismatch(_ position: Int, _ count: Int) -> PostgresStoreError {
        let column = layout.item.columns[columns[position]]
        return PostgresStoreError(
            .schema,
            "\(layout.item.table).\(column.sqlName) came with \(count) bytes, which isn't a valid \(column.type.name). "
                + "Run the migration tool's plan to see how the table differs.")
    }
}
