import Foundation

/// Reads a backup in parts, at the pace of its client. A backup that is deleted meanwhile can still be read to its
/// end.
package final class BackupReader: Sendable {
    /// The bytes held in memory at a time.
    static let partByteCount = 128 << 10

    package let byteCount: Int64
    private let descriptor: Int32
    private let disk = DiskQueue()
    private let whenOver: @Sendable () -> Void

    /// - Parameters:
    ///   - descriptor: closed by the reader.
    ///   - whenOver: called once, when the reader is released.
    init(_ descriptor: Int32, byteCount: Int64, whenOver: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.byteCount = byteCount
        self.whenOver = whenOver
    }

    deinit {
        close(descriptor)
        whenOver()
    }

    /// The bytes from an offset on: fewer than ``partByteCount`` at the end, none beyond it.
    package func part(at offset: Int64) async throws -> [UInt8] {
        let count = Int(min(Int64(Self.partByteCount), byteCount - offset))
        guard count > 0 else { return [] }
        return try await disk.run { [self] in
            var bytes = [UInt8](repeating: 0, count: count)
            let got = pread(descriptor, &bytes, count, off_t(offset))
            guard got > 0 else { throw BackupFailure(system: "A backup can't be read", code: got == 0 ? EIO : errno) }
            bytes.removeLast(count - got)
            return bytes
        }
    }
}
