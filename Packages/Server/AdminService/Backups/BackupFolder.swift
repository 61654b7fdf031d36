import Foundation

/// The folder of backups. Only the server's user may write to it, so nobody else can put files there. Calls block on
/// the disk: see ``DiskQueue``.
struct BackupFolder: Sendable {
    /// The suffix of a file's name until the backup is complete.
    static let partialSuffix = ".partial"

    /// A complete backup.
    struct File: Sendable {
        let name: BackupName
        let byteCount: Int64
    }

    let path: String

    /// Why the folder can't be used, and what to do about it; nil if it can.
    var problem: String? {
        guard path.hasPrefix("/") else { return "'\(path)' isn't an absolute path: it must begin with /." }
        guard let facts = Self.facts(of: path) else {
            return "\(path) doesn't exist, or can't be reached. Create it with: install -d -m 700 -o USER \(path)"
        }
        guard facts[.type] as? FileAttributeType == .typeDirectory else {
            return "\(path) isn't a folder, or is a symbolic link: name the folder itself."
        }
        guard facts[.ownerAccountID] as? UInt == UInt(geteuid()) else {
            return "\(path) belongs to another user. Give it to the server's user with: chown USER \(path)"
        }
        let mode = facts[.posixPermissions] as? UInt ?? 0
        guard mode & 0o777 == 0o700 else {
            return
                "\(path) has mode \(String(mode & 0o777, radix: 8)), but backups contain all data. "
                + "Run: chmod 700 \(path)"
        }
        return nil
    }

    /// The complete backups, newest first.
    func files() throws -> [File] {
        try names().compactMap { text -> File? in
            guard let name = BackupName(text), let facts = Self.facts(of: "\(path)/\(text)"),
                facts[.type] as? FileAttributeType == .typeRegular
            else { return nil }
            return File(name: name, byteCount: facts[.size] as? Int64 ?? 0)
        }.sorted { $0.name > $1.name }
    }

    /// Begins a backup.
    /// - Throws: ``BackupFailure``, also if the folder can no longer be used.
    func create(_ name: BackupName) throws -> PartialBackup {
        if let problem { throw BackupFailure(problem) }
        guard Self.facts(of: "\(path)/\(name.text)") == nil else {
            throw BackupFailure("A backup \(name.text) already exists. Try again in a second.")
        }
        return try PartialBackup(name, in: path)
    }

    /// The names of backups with a partial file, whether interrupted or in progress.
    func partials() throws -> [BackupName] {
        try names().filter { $0.hasSuffix(Self.partialSuffix) }
            .compactMap { BackupName(String($0.dropLast(Self.partialSuffix.count))) }
    }

    /// Removes the partial file of an interrupted backup.
    /// - Returns: false if some process still writes it.
    func removePartial(of name: BackupName) throws -> Bool {
        let file = "\(path)/\(name.text)\(Self.partialSuffix)"
        let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        guard unlink(file) == 0 || errno == ENOENT else { throw BackupFailure(system: "\(file) can't be removed") }
        return true
    }

    func remove(_ name: BackupName) throws {
        guard unlink("\(path)/\(name.text)") == 0 || errno == ENOENT else {
            throw BackupFailure(system: "\(path)/\(name.text) can't be removed")
        }
    }

    /// - Returns: a descriptor of the file, which the caller must close, and the file's length; nil if there is no
    ///   such file.
    func reading(_ name: BackupName) throws -> (descriptor: Int32, byteCount: Int64)? {
        let descriptor = open("\(path)/\(name.text)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw BackupFailure(system: "\(path)/\(name.text) can't be read") }
            return nil
        }
        let byteCount = lseek(descriptor, 0, SEEK_END)
        guard byteCount >= 0 else {
            close(descriptor)
            return nil
        }
        return (descriptor, Int64(byteCount))
    }

    private func names() throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw BackupFailure(problem ?? "\(path) can't be read: \(error.localizedDescription)")
        }
    }

    /// The attributes of the path itself, not of a symbolic link's target; nil if nothing is there.
    private static func facts(of path: String) -> [FileAttributeKey: Any]? {
        try? FileManager.default.attributesOfItem(atPath: path)
    }
}
