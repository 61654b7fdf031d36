/// What ``Arbiter/apply(_:from:stamp:base:permit:sees:without:)`` decided about a changeset.
public struct Arbitration: Sendable {
    /// What to write, in an order that immediate foreign keys accept.
    public let writes: [RowWrite]
    /// For each of ``writes``, the position of the instruction that it comes from.
    public let positions: [Int]
    /// The number of field writes that lost to concurrent ones or to a missing object.
    public let lost: Int
    /// The instructions that aren't applied, and why.
    public let refused: RefusedInstructions

    init(writes: [RowWrite], positions: [Int], lost: Int, refused: RefusedInstructions) {
        self.writes = writes
        self.positions = positions
        self.lost = lost
        self.refused = refused
    }

    /// An outcome that writes nothing.
    public init(refused: RefusedInstructions) { self.init(writes: [], positions: [], lost: 0, refused: refused) }
}
