import Foundation

/// A backup in progress. Its file has another name until ``publish()``, so a partial backup never looks like a
/// complete one, however the server ends. The file is locked for as long as this object, or the program that writes
/// it, has it open.
final class PartialBackup: Sendable {
    let descriptor: Int32
    private let folder: String
    private let partial: String
    private let whole: String

    /// The first bytes of a dump in pg_dump's custom format.
    private static let magic = Array("PGDMP".utf8)

    private static let flags = O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC

    init(_ name: BackupName, in folder: String) throws {
        self.folder = folder
        whole = "\(folder)/\(name.text)"
        partial = whole + BackupFolder.partialSuffix
        descriptor = open(partial, Self.flags, 0o600)
        guard descriptor >= 0 else { throw BackupFailure(system: "\(partial) can't be created") }
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
    }

    deinit { close(descriptor) }

    /// Gives the file its final name once all of it is on disk.
    /// - Returns: its size in bytes.
    func publish() throws -> Int64 {
        var start = [UInt8](repeating: 0, count: Self.magic.count)
        guard pread(descriptor, &start, start.count, 0) == start.count, start == Self.magic else {
            throw BackupFailure(
                "pg_dump succeeded, but its output isn't a dump. "
                    + "Is another program with that name on the server's PATH?"
            )
        }
        let byteCount = lseek(descriptor, 0, SEEK_END)
        guard byteCount > 0, fsync(descriptor) == 0 else {
            throw BackupFailure(system: "\(partial) can't be written")
        }
        guard rename(partial, whole) == 0 else { throw BackupFailure(system: "\(partial) can't be renamed") }
        try Self.synchronize(folder)
        return Int64(byteCount)
    }

    /// Removes the partial file.
    func discard() { unlink(partial) }

    /// Flushes a folder's entries to disk.
    private static func synchronize(_ folder: String) throws {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupFailure(system: "\(folder) can't be opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw BackupFailure(system: "\(folder) can't be written") }
    }
}
