/// Why a reader couldn't resolve a changeset: it names a class or property that the reader's schema lacks, or a key of
/// the wrong type.
public struct ChangesetDefect: Hashable, Sendable {
    /// The refusal to send to the device.
    public let refusal: Refusal
    /// Equals ``Changeset/fingerprint(in:)`` as computed by a reader that has all the names.
    public let fingerprint: Int64

    /// Called by the decoder of uploads.
    public init(refusal: Refusal, fingerprint: Int64) {
        self.refusal = refusal
        self.fingerprint = fingerprint
    }
}
