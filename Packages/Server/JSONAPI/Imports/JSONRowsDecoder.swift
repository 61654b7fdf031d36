import Foundation
import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// Reads JSON objects incrementally, however the bytes are split: one on each line, as in NDJSON, or in an array.
struct JSONRowsDecoder: Sendable {
    struct Row: Sendable {
        /// In an array, the object's position from 1; otherwise the line where it begins.
        let number: Int64
        let line: Int64
        let members: [String: JSON]
        /// The object as it was sent.
        let text: String
    }

    private enum State: Sendable {
        /// Nothing but whitespace so far.
        case start
        /// Before an object, or the end if the input may end here.
        case before
        case inside
        /// In an array after an object: a comma or the end follows.
        case after
        /// After the array.
        case over
    }

    private var state = State.start
    /// Whether rows are numbered by their positions in an array, and not by lines.
    private(set) var isArray = false
    private var needsObject = false
    private var bytes: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var count: Int64 = 0
    private var line: Int64 = 1
    private var beginning: Int64 = 1
    private var markLength: Int? = 0
    /// The line where the last object ended. Except in an array, no other may begin on it.
    private var lastLine: Int64 = 0

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static var form: String { localized("Send an array of objects, or one object on each line.") }

    private func error(_ message: String, _ hint: String, line: Int64? = nil) -> ImportFileError {
        ImportFileError(line: line ?? self.line, message: message, hint: hint)
    }

    /// - Parameter take: called with each complete object.
    mutating func feed(_ bytes: some Sequence<UInt8>, _ take: (Row) throws -> Void) throws {
        for byte in bytes {
            if let length = markLength {
                markLength = byte == Self.mark[length] && length < 2 ? length + 1 : nil
                if byte == Self.mark[length] { continue }
                // No JSON begins with a part of a byte order mark.
                if length > 0 { throw error(localized("There is something that isn't an object."), Self.form) }
            }
            try add(byte, take)
        }
    }

    /// Ends the file.
    func finish() throws {
        if let markLength, markLength > 0 {
            throw error(localized("There is something that isn't an object."), Self.form)
        }
        switch state {
        case .inside:
            throw error(
                localized("The file ends inside the object that begins here."), localized("Send the whole file."),
                line: beginning)
        case .before where isArray, .after:
            throw error(localized("The file ends inside its array."), localized("Send the whole file."))
        case .start, .before, .over: return
        }
    }

    private mutating func add(_ byte: UInt8, _ take: (Row) throws -> Void) throws {
        defer { if byte == UInt8(ascii: "\n") { line += 1 } }
        if state == .inside { return try addInside(byte, take) }
        switch (state, byte) {
        case (_, UInt8(ascii: " ")), (_, UInt8(ascii: "\n")), (_, UInt8(ascii: "\r")), (_, UInt8(ascii: "\t")): return
        case (.start, UInt8(ascii: "[")):
            isArray = true
            state = .before
        case (.start, UInt8(ascii: "{")), (.before, UInt8(ascii: "{")):
            guard isArray || line > lastLine else {
                throw error(
                    localized("There are two objects on one line."),
                    localized("Begin a new line for each, or send an array."))
            }
            state = .inside
            needsObject = false
            beginning = line
            bytes = [byte]
            depth = 1
        case (.after, UInt8(ascii: ",")):
            state = .before
            needsObject = true
        case (.after, UInt8(ascii: "]")): state = .over
        case (.before, UInt8(ascii: "]")) where isArray && !needsObject: state = .over
        default: throw error(localized("There is something that isn't an object."), Self.form)
        }
    }

    private mutating func addInside(_ byte: UInt8, _ take: (Row) throws -> Void) throws {
        guard bytes.count < ImportLimits.itemByteCount else {
            throw error(
                localized("The object has more than \(ImportLimits.itemByteCount) bytes."), localized("Shorten it."),
                line: beginning)
        }
        bytes.append(byte)
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            guard depth <= ImportLimits.depth else {
                throw error(
                    localized("More than \(ImportLimits.depth) objects and arrays are nested in each other."),
                    localized("Send flatter objects."))
            }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if depth == 0 { try end(take) }
        default: break
        }
    }

    private mutating func end(_ take: (Row) throws -> Void) throws {
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self),
            let json = try? JSONDecoder().decode(JSON.self, from: Data(bytes)), case .object(let members) = json
        else { throw error(localized("The object isn't valid JSON in UTF-8."), Self.form, line: beginning) }
        if let repeated = RepeatedMember(in: bytes) {
            throw error(
                localized("Another column is also called '\(repeated.name.shortened(toByteCount: 60))'."),
                localized("Give each column its own name."), line: beginning + Int64(repeated.line) - 1)
        }
        guard members.count <= ImportLimits.columnCount else {
            throw error(
                localized("The object has more than \(ImportLimits.columnCount) members."),
                localized("Leave some out."), line: beginning)
        }
        count += 1
        bytes.removeAll(keepingCapacity: true)
        lastLine = line
        state = isArray ? .after : .before
        try take(Row(number: isArray ? count : beginning, line: beginning, members: members, text: text))
    }
}
