/// Converts Realm models written for the ObjC runtime (`@objc dynamic var`) to `@Persisted`. docs/codemod.md says
/// what is rewritten and what is reported.
///
/// It takes text and returns text and a report, without any I/O. It is deterministic and idempotent. Anything it
/// doesn't understand stays the same, byte for byte, and is reported.
public struct Codemod: Sendable {
    /// Files with more bytes than this aren't changed.
    public static let maximumBytes = 8_000_000

    /// Whether typographic quotes around strings are replaced by plain ones instead of only being reported.
    public var fixesQuotes: Bool

    public init(fixesQuotes: Bool = false) { self.fixesQuotes = fixesQuotes }

    /// Rewrites files that belong together: a class is a model if it inherits, directly or through classes in these
    /// files, from `Object`, `EmbeddedObject` or `AsymmetricObject`.
    /// - Returns: every file, in the given order.
    public func rewrite(_ files: [SourceFile]) -> [RewrittenFile] {
        var refusals: [Int: Finding] = [:]
        let parsed = files.enumerated().map { position, file -> ParsedFile? in
            guard file.text.utf8.count <= Self.maximumBytes else {
                refusals[position] = Finding(
                    path: file.path, line: 1, column: 1, kind: .warning,
                    message: "The file has more than \(Self.maximumBytes) bytes and wasn't changed.",
                    advice: "Split it.")
                return nil
            }
            do throws(LexerProblem) {
                return ParsedFile(try SourceText(path: file.path, text: file.text))
            } catch {
                refusals[position] = Self.finding(error, in: file)
                return nil
            }
        }
        let facts = ModelFacts(ModelIndex(parsed))
        return files.indices.map { position in
            guard let file = parsed[position] else {
                return RewrittenFile(
                    path: files[position].path, original: files[position].text, text: files[position].text,
                    findings: refusals[position].map { [$0] } ?? [], changes: [], counts: RewriteCounts())
            }
            var rewriter = FileRewriter(facts, file: position, file, fixesQuotes: fixesQuotes)
            return rewriter.run(original: files[position].text)
        }
    }

    private static func finding(_ problem: LexerProblem, in file: SourceFile) -> Finding {
        var place = SourcePlace()
        place.advance(to: problem.offset, in: Array(file.text.utf8))
        return Finding(
            path: file.path, line: place.line, column: place.column, kind: .warning,
            message: problem.message + " The file wasn't changed.",
            advice: "Make it valid Swift and run this again.")
    }
}
