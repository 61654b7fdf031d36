import Synchronization
import TomboloHTTP
package import TomboloModel
import TomboloLocalization

/// Actions of people on backups. The callers have already checked the permissions.
extension Backups {
    /// A backup in the folder, with what the database knows of it.
    package struct Item: Sendable {
        package let name: BackupName
        package let byteCount: Int64
        /// Nil for a backup from before a restore, or of another database.
        package let run: BackupRun?
    }

    package struct Overview: Sendable {
        /// Newest first.
        package let items: [Item]
        /// Runs without a file, in progress or failed, newest first.
        package let others: [BackupRun]
        /// Whether a requested backup hasn't begun yet.
        package let isWaiting: Bool
    }

    package func overview() async throws -> Overview {
        // Runs before files: otherwise a run that ends in between would seem to have no backup.
        let runs = try await history.runs()
        let files = try await files()
        let byName = Dictionary(runs.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let present = Set(files.map(\.name.text))
        let wish = state.withLock { $0.wish }
        return Overview(
            items: files.map { Item(name: $0.name, byteCount: $0.byteCount, run: byName[$0.name.text]) },
            others: runs.filter { !present.contains($0.name) && ($0.finishedAt == nil || $0.problem != nil) },
            isWaiting: wish.map { if case .making(let name) = $0.work { byName[name.text] == nil } else { false } }
                ?? false)
    }

    private func files() async throws -> [BackupFolder.File] {
        do {
            return try await disk.run { [folder] in try folder.files() }
        } catch let failure as BackupFailure {
            throw RequestFailure(
                .unavailable, localized("The folder for backups can't be used."), hint: failure.description)
        }
    }

    /// The backup with this name, looked up among the existing ones.
    /// - Throws: ``RequestFailure`` with status 404 if there is none.
    package func find(_ text: String) async throws -> BackupName {
        guard let file = try await files().first(where: { $0.name.text == text }) else { throw Self.unknown }
        return file.name
    }

    private static var unknown: RequestFailure {
        RequestFailure(
            .notFound, localized("There is no such backup."),
            hint: localized("It may have been deleted. The list shows the existing ones."))
    }

    /// Requests a backup, which begins as soon as no other is in progress in this process.
    /// - Parameter now: microseconds since 1970.
    package func ask(by user: ObjectId, now: Int64) async throws {
        guard try await files().count < Self.maximumCount else {
            throw RequestFailure(
                .conflict, localized("There are already \(Self.maximumCount) backups, so none was made."),
                hint: localized("First delete some that you don't need."))
        }
        let name = BackupName(at: now, isAutomatic: false)
        try await ask(.making(name), by: user) { [history] in try await history.note(.requested, name, by: user) }
    }

    /// Requests work, which begins as soon as nothing else is in progress in this process.
    /// - Parameter note: writes the audit entry.
    func ask(_ work: Work, by user: ObjectId, _ note: () async throws -> Void) async throws {
        let other = state.withLock { state in
            let other = state.wish
            if other == nil { state.wish = Wish(work: work, user: user) }
            return other?.work
        }
        switch other {
        case nil: break
        case .making:
            throw RequestFailure(
                .conflict, localized("A backup is already being made."),
                hint: localized("It appears in the list when it's done."))
        case .restoring(let source):
            throw RequestFailure(
                .conflict, localized("\(source.text) is being restored."),
                hint: localized("Wait until it's done."))
        }
        do {
            try await note()
            state.withLock { $0.wish?.isNoted = true }
        } catch {
            state.withLock { $0.wish = nil }
            throw error
        }
    }

    package func delete(_ name: BackupName, by user: ObjectId) async throws {
        try await history.note(.deleted, name, by: user) { [disk, folder] in
            try await disk.run { try folder.remove(name) }
        }
    }

    /// Begins to read a backup.
    /// - Throws: ``RequestFailure`` with status 503 if too many are being read already.
    package func download(_ name: BackupName, by user: ObjectId) async throws -> BackupReader {
        let isPossible = state.withLock { state in
            guard state.downloadCount < Self.maximumDownloads else { return false }
            state.downloadCount += 1
            return true
        }
        guard isPossible else {
            throw RequestFailure(
                .unavailable, localized("\(Self.maximumDownloads) backups are already being downloaded."),
                hint: localized("Try again when one of the downloads has finished."))
        }
        let giveBack: @Sendable () -> Void = { [weak self] in self?.state.withLock { $0.downloadCount -= 1 } }
        let reader: BackupReader
        do {
            guard let found = try await disk.run({ [folder] in try folder.reading(name) }) else { throw Self.unknown }
            reader = BackupReader(found.descriptor, byteCount: found.byteCount, whenOver: giveBack)
        } catch {
            giveBack()
            throw error
        }
        try await history.note(.downloaded, name, by: user)
        return reader
    }
}
