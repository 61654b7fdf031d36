internal import Crypto
internal import Foundation

/// Passwords known from leaks, in a file in the format of Have I Been Pwned ("ordered by hash"): one SHA-1 hash in
/// upper-case hexadecimal per line, sorted, each followed by anything. The file isn't loaded: a look-up does a binary
/// search, with a few dozen reads.
public final class BreachedPasswords: Sendable {
    public static let variable = "TOMBOLO_BREACHED_PASSWORDS"
    /// The longest line, in bytes.
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
        // Invariant: among the lines that begin at or after `low`, the first that isn't less than the wanted one begins
        // before `high`, if there is one.
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

    /// The first line that begins at or after a position.
    private func line(from place: Int) -> (start: Int, text: String?) {
        var buffer = [UInt8](repeating: 0, count: 2 * Self.maximumLineByteCount)
        // Reads from one byte earlier, which is a line feed if a line begins exactly at the position.
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
