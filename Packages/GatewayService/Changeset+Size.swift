internal import TomboloChangesets
internal import TomboloModel

extension Changeset {
    /// Roughly what the changeset takes in memory, in bytes.
    var byteCount: Int { instructions.reduce(64) { $0 + $1.byteCount } }
}

extension Instruction {
    fileprivate var byteCount: Int {
        switch self {
        case .create(_, let fields), .set(_, let fields): fields.reduce(64) { $0 + 32 + $1.value.heapByteCount }
        case .add, .erase: 64
        }
    }
}

extension Value {
    fileprivate var heapByteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let data): data.count
        default: 0
        }
    }
}
