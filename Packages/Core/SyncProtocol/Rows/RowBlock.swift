public import TomboloModel

/// Rows of one class, column by column. Rows leave PostgreSQL, travel and reach SQLite in this form.
public struct RowBlock: Hashable, Sendable {
    /// The class's position in the schema.
    public let classIndex: Int
    /// Positions of the columns in the class, the primary key first.
    public let columns: [Int]
    /// True for whole objects, which replace the device's objects. False for changed columns of objects that the device has.
    public let isWhole: Bool
    /// The number of rows, at most ``maximumRowCount``.
    public private(set) var rowCount: Int
    /// One vector for each of ``columns``.
    public var vectors: [ColumnVector]

    public init(classIndex: Int, columns: [Int], isWhole: Bool, rowCount: Int, vectors: [ColumnVector]) {
        self.classIndex = classIndex
        self.columns = columns
        self.isWhole = isWhole
        self.rowCount = rowCount
        self.vectors = vectors
    }

    /// An empty block. `columns` must start with the primary key.
    public init(schema: Schema, classIndex: Int, columns: [Int], isWhole: Bool) {
        self.init(
            classIndex: classIndex, columns: columns, isWhole: isWhole, rowCount: 0,
            vectors: columns.map { ColumnVector(type: schema.storedType(of: schema[classIndex].columns[$0])) })
    }

    /// Appends a row. From a whole row, only the block's columns are taken.
    public mutating func append(_ row: Row) {
        for (position, column) in columns.enumerated() { vectors[position].append(row[column]) }
        rowCount += 1
    }

    /// Completes a row. Code that appends to the vectors itself must call this once after a row's last column.
    public mutating func finishRow() { rowCount += 1 }

    /// The value in a row, given the column's position in ``columns``.
    public func value(row: Int, position: Int, schema: Schema) -> Value {
        vectors[position].value(row, as: schema.storedType(of: schema[classIndex].columns[columns[position]]))
    }

    /// The primary key of a row.
    public func key(row: Int, schema: Schema) -> Value { value(row: row, position: 0, schema: schema) }

    /// The approximate size in memory and on the wire, in bytes.
    public var byteCount: Int {
        vectors.reduce(64) { sum, vector in
            switch vector.storage {
            case .integers(let values): sum + values.count * 8
            case .doubles(let values): sum + values.count * 8
            case .bytes(let ends, let heap): sum + ends.count * 4 + heap.count
            }
        }
    }

    /// Checks the counts, offsets and lengths of a block from an external source.
    /// - Throws: ``ValueError``, which says what doesn't fit.
    public func check(in schema: Schema) throws(ValueError) {
        guard schema.classes.indices.contains(classIndex) else { throw ValueError("Block of an unknown class.") }
        let item = schema[classIndex]
        guard let key = item.primaryKeyIndex, columns.first == key, columns.count == vectors.count else {
            throw ValueError("A block of \(item.name) doesn't begin with the primary key.")
        }
        guard rowCount >= 0, rowCount <= Self.maximumRowCount else {
            throw ValueError(
                "A block of \(item.name) has \(rowCount) rows, more than the maximum of \(Self.maximumRowCount).")
        }
        for (column, vector) in zip(columns, vectors) {
            guard item.columns.indices.contains(column), vector.count == rowCount else {
                throw ValueError("A block of \(item.name) has columns of different lengths.")
            }
            let type = schema.storedType(of: item.columns[column])
            guard vector.nulls.count <= (rowCount + 7) / 8 else {
                throw ValueError("A block of \(item.name) marks rows as nil that it doesn't have.")
            }
            switch (vector.storage, type) {
            case (.integers, .bool), (.integers, .int), (.integers, .date), (.doubles, .double): break
            case (.bytes(let ends, let heap), .string), (.bytes(let ends, let heap), .data),
                (.bytes(let ends, let heap), .objectId), (.bytes(let ends, let heap), .uuid),
                (.bytes(let ends, let heap), .decimal128):
                let fixed = Self.byteCount(of: type)
                var previous: UInt32 = 0
                for (row, end) in ends.enumerated() {
                    guard end >= previous, Int(end) <= heap.count else {
                        throw ValueError("A block of \(item.name) has a value outside its bytes, in row \(row).")
                    }
                    let length = Int(end - previous)
                    let expected = fixed ?? length
                    guard length == expected || vector.isNull(row) else {
                        throw ValueError(
                            "\(item.name).\(item.columns[column].name) in row \(row) has \(length) bytes "
                                + "instead of \(expected).")
                    }
                    previous = end
                }
            default:
                throw ValueError(
                    "\(item.name).\(item.columns[column].name) is of type \(type.name), but the block isn't.")
            }
        }
    }

    /// The size in bytes of every value of a type, or nil if it varies.
    private static func byteCount(of type: PropertyType) -> Int? {
        switch type {
        case .objectId: ObjectId.byteCount
        case .uuid: 16
        case .decimal128: Decimal128.byteCount
        default: nil
        }
    }

    /// The maximum number of rows in a block.
    public static let maximumRowCount = 65_536
}
