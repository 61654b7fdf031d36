import TomboloLocalization

/// Converts an uploaded file's bytes to UTF-8 incrementally, however they are split. It buffers no more than one
/// character, and produces at most 3 bytes for each byte.
///
/// The first bytes decide:
///
///     EF BB BF     UTF-8 with a byte order mark, which is passed on
///     FF FE        UTF-16, little-endian
///     FE FF        UTF-16, big-endian
///     50 4B 03 04  a ZIP archive, such as an Excel workbook (.xlsx): refused
///     D0 CF 11 E0  a compound file, such as an old Excel workbook (.xls): refused
///
/// Otherwise the first character beyond ASCII decides: if its bytes are UTF-8, so is the file; if not, the file is
/// Windows-1252. Anything before it is the same in both. If a file is UTF-8 up to that character but not after it, its
/// bytes are passed on unchanged, for the reader of its rows to refuse with line and column.
struct ImportTextDecoder: Sendable {
    private enum State: Sendable {
        /// Too few bytes to decide: ``held``. Next: any other state.
        case start
        /// Nothing but ASCII so far; ``held`` has bytes of the next character. Next: ``utf8`` or ``windows1252``.
        case ascii
        case utf8
        case windows1252
        /// ``held`` has the first half of a code unit.
        case utf16(isBigEndian: Bool)
    }

    private enum Opening: Sendable {
        case utf8, utf16LittleEndian, utf16BigEndian, archive, compoundFile
    }

    /// None of them is a prefix of another.
    private static let openings: [(bytes: [UInt8], opening: Opening)] = [
        ([0xEF, 0xBB, 0xBF], .utf8), ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
        ([0x50, 0x4B, 0x03, 0x04], .archive), ([0xD0, 0xCF, 0x11, 0xE0], .compoundFile),
    ]

    /// The bytes from 0x80 on as UTF-8, as in the WHATWG index: the five that Microsoft leaves undefined are control
    /// characters.
    private static let windows1252: [[UInt8]] = {
        let high =
            "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars.map { Array(String($0).utf8) }
        return high + (0xA0...0xFF).map { (byte: UInt8) in Array(String(Unicode.Scalar(byte)).utf8) }
    }()

    private var state = State.start
    private var held: [UInt8] = []
    /// The first half of a surrogate pair.
    private var high: UInt16?
    /// The current line in UTF-16.
    private var line: Int64 = 1
    private var isAfterReturn = false

    /// The encoding as far as it's known. A file of nothing but ASCII is UTF-8.
    var encoding: ImportEncoding {
        switch state {
        case .start, .ascii, .utf8: .utf8
        case .windows1252: .windows1252
        case .utf16: .utf16
        }
    }

    /// - Parameter text: receives the bytes as UTF-8, including those before a mistake.
    mutating func feed(_ bytes: some Sequence<UInt8>, into text: inout [UInt8]) throws(ImportFileError) {
        let bytes = Array(bytes)
        var place = 0
        while place < bytes.count {
            let end = plainEnd(in: bytes, from: place)
            text += bytes[place..<end]
            guard end < bytes.count else { return }
            try add(bytes[end], &text)
            place = end + 1
        }
    }

    /// The end of the bytes that are passed on unchanged, in whole slices: going byte by byte would be several times
    /// slower.
    private func plainEnd(in bytes: [UInt8], from start: Int) -> Int {
        switch state {
        case .utf8: return bytes.count
        case .ascii where held.isEmpty, .windows1252:
            return bytes.withUnsafeBufferPointer { bytes in
                var place = start
                while place < bytes.count, bytes[place] < 0x80 { place += 1 }
                return place
            }
        case .start, .ascii, .utf16: return start
        }
    }

    /// Ends the file.
    mutating func finish(into text: inout [UInt8]) throws(ImportFileError) {
        if case .start = state { try begin(&text) }
        switch state {
        case .ascii where !held.isEmpty:
            // An incomplete character of UTF-8.
            decide(isUTF8: false, &text)
        case .utf16:
            guard held.isEmpty, high == nil else {
                throw ImportFileError(
                    line: line, message: localized("The file ends inside a UTF-16 character."),
                    hint: localized("Send the whole file."))
            }
        case .start, .ascii, .utf8, .windows1252: return
        }
    }

    private mutating func add(_ byte: UInt8, _ text: inout [UInt8]) throws(ImportFileError) {
        switch state {
        case .start:
            held.append(byte)
            guard let match = Self.openings.first(where: { $0.bytes.starts(with: held) }) else {
                return try begin(&text)
            }
            if match.bytes.count == held.count { try open(match.opening, &text) }
        case .ascii where byte < 0x80 && held.isEmpty: text.append(byte)
        case .ascii:
            held.append(byte)
            if let isUTF8 = Self.isUTF8(held) { decide(isUTF8: isUTF8, &text) }
        case .utf8: text.append(byte)
        case .windows1252: Self.append(windows1252: byte, &text)
        case .utf16(let isBigEndian):
            held.append(byte)
            guard held.count == 2 else { return }
            let (one, other) = (UInt16(held[0]), UInt16(held[1]))
            held.removeAll(keepingCapacity: true)
            try add(isBigEndian ? one << 8 | other : other << 8 | one, &text)
        }
    }

    // MARK: Finding out

    private mutating func open(_ opening: Opening, _ text: inout [UInt8]) throws(ImportFileError) {
        switch opening {
        case .utf8:
            text += held
            state = .utf8
        case .utf16LittleEndian: state = .utf16(isBigEndian: false)
        case .utf16BigEndian: state = .utf16(isBigEndian: true)
        case .archive: throw Self.workbook(localized("This is an Excel workbook, or another ZIP archive."))
        case .compoundFile: throw Self.workbook(localized("This is an Excel workbook in an old format."))
        }
        held = []
    }

    private static func workbook(_ message: String) -> ImportFileError {
        ImportFileError(
            line: nil, message: message, hint: localized("Save it as 'CSV UTF-8' in Excel, and import that."))
    }

    /// The first bytes are text.
    private mutating func begin(_ text: inout [UInt8]) throws(ImportFileError) {
        let bytes = held
        held = []
        state = .ascii
        for byte in bytes { try add(byte, &text) }
    }

    private mutating func decide(isUTF8: Bool, _ text: inout [UInt8]) {
        if isUTF8 {
            text += held
            state = .utf8
        } else {
            for byte in held { Self.append(windows1252: byte, &text) }
            state = .windows1252
        }
        held = []
    }

    /// - Parameter bytes: of one character, the first of which isn't ASCII.
    /// - Returns: nil if there aren't enough of them.
    private static func isUTF8(_ bytes: [UInt8]) -> Bool? {
        let count =
            switch bytes[0] {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 0
            }
        guard count > 0, bytes.dropFirst().allSatisfy({ (0x80...0xBF).contains($0) }) else { return false }
        return bytes.count < count ? nil : String(validating: bytes, as: UTF8.self) != nil
    }

    // MARK: Decoding

    private static func append(windows1252 byte: UInt8, _ text: inout [UInt8]) {
        if byte < 0x80 { text.append(byte) } else { text += windows1252[Int(byte) - 0x80] }
    }

    /// - Parameter unit: a UTF-16 code unit.
    private mutating func add(_ unit: UInt16, _ text: inout [UInt8]) throws(ImportFileError) {
        let scalar: UInt32
        if let first = high {
            guard UTF16.isTrailSurrogate(unit) else { throw unpaired() }
            scalar = 0x1_0000 + (UInt32(first) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
            high = nil
        } else if UTF16.isLeadSurrogate(unit) {
            high = unit
            return
        } else {
            scalar = UInt32(unit)
        }
        guard let scalar = Unicode.Scalar(scalar) else { throw unpaired() }
        text.append(contentsOf: String(scalar).utf8)
        if scalar == "\r" || (scalar == "\n" && !isAfterReturn) { line += 1 }
        isAfterReturn = scalar == "\r"
    }

    private func unpaired() -> ImportFileError {
        ImportFileError(
            line: line, message: localized("There is half a character: a UTF-16 surrogate without its other half."),
            hint: localized(
                "The file is damaged. Save it as 'CSV UTF-8' in the program that wrote it, and import that."))
    }
}
