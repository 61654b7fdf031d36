internal import TomboloModel

/// The elements of a list as they were last read.
final class ListContent {
    /// The rowids of the elements, in order.
    var rows: [Int64] = []
    /// For a list of links, the rowids of the objects by position.
    var targets: [Int64] = []
    /// For a list of scalars, the values by position.
    var values: [Value] = []
    /// The rank of the last element, if known.
    var lastRank: String?
    /// The element class's stamp and the target class's membership when the elements were read.
    var stamp: UInt64 = 0
    var membership: UInt64 = 0
}
