internal import Crypto
internal import Foundation

/// Passwords that are known from leaks, in a file: SHA-1 in upper-case hexadecimal, one a line and sorted, each with
/// anything after it, as the list of Have I Been Pwned is published ("ordered by hash"). Nothing is loaded: a look-up
/// reads some dozens of places in the file.
public final class BreachedPasswords: Sendable {
    public static let variable = "TOMBOLO_BREACHED_PASSWORDS"
    /// No line is longer, in bytes.
    private static let maximumLineByteCount = 128

    private let descriptor: Int32
    private let byteCount: Int

    /// - Throws: ``AuthenticationError/invalidSettings(reason:)`` for a file that can't be read.
    public init(path: String) throws(AuthenticationError) {
        descriptor = open(path, O_RDONLY)
        byteCount = descriptor < 0 ? 0 : Int(lseek(descriptor, 0, SEEK_END))
        guard descriptor >= 0, byteCount > 0 else {
            if descriptor >= 0 { close(descriptor) }
            throw .invalidSettings(reason: "\(Self.variable): the file \(path) can't be read, or is empty.")
        }
    }

    deinit { close(descriptor) }

    func contains(_ password: String) -> Bool {
        let hash = Insecure.SHA1.hash(data: Data(password.utf8))
        let wanted = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
        var (low, high) = (0, byteCount)
        // The first line that begins at or after `low` and isn't less than the wanted one begins before `high`, if any does.
        while low < high {
            let middle = (low + high) / 2
            let (start, line) = line(from: middle)
            guard let line else {
                high = middle
                continue
            }
            let found = String(line.prefix(wanted.utf8.count)).uppercased()
            if found == wanted { return true }
            if found < wanted { low = max(start + line.utf8.count + 1, middle + 1) } else { high = middle }
        }
        return false
    }

    /// The first line that begins at or after a place.
    private func line(from place: Int) -> (start: Int, text: String?) {
        var buffer = [UInt8](repeating: 0, count: 2 * Self.maximumLineByteCount)
        // One byte before, which is a line feed if a line begins at the very place.
        let first = max(0, place - 1)
        let count = pread(descriptor, &buffer, buffer.count, off_t(first))
        guard count > 0 else { return (place, nil) }
        var bytes = buffer.prefix(count)
        var start = first
        if place > 0 {
            guard let feed = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return (place, nil) }
            bytes = bytes[(feed + 1)...]
            start = first + feed + 1
        }
        let text = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return (start, text.isEmpty ? nil : String(decoding: text, as: UTF8.self))
    }
}
