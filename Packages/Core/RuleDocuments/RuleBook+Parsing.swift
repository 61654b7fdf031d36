public import Foundation
public import TomboloRules

extension RuleBook {
    /// Reads a document in YAML or JSON; JSON is read as YAML. ``TomboloRules/Rules/init(schema:books:)`` checks its
    /// names and types.
    /// - Parameter file: the document's name, for messages.
    /// - Throws: ``TomboloRules/RuleError`` for text that isn't YAML, for a duplicate key, or if the document exceeds a
    ///   bound of ``TomboloRules/RuleNode``.
    public init(parsing text: String, file: String) throws(RuleError) {
        self.init(try RuleNode(parsing: text, file: file), file: file)
    }

    /// The same from the bytes of a file, which must be UTF-8.
    public init(parsing data: some DataProtocol, file: String) throws(RuleError) {
        guard data.count <= RuleNode.maximumByteCount else { throw RuleNode.tooLong(data.count, file) }
        guard let text = String(data: Data(data), encoding: .utf8) else {
            throw RuleError(problems: ["\(file): the text isn't UTF-8."])
        }
        try self.init(parsing: text, file: file)
    }
}
