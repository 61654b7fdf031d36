import Foundation

/// Reads a backup part by part, as its client takes it. A backup that is deleted meanwhile is read to its end.
package final class BackupReader: Sendable {
    /// What is in memory at a time, in bytes.
    static let partByteCount = 128 << 10

    package let byteCount: Int64
    private let descriptor: Int32
    private let disk = DiskQueue()
    private let whenOver: @Sendable () -> Void

    /// - Parameters:
    ///   - descriptor: this closes it.
    ///   - whenOver: called once, when nobody reads any more.
    init(_ descriptor: Int32, byteCount: Int64, whenOver: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.byteCount = byteCount
        self.whenOver = whenOver
    }

    deinit {
        close(descriptor)
        whenOver()
    }

    /// The bytes from a place on; fewer than ``partByteCount`` at the end, none behind it.
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
