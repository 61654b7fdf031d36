internal import Foundation
internal import TomboloModel
internal import TomboloRules
internal import Yams

extension RuleNode {
    /// The most anchors (`&name`) in a document: the parser compares each with all earlier ones.
    static let maximumAnchorCount = 1_000

    /// Reads one YAML document. Aliases and merge keys (`<<`) are replaced by what they stand for. A byte order mark at
    /// the beginning is skipped, as in model documents.
    init(parsing text: String, file: String) throws(RuleError) {
        guard text.utf8.count <= Self.maximumByteCount else { throw Self.tooLong(text.utf8.count, file) }
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        guard Self.anchorCount(text) <= Self.maximumAnchorCount else {
            throw RuleError(problems: [
                "\(file): the document has more than \(Self.maximumAnchorCount) anchors ('&name')."
            ])
        }
        if let line = Self.lineOfComplexKey(text) {
            throw RuleError(problems: [
                "\(file):\(line): a key must be a plain name: '?', lists, mappings and aliases can't be keys."
            ])
        }
        let root: Node?
        do {
            root = try Yams.compose(yaml: text, .default, .default, .utf8)
        } catch let error as YamlError {
            throw RuleError(problems: ["\(file)\(Self.text(of: error, in: text))"])
        } catch {
            throw RuleError(problems: ["\(file): the text isn't YAML: \(error)"])
        }
        guard let root else { throw RuleError(problems: ["\(file): the document is empty."]) }
        var reader = YAMLReader(file: file)
        self = try reader.node(root, line: 1, depth: 0)
    }

    static func tooLong(_ count: Int, _ file: String) -> RuleError {
        RuleError(problems: ["\(file): the document has \(count) bytes; at most \(maximumByteCount) are allowed."])
    }

    /// An upper bound on the number of anchors: anything in a string that looks like one counts too.
    private static func anchorCount(_ text: String) -> Int {
        let before = Set(" \t\r\n[{,-:".utf8)
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        var count = 0
        var last = UInt8(ascii: "\n")
        var isAnchor = false
        for byte in text.utf8 {
            if isAnchor,
                letters.contains(byte | 0x20) || digits.contains(byte) || byte == UInt8(ascii: "_")
                    || byte == UInt8(ascii: "-")
            {
                count += 1
            }
            isAnchor = byte == UInt8(ascii: "&") && before.contains(last)
            last = byte
        }
        return count
    }

    /// The first line with a key that isn't a scalar, in a document with anchors. Yams hashes every key with everything
    /// that its aliases stand for, so a few hundred bytes could exhaust any memory.
    private static func lineOfComplexKey(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "&")), bytes.contains(UInt8(ascii: "*")) else { return nil }
        let spaces = Set(" \t".utf8)
        let breaks = Set(" \t\r\n".utf8)
        let before = Set(" \t\r\n[{,-".utf8)
        let nameEnds = Set(" \t\r\n,[]{}:".utf8)
        var line = 1
        for (index, byte) in bytes.enumerated() {
            var next = index + 1
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                continue
            case UInt8(ascii: "?"):
                let begins = index == 0 || before.contains(bytes[index - 1])
                if begins, next == bytes.count || breaks.contains(bytes[next]) { return line }
                continue
            case UInt8(ascii: "*"):
                // Stop at the next alias, so that each byte is looked at only once or twice.
                while next < bytes.count, !nameEnds.contains(bytes[next]), bytes[next] != byte { next += 1 }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): break
            default: continue
            }
            while next < bytes.count, spaces.contains(bytes[next]) { next += 1 }
            if next < bytes.count, bytes[next] == UInt8(ascii: ":") { return line }
        }
        return nil
    }

    private static func text(of error: YamlError, in text: String) -> String {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let line =
                text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .dropFirst(mark.line - 1).first ?? ""
            let start = line.dropFirst(mark.column - 1)
            var hint = ""
            if start.hasPrefix("%") || start.hasPrefix("@") || start.hasPrefix("`") {
                hint = "; text that begins with \(start.prefix(1)) must be quoted: \"\(start.prefix(1))…\""
            } else if start.hasPrefix("\t") {
                hint = "; indent with spaces instead of tabs"
            }
            return ":\(mark.line):\(mark.column): the text isn't YAML: \(problem)\(hint)."
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.map { "'\($0.shortened(toByteCount: 40))'" }.joined(separator: ", ")
            return ":\(context.mark.line): a mapping has duplicate keys: \(names)."
        case .reader(let problem, let offset, _, _):
            return ": the text isn't YAML: \(problem)\(offset.map { " at byte \($0)" } ?? "")."
        default: return ": the text isn't YAML."
        }
    }
}

/// Turns Yams's nodes into rule nodes, within the bounds.
private struct YAMLReader {
    let file: String
    private var count = 0

    init(file: String) { self.file = file }

    private func error(_ line: Int, _ message: String) -> RuleError {
        RuleError(problems: ["\(file):\(line): \(message)"])
    }

    mutating func node(_ node: Node, line: Int, depth: Int) throws(RuleError) -> RuleNode {
        let line = node.mark?.line ?? line
        count += 1
        guard count <= RuleNode.maximumCount else {
            throw error(line, "the document has more than \(RuleNode.maximumCount) values, aliases counted each time.")
        }
        guard depth <= RuleNode.maximumDepth else {
            throw error(line, "the document nests deeper than \(RuleNode.maximumDepth) levels.")
        }
        switch node {
        case .scalar(let scalar): return RuleNode(try content(of: scalar, line), line: line)
        case .sequence(let sequence):
            var nodes: [RuleNode] = []
            for inner in sequence { nodes.append(try self.node(inner, line: line, depth: depth + 1)) }
            return RuleNode(.list(nodes), line: line)
        case .mapping(let mapping):
            var own: [RuleNode.Entry] = []
            var merged: [RuleNode.Entry] = []
            for (key, value) in mapping {
                guard case .scalar(let scalar) = key else {
                    throw error(key.mark?.line ?? line, "a key must be a plain name, not a list or a mapping.")
                }
                let keyLine = scalar.mark?.line ?? line
                let inner = try self.node(value, line: keyLine, depth: depth + 1)
                if scalar.string == "<<", scalar.style == .plain {
                    merged += try entries(toMerge: inner)
                } else {
                    own.append(.init(key: scalar.string, line: keyLine, value: inner))
                }
            }
            // The mapping's own keys take precedence, then those that are merged first.
            var names = Set(own.map(\.key))
            own += merged.filter { names.insert($0.key).inserted }
            return RuleNode(.map(own), line: line)
        case .alias: throw error(line, "an alias refers to no anchor.")
        }
    }

    private func entries(toMerge node: RuleNode) throws(RuleError) -> [RuleNode.Entry] {
        switch node.content {
        case .map(let entries): return entries
        case .list(let nodes):
            var result: [RuleNode.Entry] = []
            for node in nodes {
                guard case .map(let entries) = node.content else { break }
                result += entries
            }
            return result
        default: throw error(node.line, "'<<' must be followed by a mapping or a list of mappings.")
        }
    }

    private static let firstOfNumbers = Set("+-.0123456789".utf8)

    /// Reads scalars by the core schema of YAML 1.2, which fits JSON's rules too: `yes` and `NO` are strings.
    /// <https://yaml.org/spec/1.2.2/#103-core-schema>
    private func content(of scalar: Node.Scalar, _ line: Int) throws(RuleError) -> RuleNode.Content {
        // Yams tags quoted text as a string.
        guard scalar.tag == .implicit || scalar.tag == Tag(.str) else {
            throw error(
                line,
                "tags such as '\(scalar.tag.rawValue.shortened(toByteCount: 40))' aren't supported; put text in "
                    + "quotes.")
        }
        let text = scalar.string
        guard scalar.style == .plain, scalar.tag == .implicit else { return .string(text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        guard let first = text.utf8.first, Self.firstOfNumbers.contains(first) else { return .string(text) }
        // This comes before the patterns, which are slower.
        if let number = Int64(text) { return .int(number) }
        if text.wholeMatch(of: #/[-+]?[0-9]+/#) != nil {
            throw error(line, "\(text.shortened(toByteCount: 40)) doesn't fit in 64 bits.")
        }
        if text.wholeMatch(of: #/[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/#) != nil {
            if let number = Double(text), number.isFinite { return .double(number) }
            throw error(line, "\(text.shortened(toByteCount: 40)) is too large for a number.")
        }
        return .string(text)
    }
}
