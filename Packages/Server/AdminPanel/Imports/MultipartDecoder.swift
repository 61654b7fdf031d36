import TomboloHTTP
import TomboloLocalization

/// Parses a `multipart/form-data` body (RFC 7578) incrementally, wherever its chunks are cut. It buffers at most a
/// part's header, or as much content as could be the start of a boundary.
struct MultipartDecoder: Sendable {
    enum Event: Hashable, Sendable {
        /// - fileName: nil for a field that isn't a file.
        case part(name: String, fileName: String?)
        case content([UInt8])
        case end
    }

    static let maximumHeaderByteCount = 4_096
    static let maximumPartCount = 20
    /// RFC 2046, section 5.1.1.
    private static let maximumBoundaryByteCount = 70

    private enum State: Sendable { case preamble, content, boundary, header, over }

    private let delimiter: [UInt8]
    private let partLimit: Int
    private var state = State.preamble
    /// The initial line end lets a boundary at the very start of the body match.
    private var rest: [UInt8] = lineEnd
    private var partCount = 0

    private static let lineEnd = Array("\r\n".utf8)
    private static let headerEnd = Array("\r\n\r\n".utf8)

    /// - Parameters:
    ///   - contentType: the request's content type.
    ///   - partLimit: the maximum number of parts.
    /// - Returns: nil for another type than `multipart/form-data`, or if the boundary is missing.
    init?(contentType: String, partLimit: Int = maximumPartCount) {
        self.partLimit = partLimit
        let parts = contentType.split(separator: ";", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "multipart/form-data",
            let start = parts[1].firstRange(of: "boundary=")
        else { return nil }
        var boundary = parts[1][start.upperBound...].prefix { $0 != ";" }
        if boundary.hasPrefix("\"") { boundary = boundary.dropFirst().prefix { $0 != "\"" } }
        let bytes = Array(boundary.utf8)
        guard (1...Self.maximumBoundaryByteCount).contains(bytes.count), bytes.allSatisfy({ $0 > 32 && $0 < 127 })
        else {
            return nil
        }
        delimiter = Array("\r\n--".utf8) + bytes
    }

    private static func failure(_ message: String) -> RequestFailure {
        RequestFailure(.badRequest, message, hint: localized("Go back, load the page again, and send the form again."))
    }

    /// - Throws: ``RequestFailure`` for a malformed form.
    mutating func feed(_ bytes: some Sequence<UInt8>) throws -> [Event] {
        rest += bytes
        var events: [Event] = []
        while try step(&events) {}
        return events
    }

    /// Must be called at the end of the body.
    func finish() throws {
        guard state == .over else { throw Self.failure(localized("The form is incomplete.")) }
    }

    /// - Returns: whether the buffered bytes may contain more events.
    private mutating func step(_ events: inout [Event]) throws -> Bool {
        switch state {
        case .preamble, .content:
            let found = Self.find(delimiter, in: rest)
            // If there is no boundary, the end of the buffer may still be the beginning of one.
            let count = found ?? max(0, rest.count - delimiter.count + 1)
            if count > 0 {
                guard state == .content else {
                    throw Self.failure(localized("The form doesn't begin with its boundary."))
                }
                events.append(.content(Array(rest[..<count])))
                rest.removeFirst(count)
            }
            guard found != nil else { return false }
            if state == .content { events.append(.end) }
            rest.removeFirst(delimiter.count)
            state = .boundary
        case .boundary:
            guard rest.count >= 2 else { return false }
            let mark = Array(rest[..<2])
            rest.removeFirst(2)
            if mark == Array("--".utf8) {
                state = .over
            } else if mark == Self.lineEnd {
                state = .header
            } else {
                throw Self.failure(localized("The form has a malformed boundary."))
            }
        case .header:
            let found = Self.find(Self.headerEnd, in: rest)
            guard (found ?? rest.count) <= Self.maximumHeaderByteCount else {
                throw Self.failure(
                    localized("A part of the form has a header longer than \(Self.maximumHeaderByteCount) bytes."))
            }
            guard let found else { return false }
            partCount += 1
            guard partCount <= partLimit else {
                throw Self.failure(localized("The form has more than \(partLimit) parts."))
            }
            events.append(try Self.part(Array(rest[..<found])))
            rest.removeFirst(found + Self.headerEnd.count)
            state = .content
        case .over:
            rest = []
            return false
        }
        return true
    }

    private static func find(_ wanted: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= wanted.count else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            var place = 0
            while place <= bytes.count - wanted.count {
                if bytes[place] == wanted[0], (1..<wanted.count).allSatisfy({ bytes[place + $0] == wanted[$0] }) {
                    return place
                }
                place += 1
            }
            return nil
        }
    }

    private static func part(_ header: [UInt8]) throws -> Event {
        guard let text = String(validating: header, as: UTF8.self) else {
            throw failure(localized("A part of the form has a header that isn't UTF-8."))
        }
        for line in text.split(separator: "\r\n") {
            guard line.lowercased().hasPrefix("content-disposition:"), line.lowercased().contains("form-data") else {
                continue
            }
            guard let name = parameter("name", of: line) else { break }
            return .part(name: name, fileName: parameter("filename", of: line))
        }
        throw failure(localized("A part of the form has no name."))
    }

    /// Parses `name="value"` as browsers write it, with quotation marks and line ends in the value percent-encoded.
    private static func parameter(_ name: String, of line: Substring) -> String? {
        for separator in ["; ", ";"] {
            guard let start = line.firstRange(of: "\(separator)\(name)=\"") else { continue }
            let value = line[start.upperBound...]
            guard let end = value.firstIndex(of: "\"") else { return nil }
            return String(value[..<end]).replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing(
                "%0A", with: "\n")
        }
        return nil
    }
}
