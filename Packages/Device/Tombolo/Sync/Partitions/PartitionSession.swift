internal import Dispatch
internal import Synchronization

/// A partition's session ends with the last Realm of its file. An app may open one partition per conversation that a
/// user views. Conversations that nobody views shouldn't keep connections and files open.
extension SyncSession {
    /// How long a session goes on uploading after its file's last Realm is gone. Changes not uploaded by then, or
    /// without a connection, wait in the file until it's opened again.
    static let closingLimit = Duration.seconds(30)

    /// Call this when a Realm of the file is gone. Returns at once.
    static func closeIfUnused(path: String) {
        guard let session = known(path: path), !OpenFile.isUsed(path) else { return }
        Task {
            await session.finishUploading()
            // A suspended session reports nothing. Otherwise a handler of the app could end up waiting for the closing,
            // which in turn waits for the handler.
            guard session.suspendIfUnused() else { return }
            await session.settle()
            DispatchQueue.global().async { session.closeIfUnused() }
        }
    }

    private func finishUploading() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.waitForUpload() }
            group.addTask { try? await Task.sleep(for: Self.closingLimit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// An opener registers its use of the file before it resumes the session. So if this doesn't see the new Realm yet,
    /// that Realm resumes the session afterwards.
    func suspendIfUnused() -> Bool {
        situation.value.withLock { state in
            guard !OpenFile.isUsed(path) else { return false }
            Self.suspend(&state)
            return true
        }
    }

    /// Closes the session, unless a caller has opened the file again and continues with this session.
    func closeIfUnused() {
        try? OpenFile.alone(path) {
            guard Self.known(path: path) === self, !OpenFile.isUsed(path) else { return }
            Self.remove(path: path)?.close()
        }
    }
}
