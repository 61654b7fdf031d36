import Foundation
import Logging
import PostgresClient
import Synchronization
import TomboloLocalization
import TomboloModel
import TomboloPostgresStore

extension Backups {
    /// Makes or restores the backup that somebody asked for, if any. Otherwise, at intervals, cleans up interrupted
    /// runs and makes an automatic backup if one is due.
    ///
    /// A backup's errors are recorded in its run and in the log.
    /// - Parameter now: microseconds since 1970.
    /// - Throws: errors that prevent any work, such as an unreachable database.
    package func step(now: Int64) async throws {
        if let wish = state.withLock({ $0.wish }) {
            guard wish.isNoted else { return }
            defer { state.withLock { $0.wish = nil } }
            switch wish.work {
            case .making(let name):
                do {
                    let isElected = try await elected(now) { try await make(name, by: wish.user, now) } != nil
                    if !isElected { throw BackupFailure.busy }
                } catch let failure as BackupFailure {
                    try await history.fail(name, by: wish.user, failure, at: now)
                }
            case .restoring(let source):
                let isElected = try await elected(now) { try await restore(source, by: wish.user, now) } != nil
                guard !isElected else { return }
                let (id, _) = try await restores.begin(source.text, by: wish.user, at: now)
                try await restores.fail(id, .restoreBusy)
            }
            return
        }
        let isTime = state.withLock { state in
            guard now >= state.nextLook else { return false }
            state.nextLook = now + Self.lookInterval.microseconds
            return true
        }
        guard isTime, try await hasWork(now) else { return }
        _ = try await elected(now) { if try await isDue(now) { try await makeAutomatic(now) } }
    }

    private func hasWork(_ now: Int64) async throws -> Bool {
        if try await isDue(now) { return true }
        if try await !history.unfinished().isEmpty { return true }
        if try await restores.hasUnfinished() { return true }
        return try await disk.run { [folder] in try !folder.partials().isEmpty }
    }

    private func isDue(_ now: Int64) async throws -> Bool {
        guard let interval = settings.interval else { return false }
        guard let last = try await history.lastAutomatic() else { return true }
        // The last backup may have been made in another folder.
        let hasFiles = try await disk.run { [folder] in try !folder.files().isEmpty }
        let wait = last.isMade && hasFiles ? interval : min(interval, Self.retryInterval)
        return now >= last.startedAt + wait.microseconds
    }

    /// Runs `body` as the only process that makes backups, after cleaning up runs that others left unfinished.
    /// - Returns: nil if another process holds the lock.
    private func elected<R>(_ now: Int64, _ body: () async throws -> R) async throws -> R? {
        let holder = try await PostgresConnection.connect(pool.configuration, logger: logger)
        do {
            guard try await ServiceLock.backup.take(holder) else {
                await holder.close()
                return nil
            }
            try await tidyUp(now)
            let result = try await body()
            // Another process may start its work at once, and would find the lock taken.
            await ServiceLock.release(holder)
            await holder.close()
            return result
        } catch {
            await ServiceLock.release(holder)
            await holder.close()
            throw error
        }
    }

    /// Ends runs whose process is gone, and removes their files.
    private func tidyUp(_ now: Int64) async throws {
        do {
            try await tidyUpRestores()
        } catch let failure as BackupFailure {
            // Backups don't depend on it, and a restore fails by itself.
            logger.warning("Can't clean up after a restore; will try again: \(failure)")
        }
        let (files, partials) = try await disk.run { [folder] in
            let removed = try folder.partials().filter { try folder.removePartial(of: $0) }
            return (try folder.files(), removed)
        }
        let known = try await history.unfinished().compactMap { BackupName($0) }
        for name in Set(known).union(partials).sorted() {
            if let file = files.first(where: { $0.name == name }) {
                // The process ended after the backup was complete but before the run was marked, or the backup has
                // its own run as unfinished.
                try await history.finish(name, byteCount: file.byteCount)
            } else {
                logger.warning("The backup \(name.text) was interrupted. The incomplete file was removed.")
                try await history.fail(name, .interrupted, at: now)
            }
        }
    }

    // MARK: One backup

    private func makeAutomatic(_ now: Int64) async throws {
        let start = ContinuousClock.now
        let outcome = try await make(BackupName(at: now, isAutomatic: true), by: nil, now)
        let pause =
            switch outcome {
            case .done: settings.interval ?? .zero
            case .failed: min(settings.interval ?? .zero, Self.retryInterval)
            }
        let took = ContinuousClock.now - start
        await Routine.backup.note(outcome, took: took, pause: max(pause - took, .zero), in: pool)
        do {
            try await removeOld()
        } catch {
            logger.warning(
                "Can't delete old automatic backups; will try again after the next one: \(error)")
        }
    }

    @discardableResult
    private func make(_ name: BackupName, by user: ObjectId?, _ now: Int64) async throws -> Routine.Outcome {
        try await history.begin(name, by: user, at: now)
        do {
            let byteCount = try await write(name)
            try await history.finish(name, byteCount: byteCount)
            let size = ByteSize.text(byteCount)
            logger.info("Made the backup \(name.text), \(size).")
            return .done([.untranslated("\(name.text), \(size)")])
        } catch let failure as BackupFailure {
            logger.error("The backup \(name.text) failed: \(failure)")
            try await history.fail(name, failure, at: now)
            return .failed(failure)
        }
    }

    /// - Returns: the backup's size in bytes.
    private func write(_ name: BackupName) async throws -> Int64 {
        guard let path = settings.program ?? DumpProgram.find(ProcessInfo.processInfo.environment["PATH"]) else {
            throw BackupFailure.noProgram
        }
        let slowDisk = DiskQueue()
        let file = try await slowDisk.run { [folder] in try folder.create(name) }
        do {
            try await DumpProgram(path: path, database: settings.database).run(into: file)
            return try await slowDisk.run { try file.publish() }
        } catch {
            try? await slowDisk.run { file.discard() }
            throw error
        }
    }

    /// Deletes automatic backups beyond those to keep.
    private func removeOld() async throws {
        let removed = try await disk.run { [folder, settings] in
            let old = try folder.files().filter(\.name.isAutomatic).dropFirst(settings.keptCount)
            for file in old { try folder.remove(file.name) }
            return old.map(\.name.text)
        }
        if !removed.isEmpty { logger.info("Deleted old backups: \(removed.joined(separator: ", ")).") }
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 }
}
