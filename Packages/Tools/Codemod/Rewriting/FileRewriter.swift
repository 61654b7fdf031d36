/// Rewrites one file, using what is known about all files.
struct FileRewriter {
    /// Findings in one file beyond this many are only counted.
    static let maximumFindings = 1_000

    let facts: ModelFacts
    let file: Int
    let parsed: ParsedFile
    let fixesQuotes: Bool

    var source: SourceText { parsed.source }
    var index: ModelIndex { facts.index }

    var edits: [Edit] = []
    private var findings: [(offset: Int, kind: Finding.Kind, message: String, advice: String)] = []
    /// For each type in the file, the model that it is or extends.
    private let owners: [TypeID?]
    private var omitted = 0
    var counts = RewriteCounts()

    init(_ facts: ModelFacts, file: Int, _ parsed: ParsedFile, fixesQuotes: Bool) {
        self.facts = facts
        self.file = file
        self.parsed = parsed
        self.fixesQuotes = fixesQuotes
        owners = parsed.types.indices.map { type in
            guard let owner = facts.index.owner(of: TypeID(file: file, type: type)), facts.index.isModel(owner) else {
                return nil
            }
            return owner
        }
    }

    /// The model whose body or extension contains a token.
    func model(around token: Int) -> TypeID? { parsed.type(around: token).flatMap { owners[$0] } }

    mutating func run(original: String) -> RewrittenFile {
        rewriteQuotes()
        for type in parsed.types.indices {
            let id = TypeID(file: file, type: type)
            if index.isModel(id) {
                counts.models += 1
                rewriteModel(id)
            } else if parsed.types[type].kind == .extension, let owner = index.owner(of: id), index.isModel(owner) {
                rewriteExtension(id, of: owner)
            } else {
                reportPossibleModel(id)
            }
        }
        rewriteEnumerations()
        rewriteBoxes()
        rewriteBridging()
        reportObservation()
        rewriteImports()
        let edited = EditedText(source, edits)
        return RewrittenFile(
            path: source.path, original: original, text: edited.text, findings: sortedFindings(),
            changes: edited.changes, counts: counts)
    }

    private func sortedFindings() -> [Finding] {
        var place = SourcePlace()
        var result = findings.sorted { ($0.offset, $0.message) < ($1.offset, $1.message) }.map { finding in
            place.advance(to: finding.offset, in: source.bytes)
            return Finding(
                path: source.path, line: place.line, column: place.column, kind: finding.kind,
                message: finding.message, advice: finding.advice)
        }
        if omitted > 0 {
            result.append(
                Finding(
                    path: source.path, line: place.line, column: place.column, kind: .warning,
                    message: "This file has \(omitted) more findings.",
                    advice: "Deal with those reported and run this again."))
        }
        return result
    }

    // MARK: Notes

    mutating func report(_ kind: Finding.Kind, at token: Int, _ message: String, _ advice: String) {
        report(kind, atByte: source.tokens[token].range.lowerBound, message, advice)
    }

    mutating func report(_ kind: Finding.Kind, atByte offset: Int, _ message: String, _ advice: String) {
        guard findings.count < Self.maximumFindings else {
            omitted += 1
            return
        }
        findings.append((offset, kind, message, advice))
    }

    // MARK: Edits

    mutating func replace(_ tokens: Range<Int>, with text: String) {
        guard let span = source.span(tokens) else { return }
        edits.append(Edit(range: span, text: text))
    }

    mutating func replace(_ token: Int, with text: String) { replace(token..<token + 1, with: text) }

    mutating func insert(_ text: String, before token: Int) {
        let start = source.tokens[token].range.lowerBound
        edits.append(Edit(range: start..<start, text: text))
    }

    mutating func insert(_ text: String, after token: Int) {
        let end = source.tokens[token].range.upperBound
        edits.append(Edit(range: end..<end, text: text))
    }

    /// Removes tokens, and the white space after them.
    mutating func remove(_ tokens: Range<Int>) {
        guard let span = source.span(tokens) else { return }
        let white: Set<UInt8> = [
            UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
        ]
        let end = source.bytes[span.upperBound...].firstIndex { !white.contains($0) } ?? source.bytes.count
        edits.append(Edit(range: span.lowerBound..<end, text: ""))
    }
}
