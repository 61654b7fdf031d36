/// A changeset that its reader could not resolve: it names a class or property that the reader's schema does not have,
/// or a key of another type.
public struct ChangesetDefect: Hashable, Sendable {
    /// What the device is told.
    public let refusal: Refusal
    /// The same as ``Changeset/fingerprint(in:)`` gives a reader that has all the names.
    public let fingerprint: Int64

    public init(refusal: Refusal, fingerprint: Int64) {
        self.refusal = refusal
        self.fingerprint = fingerprint
    }
}
