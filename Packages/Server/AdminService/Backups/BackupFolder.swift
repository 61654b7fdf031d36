import Foundation

/// The folder of backups. It belongs to the server's user alone, so that nobody else can put anything into it. Calls wait for
/// the disk: see ``DiskQueue``.
struct BackupFolder: Sendable {
    /// What a file's name ends with until the backup is whole.
    static let partialSuffix = ".partial"

    /// A whole backup.
    struct File: Sendable {
        let name: BackupName
        let byteCount: Int64
    }

    let path: String

    /// Why it can't be used, and what to do about it; nil if it can.
    var problem: String? {
        guard path.hasPrefix("/") else { return "'\(path)' isn't an absolute path: it must begin with /." }
        guard let facts = Self.facts(of: path) else {
            return "\(path) doesn't exist, or can't be reached. Make it with: install -d -m 700 -o USER \(path)"
        }
        guard facts[.type] as? FileAttributeType == .typeDirectory else {
            return "\(path) isn't a folder, or is a symbolic link: name the folder itself."
        }
        guard facts[.ownerAccountID] as? UInt == UInt(geteuid()) else {
            return "\(path) belongs to another user. Give it to the server's user with: chown USER \(path)"
        }
        let mode = facts[.posixPermissions] as? UInt ?? 0
        guard mode & 0o777 == 0o700 else {
            return "\(path) has the mode \(String(mode & 0o777, radix: 8)), but backups hold everything. "
                + "Run: chmod 700 \(path)"
        }
        return nil
    }

    /// The whole backups, the newest first.
    func files() throws -> [File] {
        try names().compactMap { text -> File? in
            guard let name = BackupName(text), let facts = Self.facts(of: "\(path)/\(text)"),
                facts[.type] as? FileAttributeType == .typeRegular
            else { return nil }
            return File(name: name, byteCount: facts[.size] as? Int64 ?? 0)
        }.sorted { $0.name > $1.name }
    }

    /// Begins a backup.
    /// - Throws: ``BackupFailure`` also if the folder isn't as it was at the start.
    func create(_ name: BackupName) throws -> PartialBackup {
        if let problem { throw BackupFailure(problem) }
        guard Self.facts(of: "\(path)/\(name.text)") == nil else {
            throw BackupFailure("There is a backup \(name.text) already. Make it again in a second.")
        }
        return try PartialBackup(name, in: path)
    }

    /// What backups left that ended midway.
    func partials() throws -> [BackupName] {
        try names().filter { $0.hasSuffix(Self.partialSuffix) }
            .compactMap { BackupName(String($0.dropLast(Self.partialSuffix.count))) }
    }

    /// Removes what a backup left that ended midway.
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

    /// - Returns: a descriptor of the file, which the caller closes, and how long the file is; nil if there's none.
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

    /// Of the path itself, not of what a symbolic link leads to; nil if nothing is there.
    private static func facts(of path: String) -> [FileAttributeKey: Any]? {
        try? FileManager.default.attributesOfItem(atPath: path)
    }
}
