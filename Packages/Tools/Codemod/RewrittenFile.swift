/// The result of rewriting a file.
public struct RewrittenFile: Sendable {
    public let path: String
    public let original: String
    public let text: String
    /// In source order.
    public let findings: [Finding]
    /// The changed lines, in order.
    let changes: [LineChange]
    /// How many declarations were changed, by kind.
    public let counts: RewriteCounts

    public var isChanged: Bool { !changes.isEmpty }

    /// The changes in the format of `diff -u`. Empty if there are none.
    public var diff: String { UnifiedDiff.text(self) }
}
