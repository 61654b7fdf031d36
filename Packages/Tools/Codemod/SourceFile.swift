/// A file to rewrite: its name in reports, and its text.
public struct SourceFile: Sendable {
    public let path: String
    public let text: String

    public init(path: String, text: String) {
        self.path = path
        self.text = text
    }
}
