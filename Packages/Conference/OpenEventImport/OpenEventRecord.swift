import Foundation
import TomboloModel

/// One record of a file. Its readers return nil for a missing or empty value, and record values that they can't read.
///
/// Keys may be written `short-abstract`, `short_abstract` or `shortAbstract`. An empty text means no value in fields
/// of every type; numbers and Booleans may be written as text.
struct OpenEventRecord {
    let file: String
    /// From 1.
    let number: Int
    private let fields: [String: (key: String, value: JSONValue)]
    private(set) var problems: [OpenEventProblem] = []

    init(file: String, number: Int, _ members: [String: JSONValue]) {
        self.file = file
        self.number = number
        var fields: [String: (key: String, value: JSONValue)] = [:]
        var problems: [OpenEventProblem] = []
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            let name = Self.name(of: key)
            guard let other = fields[name], !Self.isEmpty(other.value), !Self.isEmpty(value), other.value != value
            else {
                if fields[name].map({ Self.isEmpty($0.value) }) ?? true { fields[name] = (key, value) }
                continue
            }
            problems.append(
                OpenEventProblem(
                    file: file, record: number, id: nil, field: key, expected: "the same value as in '\(other.key)'",
                    found: "\(value.summary) and \(other.value.summary)"))
        }
        self.fields = fields
        self.problems = problems
    }

    /// Discards the problems, for a second reading after the first one's were taken over.
    mutating func forgetProblems() { problems = [] }

    private static func name(of key: String) -> String { Column.sqlName(for: key.replacing("-", with: "_")) }

    private static func isEmpty(_ value: JSONValue) -> Bool {
        switch value {
        case .null: true
        case .string(let text): text.allSatisfy(\.isWhitespace)
        default: false
        }
    }

    /// The record's id as text, for messages.
    var id: String? {
        switch fields["id"]?.value {
        case .int(let value): String(value)
        case .string(let text) where !Self.isEmpty(.string(text)): text.trimmed
        default: nil
        }
    }

    mutating func fail(_ field: String, expected: String, found: String) {
        problems.append(
            OpenEventProblem(
                file: file, record: number, id: id, field: fields[field]?.key ?? field, expected: expected, found: found
            ))
    }

    private func value(_ names: [String]) -> (name: String, value: JSONValue)? {
        for name in names {
            if let field = fields[name], !Self.isEmpty(field.value) { return (name, field.value) }
        }
        return nil
    }

    /// The value of a field, for messages.
    func shown(_ names: String...) -> String { value(names)?.value.summary ?? "nothing" }

    // MARK: Fields

    /// The id, which is required.
    mutating func requiredID() -> String {
        // Read it as text too, which reports characters that the database refuses.
        if id != nil { return text("id") ?? "" }
        fail("id", expected: "a number or a string", found: fields["id"]?.value.summary ?? "nothing")
        return ""
    }

    mutating func text(_ names: String...) -> String? {
        guard let (name, value) = value(names) else { return nil }
        let text: String
        switch value {
        case .string(let value): text = value.trimmed
        case .int(let value): text = String(value)
        case .double(let value): text = String(value)
        default:
            fail(name, expected: "a string", found: value.summary)
            return nil
        }
        guard !text.utf8.contains(0) else {
            fail(name, expected: "a string without the character U+0000", found: "a string with it")
            return nil
        }
        guard text.utf8.count <= Value.maximumByteCount else {
            fail(name, expected: "at most \(Value.maximumByteCount) bytes", found: "\(text.utf8.count) bytes")
            return nil
        }
        return text
    }

    mutating func requiredText(_ name: String) -> String {
        let before = problems.count
        if let text = text(name) { return text }
        if problems.count == before {
            fail(name, expected: "a string that isn't empty", found: fields[name]?.value.summary ?? "nothing")
        }
        return ""
    }

    mutating func integer(_ name: String) -> Int? {
        guard let (_, value) = value([name]) else { return nil }
        switch value {
        case .int(let number): return Int(number)
        case .double(let number): if let whole = Int(exactly: number) { return whole }
        case .string(let text): if let number = Int(text.trimmed) { return number }
        default: break
        }
        fail(name, expected: "a whole number", found: value.summary)
        return nil
    }

    mutating func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
        guard let (_, value) = value([name]) else { return nil }
        var number: Double?
        switch value {
        case .int(let whole): number = Double(whole)
        case .double(let value): number = value
        case .string(let text): number = Double(text.trimmed)
        default: break
        }
        if let number, range.contains(number) { return number }
        let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
        fail(name, expected: expected, found: value.summary)
        return nil
    }

    mutating func flag(_ name: String) -> Bool {
        guard let (_, value) = value([name]) else { return false }
        switch value {
        case .bool(let flag): return flag
        case .int(0): return false
        case .int(1): return true
        case .string(let text):
            switch text.trimmed.lowercased() {
            case "true", "1": return true
            case "false", "0": return false
            default: break
            }
        default: break
        }
        fail(name, expected: "true or false", found: value.summary)
        return false
    }

    /// - Returns: microseconds since 1970.
    mutating func date(_ names: String..., zone: TimeZone) -> Int64? {
        guard let (name, value) = value(names) else { return nil }
        if case .string(let text) = value, let time = OpenEventTime.microseconds(text.trimmed, zone: zone) {
            return time
        }
        fail(name, expected: "a date such as 2017-05-08T13:00:00-05:00", found: value.summary)
        return nil
    }

    mutating func option<Option: RawRepresentable & CaseIterable>(
        _ name: String, default missing: Option
    ) -> Option where Option.RawValue == String {
        guard let (_, value) = value([name]) else { return missing }
        if case .string(let text) = value {
            let text = text.trimmed.lowercased()
            // Both spellings are in use.
            if let option = Option(rawValue: text == "cancelled" ? "canceled" : text) { return option }
        }
        let known = Option.allCases.map(\.rawValue).joined(separator: ", ")
        fail(name, expected: "one of \(known)", found: value.summary)
        return missing
    }

    /// A nested record: `{"id": 2, "name": …}`. The whole reference may be missing, or either member, or it may be
    /// only the id or only the name.
    mutating func reference(_ name: String) -> OpenEventReference? {
        guard let (_, value) = value([name]) else { return nil }
        if let reference = OpenEventReference(value) {
            guard reference.name?.utf8.contains(0) != true else {
                fail(name, expected: "a name without the character U+0000", found: "a name with it")
                return nil
            }
            return reference
        }
        if value == .object([:]) || value == .array([]) { return nil }
        fail(name, expected: "an object with an id or a name", found: value.summary)
        return nil
    }

    mutating func references(_ name: String) -> [OpenEventReference] {
        guard let (_, value) = value([name]) else { return [] }
        guard case .array(let elements) = value else {
            fail(name, expected: "a list", found: value.summary)
            return []
        }
        return elements.enumerated().compactMap { position, element in
            if let reference = OpenEventReference(element) { return reference }
            fail(name, expected: "an object with an id or a name as entry \(position + 1)", found: element.summary)
            return nil
        }
    }

    /// Nested records, numbered within this record.
    mutating func records(_ name: String) -> [OpenEventRecord] {
        guard let (_, value) = value([name]) else { return [] }
        guard case .array(let elements) = value else {
            fail(name, expected: "a list", found: value.summary)
            return []
        }
        return elements.enumerated().compactMap { position, element in
            guard case .object(let members) = element else {
                fail(name, expected: "a list of objects", found: element.summary)
                return nil
            }
            return OpenEventRecord(file: "\(file), \(name)", number: position + 1, members)
        }
    }

    /// A nested object, or an empty record if there is none.
    mutating func record(_ name: String) -> OpenEventRecord {
        guard let (_, value) = value([name]) else { return OpenEventRecord(file: file, number: number, [:]) }
        guard case .object(let members) = value else {
            fail(name, expected: "an object", found: value.summary)
            return OpenEventRecord(file: file, number: number, [:])
        }
        return OpenEventRecord(file: "\(file), \(name)", number: number, members)
    }
}

extension String {
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
