/// What became of a file.
public struct RewrittenFile: Sendable {
    public let path: String
    public let original: String
    public let text: String
    /// In the order of the source.
    public let findings: [Finding]
    /// The changed lines, in order.
    let changes: [LineChange]
    /// How many declarations were changed, by what they are.
    public let counts: RewriteCounts

    public var isChanged: Bool { !changes.isEmpty }

    /// What changed, as `diff -u` writes it; empty if nothing did.
    public var diff: String { UnifiedDiff.text(self) }
}
