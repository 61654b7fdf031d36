package import Hummingbird
package import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// The parsed query parameters of a request: `filter[price][ge]=10`.
package struct RequestParameters: Sendable {
    package static let maximumCount = 64
    /// The longest query, as it is sent.
    package static let maximumByteCount = 8_192
    package static let maximumValueByteCount = 2_048
    /// The most names in brackets after a name.
    private static let maximumKeyCount = 2

    package struct Parameter: Sendable {
        /// The name as it was sent, decoded: `filter[price][ge]`.
        package let name: String
        /// `filter`
        package let family: String
        /// `price`, `ge`
        package let keys: [String]
        package let value: String

        fileprivate init(name: String, family: String, keys: [String], value: String) {
            self.name = name
            self.family = family
            self.keys = keys
            self.value = value
        }

        /// A filter of a field that didn't come from a request.
        package init(filtering field: String, by value: String) {
            self.init(name: field, family: "filter", keys: [field], value: value)
        }

        fileprivate func isFilter(of field: String) -> Bool { family == "filter" && keys.first == field }

        /// The name for messages.
        package var shown: String { name.shortened(toByteCount: 60) }

        /// - Parameters:
        ///   - problem: what is wrong, as a sentence that can follow the name and the value.
        ///   - remedy: what to send instead.
        package func failure(_ problem: String, _ remedy: String) -> RequestFailure {
            RequestFailure(
                .badRequest, localized("Parameter '\(shown)': \(problem)"), hint: remedy, source: .parameter(shown))
        }

        /// A failure that quotes the value.
        package func failure(expected: String, found text: String? = nil) -> RequestFailure {
            failure(
                localized("'\((text ?? value).shortened(toByteCount: 60))' isn't \(expected)."),
                localized("Send \(expected)."))
        }

        /// The parts of the value, which commas separate.
        /// - Throws: ``RequestFailure`` for an empty part, or too many parts.
        package func list(limit: Int, _ what: String) throws -> [String] {
            let parts = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard parts.count <= limit else {
                throw failure(
                    localized("it has \(parts.count) \(what); the limit is \(limit)."),
                    localized("Send several requests."))
            }
            return parts
        }
    }

    package let all: [Parameter]

    /// - Throws: ``RequestFailure`` with status 400 for parameters that can't be decoded, occur twice, or are too many
    ///   or too long.
    package init(_ request: Request) throws { try self.init(query: request.uri.query ?? "") }

    /// Parameters from a program, as they'd be sent.
    package init(_ parameters: [String: String]) throws {
        try self.init(query: parameters.map { "\(Self.encode($0))=\(Self.encode($1))" }.joined(separator: "&"))
    }

    private init(query: String) throws {
        guard query.utf8.count <= Self.maximumByteCount else {
            throw RequestFailure(
                .badRequest,
                localized(
                    "The query has \(query.utf8.count) bytes; the limit is \(Self.maximumByteCount)."),
                hint: localized("Send fewer filters at once."))
        }
        let parts = query.split(separator: "&")
        guard parts.count <= Self.maximumCount else {
            throw RequestFailure(
                .badRequest,
                localized("The query has \(parts.count) parameters; the limit is \(Self.maximumCount)."),
                hint: localized("Send fewer filters at once."))
        }
        var names: Set<String> = []
        all = try parts.map { part in
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(sides[0]), let value = Self.decode(sides.count > 1 ? sides[1] : "") else {
                throw RequestFailure(
                    .badRequest,
                    localized(
                        "The query has a parameter that isn't percent-encoded UTF-8: "
                            + "'\(String(part).shortened(toByteCount: 60))'."),
                    hint: localized("Encode names and values as RFC 3986 says: é is %C3%A9, and % itself is %25."))
            }
            let (family, keys) = Self.takeApart(name)
            let parameter = Parameter(name: name, family: family, keys: keys, value: value)
            guard names.insert(name).inserted else {
                throw parameter.failure(localized("it's given twice."), localized("Send it once."))
            }
            guard value.utf8.count <= Self.maximumValueByteCount else {
                throw parameter.failure(
                    localized(
                        "its value has \(value.utf8.count) bytes; the limit is \(Self.maximumValueByteCount)."
                    ),
                    localized("Send a shorter value."))
            }
            guard !value.utf8.contains(0), !name.utf8.contains(0) else {
                throw parameter.failure(localized("it contains the character U+0000."), localized("Leave it out."))
            }
            return parameter
        }
    }

    private init(_ all: [Parameter]) { self.all = all }

    /// The parameters without these families, which another part of the server handles.
    package func without(_ families: Set<String>) -> RequestParameters {
        RequestParameters(all.filter { !families.contains($0.family) })
    }

    /// The filters of a field.
    package func filters(of field: String) -> [Parameter] { all.filter { $0.isFilter(of: field) } }

    /// The filters of all fields except one, and nothing else.
    package func filters(butOf field: String) -> RequestParameters {
        RequestParameters(all.filter { $0.family == "filter" && !$0.isFilter(of: field) })
    }

    /// The value of a parameter without brackets; nil if there is none.
    package func value(_ name: String) -> String? { all.first { $0.name == name }?.value }

    /// Nil for invalid escapes, and for bytes that aren't UTF-8.
    private static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(text)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// `filter[price][ge]` → `filter`, `price`, `ge`. A name with brackets in another form stays whole, and is unknown.
    private static func takeApart(_ name: String) -> (String, [String]) {
        guard let open = name.firstIndex(of: "["), name.hasSuffix("]") else { return (name, []) }
        let inside = name[name.index(after: open)...].dropLast()
        let keys = inside.split(separator: "][", omittingEmptySubsequences: false).map(String.init)
        let isSound =
            keys.count <= maximumKeyCount && keys.allSatisfy { !$0.isEmpty && !$0.contains { "[]".contains($0) } }
        return isSound ? (String(name[..<open]), keys) : (name, [])
    }

    /// The query with other values for some names; names with the value nil are removed.
    package func query(replacing values: [(name: String, value: String?)]) -> String {
        let replaced = Set(values.map(\.name))
        var pairs = all.filter { !replaced.contains($0.name) }.map { ($0.name, $0.value) }
        pairs += values.compactMap { name, value in value.map { (name, $0) } }
        return pairs.map { "\(Self.encode($0))=\(Self.encode($1))" }.joined(separator: "&")
    }

    /// Percent-encodes text for a path or a query.
    package static func encode(_ text: String) -> String {
        guard !text.utf8.allSatisfy(isUnreserved) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), hexadecimalDigits[Int(byte >> 4)], hexadecimalDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let hexadecimalDigits = Array("0123456789ABCDEF".utf8)

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: ","):
            true
        default: false
        }
    }
}
