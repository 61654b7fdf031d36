internal import TomboloChangesets
internal import TomboloModel

extension Changeset {
    /// The changeset's approximate size in memory, in bytes.
    var byteCount: Int { instructions.reduce(64) { $0 + $1.byteCount } }
}

extension Instruction {
    fileprivate var byteCount: Int {
        switch self {
        case .create(_, let fields), .set(_, let fields): fields.reduce(64) { $0 + 8 + $1.value.byteCount }
        case .add, .erase: 64
        }
    }
}
