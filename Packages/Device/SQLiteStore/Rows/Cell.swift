package import TomboloModel

/// One field of a ``RowPage``. Numbers are stored inline. Text and bytes are in the page's heap.
package struct Cell {
    package enum Kind: UInt8 {
        case null
        /// `bits` is the integer. Also used for Booleans and dates.
        case integer
        /// `bits` is the double's bit pattern.
        case double
        /// `bits` is the offset in the heap, `length` the number of bytes. Used for text, data and UUIDs.
        case bytes
        /// `bits` and `length` are the two parts of an ObjectId.
        case objectId
    }

    package var bits: UInt64
    package var length: UInt32
    package var kind: Kind

    package init(_ kind: Kind, bits: UInt64 = 0, length: UInt32 = 0) {
        self.kind = kind
        self.bits = bits
        self.length = length
    }

    package static let null = Cell(.null)
}

/// How SQLite returns the values of a stored type.
package enum CellForm: UInt8, Sendable {
    case integer
    case double
    case text
    case blob
    case objectId

    /// - Parameter type: a stored type (``Schema/storedType(of:)``).
    package init(_ type: PropertyType) {
        switch type {
        case .bool, .int, .date: self = .integer
        case .double: self = .double
        case .string, .decimal128: self = .text
        case .objectId: self = .objectId
        default: self = .blob
        }
    }
}
